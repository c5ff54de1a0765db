/* A sieve that lives on disk: which of these signatures are new? Asked in batches, answered exactly. It is scratch: empty
 * when it is opened, and gone when it is closed.
 *
 *     mercator   Z, a sorted file of all signatures, is rewritten for each batch: the answer comes at once
 *     offline    batches wait as sorted runs, and Z is rewritten once for several of them: the answer comes later
 *     rocks      a RocksDB database; where the build had librocksdb
 *
 * The signatures of a batch are in order of discovery. New is what is in no earlier batch, and its first occurrence in
 * this one. Two calls serve all kinds:
 *
 *     ask(batch)   NOW: the answer is in the bitmap. LATER: the batch waits.
 *     merge()      the answers for all batches that wait, in order, each from a new word of the bitmap on.
 *
 * mercator and rocks always answer NOW and never need a merge. offline answers LATER; when `options.runs` batches wait,
 * or earlier if the crawl starves, the caller has to merge.
 *
 * After an error only close may be called. What is read is checked: damage to Z is found by the next batch, damage to a
 * database by the question that meets it.
 *
 * One thread, which may block. Memory is taken at open:
 *
 *     mercator   16 bytes * batch_max + 3 MiB
 *     offline    the same + 1 MiB * runs
 *     rocks      16 bytes * batch_max + 64 MiB, and 2 bytes for each signature in the database (filters, index): RocksDB's
 *                part is measured, not promised */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "engine/sieve/limits.h"
#include "engine/sieve/sieve_error.h"

enum sieve_disk_kind { SIEVE_DISK_MERCATOR, SIEVE_DISK_OFFLINE, SIEVE_DISK_ROCKS };

/* What ask returns, if not an error. */
enum sieve_disk_answer { SIEVE_DISK_NOW, SIEVE_DISK_LATER };

struct sieve_disk_options {
    enum sieve_disk_kind kind;
    const struct disk *disk; /* rocks: only for removing files, RocksDB does its own file calls */
    const char *directory;   /* the sieve's alone; the name outlives the sieve */
    uint32_t batch_max;      /* signatures; at most SIEVE_DISK_BATCH_MAX */
    unsigned runs;           /* offline: batches that may wait, 1 to SIEVE_DISK_RUNS_MAX */
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

/* enum sieve_disk_answer, or a negative errno. NOW: bit i % 64 of bitmap[i / 64] tells whether signature i is new;
 * the bitmap has sieve_disk_words(count) words. Not while `options.runs` batches wait. */
int sieve_disk_ask(struct sieve_disk *sieve, const struct sieve_disk_batch *batch, uint64_t *bitmap);
/* 0 or a negative errno. The bitmap has sieve_disk_pending_words(sieve) words, before the call. */
int sieve_disk_merge(struct sieve_disk *sieve, uint64_t *bitmap);

/* Batches that wait for a merge. */
unsigned sieve_disk_pending(const struct sieve_disk *sieve);
size_t sieve_disk_pending_words(const struct sieve_disk *sieve);
/* Signatures of all batches that were answered. */
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
