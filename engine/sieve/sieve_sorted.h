/* Z: all signatures that are known, sorted, in one file that is never changed. A batch makes a new one of it.
 *
 *     Z-000007.open    being written
 *     Z-000007         whole: synced before it got this name
 *
 *     signatures | answers to the last batches | tail: version, counts, what the last batches were
 *
 * The three are sections of a sieve_file. The tail is one block and is written last, because only then the
 * counts are known. Of several files the newest whole one counts, and the others are removed when the sieve is opened:
 * a crash has left them. */
#pragma once

#include "engine/sieve/sieve_disk_kinds.h"
#include "engine/sieve/sieve_file.h"
#include "engine/sieve/sieve_sort.h"

/* Where merged signatures come from: in order, and the first of equals is the one that may be new. */
struct sieve_source {
    bool (*next)(struct sieve_source *source, struct sieve_item *item);
};

struct sieve_sorted {
    struct sieve_disk
        *sieve; /* its version, count and answered are those of the file; version 0: there is none */
    struct sieve_block *in, *out; /* buffers */
};

enum { SIEVE_SORTED_BYTES = 2 * SIEVE_FILE_BUFFER_BYTES };

struct arena;

/* How the names of an offline sieve's runs begin. They are of no use to the next process. */
#define SIEVE_SORTED_RUN "run-"

/* Finds the newest whole file, and removes all others, and runs. Takes SIEVE_SORTED_BYTES of the arena. */
int sieve_sorted_open(struct sieve_sorted *sorted, struct sieve_disk *sieve, struct arena *arena);
/* The next file: the signatures of this one and of the source. Sets the bits of the bitmap whose places are
 * new. It answers what is pending, and sets the sieve's count. */
int sieve_sorted_merge(struct sieve_sorted *sorted, struct sieve_source *source, uint64_t *bitmap);
/* Words of the answers that the file has. */
int sieve_sorted_recall(struct sieve_sorted *sorted, struct sieve_disk_span span, uint64_t *bitmap);
