/* The zone file of the whole web, for a stock DNS server. */
#pragma once

#include <stdio.h>

#include "tools/websim/web.h"

/* One zone with the origin ".": every name of the web that exists. Hosts whose fault is NXDOMAIN are left
 * out; SERVFAIL and time-outs cannot be written in a zone file, such hosts are left out with a comment. */
void websim_zone_write(const struct websim_web *web, FILE *out);
