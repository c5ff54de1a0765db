#include "engine/state/commit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "engine/state/limits.h"
#include "lockfree/clock.h"

/* Of each loop: log, journal and store. */
enum { STREAMS = 3 };

void commit_init(struct commit *commit, const struct commit_options *options)
{
    memset(commit, 0, sizeof *commit);
    commit->options = *options;
    snprintf(commit->state, sizeof commit->state, "%s/state", options->directory);
    files_init(&commit->files, options->disk, options->directory);
    syncer_init(&commit->syncer, &commit->files, options->sync_ns != 0);
    commit->syncer.directories[0] = options->directory;
    unsigned count = 1;
    if (options->store_folder) {
        snprintf(commit->store, sizeof commit->store, "%s/%s", options->directory, options->store_folder);
        commit->syncer.directories[count++] = commit->store;
    }
    if (options->has_journal)
        commit->syncer.directories[count] = commit->state;
    journal_init(&commit->journal, options->disk, commit->state);
    if (options->journal_bytes)
        commit->journal.file_bytes_max = options->journal_bytes;
    fold_init(&commit->fold, &(struct fold_options){.disk = options->disk,
                                                    .directory = commit->state,
                                                    .scratch = options->scratch,
                                                    .bytes_min = options->sync_ns ? options->fold_bytes : 0});
    lf_store(&commit->epoch, 1, relaxed);
}

void commit_add_loop(struct commit *commit, const struct commit_loop *loop)
{
    commit->loops[commit->loop_count++] = *loop;
}

void commit_fini(struct commit *commit)
{
    fold_fini(&commit->fold);
    syncer_fini(&commit->syncer);
    files_fini(&commit->files);
    journal_close(&commit->journal);
}

