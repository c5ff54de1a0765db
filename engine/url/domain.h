/* The registrable domain of a host, by the public suffix list that libpsl carries. */
#pragma once

#include <stdbool.h>

#include "net/slice.h"

/* "www.example.co.uk" gives "example.co.uk", a slice of `host`. A host that is an address, a public suffix or
 * a single label is its own domain. `host` is as url_host gives it. Costs about a microsecond: ask once per
 * host, not per URL. */
struct slice domain_registrable(struct slice host);

/* Whether the name's top-level domain is one that exists: "example.org", not "seeds.txt". */
bool domain_is_known(struct slice host);
