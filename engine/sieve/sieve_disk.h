/* A sieve that lives on disk: which of these signatures are new? Asked in batches, answered exactly. It is scratch: empty
 * when it is opened, and gone when it is closed.
 *
 *     mercator   the newest in memory, all others in Z, a sorted file, which is rewritten when memory is full
 *     offline    when memory is full, it is written as a sorted run, and Z is rewritten once for several of them
 *     rocks      a RocksDB database; where the build had librocksdb
 *
 * The signatures of a batch are in order of discovery. New is what is in no earlier batch, and its first occurrence in
 * this one.
 *
 * mercator and offline have a Bloom filter of all that is known. What it does not have needs no disk; what it has is looked up
 * in the files, a block of 4 KiB for each question, or all of a file if there are many. The filter gets worse as more is
 * known: with 10 bits for each signature one new one in a hundred is looked up, with 6 one in ten, with 3 every other.
 *
 * After an error only close may be called. What is read is checked: damage to a file is found by the question or the merge
 * that meets it.
 *
 * One thread, which may block. Memory is taken at open, and occupied as it is needed:
 *
 *     mercator   12 bytes * batch_max + bytes + 10 MiB; for a small `bytes` more: `recent` holds a batch at least
 *     offline    the same with 2 MiB + 1 MiB * runs
 *     rocks      8 bytes * batch_max + 64 MiB, and 2 bytes for each signature in the database (filters, index): RocksDB's
 *                part is measured, not promised */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "engine/sieve/limits.h"
#include "engine/sieve/sieve_error.h"

enum sieve_disk_kind { SIEVE_DISK_MERCATOR, SIEVE_DISK_OFFLINE, SIEVE_DISK_ROCKS };

struct sieve_disk_options {
    enum sieve_disk_kind kind;
    const struct disk *disk; /* rocks: only for removing files, RocksDB does its own file calls */
    const char *directory;   /* the sieve's alone; the name outlives the sieve */
    uint32_t batch_max;      /* signatures; at most SIEVE_DISK_BATCH_MAX */
    unsigned runs;           /* offline: how many there may be, 1 to SIEVE_DISK_RUNS_MAX */
    size_t bytes;            /* mercator, offline: memory for what is known */
};

struct sieve_disk_batch {
    const uint64_t *signatures;
    size_t count;
};

struct sieve_disk;

/* Whether this build has the kind. */
bool sieve_disk_has(enum sieve_disk_kind kind);
/* Makes the directory, or removes all files in it. NULL: the error says why. -ENOTSUP: this build does not have the
 * kind. */
struct sieve_disk *sieve_disk_open(const struct sieve_disk_options *options, struct sieve_error *error);
/* Removes the directory. */
void sieve_disk_close(struct sieve_disk *sieve);

/* 0 or a negative errno. Bit i % 64 of bitmap[i / 64] tells whether signature i is new; the bitmap has
 * sieve_disk_words(count) words. */
int sieve_disk_ask(struct sieve_disk *sieve, const struct sieve_disk_batch *batch, uint64_t *bitmap);
/* As ask, if the answers are of no interest. */
int sieve_disk_learn(struct sieve_disk *sieve, const struct sieve_disk_batch *batch);

/* Signatures that are known. What was learnt may be counted twice. */
uint64_t sieve_disk_count(const struct sieve_disk *sieve);
/* Of the last call that failed. */
const struct sieve_error *sieve_disk_error(const struct sieve_disk *sieve);

static inline size_t sieve_disk_words(size_t count)
{
    return (count + 63) / 64;
}

static inline bool sieve_disk_is_new(const uint64_t *bitmap, size_t i)
{
    return bitmap[i / 64] >> i % 64 & 1;
}
