/* Sorted files of signatures, which are never changed: what is known is merged to a new one.
 *
 *     NAME         whole
 *     NAME.next    being written */
#pragma once

#include "engine/sieve/sieve_file.h"
#include "engine/sieve/sieve_list.h"

struct sieve_sorted {
    const struct disk *disk;
    struct sieve_error *error;
    struct sieve_block *buffer; /* to read with: SIEVE_FILE_BUFFER_BYTES */
    char path[SIEVE_FILE_PATH_BYTES], next_path[SIEVE_FILE_PATH_BYTES];
    uint64_t count; /* signatures; 0: there is no file */
    struct sieve_index index;
};

/* What is merged: files, of which the first has most, and words in memory, in order. */
struct sieve_sources {
    struct sieve_sorted *files;
    unsigned count;
    const uint64_t *words;
    size_t word_count;
};

/* Its file does not exist yet. The buffer and the memory for the index are filled in by the caller. */
void sieve_sorted_init(struct sieve_sorted *sorted, const char *directory, const char *name);
/* Makes the file of all sources, of which it may be one; each signature once. `buffer` is to write with. 0 or a negative
 * errno. */
int sieve_sorted_merge(struct sieve_sorted *sorted, const struct sieve_sources *sources,
                       struct sieve_block *buffer);
/* Removes the file. 0 or a negative errno. */
int sieve_sorted_remove(struct sieve_sorted *sorted);
/* Drops the signatures of the list that are in the file. The list is sorted. 0 or a negative errno. */
int sieve_sorted_drop(struct sieve_sorted *sorted, struct sieve_list *list);
