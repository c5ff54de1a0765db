#include "engine/crawl/crawl.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/loop.h"
#include "engine/crawl/summary.h"
#include "lockfree/clock.h"

void crawl_stop(struct crawl *crawl)
{
    lf_fetch_add(&crawl->stops, 1, relaxed);
}

void crawl_pause(struct crawl *crawl)
{
    lf_store(&crawl->is_pausing, true, relaxed);
}

void crawl_unpause(struct crawl *crawl)
{
    lf_store(&crawl->is_pausing, false, relaxed);
}

void crawl_reload(struct crawl *crawl)
{
    lf_fetch_add(&crawl->reloads_asked, 1, relaxed);
}

void crawl_tick(struct crawl *crawl)
{
    const struct crawl_hooks *hooks = &crawl->options->hooks;
    if (hooks->on_tick)
        hooks->on_tick(hooks->owner, crawl);
}

/* The watch's jobs. */

static uint64_t tick(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    (void)now_ns;
    crawl_tick(crawl);
    return crawl->end.phase == CRAWL_ENDING ? CRAWL_JOIN_NS : CRAWL_LOOK_NS;
}

static struct end_facts facts_of(const struct crawl *crawl, uint64_t now_ns)
{
    struct end_facts facts = {.now_ns = now_ns,
                              .begin_ns = crawl->begin_ns,
                              .stops = lf_load(&crawl->stops, relaxed),
                              .is_paused = lf_load(&crawl->is_pausing, relaxed),
                              .disk_error = lf_load(&crawl->disk_error, relaxed),
                              .is_disk_low = lf_load(&crawl->is_disk_low, relaxed),
                              .pages = stats_get(&crawl->before.pages),
                              .is_complete = end_is_complete(crawl->loops, crawl->loop_count)};
    int64_t held = 0;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        held += lf_load(&crawl->loops[i].frontier.states[HOST_HELD], relaxed);
        facts.pages += stats_get(&crawl->loops[i].stats.pages);
        facts.visits += stats_get(&crawl->loops[i].stats.visits);
        facts.visits_open += stats_get(&crawl->loops[i].stats.connections);
        facts.is_out_of_names |= stats_get(&crawl->loops[i].stats.names_out_since_ns) != 0;
        facts.has_failed |= lf_load(&crawl->loops[i].has_failed, relaxed);
    }
    facts.hosts_held = held > 0;
    return facts;
}

static uint64_t look(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    struct end_facts facts = facts_of(crawl, now_ns);
    facts.is_complete = facts.is_complete && crawl_shut_door(crawl);
    const struct crawl_tuning_live *tuning = &crawl_tuning(crawl)->live.crawl;
    end_decide(&crawl->end, &facts, tuning);
    /* Relaxed: the loops look at the phase once per turn, and nothing else is handed over with it. */
    gate_set_phase(&crawl->gate, crawl->end.phase);
    lf_store(&crawl->paused_ns, crawl->end.paused_ns, relaxed); /* for the status, as the two limits */
    lf_store(&crawl->pages_max, tuning->max_pages, relaxed);
    lf_store(&crawl->time_max_ns, tuning->max_time_ns, relaxed);
    crawl_hurry_mill(crawl);
    return CRAWL_LOOK_NS;
}

static uint64_t show_status(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    const struct crawl_hooks *hooks = &crawl->options->hooks;
    bool is_first = crawl->status.now_ns == 0;
    (void)now_ns;
    status_update(&crawl->status, crawl);
    if (hooks->on_status && !is_first)
        hooks->on_status(hooks->owner, &crawl->status);
    return crawl->options->status_interval_ns ? crawl->options->status_interval_ns
                                              : crawl_tuning(crawl)->live.status.interval_ns;
}

static uint64_t collect_waiting(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    status_update_waiting(&crawl->status, crawl, now_ns);
    return CRAWL_WAITING_NS;
}