static bool is_disk_full(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

/* Whether what was written is still there: the disk was only full, and that was found by a write. A file system may also find
 * it only at a sync, and has dropped by then what it had taken. */
static bool has_kept(const struct commit *commit, int error)
{
    return is_disk_full(error) && !commit->syncer.has_lost && !commit->journal.has_lost && !commit->fold.is_fatal;
}

/* Nothing more is written. What is there is cut back to the last commit; if that one cannot be trusted either, the journal
 * says so. */
static int fail(struct commit *commit, int error)
{
    if (commit->has_failed)
        return error;
    commit->has_failed = true;
    fold_fini(&commit->fold);
    if (commit->syncer.is_busy)
        syncer_finish(&commit->syncer);
    files_cut(&commit->files);
    if (commit->options.has_journal && !has_kept(commit, error))
        journal_failed(&commit->journal);
    commit->journal.has_failed = true;
    for (unsigned i = 0; i < commit->loop_count; i++) {
        commit->loops[i].log->has_failed = true;
        if (commit->loops[i].store)
            commit->loops[i].store->has_failed = true;
    }
    return error;
}

int commit_begin(struct commit *commit, const struct journal_session *session, struct journal_place place,
                 uint64_t epoch)
{
    commit->committed = commit->synced = commit->closed = epoch; /* what is resumed from is synced */
    lf_store(&commit->epoch, epoch + 1, relaxed);                /* no loop runs yet */
    if (!commit->options.has_journal)
        return 0;
    commit->files.has_new_names = true;
    int error = journal_open(&commit->journal, place);
    return error ? error : journal_begin_session(&commit->journal, epoch + 1, session);
}

/* One block of one stream: each loop has three of them. 1: done, there may be more; 0: there is none; or an error. */
static int write_one(struct commit *commit, unsigned stream)
{
    const struct commit_loop *loop = &commit->loops[stream / STREAMS];
    switch (stream % STREAMS) {
    case 0:
        return outlet_write(loop->log);
    case 1:
        return loop->journal ? journal_write(&commit->journal, loop->journal) : 0;
    default:
        return loop->store ? outlet_write(loop->store) : 0;
    }
}

/* Blocks of all streams by turns, for a bounded time: on a slow disk the next turn goes on with the next stream. 1: there
 * is more to write; 0: there is not, at this moment; or an error. */
static int write_some(struct commit *commit)
{
    const uint64_t until_ns = clock_now_ns() + COMMIT_WORK_NS;
    unsigned streams = STREAMS * commit->loop_count, idle = 0;
    while (idle < streams) {
        int result = write_one(commit, commit->stream);
        if (result < 0)
            return fail(commit, result);
        commit->stream = (commit->stream + 1) % streams;
        idle = result ? 0 : idle + 1;
        if (result && clock_now_ns() >= until_ns)
            return 1;
    }
    return 0;
}

static bool is_all_held(const struct commit *commit)
{
    for (unsigned i = LF_BUG(epoch_without_one_seal, 0, 1); i < commit->loop_count; i++) {
        const struct commit_loop *loop = &commit->loops[i];
        if (!loop->log->is_held || (loop->store && !loop->store->is_held) ||
            (loop->journal && !loop->journal->outlet.is_held))
            return false;
    }
    return true;
}

static void release_all(struct commit *commit)
{
    for (unsigned i = 0; i < commit->loop_count; i++) {
        const struct commit_loop *loop = &commit->loops[i];
        outlet_release(loop->log);
        if (loop->store)
            outlet_release(loop->store);
        if (loop->journal)
            outlet_release(&loop->journal->outlet);
    }
}

/* A commit was made. How old the one before it had become is kept for who wants to know what disturbs it. */
static void note_age(struct commit *commit)
{
    uint64_t now_ns = clock_now_ns(), last_ns = lf_load(&commit->last_ns, relaxed);
    uint64_t age_ns = last_ns && now_ns > last_ns ? now_ns - last_ns : 0;
    if (age_ns > lf_load(&commit->age_max_ns, relaxed))
        lf_store(&commit->age_max_ns, age_ns, relaxed);
    if (commit->fold.is_busy && age_ns > lf_load(&commit->folding_age_max_ns, relaxed))
        lf_store(&commit->folding_age_max_ns, age_ns, relaxed);
    lf_store(&commit->last_ns, now_ns, relaxed); /* numbers that others look at */
}

/* All that was written is of this epoch or an earlier one. */
static int make(struct commit *commit, uint64_t epoch)
{
    int error = commit->options.has_journal ? journal_commit(&commit->journal, epoch, &commit->files) : 0;
    if (error)
        return fail(commit, error);
    files_commit(&commit->files);
    commit->committed = epoch;
    commit->commits++;
    note_age(commit);
    if (!commit->options.has_journal || commit->syncer.is_busy)
        return 0;
    unsigned number = commit->journal.end.number;
    error = journal_turn_over(&commit->journal);
    if (commit->journal.end.number != number) {
        commit->files.has_new_names = true; /* what the new file says is lost if its name is */
        commit->closed = epoch;
    }
    return error ? fail(commit, error) : 0;
}

uint64_t commit_hurry(struct commit *commit)
{
    commit->hurried = lf_load(&commit->epoch, relaxed); /* only this thread raises it; no loop is beyond it */
    return commit->hurried;
}

static bool is_sync_due(const struct commit *commit, uint64_t now_ns)
{
    bool is_hurried = commit->committed >= commit->hurried && commit->synced < commit->hurried;
    return now_ns >= commit->sync_next_ns || (is_hurried && commit->options.sync_ns);
}

static void note_synced(struct commit *commit)
{
    uint64_t now_ns = clock_now_ns();
    commit->synced = commit->sync_epoch;
    lf_store(&commit->sync_took_ns, now_ns - commit->sync_begun_ns, relaxed); /* numbers that others look at */
    lf_store(&commit->synced_ns, now_ns, relaxed);
}

/* Begins, goes on with or ends a sync. */
static int sync_step(struct commit *commit, uint64_t now_ns)
{
    int error = 0, journal = commit->journal.fd;
    switch (commit->sync) {
    case COMMIT_SYNC_NONE:
        if (!is_sync_due(commit, now_ns) || commit->committed == 0)
            return 0;
        commit->sync_next_ns = now_ns + (commit->options.sync_ns ? commit->options.sync_ns : CLOCK_NS_PER_S);
        commit->sync_epoch = commit->committed;
        commit->sync_begun_ns = now_ns;
        commit->sync = COMMIT_SYNC_FILES;
        syncer_begin(&commit->syncer, journal);
        return 0;
    case COMMIT_SYNC_FILES:
        if (!syncer_is_done(&commit->syncer, &error))
            return 0;
        commit->sync = COMMIT_SYNC_NONE;
        if (error || !commit->options.has_journal || !commit->options.sync_ns)
            return error;
        error = journal_synced(&commit->journal, commit->sync_epoch);
        if (!error) {
            commit->sync = COMMIT_SYNC_JOURNAL;
            syncer_begin_journal(&commit->syncer, journal);
        }
        return error;
    case COMMIT_SYNC_JOURNAL:
        if (!syncer_is_done(&commit->syncer, &error))
            return 0;
        commit->sync = COMMIT_SYNC_NONE;
        if (!error)
            note_synced(commit);
        return error;
    }
    return 0;
}

/* Begins a fold of the closed files, or ends it. */
static int fold_step(struct commit *commit, uint64_t now_ns)
{
    int error = 0;
    if (commit->fold.is_busy)
        fold_is_done(&commit->fold, now_ns, &error);
    else if (commit->options.has_journal && commit->synced >= commit->closed)
        fold_begin(&commit->fold, commit->journal.end.number - 1, commit->synced, now_ns);
    return error;
}

int commit_turn(struct commit *commit, uint64_t now_ns, uint64_t *wait_ns)
{
    *wait_ns = COMMIT_LOOK_NS;
    bool is_due = now_ns >= commit->next_ns || commit->committed < commit->hurried;
    if (!commit->is_sealing && !commit->has_failed && is_due) {
        commit->is_sealing = true;
        commit->next_ns = now_ns + commit->options.commit_ns;
        lf_store(&commit->epoch, commit->committed + 2, release); /* R1 pairs with A1 in ledger_adopt */
    }
    if (commit->has_failed)
        release_all(commit); /* what the loops hand over is thrown away, and they get their blocks back */
    int written = write_some(commit);
    if (written < 0)
        return written;
    if (written)
        *wait_ns = 0;
    if (commit->has_failed)
        return 0;
    if (commit->is_sealing && is_all_held(commit)) {
        int error = make(commit, commit->committed + 1);
        if (error)
            return error;
        commit->is_sealing = false;
        release_all(commit);
    }
    int error = sync_step(commit, now_ns);
    error = error ? error : fold_step(commit, now_ns);
    return error ? fail(commit, error) : 0;
}

/* Writes all blocks, over seals. */
static int write_rest(struct commit *commit, bool finishes)
{
    for (unsigned i = 0; i < commit->loop_count; i++) {
        const struct commit_loop *loop = &commit->loops[i];
        int error = 0, result;
        if (loop->store)
            error = finishes ? outlet_finish(loop->store) : outlet_drain(loop->store);
        if (!error)
            error = finishes ? outlet_finish(loop->log) : outlet_drain(loop->log);
        while (!error && loop->journal) {
            result = journal_write(&commit->journal, loop->journal);
            error = result < 0 ? result : 0;
            if (result == 0 && !loop->journal->outlet.is_held)
                break;
            outlet_release(&loop->journal->outlet);
        }
        if (error)
            return error;
    }
    return 0;
}

int commit_write(struct commit *commit)
{
    int error = write_rest(commit, false);
    return error ? fail(commit, error) : 0;
}

int commit_now(struct commit *commit)
{
    for (unsigned i = 0; i < commit->loop_count; i++)
        if (commit->loops[i].journal)
            outlet_flush(&commit->loops[i].journal->outlet);
    int error = commit_write(commit);
    error = error ? error : make(commit, commit->committed + 1);
    lf_store(&commit->epoch, commit->committed + 1, relaxed); /* no loop runs */
    return error;
}

/* All files get their final names, and the journal an end. */
static int close_all(struct commit *commit)
{
    bool has_journal = commit->options.has_journal;
    int error = commit->syncer.is_busy ? syncer_finish(&commit->syncer) : 0;
    if (!error)
        error = make(commit, commit->committed + 1);
    if (error)
        return error;
    commit->sync_epoch = commit->committed;
    commit->sync_begun_ns = clock_now_ns();
    syncer_begin(&commit->syncer, commit->journal.fd);
    error = syncer_finish(&commit->syncer);
    if (!error && has_journal && commit->options.sync_ns)
        error = journal_synced(&commit->journal, commit->committed);
    if (!error && has_journal && commit->options.sync_ns)
        note_synced(commit);
    if (!error && has_journal)
        error = journal_end(&commit->journal, commit->committed);
    if (!error && has_journal) {
        syncer_begin_journal(&commit->syncer, commit->journal.fd);
        error = syncer_finish(&commit->syncer);
    }
    return error;
}

int commit_finish(struct commit *commit)
{
    int error = 0;
    if (commit->fold.is_busy)
        fold_stop(&commit->fold, &error);
    error = error ? error : write_rest(commit, true);
    if (!error && !commit->has_failed)
        error = close_all(commit);
    return error ? fail(commit, error) : 0;
}
