/* Makes what a crawl has done permanent, epoch by epoch. Belongs to the housekeeper, but for the epoch, which the
 * loops look at.
 *
 *     IDLE -- commit_ns have passed: the epoch is raised --> SEALING
 *     SEALING -- every outlet is held at its seal: COMMIT is written, the outlets are released --> IDLE
 *
 * A loop takes up a new epoch between two verdicts, never within one, and seals its outlets then. So a commit
 * has WARC records, log line and DONE record of a page all together or not at all, and every link of a page that
 * is done. Nobody waits for a commit: loops go on filling blocks while it is made.
 *
 * Beside that, once in sync_ns, all that was committed is synced on a thread of its own, and a SYNCED frame
 * says so; and what the journal has of synced epochs is folded from time to time (fold.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/disk/files.h"
#include "engine/disk/outlet.h"
#include "engine/disk/syncer.h"
#include "engine/state/fold.h"
#include "engine/state/journal.h"
#include "lockfree/atomic.h"

enum { COMMIT_LOOPS_MAX = 64 };

enum commit_sync {
    COMMIT_SYNC_NONE,
    COMMIT_SYNC_FILES,   /* the files, and the journal with the COMMIT that names them */
    COMMIT_SYNC_JOURNAL, /* the SYNCED frame */
};

/* What one loop writes. */
struct commit_loop {
    struct outlet *store; /* NULL: pages are not stored */
    struct outlet *log;
    struct journal_loop *journal; /* NULL: no journal is kept */
};

struct commit_options {
    const struct disk *disk;
    const char *directory; /* of the crawl; outlives the commit */
    uint64_t commit_ns;
    uint64_t sync_ns; /* 0: never, and then a crash of the machine may lose everything */
    bool has_journal;
    const char *store_folder; /* below `directory`; NULL: pages are not stored */
    const char *scratch;      /* for what is sorted when the journal is folded; outlives the commit */
    uint64_t fold_bytes;      /* that the journal has grown by when it is folded; 0: it never is */
    uint64_t journal_bytes;   /* of a file of the journal, before it is followed by another; 0: as usual */
};

struct commit {
    LF_ISOLATED _Atomic(uint64_t) epoch;   /* the one that is being written; loops take it up */
    LF_ISOLATED _Atomic(uint64_t) last_ns; /* when the last commit was made; others read it, and what follows */
    _Atomic(uint64_t) synced_ns;           /* when the last sync ended; 0: none did */
    _Atomic(uint64_t) sync_took_ns;
    _Atomic(uint64_t) age_max_ns;         /* the longest time from one commit to the next */
    _Atomic(uint64_t) folding_age_max_ns; /* likewise, while the journal was being folded */

    struct commit_options options;
    char state[FILES_PATH_BYTES]; /* DIR/state */
    char store[FILES_PATH_BYTES]; /* DIR/warc or DIR/pages, if there is one */
    struct files files;
    struct syncer syncer;
    struct journal journal;
    struct fold fold;
    struct commit_loop loops[COMMIT_LOOPS_MAX];
    unsigned loop_count;
    unsigned stream; /* the next one that is written */
    bool is_sealing;
    bool has_failed;
    uint64_t committed; /* the last epoch that was */
    uint64_t commits;
    uint64_t next_ns;
    enum commit_sync sync;
    uint64_t sync_epoch; /* that is being synced */
    uint64_t sync_begun_ns;
    uint64_t synced;     /* the last epoch of which the journal says that it is, durably */
    uint64_t closed;     /* the last epoch of the journal's files but the one that is written */
    uint64_t sync_next_ns;
    uint64_t hurried; /* the epoch that is to be committed and synced at once; 0: none yet */
};

/* The loops are the owner's to add, before anything is written. */
void commit_init(struct commit *commit, const struct commit_options *options);
void commit_add_loop(struct commit *commit, const struct commit_loop *loop);
void commit_fini(struct commit *commit);

/* Begins a session in the journal: in a new one, or in file `number` behind the `length` bytes that count. `epoch`
 * is that of the last commit; 0: there is none. 0 or a negative errno, as all that follow. */
int commit_begin(struct commit *commit, const struct journal_session *session, struct journal_place place,
                 uint64_t epoch);

/* A bounded piece of work; *wait_ns: after which time there is more. After an error nothing more is written, and
 * the files were cut back to the last commit. */
int commit_turn(struct commit *commit, uint64_t now_ns, uint64_t *wait_ns);
/* Has all that the loops have done so far committed, and synced, as soon as can be, in commit_turn. Returns the epoch with
 * which that is done: once `committed`, and `synced` if anything ever is, have reached it. */
uint64_t commit_hurry(struct commit *commit);
/* Writes what is in the outlets, without a commit. The loops do not run. */
int commit_write(struct commit *commit);
/* Commits at once what is in the outlets. The loops do not run. */
int commit_now(struct commit *commit);
/* The loops have ended: writes, commits and syncs all there is, and closes the files. */
int commit_finish(struct commit *commit);
