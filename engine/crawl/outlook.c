#include "engine/crawl/outlook.h"

#include <math.h>

/* Rates are means over this time, or over the last quarter of a crawl that is shorter: a queue grows at first, and that is
 * soon forgotten. Of the first seconds nothing is said. */
#define MEMORY_S 60.0
#define OBSERVED_MIN_S 9.0
/* A queue that shrinks so slowly says nothing. */
#define LEFT_MAX_S (400 * 86400.0)

static void observe(struct outlook *outlook, const struct outlook_facts *now)
{
    double passed_s = now->running_s - outlook->last.running_s;
    if (outlook->last.running_s > 0 && passed_s > 0) {
        outlook->observed_s += passed_s;
        double memory_s = outlook->observed_s < 4 * MEMORY_S ? outlook->observed_s / 4 : MEMORY_S;
        double weight = passed_s < memory_s ? 1 - exp(-passed_s / memory_s) : 1;
        double pages = (double)now->pages - (double)outlook->last.pages;
        double queued = (double)now->queued - (double)outlook->last.queued;
        outlook->pages_per_s += weight * (pages / passed_s - outlook->pages_per_s);
        outlook->queued_per_s += weight * (queued / passed_s - outlook->queued_per_s);
    }
    if (passed_s > 0)
        outlook->last = *now;
}

/* Takes the end that comes first. */
static void consider(struct outlook *outlook, enum outlook_by by, double share, double left_s)
{
    if (outlook->left_s >= 0 && (left_s < 0 || left_s > outlook->left_s))
        return;
    if (left_s < 0 && share < outlook->share)
        return;
    outlook->by = by;
    outlook->share = share < 1 ? share : 1;
    outlook->left_s = left_s;
}

void outlook_update(struct outlook *outlook, const struct outlook_facts *now)
{
    observe(outlook, now);
    outlook->by = OUTLOOK_UNKNOWN;
    outlook->share = outlook->left_s = -1;
    if (now->time_max_s > 0) {
        double left_s = now->time_max_s - now->running_s;
        consider(outlook, OUTLOOK_TIME, now->running_s / now->time_max_s, left_s > 0 ? left_s : 0);
    }
    if (now->pages_max) {
        double left = now->pages < now->pages_max ? (double)(now->pages_max - now->pages) : 0;
        consider(outlook, OUTLOOK_PAGES, (double)now->pages / (double)now->pages_max,
                 outlook->pages_per_s > 0 ? left / outlook->pages_per_s : -1);
    }
    if (outlook->observed_s >= OBSERVED_MIN_S && outlook->queued_per_s < 0 && now->found) {
        double left_s = (double)now->queued / -outlook->queued_per_s;
        if (left_s < LEFT_MAX_S)
            consider(outlook, OUTLOOK_QUEUE, 1 - (double)now->queued / (double)now->found, left_s);
    }
}

const char *outlook_name(enum outlook_by by)
{
    static const char *const names[] = {
        [OUTLOOK_UNKNOWN] = "unknown", [OUTLOOK_PAGES] = "max-pages", [OUTLOOK_TIME] = "max-time", [OUTLOOK_QUEUE] = "queue"};
    return names[by];
}
