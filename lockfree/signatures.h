/* Insert-only set of 64-bit signatures (hashes of URLs, say): "was it new?", answered once.
 *
 * | call                       | by whom                             | at the same time as       |
 * |----------------------------|-------------------------------------|---------------------------|
 * | add, add_batch             | any thread, each with its own writer | anything but init        |
 * | has, has_batch, count      | any thread                          | anything but init         |
 * | next (iterate)             | any thread                          | anything but init         |
 * | writer_init, writer_fini   | the writer's thread                 | anything but init         |
 * | init                       | one thread                          | nothing                   |
 *
 * Progress: has and add are lock-free. An add loses a race only to another add that succeeded, and then looks
 * at the same slot again: no waiting.
 *
 * Of all threads that add a signature, exactly one is told NEW. has says true from the moment that some add
 * has returned NEW or KNOWN for it, and what the thread that added it wrote before is seen by a thread told
 * KNOWN.
 *
 * Full: the set takes SIGNATURES_LOAD_NUM/SIGNATURES_LOAD_DEN of its slots and then answers FULL to what it
 * does not know. A writer reserves room for SIGNATURES_CREDIT signatures at a time, so with several writers
 * FULL may come before the last few places of the others are used, never after.
 *
 * All 2^64 signatures are allowed, 0 too. A slot is 8 bytes; the memory is the caller's and must be
 * zeroed. */
#pragma once

#include "lockfree/atomic.h"

/* For an absent signature 1.7 lines are looked at on average when three quarters are full, 4.9 when seven
 * eighths are (1.06 at one half). */
#define SIGNATURES_LOAD_NUM 3
#define SIGNATURES_LOAD_DEN 4
#define SIGNATURES_CREDIT   LF_SCALE(64, 1)

enum signatures_answer {
    SIGNATURES_NEW,
    SIGNATURES_KNOWN,
    SIGNATURES_FULL, /* unknown, and no room for it */
};

struct signatures {
    _Atomic(uint64_t) *slots;
    uint64_t slots_count;
    uint64_t count_max;
    bool plain; /* take the plain C path even where there is a faster one; for tests and comparison */
    LF_ISOLATED _Atomic(uint64_t) reserved; /* places given out to writers */
    _Atomic(uint64_t) zero;                 /* 1 once signature 0 was added; it has no slot */
};

/* What one thread needs to add. */
struct signatures_writer {
    struct signatures *set;
    uint64_t credit; /* places reserved and not used */
    uint64_t losses; /* races lost for a slot */
};

/* Memory for `count_max` signatures at the stated load, aligned to LF_CACHE_LINE. */
size_t signatures_bytes(uint64_t count_max);
/* `bytes` of zeroed memory; any multiple of 64 will do. */
void signatures_init(struct signatures *set, void *memory, size_t bytes);

void signatures_writer_init(struct signatures_writer *writer, struct signatures *set);
/* Gives the unused places back. */
void signatures_writer_fini(struct signatures_writer *writer);

enum signatures_answer signatures_add(struct signatures_writer *writer, uint64_t signature);
/* The answers go to answers[0..count); returns how many were new. */
size_t signatures_add_batch(struct signatures_writer *writer, const uint64_t *signatures, size_t count,
                            enum signatures_answer *answers);

bool signatures_has(struct signatures *set, uint64_t signature);
/* Returns how many there were. */
size_t signatures_has_batch(struct signatures *set, const uint64_t *signatures, size_t count, bool *found);

/* Signatures in the set; those reserved by writers and not yet added are counted too. */
uint64_t signatures_count(struct signatures *set);

/* For checkpoints: start with *cursor = 0; true with the next signature, false at the end. Every signature
 * added before the walk began is met once; one added meanwhile may be met. */
bool signatures_next(struct signatures *set, uint64_t *cursor, uint64_t *signature);
