/* Keeps the journal short: from time to time its closed files are written once more as one, the base (fold_base.h), on a
 * thread of its own and low priority. What counts is always there, whatever is interrupted:
 *
 *     1  the base is written under another name, and synced
 *     2  it takes the name of the last of the files that it replaces; the directory is synced
 *     3  the other ones are removed
 *
 * A reader begins with the last file that begins with BASE (journal_find). Before 2 that is an earlier one, after 2 the new
 * one; the files before it are of no interest, and a resume removes what 3 has left.
 *
 * Only what is synced is folded: a resumed crawl never goes back behind that. So the crawl goes on meanwhile, and nobody
 * waits. When: the files that came since the last base are as long as `bytes_min` and as long as the base itself, so each
 * byte is written twice or so in a whole crawl, and there is room on the disk.
 *
 * A crawl can do without: what goes wrong is told, and tried again where that may help.
 *
 * Belongs to the housekeeper, except for fold_base and the steps 2 and 3, which the thread does. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "engine/state/fold_base.h"
#include "lockfree/atomic.h"

struct fold_options {
    const struct disk *disk;
    const char *directory; /* DIR/state; outlives the fold */
    const char *scratch;   /* likewise */
    uint64_t bytes_min;    /* 0: nothing is ever folded */
    size_t pairs_max;      /* 0: FOLD_PAIRS_MAX; for tests */
    bool is_inline;        /* the work is done in fold_begin itself; for tests */
};

struct fold {
    struct fold_options options;
    uint64_t room;     /* bytes that the disk has for it */
    unsigned looked;   /* the last file, when it was last looked whether a fold is due */
    bool is_wanted;    /* it was due then, and could not be made: to be tried again */
    bool has_given_up; /* likewise, and what is wrong will stay so: not tried again */
    uint64_t now_ns;   /* when it was last looked */
    uint64_t again_ns; /* not to be tried before */
    bool is_busy;
    bool has_thread;
    pthread_t thread;
    _Atomic(bool) stops;
    struct fold_base_options work; /* what the thread does */
    int error;                     /* of it; negative errno */
    bool is_fatal;                 /* with it, what is on the disk can no longer be trusted */
    uint64_t folds, records;       /* that were made in this process, and what they have read */

    /* For others to read. */
    _Atomic(int) trouble;         /* why nothing is folded that should be, negative errno; 0: all is well */
    _Atomic(bool) trouble_stays;  /* it is not tried again by this process */
    _Atomic(uint64_t) folds_told; /* `folds` */
};

void fold_init(struct fold *fold, const struct fold_options *options);
/* Stops the thread. */
void fold_fini(struct fold *fold);

/* Begins, if it is worth it, to fold what there is up to file `last`: it is closed, it ends with a commit, and all of it
 * is synced, up to `epoch`. Not while it is busy. Where there was no room or no memory it is tried again after a while. */
void fold_begin(struct fold *fold, unsigned last, uint64_t epoch, uint64_t now_ns);
/* True once the work is done. *error: 0, or a negative errno, and then nothing on this disk can be relied on. Only while
 * it is busy. */
bool fold_is_done(struct fold *fold, uint64_t now_ns, int *error);
/* Gives up at once. *error as above. Only while it is busy. */
void fold_stop(struct fold *fold, int *error);
