/* What the kinds of disk sieves have in common. sieve_disk.c keeps the books: versions, which batches wait, which were
 * answered last. A kind sorts, looks up, and makes permanent. */
#pragma once

#include "engine/sieve/sieve_disk.h"

/* A batch as it is remembered: enough to tell that it is asked about again. */
struct sieve_disk_seen {
    uint64_t version;
    uint32_t count;
    uint32_t checksum; /* CRC-32C of its signatures */
};

/* Batches in order, and the versions follow one another. */
struct sieve_disk_seens {
    unsigned count;
    struct sieve_disk_seen batches[SIEVE_DISK_RUNS_MAX];
};

/* How many words of answers these batches have. */
size_t sieve_disk_seens_words(const struct sieve_disk_seens *seens);

/* Part of bitmaps that were made permanent. */
struct sieve_disk_span {
    size_t first, count; /* words */
};

struct sieve_disk_calls {
    size_t bytes;         /* of the kind's structure, of which `struct sieve_disk` is the first member */
    bool answers_at_once; /* each take is followed by a merge */
    /* The structure is zeroed but for the options. Sets version, count and answered. 0 or a negative errno, as the
     * others; on failure nothing is left behind. */
    int (*open)(struct sieve_disk *sieve);
    void (*close)(struct sieve_disk *sieve);
    /* The batch is the last of `sieve->pending`. */
    int (*take)(struct sieve_disk *sieve, const struct sieve_disk_batch *batch);
    /* Answers for what was taken, and makes it permanent together with `sieve->pending` and the answers. The bitmap is
     * zeroed. Sets the new count. */
    int (*merge)(struct sieve_disk *sieve, uint64_t *bitmap);
    /* Words of the answers of `sieve->answered`. */
    int (*recall)(struct sieve_disk *sieve, struct sieve_disk_span span, uint64_t *bitmap);
};

struct sieve_disk {
    const struct sieve_disk_calls *calls;
    struct sieve_disk_options options;
    uint64_t version; /* of the last batch that was answered */
    uint64_t count;   /* signatures known by then */
    struct sieve_disk_seens answered;
    struct sieve_disk_seens pending;
    struct sieve_error error;
};

extern const struct sieve_disk_calls sieve_mercator;
extern const struct sieve_disk_calls sieve_offline;
#ifdef HAVE_ROCKSDB
extern const struct sieve_disk_calls sieve_rocks;
#endif
