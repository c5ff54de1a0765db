#include "engine/crawl/status.h"

#include <string.h>

#include "engine/crawl/loop.h"
#include "lockfree/clock.h"

static double outage_s(const struct crawl *crawl, uint64_t now_ns)
{
    uint64_t first_ns = now_ns;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        uint64_t since_ns = stats_get(&crawl->loops[i].stats.names_out_since_ns);
        if (since_ns && since_ns < first_ns)
            first_ns = since_ns;
    }
    return (double)(now_ns - first_ns) / 1e9;
}

/* The first moment at which a loop has something to do. */
static double next_due_s(const struct crawl *crawl, uint64_t now_ns)
{
    uint64_t next_ns = UINT64_MAX;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        uint64_t due_ns = stats_get(&crawl->loops[i].stats.next_due_ns);
        next_ns = due_ns < next_ns ? due_ns : next_ns;
    }
    if (next_ns == UINT64_MAX)
        return -1;
    return next_ns > now_ns ? (double)(next_ns - now_ns) / 1e9 : 0;
}

/* Since the last update; of the first one, since the crawl began. */
static void compare_limits(struct status *status, const uint64_t last_ns[LIMITED_COUNT])
{
    double all = 0;
    for (int by = 0; by < LIMITED_COUNT; by++)
        all += status->limited[by] = (double)(stats_get(&status->now.limited_ns[by]) - last_ns[by]);
    for (int by = 0; by < LIMITED_COUNT && all > 0; by++)
        status->limited[by] /= all;
}

static void sum_outlets(struct status *status, const struct loop *loop)
{
    uint64_t store_waits = outlet_unwritten(&loop->store.outlet);
    status->unwritten_bytes += store_waits + outlet_unwritten(&loop->log) + outlet_unwritten(&loop->journal.outlet);
    status->written.store_waits += store_waits;
    status->written.store += outlet_taken(&loop->store.outlet);
    status->written.log += outlet_taken(&loop->log);
    status->written.journal += outlet_taken(&loop->journal.outlet);
}

static void sum_loops(struct status *status, const struct crawl *crawl)
{
    memset(&status->now, 0, sizeof status->now);
    stats_sum(&status->now, &crawl->before);
    memset(status->hosts, 0, sizeof status->hosts);
    memset(status->failing, 0, sizeof status->failing);
    status->unwritten_bytes = 0;
    status->written = (struct status_written){0};
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        stats_sum(&status->now, &crawl->loops[i].stats);
        sum_outlets(status, &crawl->loops[i]);
        for (int why = 0; why < FETCH_OUTCOME_COUNT; why++)
            status->failing[why] += lf_load(&crawl->loops[i].troubles.hosts[why], relaxed);
        for (int state = 0; state < HOST_STATES; state++)
            status->hosts[state] += lf_load(&crawl->loops[i].frontier.states[state], relaxed);
    }
    uint64_t in = stats_get(&status->now.urls_in);
    uint64_t out = stats_get(&status->now.urls_out) + stats_get(&status->now.urls_known);
    status->queued = in > out ? in - out : 0;
    status->host_count = lf_load(&crawl->frontier.hosts.count, relaxed);
    status->address_count = lf_load(&crawl->frontier.addresses.count, relaxed);
}

/* How long fetches took since the last update. */
static void compare_times(struct status *status, const struct stats_histogram *last)
{
    static const double quantiles[STATUS_QUANTILES] = {0.5, 0.9, 0.99};
    struct stats_histogram news = {.sum = 0};
    for (unsigned i = 0; i < STATS_BUCKETS; i++)
        stats_set(&news.buckets[i], stats_get(&status->now.fetch_us.buckets[i]) - stats_get(&last->buckets[i]));
    for (unsigned i = 0; i < STATUS_QUANTILES; i++)
        status->fetch_us[i] = stats_quantile(&news, quantiles[i]);
}

static void compare_loops(struct status *status, const struct crawl *crawl)
{
    status->loop_count = crawl->loop_count;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        const stats_counter *limited_ns = crawl->loops[i].stats.limited_ns;
        struct status_loop *loop = &status->loops[i], last = *loop;
        loop->work_ns = stats_get(&limited_ns[LIMITED_WORK]);
        loop->turns = status_turns(crawl, i);
        loop->all_ns = 0;
        for (int by = 0; by < LIMITED_COUNT; by++)
            loop->all_ns += stats_get(&limited_ns[by]);
        if (loop->all_ns > last.all_ns)
            loop->busy = (double)(loop->work_ns - last.work_ns) / (double)(loop->all_ns - last.all_ns);
    }
}

/* Limits of time are of this process, without its pauses. */
static void look_ahead(struct status *status, const struct crawl *crawl)
{
    struct outlook_facts facts = {
        .running_s = status->seconds - (double)lf_load(&crawl->paused_ns, relaxed) / 1e9,
        .pages = stats_get(&status->now.pages),
        .found = stats_get(&status->now.urls_in) - stats_get(&status->now.urls_known),
        .queued = status->queued,
        .pages_max = lf_load(&crawl->pages_max, relaxed),
        .time_max_s = (double)lf_load(&crawl->time_max_ns, relaxed) / 1e9,
    };
    outlook_update(&status->outlook, &facts);
}

