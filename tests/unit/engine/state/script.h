/* A crawl of a tiny web, played by one thread on a disk in memory: two loops and the housekeeper take turns at random. The
 * loops do with their outlets what ledger, harvest and store do, in the same order, and take up a new epoch
 * where ledger.h allows it. The script knows in which epoch each URL was admitted and each verdict was given, so what a
 * recovery brings back can be compared with what it should bring back.
 *
 *     a URL         admitted ("U") -> taken -> its links are admitted, one by one -> verdict
 *     a verdict     a record in a WARC file, a line in crawl.log, a DONE record; all of one epoch */
#pragma once

#include <stdlib.h>

#include "engine/state/commit.h"
#include "engine/state/resume.h"
#include "tests/support/check.h"
#include "tests/support/disk_model.h"

enum {
    SCRIPT_URLS = 40,
    SCRIPT_SEEDS = 2,
    SCRIPT_LINKS = 3, /* of each page */
    SCRIPT_LOOPS = 2,
    SCRIPT_RECORDS_PER_FILE = 3,
    SCRIPT_JOURNAL_BYTES = 2000, /* of a file: some are reached */
    SCRIPT_RESERVE_BYTES = 1000, /* ahead of its end */
    SCRIPT_FOLD_BYTES = 1,       /* whatever is closed and not shorter than the base */
    SCRIPT_FOLD_PAIRS = 16,      /* that are sorted at a time, so that some have to be merged */
    SCRIPT_PAGE_BYTES = 64,
    SCRIPT_BLOCKS = 8, /* of each outlet */
};

/* Mistakes that the checks have to find. */
enum script_plant {
    PLANT_NONE,
    PLANT_ADOPT_IN_VERDICT,  /* between the WARC record and the DONE record */
    PLANT_ADOPT_AFTER_KNOWN, /* between the moment a URL is known and its record */
    PLANT_NO_ADOPTION,       /* before a verdict */
    PLANT_LOG_LEFT_OUT,      /* a commit does not wait for one loop's log */
    PLANT_STORE_LEFT_OUT,    /* the same with its WARC file */
    PLANT_SYNCS_LOST,        /* a WARC file is renamed and told of without a sync before */
    PLANT_JOURNAL_SYNCS_LOST,
    PLANT_DIRECTORY_SYNCS_LOST,
    PLANT_NO_CUT,           /* a restore that does not shorten files */
    PLANT_FOLD_SYNCS_LOST,  /* a base is renamed without a sync before */
    PLANT_FOLD_RENAME_LOST, /* files are removed before the new name of the base is durable */
    PLANT_FOLD_TOO_EARLY,   /* what is not synced is folded */
    PLANT_COUNT,
};

struct script_loop {
    struct outlet store, log;
    struct journal_loop journal;
    uint64_t adopted;
    int url;                /* whose page is being read; -1: none */
    unsigned links;         /* of it, that were looked at */
    unsigned in_file, file; /* records in the WARC file, and its number; 0: there is none yet */
};

struct script {
    struct disk_model model;
    struct commit commit;
    struct outlet *left_out; /* PLANT_*_LEFT_OUT */
    struct script_loop loops[SCRIPT_LOOPS];
    enum script_plant plant;
    uint64_t random;
    uint64_t now_ns;
    unsigned session;
    bool has_session; /* its frame is in the journal */
    bool is_playing;  /* the loops run, and may interrupt each other */
    bool is_new_boot; /* the machine has crashed before this session */
    int error;        /* of the first call that failed */
    uint64_t folds;   /* of all sessions */

    /* what is true */
    uint64_t admitted_in[SCRIPT_URLS]; /* epoch; 0: not yet */
    uint64_t done_in[SCRIPT_URLS];
    bool is_known[SCRIPT_URLS]; /* to the sieve */
    bool is_taken[SCRIPT_URLS];

    /* what a recovery must bring back at least */
    uint64_t committed, synced;
};

static inline uint64_t script_chance(struct script *script, uint64_t n)
{
    return disk_model_random(&script->random) % n;
}

/* Two pages each have the same links, so one loop often finds what the other has just admitted. */
static inline unsigned script_link(unsigned url, unsigned index)
{
    return (url / 2 * 3 + 2 + index * 5) % SCRIPT_URLS;
}

static inline void script_take_error(struct script *script, int error)
{
    script->error = script->error ? script->error : error;
}

/* What a loop does. */

