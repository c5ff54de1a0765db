/* progress.tsv: the crawl's counters every few seconds. The first line names the columns; their order, and columns that are not
 * in the list below, do not matter. Counters never fall, so samples may be left out: when SAMPLES_MAX are kept, every
 * second one goes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"

enum { SAMPLES_MAX = 2048, SAMPLES_COLUMNS_MAX = 128 };

#define SAMPLES_COLUMNS(X)                                                                                   \
    X(wall_ms)    /* since 1970 */                                                                           \
    X(running_ms) /* without pauses and the time between two processes */                                    \
    X(pages)                                                                                                 \
    X(bytes_received)                                                                                        \
    X(bytes_body)                                                                                            \
    X(urls_in)                                                                                               \
    X(urls_out)                                                                                              \
    X(urls_known)                                                                                            \
    X(queued)                                                                                                \
    X(hosts_visiting)                                                                                        \
    X(hosts_ready)                                                                                           \
    X(hosts_resting)                                                                                         \
    X(limited_work_ms)                                                                                       \
    X(limited_connections_ms)                                                                                \
    X(limited_politeness_ms)                                                                                 \
    X(limited_servers_ms)                                                                                    \
    X(limited_names_ms)                                                                                      \
    X(limited_store_ms)                                                                                      \
    X(limited_memory_ms)                                                                                     \
    X(limited_bandwidth_ms)                                                                                  \
    X(limited_pages_ms)                                                                                      \
    X(limited_paused_ms)                                                                                     \
    X(limited_empty_ms)

enum samples_column {
#define SAMPLES_VALUE(name) SAMPLES_##name,
    SAMPLES_COLUMNS(SAMPLES_VALUE)
#undef SAMPLES_VALUE
        SAMPLES_COLUMN_COUNT
};

enum { SAMPLES_LIMITED_FIRST = SAMPLES_limited_work_ms, SAMPLES_LIMITED_LAST = SAMPLES_limited_empty_ms };

struct samples {
    bool has_header;
    bool has[SAMPLES_COLUMN_COUNT];
    int8_t columns[SAMPLES_COLUMNS_MAX]; /* enum samples_column of each column of the file; -1: another */
    size_t column_count;
    size_t count;
    size_t step, skipped; /* of `step` samples one is kept */
    bool ends_early;      /* the last one is kept only until the next comes */
    uint64_t bad_lines;
    uint64_t values[SAMPLES_MAX][SAMPLES_COLUMN_COUNT];
};

void samples_init(struct samples *samples);
/* The next line, without its newline. */
void samples_take(struct samples *samples, struct slice line);
/* Whether there are at least two samples with time and this column. */
bool samples_have(const struct samples *samples, enum samples_column column);
/* "limited_work_ms". */
const char *samples_name(enum samples_column column);
