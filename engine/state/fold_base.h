/* Writes files of the journal once more, as one: the base. It says the same in fewer words, and a resumed crawl cannot
 * tell the difference:
 *
 *   URL, DONE      a URL that is done becomes a KNOWN signature, and its DONE record is added to TOTALS. A URL that waits
 *                  is kept, with its VIA; of several records of one URL, the first
 *   VISIT          of each host the last end, and behind it the first begin and the last. DONE records of pages behind that end are
 *                  kept, for the limits per host
 *   SESSION        kept where it is: it ends the visits that were open
 *   COMMIT         the last one and the one before it, and in FILES what all of them say
 *   SYNCED         of that commit
 *
 *     BASE | KNOWN ... | what is kept, in the order of the journal | TOTALS | FILES | COMMIT | SYNCED
 *
 * The files are read twice. The first time, signatures are sorted (fold_sort): where no DONE record and no KNOWN one has
 * the signature of a URL, it waits. Memory: FOLD_PAIRS_MAX * 36 bytes, FOLD_RUN_BYTES for each FOLD_PAIRS_MAX records,
 * one bit per record, and 64 bytes for each visit that is open. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "lockfree/atomic.h"

struct fold_base_options {
    const struct disk *disk;
    const char *directory;      /* DIR/state */
    const char *scratch;        /* directory of files that are removed at the end */
    unsigned first, last;       /* files; they are not written to any more, and end with a commit */
    uint64_t epoch_max;         /* up to which all is synced */
    size_t pairs_max;           /* that are sorted at a time */
    const _Atomic(bool) *stops; /* true: give up */
};

struct fold_base_result {
    int error; /* 0 or a negative errno. -ECANCELED: given up; -EBADMSG: the journal is damaged */
    bool has_failed_sync;
    uint64_t records; /* that were read, each once */
};

/* To DIR/state/JOURNAL_FOLD_NAME, synced. After an error nothing is left of it. */
struct fold_base_result fold_base_write(const struct fold_base_options *options);
