#include "engine/crawl/end.h"

#include <errno.h>

#include "engine/crawl/loop.h"

const char *end_name(enum crawl_end why)
{
    switch (why) {
    case CRAWL_END_NONE:
        return "running";
    case CRAWL_END_COMPLETE:
        return "complete";
    case CRAWL_END_NOTHING:
        return "nothing";
    case CRAWL_END_PAGES:
        return "pages";
    case CRAWL_END_TIME:
        return "time";
    case CRAWL_END_IDLE:
        return "idle";
    case CRAWL_END_SIGNAL:
        return "signal";
    case CRAWL_END_DISK_FULL:
        return "disk-full";
    case CRAWL_END_FAILED:
        return "failed";
    case CRAWL_END_BAD_TUNING:
        return "bad-tuning";
    }
    return "";
}

/* A loop admits a URL (urls_in) before it hands it over, and counts a URL as finished (urls_out) after
 * everything that it led to was admitted. So does one whose URL turns out to be known (urls_known). All finished
 * counts are read before any admitted count: a URL whose end we see has its links among those we then count. So
 * if the sums are equal, nothing is left.
 *
 * A1 pairs with R1 in stats_count_out, A2 with R2 in stats_count_known. Acquire keeps the later loads of urls_in
 * behind them. */
bool end_is_complete(const struct loop *loops, unsigned count)
{
    uint64_t in = 0, out = 0;
    for (unsigned i = 0; i < count; i++)
        out += lf_load(&loops[i].stats.urls_out, acquire) +   /* A1 */
               lf_load(&loops[i].stats.urls_known, acquire); /* A2 */
    for (unsigned i = 0; i < count; i++)
        in += lf_load(&loops[i].stats.urls_in, relaxed);
    return in == out;
}

bool end_is_disk_full(int disk_error)
{
    return disk_error == -ENOSPC || disk_error == -EDQUOT || disk_error == -EFBIG;
}

static void set(struct end *end, enum crawl_phase phase, enum crawl_end why)
{
    bool is_failure = why == CRAWL_END_DISK_FULL || why == CRAWL_END_FAILED;
    if (end->why == CRAWL_END_NONE || is_failure)
        end->why = why;
    end->phase = phase;
}

/* Adds the time since the last look to what no visit was open for. */
static void mind_idleness(struct end *end, const struct end_facts *facts, uint64_t since_look_ns)
{
    bool has_visited = facts->visits_open || facts->visits != end->visits;
    end->visits = facts->visits;
    if (has_visited || facts->is_out_of_names || facts->hosts_held || end->phase == CRAWL_PAUSED)
        end->idle_ns = 0;
    else
        end->idle_ns += since_look_ns < END_LOOK_NS ? since_look_ns : END_LOOK_NS;
}

/* Before anything else is decided: the time since the last look belongs to the phase that was. */
static void mind_time(struct end *end, const struct end_facts *facts)
{
    uint64_t since_look_ns = end->look_ns ? facts->now_ns - end->look_ns : 0;
    end->look_ns = facts->now_ns;
    mind_idleness(end, facts, since_look_ns);
    if (end->phase == CRAWL_PAUSED)
        end->paused_ns += since_look_ns;
    if (end->phase == CRAWL_RUNNING || end->phase == CRAWL_PAUSED)
        end->phase = facts->is_paused ? CRAWL_PAUSED : CRAWL_RUNNING;
}

static void while_running(struct end *end, const struct end_facts *facts,
                          const struct crawl_tuning_live *tuning)
{
    if (facts->stops)
        set(end, CRAWL_STOPPING, CRAWL_END_SIGNAL);
    else if (facts->is_complete)
        set(end, CRAWL_ENDING, facts->pages ? CRAWL_END_COMPLETE : CRAWL_END_NOTHING);
    else if (facts->is_disk_low)
        set(end, CRAWL_STOPPING, CRAWL_END_DISK_FULL);
    else if (tuning->max_time_ns && facts->now_ns - facts->begin_ns - end->paused_ns >= tuning->max_time_ns)
        set(end, CRAWL_STOPPING, CRAWL_END_TIME);
    else if (tuning->max_pages && facts->pages >= tuning->max_pages)
        set(end, CRAWL_STOPPING, CRAWL_END_PAGES);
    else if (tuning->max_idle_ns && end->idle_ns >= tuning->max_idle_ns)
        set(end, CRAWL_STOPPING, facts->pages ? CRAWL_END_IDLE : CRAWL_END_NOTHING);
    if (end->phase == CRAWL_STOPPING)
        end->stop_by_ns = facts->now_ns + tuning->stop_within_ns;
}

void end_decide(struct end *end, const struct end_facts *facts, const struct crawl_tuning_live *tuning)
{
    mind_time(end, facts);
    if (facts->disk_error)
        set(end, CRAWL_ENDING, end_is_disk_full(facts->disk_error) ? CRAWL_END_DISK_FULL : CRAWL_END_FAILED);
    else if (facts->has_failed)
        set(end, CRAWL_ENDING, CRAWL_END_FAILED);
    if (end->phase == CRAWL_RUNNING || end->phase == CRAWL_PAUSED)
        while_running(end, facts, tuning);
    /* A crawl that stops because of crawl_stop needs a second call to end at once; one that stops because of
     * its time or pages ends at the first. */
    unsigned stops_to_wait = end->why == CRAWL_END_SIGNAL ? 1 : 0;
    if (end->phase == CRAWL_STOPPING &&
        (facts->stops > stops_to_wait || facts->visits_open == 0 || facts->now_ns >= end->stop_by_ns))
        end->phase = CRAWL_ENDING;
}
