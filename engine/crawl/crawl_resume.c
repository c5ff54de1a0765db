/* A crawl goes on where an earlier process has left it: the journal is read twice.
 *
 *     first    what is done goes to the sieve; what is known of hosts goes to `past`
 *     then     what was admitted goes to the sieve, too: where it is new to it, it is not done, and waits again
 *
 * The Bloom filter would lose some of those that wait, so for it what is done is kept exactly meanwhile. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/loop.h"
#include "engine/crawl/past.h"
#include "lockfree/clock.h"

struct replay {
    struct crawl *crawl;
    struct past past;
    uint64_t done_count; /* URLs that are done */
    struct record_totals totals;
    uint64_t known[SIEVE_BATCH_MAX]; /* that the sieve has not been told yet */
    size_t known_count;

    /* with a Bloom filter: what is done */
    struct arena arena;
    struct signatures done;
    struct signatures_writer writer;
    bool has_done;
};

/* Long journals take their time: the caller is heard meanwhile. False: it has stopped the crawl. */
static bool count_record(struct replay *replay, uint64_t count)
{
    struct crawl *crawl = replay->crawl;
    uint64_t ticks = crawl->replayed / CRAWL_RECORDS_PER_TICK;
    crawl->replayed += count;
    if (crawl->replayed / CRAWL_RECORDS_PER_TICK != ticks)
        crawl_tick(crawl);
    return lf_load(&crawl->stops, relaxed) == 0;
}

/* What does not fit in memory is told to the sieve on disk. */
static bool learn(struct crawl *crawl, uint64_t signature)
{
    int failed = crawl_open_mill(crawl);
    failed = failed ? failed : mill_learn(&crawl->mill, signature);
    if (failed)
        lf_store(&crawl->disk_error, failed, relaxed); /* no other thread runs */
    return !failed;
}

/* What is done goes to the sieve in batches: their memory is fetched together. */
static bool flush_known(struct replay *replay)
{
    struct crawl *crawl = replay->crawl;
    enum sieve_answer answers[SIEVE_BATCH_MAX];
    if (replay->known_count)
        sieve_add(&crawl->loops[0].sieve, replay->known, replay->known_count, answers);
    for (size_t i = 0; i < replay->known_count; i++)
        if (answers[i] == SIEVE_LATER && !learn(crawl, replay->known[i]))
            return false;
    replay->known_count = 0;
    return true;
}

static bool add_known(struct replay *replay, uint64_t signature)
{
    if (replay->has_done)
        signatures_add(&replay->writer, signature);
    replay->known[replay->known_count++] = signature;
    return replay->known_count < SIEVE_BATCH_MAX || flush_known(replay);
}

static bool count_one(void *owner, const struct record *record, struct slice via)
{
    struct replay *replay = owner;
    (void)via;
    replay->done_count += record->type == RECORD_DONE    ? 1
                          : record->type == RECORD_KNOWN ? record->known.count
                                                         : 0;
    return count_record(replay, 1);
}

static bool take_done(void *owner, const struct record *record, struct slice via)
{
    struct replay *replay = owner;
    (void)via;
    switch (record->type) {
    case RECORD_KNOWN:
        for (size_t i = 0; i < record->known.count; i++)
            if (!add_known(replay, record_known_at(&record->known, i)))
                return false;
        return count_record(replay, record->known.count);
    case RECORD_TOTALS:
        record_add_totals(&replay->totals, record->totals);
        break;
    case RECORD_DONE:
        record_add_done(&replay->totals, &record->done);
        if (!add_known(replay, record->done.signature))
            return false;
        past_note_done(&replay->past, &record->done);
        break;
    case RECORD_VISIT:
        past_note_visit(&replay->past, &record->visit);
        break;
    case RECORD_SESSION:
        past_note_session(&replay->past, &record->session);
        break;
    case RECORD_URL:
    case RECORD_VIA:
        break;
    }
    return count_record(replay, 1);
}

