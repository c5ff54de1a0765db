/* Status codes as rows of a table whose length is fixed: each registered code has a row, all others share one by their first
 * digit. So servers cannot make the table longer by inventing codes. */
#pragma once

#include "engine/crawl/stats.h"

enum { CODES_REGISTERED = 62, CODES_ROWS = CODES_REGISTERED + STATS_STATUSES - 1, CODES_NAME_BYTES = 4 };

/* Responses of row 0 to CODES_ROWS - 1, and its name: "404", or "4xx" for codes from 400 to 499 that are not registered. */
uint64_t codes_row(const stats_counter codes[STATS_CODES], unsigned row, char name[CODES_NAME_BYTES]);
