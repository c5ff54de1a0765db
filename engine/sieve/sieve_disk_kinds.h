/* What the kinds of disk sieves have in common. sieve_disk.c looks after the directory; a kind looks signatures up,
 * and remembers them. */
#pragma once

#include "engine/sieve/sieve_disk.h"

struct sieve_disk_calls {
    size_t bytes; /* of the kind's structure, of which `struct sieve_disk` is the first member */
    /* The structure is zeroed but for the options, and the directory is empty. 0 or a negative errno, as the others; on
     * failure no memory is left behind. */
    int (*open)(struct sieve_disk *sieve);
    void (*close)(struct sieve_disk *sieve);
    /* The bitmap is zeroed. Both set the new count. */
    int (*ask)(struct sieve_disk *sieve, const struct sieve_disk_batch *batch, uint64_t *bitmap);
    int (*learn)(struct sieve_disk *sieve, const struct sieve_disk_batch *batch);
};

struct sieve_disk {
    const struct sieve_disk_calls *calls;
    struct sieve_disk_options options;
    uint64_t count; /* signatures that are known */
    struct sieve_error error;
};

extern const struct sieve_disk_calls sieve_mercator;
extern const struct sieve_disk_calls sieve_offline;
#ifdef HAVE_ROCKSDB
extern const struct sieve_disk_calls sieve_rocks;
#endif
