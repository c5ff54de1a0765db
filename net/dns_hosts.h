/* /etc/hosts, read once into the cache. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "net/dns_cache.h"

/* Pins the names of one line: "address name name... # comment". Addresses of another family are passed over;
 * a name that is there already gets another address. Returns how many names were new. */
size_t dns_hosts_line(struct dns_cache *cache, struct slice line, enum dns_families families);

/* Reads the whole file, at most `names_max` names; a file that is not there has none. */
void dns_hosts_read(struct dns_cache *cache, const char *path, size_t names_max, enum dns_families families);

/* Lower case and without a trailing dot into `out` (DNS_NAME_BYTES_MAX). Returns the length; 0: not a name
 * that can be asked for. Letters, digits, hyphens, underscores; labels of 1 to 63. */
size_t dns_hosts_normalise(struct slice name, char *out);
