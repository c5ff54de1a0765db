/* The health of a host: its failures in a row, and when it is given up. */
#pragma once

#include "engine/crawl/stats.h"
#include "engine/frontier/host.h"
#include "engine/outcome/fetch_outcome.h"
#include "engine/tuning/tuning.h"

/* Counts a failure that is the host's own. The host is given up after retry.host-failures of them in a row,
 * or when the next try would come more than retry.host-time after the first, so that a dead host cannot
 * delay the end of a crawl for an hour. */
void health_fail(struct host *host, enum fetch_outcome why, const struct tuning_live *tuning,
                 struct stats *stats);
