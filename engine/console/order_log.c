#include "engine/console/order_log.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/store/warc.h"
#include "lockfree/clock.h"

void order_log_init(struct order_log *log)
{
    ring_spsc_init(&log->lines, log->memory, ORDER_LOG_LINES);
    log->fd = -1;
}

void order_log_add(struct order_log *log, const char *order, const char *result)
{
    char date[WARC_DATE_CHARS], *line;
    warc_write_date(date, clock_wall_us());
    if (asprintf(&line, "%.*sZ\t%s\t%s\n", WARC_SECONDS_CHARS, date, order, result) >= 0) {
        if (ring_spsc_push(&log->lines, (uintptr_t)line)) /* hand-over to the writer */
            return;
        free(line);
    }
    lf_fetch_add(&log->lost, 1, relaxed);
}

/* What the disk does not take is lost: nothing depends on it, and the crawl has its own trouble with such a disk. */
static void put(const struct order_log *log, const char *line)
{
    ssize_t written = log->fd >= 0 ? write(log->fd, line, strlen(line)) : -1;
    (void)written;
}

static void tell_lost(struct order_log *log)
{
    char date[WARC_DATE_CHARS], line[128];
    uint64_t lost = lf_load(&log->lost, relaxed) ? lf_exchange(&log->lost, 0, relaxed) : 0;
    if (!lost)
        return;
    warc_write_date(date, clock_wall_us());
    snprintf(line, sizeof line, "%.*sZ\t-\t%" PRIu64 " orders are missing here: the disk was too slow\t-\n", WARC_SECONDS_CHARS, date,
             lost);
    put(log, line);
}

/* Not blocking: a pipe in its place would keep the housekeeper for ever. */
static void open_file(struct order_log *log, const char *directory)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/events.log", directory);
    log->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
}

void order_log_write(struct order_log *log, const char *directory)
{
    uint64_t line;
    while (ring_spsc_pop(&log->lines, &line)) {
        if (log->fd < 0)
            open_file(log, directory);
        put(log, (const char *)(uintptr_t)line);
        free((char *)(uintptr_t)line);
    }
    tell_lost(log);
}

void order_log_fini(struct order_log *log)
{
    for (uint64_t line; ring_spsc_pop(&log->lines, &line);)
        free((char *)(uintptr_t)line);
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}