/* What was done counts as admitted, too. So it does not matter whether the record of its URL is still there. */
static void count_totals(struct stats *before, const struct record_totals *totals)
{
    _Static_assert((int)RECORD_SIZES <= (int)STATS_BUCKETS && (int)RECORD_STATUSES == (int)STATS_STATUSES,
                   "they are counted in the same way");
    for (unsigned i = 0; i < FETCH_OUTCOME_COUNT; i++)
        stats_add(&before->outcomes[i], totals->outcomes[i]);
    stats_add(&before->urls_in, totals->done);
    stats_add(&before->urls_out, totals->done);
    stats_add(&before->stored, totals->stored);
    stats_add(&before->pages, totals->pages);
    stats_add(&before->bytes_body, totals->bytes);
    for (unsigned i = 0; i < STATS_STATUSES; i++)
        stats_add(&before->statuses[i], totals->statuses[i]);
    for (unsigned i = 0; i < RECORD_SIZES; i++)
        stats_add(&before->body_bytes.buckets[i], totals->sizes[i]);
}

static bool take_url(void *owner, const struct record *record, struct slice via)
{
    struct replay *replay = owner;
    struct crawl *crawl = replay->crawl;
    if (record->type != RECORD_URL)
        return true;
    struct harvest *harvest = &crawl->loops[0].harvest;
    enum sieve_answer answer;
    sieve_add(&crawl->loops[0].sieve, &record->url.signature, 1, &answer);
    bool is_waiting = replay->has_done ? !signatures_has(&replay->done, record->url.signature)
                                       : answer == SIEVE_NEW || answer == SIEVE_LATER;
    if (is_waiting && !crawl_make_room(crawl))
        return false;
    if (is_waiting && answer == SIEVE_LATER)
        harvest_restore_asked(harvest, &record->url, via);
    else if (is_waiting)
        harvest_restore(harvest, &record->url, via);
    return count_record(replay, 1);
}

/* Room for what is done, exactly. */
static bool open_done(struct replay *replay, struct tuning_error *error)
{
    if (!resume_replay(&replay->crawl->resume, count_one, replay))
        return false;
    size_t bytes = signatures_bytes(replay->done_count);
    if (arena_init(&replay->arena, &(struct arena_options){.bytes = bytes + LF_CACHE_LINE}) != 0)
        return crawl_refuse(error, "no memory to read what is done: %zu MB are needed", bytes >> 20);
    signatures_init(&replay->done, arena_take(&replay->arena, bytes, LF_CACHE_LINE), bytes);
    signatures_writer_init(&replay->writer, &replay->done);
    replay->has_done = true;
    return true;
}

static void close_done(struct replay *replay)
{
    if (!replay->has_done)
        return;
    signatures_writer_fini(&replay->writer);
    arena_fini(&replay->arena);
}

/* A moment of the wall clock by the monotonic one. A wall clock that was set back makes moments of the past look far
 * away: no rest is longer than the longest one. */
static uint64_t monotonic_ns(const struct tuning *tuning, uint64_t us)
{
    const uint64_t bounds[] = {tuning->live.politeness.retry_after_max_ns,
                               tuning->live.politeness.crawl_delay_max_ns, tuning->live.retry.wait_max_ns,
                               tuning->live.robots.retry_ns, 3600 * CLOCK_NS_PER_S};
    uint64_t now_us = clock_wall_us(), rest_ns = us > now_us ? (us - now_us) * 1000 : 0, most_ns = 0;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        most_ns = bounds[i] > most_ns ? bounds[i] : most_ns;
    return clock_now_ns() + (rest_ns < most_ns ? rest_ns : most_ns);
}

/* By the monotonic clock; 0 if the crawl does not begin before that moment anyway. */
static uint64_t owed_ns(const struct replay *replay, uint64_t us)
{
    return us > past_everybody_us(&replay->past) ? monotonic_ns(&replay->crawl->tuning, us) : 0;
}

/* False if there is no memory. */
static bool restore_host(struct replay *replay, const struct past_host *host)
{
    struct frontier_loop *frontier = &replay->crawl->loops[0].frontier;
    struct frontier_past past = {.next_ns = owed_ns(replay, past_host_us(&replay->past, host)),
                                 .pages = host->pages,
                                 .bytes = host->bytes,
                                 .spent_ns = host->spent_ns,
                                 .failures = host->failures,
                                 .dead_why = host->dead_why};
    char text[URL_BYTES_MAX];
    struct url url;
    url_init(&url, text, sizeof text);
    if (!url_join(&url, (struct slice){host->key, host->key_len}, SLICE("/")))
        return true;
    uint64_t address_ns = owed_ns(replay, past_address_us(&replay->past, host));
    return frontier_restore_host(frontier, &url, &past) &&
           (!address_ns || frontier_restore_address(frontier, &host->address, address_ns));
}

