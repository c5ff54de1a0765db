/* Looks up in a server's own certificate what BearSSL does not tell. DER in, a yes or no out; what is
 * malformed is a no. */
#pragma once

#include <stdbool.h>

#include "net/dns_answer.h"
#include "net/slice.h"

/* Subject and issuer are the same. */
bool tls_leaf_is_self_issued(struct slice certificate);
/* The address is among the subject's alternative names. */
bool tls_leaf_has_address(struct slice certificate, const struct dns_address *address);
