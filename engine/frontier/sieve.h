/* Admits each URL exactly once in the whole crawl: given the 64-bit hash of a URL, exactly one caller is told that it
 * is new.
 *
 * The kinds behind one interface:
 *   signatures   keeps the hash itself, about 11 bytes per URL: wrong only if two URLs share a hash
 *   bloom        some 10 bits per URL: takes a known share of new URLs for known ones, and loses them
 *   the others   keep the hashes on disk (engine/sieve); in memory each loop has a cache of those it asked about last
 *
 * SIEVE_LATER: only the sieve on disk can tell. The caller has to ask it. Signatures go over to that when they are
 * full, if there is a disk to use. Otherwise the answer is SIEVE_FULL: the URL is not fetched, the crawl continues and
 * reports it. A Bloom filter is full when the expected share of lost URLs has reached SIEVE_BLOOM_RATE_MAX.
 *
 * How signatures go over without admitting a URL twice. When one loop finds them full, another may still have room
 * reserved, and might add the URL that the first one asks the disk about. So each loop agrees, in a turn of its own,
 * to add nothing any more; only when all have agreed, answers from the disk count (sieve_is_settled), and only for
 * what is not in memory by then (sieve_confirm). Asking the disk may begin at once.
 *
 * Shared by all loops, each with a sieve_loop of its own. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/tuning/tuning.h"
#include "lockfree/arena.h"
#include "lockfree/atomic.h"
#include "lockfree/bloom.h"
#include "lockfree/signatures.h"

enum sieve_answer { SIEVE_NEW, SIEVE_KNOWN, SIEVE_LATER, SIEVE_FULL };

enum { SIEVE_BATCH_MAX = 64 };

/* A crawl that loses more than one URL in a hundred is not acceptable. */
#define SIEVE_BLOOM_RATE_MAX 0.01

struct sieve {
    enum tuning_sieve kind;
    unsigned loops;
    bool asks_later; /* a sieve on disk stands behind this one */
    struct arena arena;
    size_t bytes;
    struct signatures signatures;
    struct bloom bloom;
    uint64_t bloom_count_max;
    size_t cache_cells; /* of each loop */
    LF_ISOLATED _Atomic(uint64_t) bloom_count;
    LF_ISOLATED _Atomic(bool) is_over; /* signatures: some loop found them full */
    _Atomic(unsigned) agreed;          /* loops that add nothing any more */
};

struct sieve_loop {
    struct sieve *sieve;
    struct signatures_writer writer;
    bool has_agreed;
    uint64_t *cache; /* hashes that the disk was asked about, each in its one place; 0: none */
};

/* Whether this kind keeps everything on disk. */
static inline bool sieve_is_on_disk(uint64_t kind)
{
    return kind != TUNING_SIEVE_SIGNATURES && kind != TUNING_SIEVE_BLOOM;
}

/* The part of memory.sieve that is left for asking the disk. */
size_t sieve_mill_bytes(const struct tuning *tuning);

/* 0, or a negative errno. */
int sieve_init(struct sieve *sieve, const struct tuning *tuning);
void sieve_fini(struct sieve *sieve);

/* By the thread that called sieve_init. */
void sieve_loop_init(struct sieve_loop *loop, struct sieve *sieve);
void sieve_loop_fini(struct sieve_loop *loop);

/* Once per turn. */
void sieve_turn(struct sieve_loop *loop);
/* Answers for up to SIEVE_BATCH_MAX hashes, whose memory is prefetched together. */
void sieve_add(struct sieve_loop *loop, const uint64_t *hashes, size_t count, enum sieve_answer *answers);

/* Tells of up to SIEVE_BATCH_MAX hashes whether sieve_add would answer SIEVE_KNOWN, as far as memory can tell.
 * Whoever finds a hash here also sees what the loop that was told SIEVE_NEW had written before. */
void sieve_has(struct sieve_loop *loop, const uint64_t *hashes, size_t count, bool *found);

/* Whether the disk has been asked about anything, or will be. */
bool sieve_uses_disk(struct sieve *sieve);
/* Whether answers from the disk count by now. */
bool sieve_is_settled(struct sieve *sieve);
/* The disk says that the hash is new: is it new to what is in memory, too? After sieve_is_settled. */
bool sieve_confirm(struct sieve *sieve, uint64_t hash);

/* URLs admitted so far, without those that only the disk knows. An estimate while loops run. */
uint64_t sieve_count(struct sieve *sieve);
/* How many URLs it can hold. */
uint64_t sieve_capacity(const struct sieve *sieve);
/* The chance that a new URL is taken for a known one, given the present contents. */
double sieve_false_positive_rate(struct sieve *sieve);
