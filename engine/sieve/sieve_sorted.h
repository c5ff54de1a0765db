/* Z: all signatures that are known, sorted, in one file that is never changed. A batch makes a new one of it.
 *
 *     Z         the last one that is whole; there is none before the first batch
 *     Z.next    being written */
#pragma once

#include "engine/sieve/sieve_disk_kinds.h"
#include "engine/sieve/sieve_file.h"
#include "engine/sieve/sieve_sort.h"

/* Where merged signatures come from: in order, and the first of equals is the one that may be new. */
struct sieve_source {
    bool (*next)(struct sieve_source *source, struct sieve_item *item);
};

struct sieve_sorted {
    struct sieve_disk *sieve;     /* its count is that of Z */
    struct sieve_block *in, *out; /* buffers */
    char path[SIEVE_FILE_PATH_BYTES], next_path[SIEVE_FILE_PATH_BYTES];
};

enum { SIEVE_SORTED_BYTES = 2 * SIEVE_FILE_BUFFER_BYTES };

struct arena;

/* Takes SIEVE_SORTED_BYTES of the arena. */
void sieve_sorted_init(struct sieve_sorted *sorted, struct sieve_disk *sieve, struct arena *arena);
/* The next file: the signatures of this one and of the source. Sets the bits of the bitmap whose places are new, and the
 * sieve's count. 0 or a negative errno. */
int sieve_sorted_merge(struct sieve_sorted *sorted, struct sieve_source *source, uint64_t *bitmap);
