/* The crawl as metrics for Prometheus, in its text format 0.0.4. Labels are of closed sets: never a host, a URL or an
 * address, so that the number of series is bounded. */
#pragma once

#include <stdio.h>

#include "engine/crawl/crawl.h"

void metrics_write(const struct status *status, struct crawl *crawl, FILE *out);
