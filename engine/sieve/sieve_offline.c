/* Batches are sorted one by one and wait on disk, as runs, until one merge of all of them with Z: Z is rewritten once
 * for `runs` batches. A run has two words for each signature, itself and its place among the answers of the
 * merge. */
#include <assert.h>
#include <stdio.h>

#include "engine/sieve/sieve_sorted.h"
#include "lockfree/arena.h"
#include "lockfree/container_of.h"

struct run {
    char path[SIEVE_FILE_PATH_BYTES];
    struct sieve_block *buffer;
    uint64_t count; /* signatures */
    struct sieve_reader reader;
};

struct offline {
    struct sieve_disk sieve;
    struct sieve_sorted sorted;
    struct sieve_sort sort;
    struct arena arena;
    struct run runs[SIEVE_DISK_RUNS_MAX]; /* as many as batches are pending */
};

static struct sieve_file file_of(struct offline *offline, const struct run *run)
{
    struct sieve_disk *sieve = &offline->sieve;
    return (struct sieve_file){sieve->options.disk, run->path, run->buffer, &sieve->error};
}

static int open_offline(struct sieve_disk *sieve)
{
    struct offline *offline = container_of(sieve, struct offline, sieve);
    const struct sieve_disk_options *options = &sieve->options;
    assert(options->runs > 0 && options->runs <= SIEVE_DISK_RUNS_MAX);
    size_t buffers = (size_t)options->runs * SIEVE_FILE_BUFFER_BYTES;
    struct arena_options memory = {.bytes =
                                       SIEVE_SORTED_BYTES + buffers + sieve_sort_bytes(options->batch_max)};
    int error = arena_init(&offline->arena, &memory);
    if (error)
        return sieve_error_of_call(&sieve->error, error, "get memory for", options->directory);
    sieve_sorted_init(&offline->sorted, sieve, &offline->arena);
    for (unsigned i = 0; i < options->runs; i++) {
        struct run *run = &offline->runs[i];
        snprintf(run->path, sizeof run->path, "%s/run-%02u", options->directory, i);
        run->buffer = arena_take(&offline->arena, SIEVE_FILE_BUFFER_BYTES, SIEVE_FILE_BLOCK_BYTES);
    }
    sieve_sort_init(&offline->sort, &offline->arena, options->batch_max);
    return 0;
}

static void close_offline(struct sieve_disk *sieve)
{
    arena_fini(&container_of(sieve, struct offline, sieve)->arena);
}

static int take(struct sieve_disk *sieve, const struct sieve_disk_batch *batch)
{
    struct offline *offline = container_of(sieve, struct offline, sieve);
    uint64_t first_place = (uint64_t)sieve->pending_words * 64;
    struct run *run = &offline->runs[sieve->pending];
    struct sieve_file file = file_of(offline, run);
    struct sieve_writer writer;
    sieve_sort_run(&offline->sort, batch->signatures, batch->count);
    run->count = offline->sort.count;
    sieve_writer_begin(&writer, &file);
    for (size_t i = 0; i < run->count; i++) {
        sieve_writer_put(&writer, offline->sort.items[i].signature);
        sieve_writer_put(&writer, first_place + offline->sort.items[i].place);
    }
    return sieve_writer_finish(&writer);
}

/* All runs that have not ended, in order of discovery, and the next signature of each: side by side, because the least of
 * them is looked for all the time. */
struct runs_source {
    struct sieve_source source;
    unsigned count;
    uint64_t heads[SIEVE_DISK_RUNS_MAX];
    struct sieve_reader *readers[SIEVE_DISK_RUNS_MAX];
};

static void advance(struct runs_source *all, unsigned index)
{
    if (sieve_reader_next(all->readers[index], &all->heads[index]))
        return;
    all->count--;
    for (unsigned i = index; i < all->count; i++) {
        all->heads[i] = all->heads[i + 1];
        all->readers[i] = all->readers[i + 1];
    }
}

/* Of equal ones, the one of the earliest run comes first. */
static bool next_of_runs(struct sieve_source *source, struct sieve_item *item)
{
    struct runs_source *all = container_of(source, struct runs_source, source);
    unsigned least = 0;
    uint64_t head = all->heads[0];
    if (all->count == 0)
        return false;
    for (unsigned i = 1; i < all->count; i++) {
        bool is_less = all->heads[i] < head;
        head = is_less ? all->heads[i] : head;
        least = is_less ? i : least;
    }
    item->signature = head;
    if (!sieve_reader_next(all->readers[least], &item->place))
        return false;
    advance(all, least);
    return true;
}

static int merge(struct sieve_disk *sieve, uint64_t *bitmap)
{
    struct offline *offline = container_of(sieve, struct offline, sieve);
    const struct disk *disk = sieve->options.disk;
    struct runs_source all = {.source = {next_of_runs}, .count = sieve->pending};
    for (unsigned i = all.count;
         i-- > 0;) { /* from the last on: one that is empty leaves the others in order */
        struct run *run = &offline->runs[i];
        struct sieve_file file = file_of(offline, run);
        sieve_reader_begin(&run->reader, &file, run->count * 2);
        all.readers[i] = &run->reader;
        advance(&all, i);
    }
    int error = sieve_sorted_merge(&offline->sorted, &all.source, bitmap);
    for (unsigned i = 0; i < sieve->pending; i++) {
        struct run *run = &offline->runs[i];
        sieve_reader_finish(&run->reader);
        if (!error && (error = disk->unlink(disk->owner, run->path)) != 0)
            sieve_error_of_call(&sieve->error, error, "remove", run->path);
    }
    return error;
}

const struct sieve_disk_calls sieve_offline = {
    .bytes = sizeof(struct offline),
    .open = open_offline,
    .close = close_offline,
    .take = take,
    .merge = merge,
};
