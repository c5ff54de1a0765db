/* Looks up in a server's own certificate what BearSSL does not tell. DER in, a yes or no out; what is
 * malformed is a no. */
#pragma once

#include <stdbool.h>

#include "net/ip.h"
#include "net/slice.h"

/* Not valid before a moment after `now`: "YYYYMMDDHHMMSS" in UTC. */
bool tls_leaf_is_premature(struct slice certificate, struct slice now);
/* Subject and issuer are the same. */
bool tls_leaf_is_self_issued(struct slice certificate);
/* The address is among the subject's alternative names. */
bool tls_leaf_has_address(struct slice certificate, const struct ip *address);
