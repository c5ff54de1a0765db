/* Character references (&amp; &#x41;) in attribute values and XML text. */
#pragma once

#include <stddef.h>

#include "net/slice.h"

/* Decodes an HTML attribute's value to `out` (at least value.len bytes: no reference is shorter than what it
 * stands for, NUL excepted, see below). A NUL becomes U+FFFD, so `out` needs 3 bytes for each. A reference
 * without a semicolon counts as the HTML standard says for attributes: `?a=1&copy=2` stays. Returns the
 * length. */
size_t entity_decode_attribute(struct slice value, char *out);

/* Decodes XML text: the five predefined entities, numeric references and CDATA sections. Others stay as they
 * are. `out` has at least text.len bytes. Returns the length. */
size_t entity_decode_xml(struct slice text, char *out);

/* The code points of a named reference, name without & and ; and its spelling exact. The number of code
 * points (1 or 2), or 0 if there is no such name. `legacy` is set for those that may lack the semicolon. */
int entity_find(struct slice name, unsigned code[2], bool *legacy);
