/* What c-ares does not read out of an answer. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/slice.h"

/* How long a negative answer may be kept (RFC 2308, 5): the lesser of the SOA record's own time to live and its last
 * number. False: the answer has no SOA record in its authority section, or is malformed. */
bool dns_message_negative_ttl(struct slice message, uint32_t *ttl_s);
