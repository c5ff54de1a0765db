/* What a crawl says of itself while it runs and at its end: a block on a terminal, plain lines elsewhere, and
 * summary.json. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/crawl.h"
#include "engine/stats.h"

/* What the rates are measured against: the last look. */
struct status {
    struct stats now;
    int64_t hosts[HOST_STATES];
    uint64_t now_ns, last_ns;
    uint64_t last_pages, last_bytes;
    uint64_t pages_per_s, bytes_per_s;
    unsigned lines; /* of the block that is on the screen */
};

/* Sums up all loops and works out the rates since the last call. */
void status_update(struct status *status, const struct crawl *crawl);

/* One line, or a block that replaces the one before. */
void status_print(struct status *status, const struct crawl *crawl, FILE *out);

/* DIR/summary.json, replaced in one step. False: it could not be written; errno says why. */
bool status_write_summary(struct status *status, struct crawl *crawl);
