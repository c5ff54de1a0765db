/* DIR/summary.json: all counters of a crawl, rewritten while it runs and once more at its end. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "engine/crawl/end.h"
#include "engine/crawl/status.h"

struct crawl;

/* Writes the same to a stream. By any thread that has a status of its own. */
void summary_print(const struct status *status, struct crawl *crawl, enum crawl_end end, FILE *out);
/* Replaces the file atomically. False if it could not be written; errno says why. */
bool summary_write(const struct status *status, struct crawl *crawl, enum crawl_end end);