static inline void script_loop_step(struct script *script, unsigned index);
static inline void script_housekeeper_step(struct script *script);

/* Other threads run while a loop is in the middle of something. */
static inline void script_interrupt(struct script *script, const struct script_loop *loop)
{
    if (!script->is_playing || script->error)
        return;
    script->is_playing = false;
    for (uint64_t i = script_chance(script, 8); i > 0 && !script->error; i--) {
        if (script_chance(script, 2))
            script_housekeeper_step(script);
        else
            script_loop_step(script, loop == &script->loops[0]);
    }
    script->is_playing = true;
}

/* It runs while a loop seals its outlets, too. */
static inline void script_wake_housekeeper(struct script *script)
{
    bool was_playing = script->is_playing;
    script->is_playing = false;
    if (was_playing && script_chance(script, 3) == 0)
        script_housekeeper_step(script);
    script->is_playing = was_playing;
}

static inline void script_adopt(struct script *script, struct script_loop *loop)
{
    uint64_t epoch = lf_load(&script->commit.epoch, relaxed); /* there is one thread */
    if (epoch == loop->adopted)
        return;
    outlet_seal(&loop->store);
    script_wake_housekeeper(script);
    journal_seal(&loop->journal, epoch);
    script_wake_housekeeper(script);
    outlet_seal(&loop->log);
    loop->adopted = epoch;
}

static inline void script_record(struct script *script, struct script_loop *loop, unsigned url)
{
    char text[32], via[32];
    size_t len = (size_t)snprintf(text, sizeof text, "http://h%u/%u", url % 5, url);
    size_t via_len = loop->url < 0 ? 0 : (size_t)snprintf(via, sizeof via, "http://h/%d", loop->url);
    script->admitted_in[url] = loop->adopted;
    struct record_url record = {.signature = url, .kind = 'L', .text = {text, len}};
    journal_add_url(&loop->journal, &record, (struct slice){via, via_len});
}

/* No adoption between the sieve's answer and the record. */
static inline void script_admit(struct script *script, struct script_loop *loop, unsigned url)
{
    if (script->is_known[url])
        return;
    script->is_known[url] = true;
    script_interrupt(script, loop);
    if (script->plant == PLANT_ADOPT_AFTER_KNOWN)
        script_adopt(script, loop);
    script_record(script, loop, url);
}

static inline void script_visit(struct script_loop *loop, unsigned url, bool is_end)
{
    char key[32];
    size_t len = (size_t)snprintf(key, sizeof key, "http://h%u", url % 5);
    struct record_visit record = {.is_end = is_end, .host_us = url + 1, .key = {key, len}};
    journal_add_visit(&loop->journal, &record);
}

static inline void script_begin_page(struct script *script, struct script_loop *loop)
{
    unsigned from = (unsigned)script_chance(script, SCRIPT_URLS);
    script_adopt(script, loop); /* at the start of a turn */
    for (unsigned i = 0; i < SCRIPT_URLS && loop->url < 0; i++) {
        unsigned url = (from + i) % SCRIPT_URLS;
        if (script->admitted_in[url] && !script->is_taken[url])
            loop->url = (int)url;
    }
    if (loop->url < 0)
        return;
    script->is_taken[loop->url] = true;
    loop->links = 0;
    script_visit(loop, (unsigned)loop->url, false);
}

static inline void script_store(struct script *script, struct script_loop *loop, unsigned index)
{
    char name[40], record[256];
    unsigned body = (unsigned)script_chance(script, 150);
    if (loop->file == 0 || loop->in_file == SCRIPT_RECORDS_PER_FILE) {
        snprintf(name, sizeof name, "warc/s%u-%u-%u", script->session, index, ++loop->file);
        CHECK(outlet_open(&loop->store, name));
        loop->in_file = 0;
    }
    int len = snprintf(record, sizeof record, "W%03d %03u %*s\n", loop->url, body, (int)body, "");
    outlet_append(&loop->store, (struct slice){record, (size_t)len});
    loop->in_file++;
}

static inline void script_verdict(struct script *script, struct script_loop *loop, unsigned index)
{
    char line[16];
    if (script->plant != PLANT_NO_ADOPTION)
        script_adopt(script, loop); /* before the verdict */
    script->done_in[loop->url] = loop->adopted;
    script_store(script, loop, index);
    script_interrupt(script, loop);
    if (script->plant == PLANT_ADOPT_IN_VERDICT)
        script_adopt(script, loop);
    int len = snprintf(line, sizeof line, "L%03d\n", loop->url);
    outlet_append_whole(&loop->log, (struct slice){line, (size_t)len});
    script_interrupt(script, loop);
    journal_add_done(&loop->journal, &(struct record_done){.signature = (uint64_t)loop->url, .status = 200});
    script_visit(loop, (unsigned)loop->url, true);
    loop->url = -1;
}

