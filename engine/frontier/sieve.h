/* Lets each URL out exactly once in the whole crawl: given the 64-bit hash of a URL, exactly one
 * caller is told that it is new.
 *
 * Two kinds behind one interface:
 *   signatures   keeps the hash itself, about 11 bytes per URL: wrong only if two URLs share a hash
 *   bloom        some 10 bits per URL: takes a known share of new URLs for known ones, and loses them
 *
 * When the sieve is full, it answers SIEVE_FULL: the URL is not fetched, the crawl continues and reports it.
 * A Bloom filter is full when the expected share of lost URLs has reached SIEVE_BLOOM_RATE_MAX.
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

enum sieve_answer { SIEVE_NEW, SIEVE_KNOWN, SIEVE_FULL };

enum { SIEVE_BATCH_MAX = 64 };

/* A crawl that loses more than one URL in a hundred is not acceptable. */
#define SIEVE_BLOOM_RATE_MAX 0.01

struct sieve {
    enum tuning_sieve kind;
    bool is_shared; /* by more than one loop */
    struct arena arena;
    size_t bytes;
    struct signatures signatures;
    struct bloom bloom;
    uint64_t bloom_count_max;
    LF_ISOLATED _Atomic(uint64_t) bloom_count;
};

struct sieve_loop {
    struct sieve *sieve;
    struct signatures_writer writer;
};

/* 0, or a negative errno. */
int sieve_init(struct sieve *sieve, const struct tuning *tuning);
void sieve_fini(struct sieve *sieve);

void sieve_loop_init(struct sieve_loop *loop, struct sieve *sieve);
void sieve_loop_fini(struct sieve_loop *loop);

/* Answers for up to SIEVE_BATCH_MAX hashes, whose memory is prefetched together. */
void sieve_add(struct sieve_loop *loop, const uint64_t *hashes, size_t count, enum sieve_answer *answers);

/* URLs let out so far, an estimate while loops run. */
uint64_t sieve_count(struct sieve *sieve);
/* How many URLs it can hold. */
uint64_t sieve_capacity(const struct sieve *sieve);
/* The chance that a new URL is taken for a known one, given the present contents. */
double sieve_false_positive_rate(struct sieve *sieve);
