/* The HTTP Link header (RFC 8288). */
#pragma once

#include "engine/content/links.h"

/* Adds the links of one header's value. Links without a relation, or with an anchor parameter (they speak of
 * another page), are passed over. */
void link_header_scan(struct links *links, struct slice value);
