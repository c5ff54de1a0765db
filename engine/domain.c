#include "engine/domain.h"

#include <libpsl.h>

#include "engine/limits.h"
#include "engine/url.h"

struct slice domain_registrable(struct slice host)
{
    char name[URL_HOST_BYTES_MAX + 1];
    if (host.len > URL_HOST_BYTES_MAX || url_host_is_address(host))
        return host;
    memcpy(name, host.ptr, host.len);
    name[host.len] = '\0';
    const char *domain = psl_registrable_domain(psl_builtin(), name);
    return domain ? slice_skip(host, (size_t)(domain - name)) : host;
}
