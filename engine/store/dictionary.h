/* A dictionary for zstd, trained on the first records of a loop: later records are then short from their first byte on.
 *
 * The loop adds records until there are enough. Training takes far too long for a loop, so the housekeeper starts a
 * thread for it; meanwhile the loop writes files without a dictionary. When it is there, the loop begins a new file.
 *
 *     GATHERS (the loop) -> GATHERED (the housekeeper) -> TRAINS (the thread) -> READY or FAILED
 *
 * `stage` says who owns the rest. Nobody waits for anybody: each looks at it and goes on.
 *
 * | call       | by whom         |
 * |------------|-----------------|
 * | add, ready | the loop        |
 * | serve      | the housekeeper |
 * | init, fini | one thread, when the others do not run |
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "lockfree/atomic.h"
#include "net/slice.h"

struct ZSTD_CDict_s;

enum dictionary_stage {
    DICTIONARY_NONE, /* none is wanted */
    DICTIONARY_GATHERS,
    DICTIONARY_GATHERED,
    DICTIONARY_TRAINS,
    DICTIONARY_READY,
    DICTIONARY_FAILED, /* the records have nothing in common, or there is no memory */
};

/* All zero: none. */
struct dictionary {
    _Atomic(unsigned) stage; /* enum dictionary_stage */
    int level;               /* of zstd */
    char *samples;           /* records, one after another */
    size_t *sizes;
    size_t used;
    unsigned count;
    bool has_thread; /* the housekeeper's */
    pthread_t thread;
    char *text; /* what a reader needs */
    size_t bytes;
    struct ZSTD_CDict_s *digested; /* the same for the compressor */
};

/* False: no memory. */
bool dictionary_init(struct dictionary *dictionary, int level);
/* Waits for the thread. May be called twice, and after a failed dictionary_init. */
void dictionary_fini(struct dictionary *dictionary);

/* No-op once there are enough. */
void dictionary_add(struct dictionary *dictionary, struct slice record);
/* Whether it can be used; then it stays as it is. */
bool dictionary_ready(const struct dictionary *dictionary);
/* Starts the training once there are enough records. */
void dictionary_serve(struct dictionary *dictionary);
