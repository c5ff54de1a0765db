#include "engine/sieve/sieve_sorted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/arena.h"

enum { MAGIC = 0x317a6579 }; /* "yez1" */

/* The last block. */
union tail {
    struct {
        uint64_t magic;
        uint64_t version;
        uint64_t count;   /* signatures */
        uint64_t batches; /* in use, of those that follow */
        struct sieve_disk_seen seen[SIEVE_DISK_RUNS_MAX];
    };
    uint64_t words[4 + SIEVE_DISK_RUNS_MAX * sizeof(struct sieve_disk_seen) / 8];
};

enum { TAIL_WORDS = sizeof(union tail) / 8 };

_Static_assert(sizeof(union tail) <= sizeof(((struct sieve_block *)0)->words), "the tail is one block");

struct path {
    char text[SIEVE_FILE_PATH_BYTES];
};

static struct path path_of(const struct sieve_sorted *sorted, uint64_t version, const char *suffix)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/Z-%06" PRIu64 "%s", sorted->sieve->options.directory, version,
             suffix);
    return path;
}

static struct sieve_file file_at(struct sieve_sorted *sorted, const char *path, struct sieve_block *buffer)
{
    struct sieve_disk *sieve = sorted->sieve;
    return (struct sieve_file){sieve->options.disk, path, buffer, &sieve->error};
}

/* Reads words of a section into `words`. */
static int read_words(const struct sieve_file *file, uint64_t first_block, uint64_t *words, size_t count)
{
    struct sieve_reader reader;
    sieve_reader_begin(&reader, file, first_block, count);
    for (size_t i = 0; i < count && sieve_reader_next(&reader, &words[i]); i++)
        ;
    sieve_reader_finish(&reader);
    return file->error->code;
}

/* Whether the file of this version is whole, as far as its tail and its length tell; then the sieve is what it says. */
static int read_tail(struct sieve_sorted *sorted, uint64_t version, struct sieve_error *error)
{
    struct sieve_disk *sieve = sorted->sieve;
    struct path path = path_of(sorted, version, "");
    struct sieve_file file = {sieve->options.disk, path.text, sorted->in, error};
    union tail tail = {0};
    int64_t bytes = file.disk->size(file.disk->owner, path.text);
    if (bytes < 0)
        return sieve_error_of_call(error, (int)bytes, "look at", path.text);
    uint64_t blocks = (uint64_t)bytes / SIEVE_FILE_BLOCK_BYTES;
    if (blocks == 0 || (uint64_t)bytes % SIEVE_FILE_BLOCK_BYTES)
        return sieve_error_set(error, -EBADMSG, "%s: ends at offset %" PRId64 ", in the middle of a block",
                               path.text, bytes);
    if (read_words(&file, blocks - 1, tail.words, TAIL_WORDS) != 0)
        return error->code;
    bool is_whole = tail.magic == MAGIC && tail.version == version && tail.batches <= SIEVE_DISK_RUNS_MAX;
    struct sieve_disk_seens answered = {.count = is_whole ? (unsigned)tail.batches : 0};
    memcpy(answered.batches, tail.seen, sizeof tail.seen);
    uint64_t expected =
        sieve_file_blocks(tail.count) + sieve_file_blocks(sieve_disk_seens_words(&answered)) + 1;
    if (!is_whole || blocks != expected)
        return sieve_error_set(error, -EBADMSG, "%s: the tail at offset %" PRIu64 " is not that of this file",
                               path.text, (blocks - 1) * SIEVE_FILE_BLOCK_BYTES);
    sieve->version = version;
    sieve->count = tail.count;
    sieve->answered = answered;
    return 0;
}

/* 0: not the name of a whole file. */
static uint64_t version_of(const char *name)
{
    char *end;
    if (strncmp(name, "Z-", 2) != 0)
        return 0;
    uint64_t version = strtoull(name + 2, &end, 10);
    return *end == '\0' ? version : 0;
}

struct search {
    uint64_t below, newest; /* the newest below the limit; 0: none */
};

static void look_at(void *argument, const char *name)
{
    struct search *search = argument;
    uint64_t version = version_of(name);
    if (version < search->below && version > search->newest)
        search->newest = version;
}

static int list(struct sieve_sorted *sorted, void (*each)(void *, const char *), void *argument)
{
    struct sieve_disk *sieve = sorted->sieve;
    const struct disk *disk = sieve->options.disk;
    int error = disk->list(disk->owner, sieve->options.directory, each, argument);
    return error ? sieve_error_of_call(&sieve->error, error, "list", sieve->options.directory) : 0;
}

/* If none is whole, but some are there, what is wrong with the newest is the error. */
static int find_newest(struct sieve_sorted *sorted)
{
    struct search search = {.below = UINT64_MAX};
    struct sieve_error *error = &sorted->sieve->error, first = {0};
    for (;;) {
        struct sieve_error here = {0};
        search.newest = 0;
        if (list(sorted, look_at, &search) != 0)
            return error->code;
        if (search.newest == 0)
            break;
        if (read_tail(sorted, search.newest, &here) == 0)
            return 0;
        sieve_error_set(&first, here.code, "%s", here.text);
        if (here.code != -EBADMSG)
            break;
        search.below = search.newest;
    }
    *error = first;
    return error->code;
}

