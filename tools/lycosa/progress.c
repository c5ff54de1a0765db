#include "tools/lycosa/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lockfree/clock.h"

enum { BAR_CHARS = 40, PERIOD_MS = 100 };

void progress_init(struct progress *progress, uint64_t bytes_all)
{
    *progress = (struct progress){.is_terminal = isatty(STDERR_FILENO), .bytes_all = bytes_all};
}

void progress_show(void *owner, uint64_t bytes)
{
    static const char full[] = "########################################";
    struct progress *progress = owner;
    uint64_t now = progress->is_terminal ? clock_now_ns() : 0;
    if (!progress->is_terminal || now - progress->shown_ns < PERIOD_MS * CLOCK_NS_PER_MS)
        return;
    progress->shown_ns = now;
    uint64_t done = progress->bytes_before + bytes;
    double part = progress->bytes_all ? (double)done / (double)progress->bytes_all : 1;
    int chars = part < 1 ? (int)(part * BAR_CHARS) : BAR_CHARS;
    fprintf(stderr, "\r[%-*.*s] %3.0f%% of %.1f MB\033[K", BAR_CHARS, chars, full,
            100 * (part < 1 ? part : 1), (double)progress->bytes_all / 1e6);
    fflush(stderr);
}

void progress_clear(const struct progress *progress)
{
    if (progress->is_terminal)
        fputs("\r\033[K", stderr);
}