static inline bool script_has_room(struct script_loop *loop)
{
    return outlet_room(&loop->store) > 2 * OUTLET_BLOCK_BYTES &&
           outlet_room(&loop->log) > OUTLET_BLOCK_BYTES && journal_has_room(&loop->journal);
}

static inline void script_loop_step(struct script *script, unsigned index)
{
    struct script_loop *loop = &script->loops[index];
    if (script_chance(script, 6) == 0)
        outlet_flush(&loop->journal.outlet);
    if (script_chance(script, 6) == 0)
        outlet_flush(&loop->store);
    if (script_chance(script, 6) == 0)
        outlet_flush(&loop->log);
    if (!script_has_room(loop))
        script_adopt(script, loop);
    else if (loop->url < 0)
        script_begin_page(script, loop);
    else if (loop->links < SCRIPT_LINKS)
        script_admit(script, loop, script_link((unsigned)loop->url, loop->links++));
    else
        script_verdict(script, loop, index);
}

/* What the housekeeper does. */

static inline void script_note_commit(struct script *script)
{
    const struct commit *commit = &script->commit;
    if (script->error)
        return;
    script->committed = commit->committed;
    /* The syncer works at once here, but is asked for its result later. */
    if (commit->sync == COMMIT_SYNC_JOURNAL && !commit->syncer.error && commit->sync_epoch > script->synced)
        script->synced = commit->sync_epoch;
}

static inline void script_housekeeper_step(struct script *script)
{
    uint64_t wait_ns;
    script->now_ns += script_chance(script, 3);
    if (script->left_out) {
        outlet_release(script->left_out);
        outlet_drain(script->left_out);
    }
    if (script->plant == PLANT_FOLD_TOO_EARLY)
        script->commit.synced = script->commit.committed;
    script_take_error(script, commit_turn(&script->commit, script->now_ns, &wait_ns));
    script_note_commit(script);
}

/* A session: from its first call to its end. */

static inline void script_open_loops(struct script *script)
{
    script->left_out = NULL;
    for (unsigned i = 0; i < SCRIPT_LOOPS; i++) {
        struct script_loop *loop = &script->loops[i];
        struct outlet_options options = {.files = &script->commit.files,
                                         .bytes = SCRIPT_BLOCKS * sizeof(struct outlet_block)};
        *loop = (struct script_loop){.url = -1};
        CHECK_INT(outlet_init(&loop->store, &options), 0);
        options.is_shared = true;
        CHECK_INT(outlet_init(&loop->log, &options), 0);
        CHECK_INT(journal_loop_init(&loop->journal, i), 0);
        CHECK(outlet_open(&loop->log, "crawl.log"));
        struct commit_loop writes = {.store = &loop->store, .log = &loop->log, .journal = &loop->journal};
        if (i == 1 && script->plant == PLANT_LOG_LEFT_OUT) {
            script->left_out = writes.log;
            writes.log = &script->loops[0].log;
        }
        if (i == 1 && script->plant == PLANT_STORE_LEFT_OUT) {
            script->left_out = writes.store;
            writes.store = NULL;
        }
        commit_add_loop(&script->commit, &writes);
    }
}