/* Only what a sieve of this kind can have left: a directory that was given by mistake stays as it is. */
static void remove_other(void *argument, const char *name)
{
    struct sieve_sorted *sorted = argument;
    struct sieve_disk *sieve = sorted->sieve;
    const struct disk *disk = sieve->options.disk;
    struct path path;
    bool is_ours =
        strncmp(name, "Z-", 2) == 0 || strncmp(name, SIEVE_SORTED_RUN, strlen(SIEVE_SORTED_RUN)) == 0;
    if (!is_ours || (sieve->version && version_of(name) == sieve->version))
        return;
    snprintf(path.text, sizeof path.text, "%s/%s", sieve->options.directory, name);
    int error = disk->unlink(disk->owner, path.text);
    if (error)
        sieve_error_of_call(&sieve->error, error, "remove", path.text);
}

int sieve_sorted_open(struct sieve_sorted *sorted, struct sieve_disk *sieve, struct arena *arena)
{
    sorted->sieve = sieve;
    sorted->in = arena_take(arena, SIEVE_FILE_BUFFER_BYTES, SIEVE_FILE_BLOCK_BYTES);
    sorted->out = arena_take(arena, SIEVE_FILE_BUFFER_BYTES, SIEVE_FILE_BLOCK_BYTES);
    if (find_newest(sorted) == 0)
        list(sorted, remove_other, sorted);
    return sieve->error.code;
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
    sieve_writer_end_section(to);
    return found;
}

static void put_words(struct sieve_writer *to, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sieve_writer_put(to, words[i]);
    sieve_writer_end_section(to);
}

/* The whole of the new file, under its first name. */
static int write_next(struct sieve_sorted *sorted, const char *path, struct sieve_source *source,
                      uint64_t *bitmap)
{
    struct sieve_disk *sieve = sorted->sieve;
    const struct sieve_disk_seens *batches = &sieve->pending;
    struct path old = path_of(sorted, sieve->version, "");
    struct sieve_file to_file = file_at(sorted, path, sorted->out),
                      from_file = file_at(sorted, old.text, sorted->in);
    struct sieve_writer to;
    struct sieve_reader from;
    sieve_writer_begin(&to, &to_file);
    sieve_reader_begin(&from, &from_file, 0, sieve->count);
    uint64_t count = sieve->count + merge_words(&from, &to, source, bitmap);
    sieve_reader_finish(&from);
    put_words(&to, bitmap, sieve_disk_seens_words(batches));
    union tail tail = {{
        .magic = MAGIC,
        .version = batches->batches[batches->count - 1].version,
        .count = count,
        .batches = batches->count,
    }};
    memcpy(tail.seen, batches->batches, sizeof tail.seen);
    put_words(&to, tail.words, TAIL_WORDS);
    if (sieve_writer_finish(&to, true) == 0)
        sieve->count = count;
    return sieve->error.code;
}

int sieve_sorted_merge(struct sieve_sorted *sorted, struct sieve_source *source, uint64_t *bitmap)
{
    struct sieve_disk *sieve = sorted->sieve;
    const struct disk *disk = sieve->options.disk;
    uint64_t version = sieve->pending.batches[sieve->pending.count - 1].version;
    struct path open = path_of(sorted, version, ".open"), whole = path_of(sorted, version, ""),
                old = path_of(sorted, sieve->version, "");
    if (write_next(sorted, open.text, source, bitmap) != 0) {
        disk->unlink(disk->owner, open.text); /* if the disk is full, others may need the room */
        return sieve->error.code;
    }
    int error = disk->rename(disk->owner, open.text, whole.text);
    if (error)
        return sieve_error_of_call(&sieve->error, error, "rename", open.text);
    error = disk->sync_directory(disk->owner, sieve->options.directory);
    if (error)
        return sieve_error_of_call(&sieve->error, error, "sync", sieve->options.directory);
    error = sieve->version ? disk->unlink(disk->owner, old.text) : 0;
    return error ? sieve_error_of_call(&sieve->error, error, "remove", old.text) : 0;
}

int sieve_sorted_recall(struct sieve_sorted *sorted, struct sieve_disk_span span, uint64_t *bitmap)
{
    struct sieve_disk *sieve = sorted->sieve;
    struct path path = path_of(sorted, sieve->version, "");
    struct sieve_file file = file_at(sorted, path.text, sorted->in);
    struct sieve_reader reader;
    uint64_t word, all = sieve_disk_seens_words(&sieve->answered);
    sieve_reader_begin(&reader, &file, sieve_file_blocks(sieve->count), all);
    for (size_t i = 0; i < span.first + span.count && sieve_reader_next(&reader, &word); i++)
        if (i >= span.first)
            bitmap[i - span.first] = word;
    sieve_reader_finish(&reader);
    return sieve->error.code;
}