static bool replay_hosts(struct replay *replay, struct tuning_error *error)
{
    struct crawl *crawl = replay->crawl;
    const struct past_host *host;
    size_t cursor = 0;
    bool good = !replay->past.is_short_of_memory;
    while (good && (host = past_next(&replay->past, &cursor)))
        good = restore_host(replay, host);
    if (!good)
        return crawl_refuse(error, "no memory for the hosts that were visited before");
    crawl->gate.opens_ns = monotonic_ns(&crawl->tuning, crawl->opens_us);
    return true;
}

static bool why(struct crawl *crawl, struct tuning_error *error)
{
    return crawl_refuse(error, "%s",
                        lf_load(&crawl->stops, relaxed) ? "stopped while the journal was read"
                                                        : crawl->resume.message);
}

bool crawl_replay(struct crawl *crawl, struct tuning_error *error)
{
    struct resume *resume = &crawl->resume;
    struct replay replay = {.crawl = crawl};
    past_init(&replay.past, &crawl->past);
    bool good = crawl->tuning.fixed.memory.sieve_kind != TUNING_SIEVE_BLOOM || open_done(&replay, error);
    if (good && !(resume_replay(resume, take_done, &replay) && flush_known(&replay)))
        good = why(crawl, error);
    count_totals(&crawl->before, &replay.totals);
    good = good && replay_hosts(&replay, error);
    if (good && !resume_replay(resume, take_url, &replay))
        good = why(crawl, error);
    close_done(&replay);
    past_fini(&replay.past);
    lf_store(&crawl->gate.pages_reserved, stats_get(&crawl->before.pages), relaxed); /* no loop runs */
    return good;
}

/* The last moment at which a server can have been busy with the old process, which stops if it cannot commit. Of a
 * machine that died nothing is known. */
static uint64_t last_busy_us(const struct crawl *crawl)
{
    const struct resume *resume = &crawl->resume;
    uint64_t now_us = clock_wall_us(), latest_us = resume->last_us + resume->lag_max_us;
    if (resume->has_ended)
        return resume->last_us;
    return PAST_TEARDOWN_US + (resume->is_same_boot && latest_us < now_us ? latest_us : now_us);
}

/* A visit connects, makes requests for its burst time, and may have to wait for the last answer. */
static uint64_t longest_visit_us(const struct tuning *tuning)
{
    const struct net_tuning_fixed *net = &tuning->fixed.net;
    return (2 * net->connect_timeout_ns + tuning->live.politeness.burst_ns + net->fetch_timeout_ns) / 1000;
}

/* When visits may begin. The next process has to know it, too, should this one be killed before that. */
static void choose_opening(struct crawl *crawl)
{
    struct past past;
    crawl->past = (struct past_options){.politeness = &crawl->tuning.live.politeness,
                                        .limits = &crawl->tuning.live.limits,
                                        .longest_us = longest_visit_us(&crawl->tuning),
                                        .commit_us = crawl->resume.covers_us,
                                        .end_us = last_busy_us(crawl),
                                        .opens_us = crawl->resume.session.opens_us};
    past_init(&past, &crawl->past);
    crawl->opens_us = past_everybody_us(&past);
    past_fini(&past);
}

bool crawl_look_back(struct crawl *crawl, struct tuning_error *error)
{
    struct resume *resume = &crawl->resume;
    enum resume_trust trust = crawl->options->trusts_synced ? RESUME_TRUST_SYNCED : RESUME_TRUST_LAST;
    switch (resume_look(resume, crawl->disk, crawl->directory, trust)) {
    case RESUME_REFUSED:
        return crawl_refuse(error, "%s", resume->message);
    case RESUME_NOTHING:
        return true;
    case RESUME_READY:
        break;
    }
    if (resume->session.canonical != crawl->canonical)
        return crawl_refuse(error, "scope.canonical: cannot change when a crawl is resumed");
    bool is_bloom = crawl->tuning.fixed.memory.sieve_kind == TUNING_SIEVE_BLOOM;
    if (is_bloom && resume->session.sieve != TUNING_SIEVE_BLOOM)
        return crawl_refuse(error, "memory.sieve-kind: a crawl that was begun with another kind cannot go on with "
                                   "bloom");
    choose_opening(crawl);
    return true;
}