/* Goes on from `place`, if `epoch` is not 0. */
static inline void script_begin(struct script *script, struct journal_place place, uint64_t epoch)
{
    struct commit_options options = {.disk = &script->model.disk,
                                     .directory = "d",
                                     .commit_ns = 2,
                                     .sync_ns = 5,
                                     .has_journal = true,
                                     .store_folder = "warc",
                                     .scratch = "d/scratch",
                                     .fold_bytes = SCRIPT_FOLD_BYTES,
                                     .journal_bytes = SCRIPT_JOURNAL_BYTES};
    struct journal_session session = {.version = "test"};
    resume_boot_id(session.boot_id);
    script->session++;
    script->has_session = false;
    script->error = 0;
    script->now_ns = 0;
    commit_init(&script->commit, &options);
    script->commit.syncer.is_inline = true;
    script->commit.journal.reserve_bytes = SCRIPT_RESERVE_BYTES;
    script->commit.fold.options.is_inline = true;
    script->commit.fold.options.pairs_max = SCRIPT_FOLD_PAIRS;
    script_open_loops(script);
    script_take_error(script, commit_begin(&script->commit, &session, place, epoch));
    script->has_session = !script->error;
    for (unsigned i = 0; i < SCRIPT_LOOPS; i++)
        script->loops[i].adopted = script->loops[i].journal.epoch = epoch + 1;
    for (unsigned i = 0; i < SCRIPT_SEEDS && epoch == 0; i++)
        script_admit(script, &script->loops[0], i);
    if (!script->error)
        script_take_error(script, commit_now(&script->commit));
    script_note_commit(script);
    for (unsigned i = 0; i < SCRIPT_LOOPS; i++)
        script->loops[i].adopted = script->loops[i].journal.epoch =
            lf_load(&script->commit.epoch, relaxed); /* there is one thread */
}

static inline void script_play(struct script *script, unsigned steps)
{
    script->is_playing = true;
    for (unsigned i = 0; i < steps && !script->error; i++) {
        uint64_t who = script_chance(script, 2 * SCRIPT_LOOPS + 1);
        if (who < 2 * SCRIPT_LOOPS)
            script_loop_step(script, (unsigned)who / 2);
        else
            script_housekeeper_step(script);
    }
    script->is_playing = false;
}

/* Frees what a session has. */
static inline void script_close(struct script *script)
{
    script->folds += script->commit.fold.folds;
    commit_fini(&script->commit);
    for (unsigned i = 0; i < SCRIPT_LOOPS; i++) {
        outlet_fini(&script->loops[i].store);
        outlet_fini(&script->loops[i].log);
        journal_loop_fini(&script->loops[i].journal);
    }
}

/* The process is no more: memory is freed, the disk is not touched. */
static inline void script_die(struct script *script)
{
    script->model.on_change = NULL;
    script->model.dies_at = 1;
    script_close(script);
    script->model.dies_at = 0;
}

/* The loops end in order, and the crawl with them: the last commit has all there is. */
static inline void script_end(struct script *script)
{
    uint64_t last = script->commit.committed + 1;
    for (unsigned i = 0; i < SCRIPT_URLS; i++) {
        script->admitted_in[i] = script->admitted_in[i] < last ? script->admitted_in[i] : last;
        script->done_in[i] = script->done_in[i] < last ? script->done_in[i] : last;
    }
    for (unsigned i = 0; i < SCRIPT_LOOPS; i++) {
        outlet_flush(&script->loops[i].store);
        outlet_flush(&script->loops[i].log);
        outlet_flush(&script->loops[i].journal.outlet);
    }
    script_take_error(script, commit_finish(&script->commit));
    if (!script->error)
        script->committed = script->synced = script->commit.committed;
}

/* What came after the commit that a recovery has chosen was never done. */
static inline void script_go_back(struct script *script, uint64_t epoch)
{
    script->committed = script->synced = epoch;
    for (unsigned i = 0; i < SCRIPT_URLS; i++) {
        if (script->admitted_in[i] > epoch)
            script->admitted_in[i] = 0;
        if (script->done_in[i] > epoch)
            script->done_in[i] = 0;
        script->is_known[i] = script->admitted_in[i] != 0;
        script->is_taken[i] = script->done_in[i] != 0;
    }
}

static inline void script_init(struct script *script, uint64_t seed, enum script_plant plant)
{
    memset(script, 0, sizeof *script);
    disk_model_init(&script->model);
    script->model.page_bytes = SCRIPT_PAGE_BYTES;
    if (plant == PLANT_SYNCS_LOST || plant == PLANT_JOURNAL_SYNCS_LOST)
        script->model.loses_syncs_of = plant == PLANT_SYNCS_LOST ? "/warc/" : "/journal-";
    if (plant == PLANT_FOLD_SYNCS_LOST)
        script->model.loses_syncs_of = JOURNAL_FOLD_NAME;
    script->model.loses_renames_of = plant == PLANT_FOLD_RENAME_LOST ? JOURNAL_FOLD_NAME : NULL;
    script->model.loses_directory_syncs = plant == PLANT_DIRECTORY_SYNCS_LOST;
    script->random = seed;
    script->plant = plant;
}

static inline void script_fini(struct script *script)
{
    disk_model_fini(&script->model);
}
