/* progress.tsv: a line every ten seconds, and one at the end. */
#include <stdio.h>
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/status.h"
#include "lockfree/clock.h"

void crawl_begin_progress(struct crawl *crawl)
{
    char path[1100];
    struct sample last;
    const struct crawl_hooks *hooks = &crawl->options->hooks;
    snprintf(path, sizeof path, "%s/progress.tsv", crawl->directory);
    crawl->progress = (struct progress){.on_sample = hooks->on_past, .owner = hooks->owner};
    if (!progress_open(&crawl->progress, path, &last))
        return;
    sample_restore(&last, &crawl->before);
    crawl->ran_before_ns = last.values[SAMPLE_running_ms] * CLOCK_NS_PER_MS;
}

static void add(struct crawl *crawl, const struct status *status)
{
    struct sample sample;
    sample_take(&sample, status, clock_wall_us() / 1000);
    progress_add(&crawl->progress, &sample);
}

uint64_t crawl_add_progress(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    if (now_ns - crawl->begin_ns < CRAWL_PROGRESS_NS)
        return CRAWL_PROGRESS_NS - (now_ns - crawl->begin_ns);
    status_update(&crawl->progressed, crawl);
    add(crawl, &crawl->progressed);
    return CRAWL_PROGRESS_NS;
}

/* The last line has the counters of summary.json, and the times since the line before. */
void crawl_finish_progress(struct crawl *crawl)
{
    struct status last = crawl->status;
    status_update(&crawl->progressed, crawl);
    memcpy(last.fetch_us, crawl->progressed.fetch_us, sizeof last.fetch_us);
    add(crawl, &last);
    progress_close(&crawl->progress);
}
