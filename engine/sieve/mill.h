/* Asks a sieve on disk, on a thread of its own. Loops hand over the signatures of URLs in blocks, and get the answers in
 * the same order, some time later:
 *
 *     push -> [block] -> asked ----> mill: a batch of all loops' blocks -> sieve_disk ----> answers -> next
 *                        idle <------'
 *
 * A batch is asked about when it is full, or when that takes a small part of the time: a larger one while the crawl has little
 * else to fetch (mill_hurry). The URLs themselves stay with the loops.
 *
 * The sieve is scratch, like everything that replaces memory: it is empty when the process begins, and mill_learn tells it
 * what an earlier process had fetched.
 *
 * | call                   | by whom                                     |
 * |------------------------|---------------------------------------------|
 * | has_room, push, next   | the loop, for itself                        |
 * | hurry, error           | anybody                                     |
 * | open, learn, start     | one thread, in this order, before the thread of the mill runs |
 * | stop                   | one thread                                  |
 * | init, fini             | one thread, when no other uses it           |
 *
 * No loop ever waits: without room the page at hand has to wait. If the mill stands still, rooms fill up, and that is
 * all. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/sieve/sieve_disk.h"
#include "lockfree/arena.h"
#include "lockfree/atomic.h"
#include "lockfree/ring_spsc.h"

struct mill_block {
    uint32_t count;
    uint64_t signatures[MILL_BLOCK_SIGNATURES];
};

/* The answers to a block. */
struct mill_answers {
    uint32_t count;
    uint64_t is_new[MILL_BLOCK_SIGNATURES / 64];
};

struct mill_loop {
    struct mill *mill;
    struct ring_spsc asked, idle; /* blocks to the mill, and back */
    struct mill_block *filling;   /* NULL: none */
    uint64_t filling_ns;          /* when it was begun */
    struct mill_answers *answers; /* MILL_UNANSWERED_MAX of them, used in turn */
    uint64_t handed;              /* blocks handed over */
    uint64_t taken;               /* blocks whose answers were all taken */
    uint32_t at;                  /* answers taken of the next one */
    uint64_t block_count;

    LF_ISOLATED _Atomic(uint64_t) answered; /* blocks; the mill writes it */
};

/* A block of the batch at hand. */
struct mill_run {
    uint32_t loop;
    uint32_t count;
};

struct mill_options {
    enum sieve_disk_kind kind;
    const struct disk *disk;
    const char *directory; /* of the sieve, as sieve_disk.h says. Outlives the mill */
    unsigned runs;         /* offline: as sieve_disk.h says */
    size_t bytes;          /* of memory, for all but what sieve_disk.h calls fixed */
    unsigned loops;
};

struct mill {
    struct mill_options options;
    struct mill_loop *loops;
    size_t batch_max, known_bytes;
    struct arena arena;
    struct sieve_disk *sieve; /* NULL: not open */
    uint64_t *batch;          /* signatures */
    size_t count;
    struct mill_run *runs; /* of the batch, in order */
    size_t run_count;
    uint64_t *bitmap;
    uint64_t asked_ns; /* when the last batch was answered */
    struct sieve_error failure;
    pthread_t thread;
    bool is_running;
    LF_ISOLATED _Atomic(bool) hurries;
    _Atomic(bool) stops;
    _Atomic(int) error;        /* a negative errno: `failure` says why; nothing is answered any more */
    _Atomic(uint64_t) known;   /* signatures in the sieve */
    _Atomic(uint64_t) work_ns; /* how long the last batch took */
};

/* 0 or a negative errno. Memory that is not used is not touched. */
int mill_init(struct mill *mill, const struct mill_options *options);
void mill_fini(struct mill *mill);

/* Makes an empty sieve. 0 or a negative errno, `mill->failure` says why. */
int mill_open(struct mill *mill);
/* Signatures that are known from the start. 0 or a negative errno. */
int mill_learn(struct mill *mill, uint64_t signature);
/* 0 or a negative errno. */
int mill_start(struct mill *mill);
/* Ends the thread: questions without an answer stay without one. */
void mill_stop(struct mill *mill);

/* Whether so many signatures can be pushed. */
bool mill_has_room(struct mill_loop *loop, size_t count);
/* Asks about a signature. After mill_has_room. */
void mill_push(struct mill_loop *loop, uint64_t signature);
/* The answer to the oldest question that has none yet. False: it has not come. Asked for once per turn at least: then
 * questions that are not a block yet are handed over, too. */
bool mill_next(struct mill_loop *loop, bool *is_new);

/* How long the last batch took. */
static inline uint64_t mill_work_ns(const struct mill *mill)
{
    return lf_load(&mill->work_ns, relaxed); /* a figure, nothing is handed over with it */
}

/* Whether the crawl has little else to fetch. */
static inline void mill_hurry(struct mill *mill, bool hurries)
{
    lf_store(&mill->hurries, hurries, relaxed); /* a wish, nothing is handed over with it */
}
