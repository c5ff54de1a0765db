/* The housekeeper's jobs: what the loops hand over goes to the disk and is committed, summary.json is renewed, and the
 * free space of the disk is looked at. */
#include <poll.h>
#include <string.h>
#include <sys/statvfs.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/loop.h"
#include "engine/crawl/summary.h"
#include "lockfree/clock.h"

/* The first error is the one that is told. */
static void take_error(struct crawl *crawl, int error)
{
    if (error && !lf_load(&crawl->disk_error, relaxed))
        lf_store(&crawl->disk_error, error, relaxed); /* only the housekeeper writes it */
}

bool crawl_begin_writing(struct crawl *crawl, struct tuning_error *error)
{
    const struct resume *resume = &crawl->resume;
    struct journal_session session = {.version = LYCOSA_VERSION,
                                      .opens_us = crawl->opens_us,
                                      .lag_max_us = crawl->tuning.fixed.state.lag_max_ns / 1000,
                                      .canonical = crawl->canonical,
                                      .sieve = (uint32_t)crawl->tuning.fixed.memory.sieve_kind};
    struct journal_place place = crawl->options->resumes ? resume->end : (struct journal_place){.number = 1};
    resume_boot_id(session.boot_id);
    int failed = commit_begin(&crawl->commit, &session, place, resume->epoch);
    take_error(crawl, failed);
    return failed == 0 || crawl_refuse(error, "%s/state: %s", crawl->directory, strerror(-failed));
}

int crawl_serve_spills(struct crawl *crawl)
{
    int first_error = 0;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        struct loop *loop = &crawl->loops[i];
        int error = crawl->tuning.fixed.state.spill ? spool_serve(&loop->spill.spool) : 0;
        if (!error && loop->harvest.later)
            error = spool_serve(&loop->later.urls.spool);
        first_error = first_error ? first_error : error;
    }
    int served = crawl->frontier.has_slots ? slots_serve(&crawl->frontier.slots) : 0;
    crawl->serves_slots = served > 0;
    return first_error || served > 0 ? first_error : served;
}

/* The sieve on disk takes its time: while it works, nothing else is to be done. */
static int serve_mill(struct crawl *crawl)
{
    if (!sieve_uses_disk(&crawl->sieve))
        return 0;
    int error = crawl_start_mill(crawl);
    mill_hurry(&crawl->mill, true);
    for (unsigned i = 0; i < crawl->loop_count; i++)
        sieve_turn(&crawl->loops[i].sieve);
    if (!error)
        harvest_answers(&crawl->loops[0].harvest);
    return error ? error : lf_load(&crawl->mill.error, relaxed);
}

/* Long queues make room for the URLs of other hosts. It looks at all hosts: if it was not worth that, it is not tried
 * again. */
static bool stow_long_queues(struct crawl *crawl)
{
    struct frontier_loop *frontier = &crawl->loops[0].frontier;
    if (!crawl->frontier.has_slots || crawl->is_stowed || frontier_is_roomy(frontier))
        return true;
    int64_t moved = frontier_restore_stow(frontier);
    take_error(crawl, moved < 0 ? (int)moved : 0);
    crawl->is_stowed = moved < lf_load(&crawl->frontier.hosts.count, relaxed) || !frontier_is_roomy(frontier);
    return moved >= 0;
}

/* False: the disk failed. */
static bool write_what_waits(struct crawl *crawl)
{
    int error = commit_write(&crawl->commit);
    error = error ? error : crawl_serve_spills(crawl);
    error = error ? error : serve_mill(crawl);
    take_error(crawl, error);
    return !error;
}

bool crawl_make_room(struct crawl *crawl)
{
    if (!stow_long_queues(crawl))
        return false;
    if (harvest_has_room(&crawl->loops[0].harvest))
        return true;
    while (write_what_waits(crawl)) {
        if (harvest_has_room(&crawl->loops[0].harvest))
            return true;
        if (!sieve_uses_disk(&crawl->sieve))
            return false;
        poll(NULL, 0, 1);
    }
    return false;
}

static void serve_stores(struct crawl *crawl)
{
    for (unsigned i = 0; i < crawl->loop_count; i++)
        if (crawl->loops[i].visits.store)
            store_serve(crawl->loops[i].visits.store);
}

static void tell_unpacker(struct crawl *crawl)
{
    const struct commit *commit = &crawl->commit;
    if (!crawl->unpacker.is_running)
        return;
    unpacker_tell(&crawl->unpacker, commit->committed,
                  commit->options.sync_ns ? commit->synced : commit->committed);
    take_error(crawl, lf_load(&crawl->unpacker.error, relaxed));
}

uint64_t crawl_write(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    uint64_t wait_ns, commits = crawl->commit.commits;
    take_error(crawl, commit_turn(&crawl->commit, now_ns, &wait_ns));
    tell_unpacker(crawl);
    take_error(crawl, crawl_serve_spills(crawl));
    serve_stores(crawl);
    if (sieve_uses_disk(&crawl->sieve))
        take_error(crawl, crawl_start_mill(crawl));
    take_error(crawl, lf_load(&crawl->mill.error, relaxed));
    if (crawl->serves_slots && wait_ns > CRAWL_SERVE_NS)
        wait_ns = CRAWL_SERVE_NS;
    if (crawl->commit.commits == commits)
        return wait_ns;
    crawl->stored_committed = 0;
    for (unsigned i = 0; i < crawl->loop_count; i++) /* they seal again only after the next turn */
        crawl->stored_committed += crawl->loops[i].ledger.stored;
    return wait_ns;
}

void crawl_write_rest(struct crawl *crawl)
{
    take_error(crawl, commit_finish(&crawl->commit));
}

/* Free bytes where a directory is, and the size of that disk. Without an answer there is no end of room. */
static uint64_t free_bytes_of(const char *directory, uint64_t *size)
{
    struct statvfs disk;
    bool is_known = statvfs(directory, &disk) == 0;
    *size = is_known ? (uint64_t)disk.f_blocks * disk.f_frsize : 0;
    return is_known ? (uint64_t)disk.f_bavail * disk.f_frsize : UINT64_MAX;
}

/* The scratch directory may be on another disk. */
uint64_t crawl_watch_disk(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    uint64_t reserve = crawl->tuning.fixed.state.reserve_bytes, size, scratch_size;
    uint64_t free_bytes = free_bytes_of(crawl->directory, &size);
    uint64_t scratch_bytes = crawl->scratch[0] ? free_bytes_of(crawl->scratch, &scratch_size) : UINT64_MAX;
    (void)now_ns;
    if (size)
        lf_store(&crawl->disk_free, free_bytes, relaxed);
    lf_store(&crawl->disk_size, size, relaxed);
    if (scratch_bytes < free_bytes)
        free_bytes = scratch_bytes;
    if (free_bytes == UINT64_MAX)
        return CLOCK_NS_PER_S;
    crawl->commit.fold.room = free_bytes > reserve ? free_bytes - reserve : 0;
    if (free_bytes < reserve)
        lf_store(&crawl->is_disk_low, true, relaxed); /* a fact that the watch looks at */
    return CLOCK_NS_PER_S;
}

uint64_t crawl_sum(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    struct status status = {0};
    (void)now_ns;
    status_update(&status, crawl);
    summary_write(&status, crawl, CRAWL_END_NONE);
    return crawl->tuning.live.status.interval_ns;
}