/* Each URL has one outcome: a page, forbidden, dropped, lost, or failed. */
static void count_failures(struct status *status)
{
    const struct stats *now = &status->now;
    uint64_t all = 0, others;
    status->failing_count = 0;
    status->tries_failed = 0;
    for (int i = 0; i < FETCH_OUTCOME_COUNT; i++) {
        all += stats_get(&now->outcomes[i]);
        status->tries_failed += stats_get(&now->tries_failed[i]);
        status->failing_count += status->failing[i];
    }
    static const enum fetch_outcome losses[] = {FETCH_FRONTIER_FULL, FETCH_HOSTS_FULL, FETCH_HOST_FULL,
                                                FETCH_DOMAIN_FULL, FETCH_SIEVE_FULL};
    status->lost = 0;
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        status->lost += stats_get(&now->outcomes[losses[i]]);
    others = stats_get(&now->pages) + stats_get(&now->outcomes[FETCH_ROBOTS_DENIED]) +
             stats_get(&now->outcomes[FETCH_DROPPED]) + status->lost;
    status->failed = all > others ? all - others : 0;
    status->waiting_count = 0;
    for (int state = 0; state < HOST_STATES; state++)
        if (state != HOST_IDLE && state != HOST_VISITING)
            status->waiting_count += status->hosts[state];
}

/* Keeps the hosts whose next try is soonest. */
static void add_waiting(struct status *status, const struct troubles_host *host, uint64_t now_ns)
{
    unsigned at = STATUS_WAITING_MAX;
    if (host->id == 0 || host->retry_ns <= now_ns)
        return;
    while (at > 0 && (!status->waiting[at - 1].id || host->retry_ns < status->waiting[at - 1].retry_ns))
        at--;
    if (at == STATUS_WAITING_MAX)
        return;
    memmove(status->waiting + at + 1, status->waiting + at,
            (STATUS_WAITING_MAX - 1 - at) * sizeof status->waiting[0]);
    status->waiting[at] = *host;
}

void status_update_waiting(struct status *status, struct crawl *crawl, uint64_t now_ns)
{
    memset(status->waiting, 0, sizeof status->waiting);
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        const struct troubles_host *hosts = troubles_read(&crawl->loops[i].troubles);
        for (unsigned k = 0; hosts && k < TROUBLES_HOSTS; k++)
            add_waiting(status, &hosts[k], now_ns);
        if (hosts)
            troubles_ask(&crawl->loops[i].troubles);
    }
}

void status_update(struct status *status, const struct crawl *crawl)
{
    uint64_t last_ns = status->now_ns, last_pages = stats_get(&status->now.pages),
             last_bytes = stats_get(&status->now.bytes_received), last_limited[LIMITED_COUNT];
    const struct stats *last = last_ns ? &status->now : &crawl->before;
    for (int by = 0; by < LIMITED_COUNT; by++)
        last_limited[by] = stats_get(&last->limited_ns[by]);
    struct stats_histogram last_times = status->now.fetch_us;
    status->now_ns = clock_now_ns();
    status->directory = crawl->directory;
    status->seconds = (double)(status->now_ns - crawl->begin_ns) / 1e9;
    double running_s =
        status->seconds + ((double)crawl->ran_before_ns - (double)lf_load(&crawl->paused_ns, relaxed)) / 1e9;
    if (!last_ns || running_s > status->running_s) /* the watch counts pauses in steps; the time never goes back */
        status->running_s = running_s;
    status->seeds = crawl->seeds;
    status->phase = gate_phase(&crawl->gate);
    sum_loops(status, crawl);
    count_failures(status);
    compare_limits(status, last_limited);
    compare_times(status, &last_times);
    compare_loops(status, crawl);
    look_ahead(status, crawl);
    status->fold_trouble = lf_load(&crawl->commit.fold.trouble, relaxed);
    status->fold_trouble_stays = lf_load(&crawl->commit.fold.trouble_stays, relaxed);
    status->next_due_s = next_due_s(crawl, status->now_ns);
    status->names_outage_s = outage_s(crawl, status->now_ns);
    double seconds = (double)(status->now_ns - last_ns) / 1e9;
    if (last_ns && seconds > 0) {
        status->pages_per_s = (uint64_t)((double)(stats_get(&status->now.pages) - last_pages) / seconds);
        status->bytes_per_s =
            (uint64_t)((double)(stats_get(&status->now.bytes_received) - last_bytes) / seconds);
    }
}

void status_count_own(struct stats *own, const struct crawl *crawl)
{
    memset(own, 0, sizeof *own);
    for (unsigned i = 0; i < crawl->loop_count; i++)
        stats_sum(own, &crawl->loops[i].stats);
}

void status_count_kinds(struct census *types, struct census *domains, const struct crawl *crawl)
{
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        census_sum(types, &crawl->loops[i].visits.types);
        census_sum(domains, &crawl->loops[i].visits.domains);
    }
}

uint64_t status_turns(const struct crawl *crawl, unsigned index)
{
    return stats_get(&crawl->loops[index].stats.turns);
}