/* One turn of the watch or the housekeeper, then a sleep until the next job is due. */
static void turn(struct housekeeper *housekeeper)
{
    uint64_t wait_ns = housekeeper_turn(housekeeper, clock_now_ns());
    if (wait_ns > CRAWL_LOOK_NS)
        wait_ns = CRAWL_LOOK_NS;
    poll(NULL, 0, (int)((wait_ns + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS));
}

/* The watch keeps running until the thread has ended, because it decides when the loops end. */
static void watch_until_joined(struct crawl *crawl, pthread_t thread)
{
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        turn(&crawl->watch);
}

static void *keep_house(void *argument)
{
    struct crawl *crawl = argument;
    while (!lf_load(&crawl->has_ended, acquire)) { /* A4 pairs with R4 in run_threads */
        lf_store(&crawl->kept_ns, clock_now_ns(), relaxed);
        turn(&crawl->housekeeper);
    }
    crawl_take_rest(crawl);
    crawl_write_rest(crawl);
    crawl_answer_rest(crawl);
    crawl_keep_checkpoint(crawl, clock_now_ns());
    return NULL;
}

/* What the program that runs the crawl has for the disk. */
static uint64_t keep(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    const struct crawl_hooks *hooks = &crawl->options->hooks;
    (void)now_ns;
    if (!hooks->on_keep)
        return UINT64_MAX;
    hooks->on_keep(hooks->owner, crawl);
    return CRAWL_LOOK_NS;
}

static void plan_jobs(struct crawl *crawl)
{
    housekeeper_init(&crawl->watch, crawl);
    housekeeper_add(&crawl->watch, tick);
    housekeeper_add(&crawl->watch, look);
    housekeeper_add(&crawl->watch, crawl_adopt_tuning);
    housekeeper_add(&crawl->watch, collect_waiting);
    housekeeper_add(&crawl->watch, show_status);
    housekeeper_init(&crawl->housekeeper, crawl);
    housekeeper_add(&crawl->housekeeper,
                    crawl_sum); /* at once: on a full disk the last one reuses its blocks */
    housekeeper_add(&crawl->housekeeper, crawl_write);
    housekeeper_add(&crawl->housekeeper, crawl_keep_checkpoint);
    housekeeper_add(&crawl->housekeeper, crawl_keep_added);
    housekeeper_add(&crawl->housekeeper, crawl_read_tuning);
    housekeeper_add(&crawl->housekeeper, crawl_keep_holds);
    housekeeper_add(&crawl->housekeeper, crawl_watch_disk);
    housekeeper_add(&crawl->housekeeper, crawl_add_progress);
    housekeeper_add(&crawl->housekeeper, keep);
}

/* The loop failed after it had begun: what it crawled until then is kept. */
static bool has_broken_down(const struct loop *loop)
{
    return loop->error && lf_load(&loop->is_up, relaxed);
}

/* Called when the loops have ended and their output is on the disk. */
static void conclude(struct crawl *crawl)
{
    const struct crawl_hooks *hooks = &crawl->options->hooks;
    look(crawl, clock_now_ns());
    for (unsigned i = 0; hooks->on_note && i < crawl->loop_count; i++)
        if (has_broken_down(&crawl->loops[i]))
            hooks->on_note(hooks->owner, crawl->loops[i].message);
    if (hooks->on_note && lf_load(&crawl->mill.error, acquire)) /* A2 pairs with R2 in mill.c */
        hooks->on_note(hooks->owner, crawl->mill.failure.text);
    if (hooks->on_note && indexer_error(&crawl->indexer))
        hooks->on_note(hooks->owner, indexer_error(&crawl->indexer));
    status_update(&crawl->status, crawl);
    if (lf_load(&crawl->disk_error, relaxed)) /* the files were cut back to the last commit */
        stats_set(&crawl->status.now.stored, stats_get(&crawl->before.stored) + crawl->stored_committed);
    summary_write(&crawl->status, crawl, crawl->end.why);
    crawl_finish_progress(crawl);
    if (hooks->on_status && crawl->end.why != CRAWL_END_FAILED)
        hooks->on_status(hooks->owner, &crawl->status);
}

/* An index that is not made does no harm: `lycosa index` makes it later. */
static void start_indexer(struct crawl *crawl)
{
    char path[INDEXER_PATH_BYTES];
    struct outlet **notes = crawl_has_indexes(crawl) ? calloc(crawl->loop_count, sizeof *notes) : NULL;
    if (!notes)
        return;
    snprintf(path, sizeof path, "%s/warc", crawl->directory);
    for (unsigned i = 0; i < crawl->loop_count; i++)
        notes[i] = &crawl->loops[i].store.notes;
    indexer_start(&crawl->indexer, &(struct indexer_options){
                                       .directory = path, .notes = notes, .notes_count = crawl->loop_count});
    free(notes);
}

/* Also if the crawl was resumed with another store.kind, and pages of the last one wait. */
static bool start_unpacker(struct crawl *crawl)
{
    char incoming[1100];
    const struct tuning_fixed *fixed = &crawl->tuning.fixed;
    struct unpacker_options options = {.directory = crawl->directory,
                                       .body_bytes_max = fixed->net.decoded_bytes_max,
                                       .epoch = crawl->commit.committed,
                                       .syncs = crawl->commit.options.sync_ns != 0};
    snprintf(incoming, sizeof incoming, "%s/incoming", crawl->directory);
    if (fixed->store.kind != TUNING_STORE_DIRECTORY && access(incoming, F_OK) != 0)
        return true;
    return unpacker_start(&crawl->unpacker, &options) == 0;
}

static void finish_unpacker(struct crawl *crawl)
{
    if (!crawl->unpacker.is_running)
        return;
    unpacker_finish(&crawl->unpacker, lf_load(&crawl->disk_error, relaxed) != 0);
    watch_until_joined(crawl, crawl->unpacker.thread);
    int error = lf_load(&crawl->unpacker.error, relaxed);
    if (error && !lf_load(&crawl->disk_error, relaxed))
        lf_store(&crawl->disk_error, error, relaxed); /* the housekeeper has ended */
}

/* After a full disk or another error of it, the files were cut: nothing more is written. */
static void finish_indexer(struct crawl *crawl)
{
    if (!crawl->indexer.is_running)
        return;
    indexer_finish(&crawl->indexer, lf_load(&crawl->disk_error, relaxed) != 0);
    watch_until_joined(crawl, crawl->indexer.thread);
}

/* Starts all threads and waits for their end. If one loop cannot begin, all of them end. */
static bool run_threads(struct crawl *crawl, struct tuning_error *error)
{
    unsigned started = 0;
    crawl->begin_ns = clock_now_ns();
    crawl->setup_cpu_ns = clock_process_ns();
    lf_store(&crawl->kept_ns, crawl->begin_ns, relaxed);
    crawl_begin_progress(crawl);
    crawl_watch_disk(crawl, crawl->begin_ns);
    lf_store(&crawl->commit.last_ns, crawl->begin_ns, relaxed); /* no other thread runs */
    plan_jobs(crawl);
    bool has_housekeeper =
        start_unpacker(crawl) && pthread_create(&crawl->housekeeper_thread, NULL, keep_house, crawl) == 0;
    while (has_housekeeper && started < crawl->loop_count &&
           pthread_create(&crawl->loops[started].thread, NULL, loop_run, &crawl->loops[started]) == 0)
        started++;
    bool is_whole = started == crawl->loop_count;
    const struct crawl_hooks *hooks = &crawl->options->hooks;
    if (is_whole)
        start_indexer(crawl);
    if (hooks->on_begin)
        hooks->on_begin(hooks->owner, crawl);
    if (!is_whole)
        lf_store(&crawl->loops[0].has_failed, true, relaxed);
    for (unsigned i = 0; i < started; i++)
        watch_until_joined(crawl, crawl->loops[i].thread);
    lf_store(&crawl->has_ended, true, release); /* R4 */
    if (has_housekeeper)
        watch_until_joined(crawl, crawl->housekeeper_thread);
    finish_indexer(crawl);
    finish_unpacker(crawl);
    if (hooks->on_end)
        hooks->on_end(hooks->owner, crawl);
    conclude(crawl);
    for (unsigned i = 0; i < started; i++)
        if (crawl->loops[i].error && !has_broken_down(&crawl->loops[i]))
            return crawl_refuse(error, "%s", crawl->loops[i].message);
    return is_whole ||
           crawl_refuse(error, "cannot start %u threads: %s", crawl->loop_count + 1, strerror(EAGAIN));
}

/* Why nothing could be filled in: if the disk failed, that is the reason. */
static bool explain(const struct crawl *crawl, struct tuning_error *error)
{
    int failed = lf_load(&crawl->disk_error, relaxed);
    if (crawl->mill.failure.code)
        return crawl_refuse(error, "%s", crawl->mill.failure.text);
    return failed ? crawl_refuse(error, "%s: %s", crawl->directory, strerror(-failed)) : false;
}

/* From the parts to the first URLs: the seeds, or what an earlier process has left. */
static bool fill(struct crawl *crawl, struct tuning_error *error)
{
    bool goes_on = crawl->resume.epoch != 0;
    if (crawl->options->resumes && !resume_restore(&crawl->resume)) {
        lf_store(&crawl->disk_error, crawl->resume.error, relaxed); /* no other thread runs */
        return crawl_refuse(error, "%s", crawl->resume.message);
    }
    if (!crawl_begin_writing(crawl, error) || (crawl->options->resumes && !crawl_read_holds(crawl, error)))
        return false;
    if (!(goes_on ? crawl_name_seeds(crawl, error) && crawl_replay(crawl, error)
                  : crawl_queue_seeds(crawl, error)))
        return explain(crawl, error);
    if (crawl->options->resumes && !crawl_restore_added(crawl, error))
        return explain(crawl, error);
    int failed = commit_now(&crawl->commit);
    if (failed)
        lf_store(&crawl->disk_error, failed, relaxed); /* no other thread runs */
    for (unsigned i = 0; i < crawl->loop_count; i++)
        loop_begin_epoch(&crawl->loops[i]);
    return failed == 0 || crawl_refuse(error, "%s: %s", crawl->directory, strerror(-failed));
}

/* The directory is the crawl's own. */
static bool begin(struct crawl *crawl, struct tuning_error *error)
{
    bool good = crawl_make_places(crawl, error) && crawl_lock_directory(crawl, error) && crawl_make_scratch(crawl, error) &&
                (!crawl->options->resumes || crawl_look_back(crawl, error)) &&
                crawl_open_parts(crawl, error) && fill(crawl, error) && run_threads(crawl, error);
    crawl_close_parts(crawl);
    crawl_remove_scratch(crawl);
    resume_fini(&crawl->resume);
    if (crawl->lock >= 0)
        close(crawl->lock);
    return good;
}

bool crawl_run(struct crawl *crawl, const struct crawl_options *options, struct tuning_error *error)
{
    bool made = false, good = false;
    memset(crawl, 0, sizeof *crawl);
    crawl->options = options;
    crawl->tuning = *options->tuning;
    crawl_override(&crawl->tuning, &options->overrides);
    lf_store(&crawl->live, &crawl->tuning, relaxed);
    crawl->directory = options->directory;
    crawl->disk = &disk_system;
    crawl->lock = -1;
    crawl->loop_count = (unsigned)crawl->tuning.fixed.crawl.threads;
    if (!crawl_check_tuning(crawl, error)) {
        crawl->end.why = CRAWL_END_BAD_TUNING;
    } else if (crawl_scope_seeds(crawl, error) &&
               (options->resumes || crawl_make_directory(crawl->directory, &made, error))) {
        good = begin(crawl, error);
        if (!good && end_is_disk_full(lf_load(&crawl->disk_error, relaxed)))
            crawl->end.why = CRAWL_END_DISK_FULL;
        if (!good && !options->resumes)
            crawl_remove_places(crawl, made);
    }
    if (crawl->trust)
        tls_trust_destroy(crawl->trust);
    if (crawl->scope)
        scope_destroy(crawl->scope);
    sources_fini(&crawl->sources);
    return good;
}
