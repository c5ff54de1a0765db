/* URLs that no crawl wants: paths that repeat themselves, and ports of other services. */
#pragma once

#include <stdbool.h>

#include "net/slice.h"

unsigned scope_count_segments(struct slice path);

/* Whether a non-empty segment occurs more than `repeats_max` times among the first 256. Linear in their
 * number. */
bool scope_repeats_itself(struct slice path, unsigned repeats_max);

/* Ports that browsers do not connect to (Fetch standard, "port blocking"), because the service there may
 * take an HTTP request for commands of its own; likewise the ports of well-known databases and remote
 * desktops. */
bool scope_is_bad_port(unsigned port);
