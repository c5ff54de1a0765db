#include "engine/crawl/codes.h"

#include <stdbool.h>
#include <stdio.h>

/* IANA's registry of status codes. */
static const uint16_t registered[CODES_REGISTERED] = {
    100, 101, 102, 103, 104, 200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 305,
    307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421,
    422, 423, 424, 425, 426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511};

static bool is_registered(unsigned code)
{
    for (unsigned i = 0; i < CODES_REGISTERED; i++)
        if (registered[i] == code)
            return true;
    return false;
}

uint64_t codes_row(const stats_counter codes[STATS_CODES], unsigned row, char name[CODES_NAME_BYTES])
{
    if (row < CODES_REGISTERED) {
        snprintf(name, CODES_NAME_BYTES, "%u", registered[row] % STATS_CODES);
        return stats_get(&codes[registered[row]]);
    }
    unsigned digit = (row - CODES_REGISTERED) % (STATS_STATUSES - 1) + 1;
    uint64_t others = 0;
    snprintf(name, CODES_NAME_BYTES, "%uxx", digit);
    for (unsigned code = digit * 100; code < digit * 100 + 100; code++)
        if (!is_registered(code))
            others += stats_get(&codes[code]);
    return others;
}
