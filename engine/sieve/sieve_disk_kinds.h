/* What the kinds of disk sieves have in common. sieve_disk.c has the directory and counts the batches that wait. A kind
 * sorts, looks up, and remembers. */
#pragma once

#include "engine/sieve/sieve_disk.h"

struct sieve_disk_calls {
    size_t bytes;         /* of the kind's structure, of which `struct sieve_disk` is the first member */
    bool answers_at_once; /* each take is followed by a merge */
    /* The structure is zeroed but for the options, and the directory is empty. 0 or a negative errno, as the others; on
     * failure no memory is left behind. */
    int (*open)(struct sieve_disk *sieve);
    void (*close)(struct sieve_disk *sieve);
    /* The batch is not yet counted in `sieve->pending`. */
    int (*take)(struct sieve_disk *sieve, const struct sieve_disk_batch *batch);
    /* Answers for what was taken. The bitmap is zeroed. Sets the new count. */
    int (*merge)(struct sieve_disk *sieve, uint64_t *bitmap);
};

struct sieve_disk {
    const struct sieve_disk_calls *calls;
    struct sieve_disk_options options;
    uint64_t count;       /* signatures of all batches that were answered */
    unsigned pending;     /* batches that wait for a merge */
    size_t pending_words; /* of their answers */
    struct sieve_error error;
};

extern const struct sieve_disk_calls sieve_mercator;
extern const struct sieve_disk_calls sieve_offline;
#ifdef HAVE_ROCKSDB
extern const struct sieve_disk_calls sieve_rocks;
#endif
