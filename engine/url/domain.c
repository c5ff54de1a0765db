#include "engine/url/domain.h"

#include <libpsl.h>

#include "engine/url/limits.h"
#include "engine/url/url.h"

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

bool domain_is_known(struct slice host)
{
    char name[URL_HOST_BYTES_MAX + 1];
    const char *dot = memrchr(host.ptr, '.', host.len);
    if (!dot || host.len > URL_HOST_BYTES_MAX)
        return false;
    struct slice top = slice_between(dot + 1, host.ptr + host.len);
    memcpy(name, top.ptr, top.len);
    name[top.len] = '\0';
    return psl_is_public_suffix2(psl_builtin(), name, PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE);
}
