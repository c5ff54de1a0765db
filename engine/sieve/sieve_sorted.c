#include "engine/sieve/sieve_sorted.h"

#include <stdio.h>

#include "lockfree/arena.h"

void sieve_sorted_init(struct sieve_sorted *sorted, struct sieve_disk *sieve, struct arena *arena)
{
    const char *directory = sieve->options.directory;
    sorted->sieve = sieve;
    sorted->in = arena_take(arena, SIEVE_FILE_BUFFER_BYTES, SIEVE_FILE_BLOCK_BYTES);
    sorted->out = arena_take(arena, SIEVE_FILE_BUFFER_BYTES, SIEVE_FILE_BLOCK_BYTES);
    snprintf(sorted->path, sizeof sorted->path, "%s/Z", directory);
    snprintf(sorted->next_path, sizeof sorted->next_path, "%s/Z.next", directory);
}

/* Copies what is below the limit. True: the limit itself follows. */
static bool copy_below(struct sieve_reader *from, struct sieve_writer *to, uint64_t limit)
{
    do
        for (; from->at < from->end; from->at++) {
            if (*from->at >= limit)
                return *from->at == limit;
            sieve_writer_put(to, *from->at);
        }
    while (sieve_reader_more(from));
    return false;
}

/* Returns how many were new. */
static uint64_t merge_words(struct sieve_reader *from, struct sieve_writer *to, struct sieve_source *source,
                            uint64_t *bitmap)
{
    struct sieve_item item, last = {0};
    uint64_t found = 0;
    for (bool has_last = false; source->next(source, &item); has_last = true) {
        bool is_again = has_last && item.signature == last.signature;
        last = item;
        if (is_again || copy_below(from, to, item.signature))
            continue;
        sieve_writer_put(to, item.signature);
        bitmap[item.place / 64] |= UINT64_C(1) << item.place % 64;
        found++;
    }
    for (uint64_t word; sieve_reader_next(from, &word);)
        sieve_writer_put(to, word);
    return found;
}

/* The whole of the new file, under its first name. */
static int write_next(struct sieve_sorted *sorted, struct sieve_source *source, uint64_t *bitmap)
{
    struct sieve_disk *sieve = sorted->sieve;
    const struct disk *disk = sieve->options.disk;
    struct sieve_file to_file = {disk, sorted->next_path, sorted->out, &sieve->error},
                      from_file = {disk, sorted->path, sorted->in, &sieve->error};
    struct sieve_writer to;
    struct sieve_reader from;
    sieve_writer_begin(&to, &to_file);
    sieve_reader_begin(&from, &from_file, sieve->count);
    sieve->count += merge_words(&from, &to, source, bitmap);
    sieve_reader_finish(&from);
    return sieve_writer_finish(&to);
}

int sieve_sorted_merge(struct sieve_sorted *sorted, struct sieve_source *source, uint64_t *bitmap)
{
    struct sieve_disk *sieve = sorted->sieve;
    const struct disk *disk = sieve->options.disk;
    int error = write_next(sorted, source, bitmap);
    if (error) {
        disk->unlink(disk->owner, sorted->next_path); /* if the disk is full, others may need the room */
        return error;
    }
    error = disk->rename(disk->owner, sorted->next_path, sorted->path);
    return error ? sieve_error_of_call(&sieve->error, error, "rename", sorted->next_path) : 0;
}
