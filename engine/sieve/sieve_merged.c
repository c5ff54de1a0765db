/* The kinds mercator and offline.
 *
 *     batch -> filter -- not in it: new ------------------------> recent
 *                    `-- recent -- not there -> files: a run, ..., Z -- not there: new -> recent
 *
 * The filter has all signatures that are known. Those in memory (recent) are merged with Z when there is no room for
 * another batch, as in Mercator (Heydon and Najork, 1999); offline makes a run of them instead, and merges all runs with Z
 * when there are enough of them. mercator does so, too, while it learns, because nobody asks then.
 *
 * What the filter takes for known, and is not, costs the reading of a block of each file: the files are sorted, and an index
 * tells which block it would be in.
 *
 * Exact, because all that is known is in the filter, and in `recent` or in a file. So what the filter does not have is
 * new, and what it has is known if and only if one of these has it. */
#include <assert.h>
#include <stdio.h>

#include "engine/sieve/sieve_disk_kinds.h"
#include "engine/sieve/sieve_list.h"
#include "engine/sieve/sieve_recent.h"
#include "engine/sieve/sieve_sorted.h"
#include "lockfree/arena.h"
#include "lockfree/bloom.h"
#include "lockfree/container_of.h"

struct merged {
    struct sieve_disk sieve;
    struct bloom filter;
    struct sieve_recent recent;
    struct sieve_list list;                             /* of a batch, what has to be looked up */
    uint32_t *places;                                   /* and where in the batch it is */
    struct sieve_block *out;                            /* buffer to write with */
    unsigned runs, runs_max;                            /* files[1..runs] are runs */
    unsigned runs_kept;                                 /* as many may stay while it is asked */
    struct sieve_sorted files[SIEVE_DISK_RUNS_MAX + 1]; /* Z first */
    struct arena arena;
};

/* How the memory is divided. */
struct share {
    size_t filter, recent, index; /* bytes */
};

static size_t at_least(size_t least, size_t value)
{
    return value > least ? value : least;
}

static struct share share_of(const struct sieve_disk_options *options, unsigned runs_max)
{
    size_t bytes = options->bytes, index_min = SIEVE_INDEX_MIN * sizeof(uint64_t) * (runs_max + 1);
    size_t index = at_least(index_min, bytes / SIEVE_INDEX_SHARE);
    size_t recent_min = sieve_recent_bytes(options->batch_max);
    size_t rest = bytes / 4 > index ? bytes / 4 - index : 0;
    return (struct share){.filter = at_least(SIEVE_FILTER_MIN, bytes / 4 * 3) / BLOOM_BLOCK_BYTES *
                                    BLOOM_BLOCK_BYTES,
                          .recent = at_least(recent_min, rest) / LF_CACHE_LINE * LF_CACHE_LINE,
                          .index = index};
}

/* The index of Z is as large as those of all runs together. */
static void init_files(struct merged *merged, size_t index_bytes)
{
    struct sieve_disk *sieve = &merged->sieve;
    size_t words = index_bytes / sizeof(uint64_t),
           words_of_run = merged->runs_max ? words / 2 / merged->runs_max : 0;
    for (unsigned i = 0; i <= merged->runs_max; i++) {
        struct sieve_sorted *file = &merged->files[i];
        char name[16] = "Z";
        if (i > 0)
            snprintf(name, sizeof name, "run-%02u", i);
        sieve_sorted_init(file, sieve->options.directory, name);
        file->disk = sieve->options.disk;
        file->error = &sieve->error;
        file->buffer = arena_take(&merged->arena, SIEVE_FILE_BUFFER_BYTES, SIEVE_FILE_BLOCK_BYTES);
        file->index.max = i > 0 ? words_of_run : words - words_of_run * merged->runs_max;
        file->index.words = arena_take(&merged->arena, file->index.max * sizeof(uint64_t), sizeof(uint64_t));
    }
}

static int open_merged(struct sieve_disk *sieve, unsigned runs_max, unsigned runs_kept)
{
    struct merged *merged = container_of(sieve, struct merged, sieve);
    const struct sieve_disk_options *options = &sieve->options;
    struct share share = share_of(options, runs_max);
    size_t buffers = (size_t)(runs_max + 2) * SIEVE_FILE_BUFFER_BYTES;
    size_t batch = sieve_list_bytes(options->batch_max) + options->batch_max * sizeof *merged->places;
    struct arena_options memory = {.bytes =
                                       share.filter + share.recent + share.index + buffers + batch + 4096};
    int error = arena_init(&merged->arena, &memory);
    if (error)
        return sieve_error_of_call(&sieve->error, error, "get memory for", options->directory);
    merged->runs_max = runs_max;
    merged->runs_kept = runs_kept;
    merged->out = arena_take(&merged->arena, SIEVE_FILE_BUFFER_BYTES, SIEVE_FILE_BLOCK_BYTES);
    init_files(merged, share.index);
    bloom_init(&merged->filter, arena_take(&merged->arena, share.filter, BLOOM_BLOCK_BYTES), share.filter);
    sieve_recent_init(&merged->recent, arena_take(&merged->arena, share.recent, LF_CACHE_LINE), share.recent);
    sieve_list_init(&merged->list, &merged->arena, options->batch_max);
    merged->places =
        arena_take(&merged->arena, options->batch_max * sizeof *merged->places, sizeof *merged->places);
    return 0;
}

static int open_mercator(struct sieve_disk *sieve)
{
    return open_merged(sieve, SIEVE_LEARN_RUNS, 0);
}

static int open_offline(struct sieve_disk *sieve)
{
    assert(sieve->options.runs > 0 && sieve->options.runs <= SIEVE_DISK_RUNS_MAX);
    return open_merged(sieve, sieve->options.runs, sieve->options.runs);
}

static void close_merged(struct sieve_disk *sieve)
{
    arena_fini(&container_of(sieve, struct merged, sieve)->arena);
}

/* One file of all. */
static int merge_all(struct merged *merged, struct sieve_sources *sources)
{
    sources->files = merged->files;
    sources->count = merged->runs + 1;
    int error = sieve_sorted_merge(&merged->files[0], sources, merged->out);
    for (; !error && merged->runs > 0; merged->runs--)
        error = sieve_sorted_remove(&merged->files[merged->runs]);
    merged->sieve.count = merged->files[0].count; /* what was learnt twice was counted twice */
    return error;
}

/* What is in memory goes to disk: as another run, if there are fewer. */
static int flush(struct merged *merged, unsigned runs)
{
    struct sieve_recent *recent = &merged->recent;
    sieve_recent_sort(recent);
    struct sieve_sources sources = {.words = recent->memory, .word_count = recent->count};
    int error = merged->runs < runs
                    ? sieve_sorted_merge(&merged->files[++merged->runs], &sources, merged->out)
                    : merge_all(merged, &sources);
    sieve_recent_clear(recent);
    return error;
}

static int make_room(struct merged *merged, const struct sieve_disk_batch *batch, unsigned runs)
{
    return sieve_recent_room(&merged->recent) < batch->count ? flush(merged, runs) : 0;
}

static void set_bit(uint64_t *bitmap, size_t place)
{
    bitmap[place / 64] |= UINT64_C(1) << place % 64;
}

/* Those from `from` on: what memory can tell. The rest goes to the list. */
static void ask_memory(struct merged *merged, const struct sieve_disk_batch *batch, size_t from,
                       uint64_t *bitmap)
{
    const uint64_t *signatures = batch->signatures + from;
    size_t count = batch->count - from < SIEVE_ASK_GROUP ? batch->count - from : SIEVE_ASK_GROUP;
    bool is_new[SIEVE_ASK_GROUP], is_recent[SIEVE_ASK_GROUP];
    bloom_add_owned_batch(&merged->filter, signatures, count, is_new);
    signatures_has_batch(&merged->recent.set, signatures, count, is_recent);
    for (size_t i = 0; i < count; i++) {
        if (is_new[i]) {
            sieve_recent_add(&merged->recent, signatures[i]);
            set_bit(bitmap, from + i);
        } else if (!is_recent[i] &&
                   !sieve_recent_has(&merged->recent, signatures[i])) { /* the group may have it twice */
            merged->places[merged->list.count] = (uint32_t)(from + i);
            sieve_list_push(&merged->list, signatures[i]);
        }
    }
}

/* What the filter has, but memory has not. */
static int ask_files(struct merged *merged, const struct sieve_disk_batch *batch, uint64_t *bitmap)
{
    struct sieve_list *list = &merged->list;
    size_t asked = list->count;
    int error = 0;
    sieve_list_sort(list);
    for (unsigned i = merged->runs + 1; i-- > 0 && !error;)
        error = sieve_sorted_drop(&merged->files[i], list);
    for (size_t i = 0; i < asked && list->count && !error; i++) {
        uint64_t signature = batch->signatures[merged->places[i]];
        if (!sieve_list_take(list, signature))
            continue;
        sieve_recent_add(&merged->recent, signature);
        set_bit(bitmap, merged->places[i]);
    }
    sieve_list_clear(list);
    return error;
}

static int ask(struct sieve_disk *sieve, const struct sieve_disk_batch *batch, uint64_t *bitmap)
{
    struct merged *merged = container_of(sieve, struct merged, sieve);
    int error = make_room(merged, batch, merged->runs_kept);
    if (error)
        return error;
    size_t before = merged->recent.count;
    for (size_t from = 0; from < batch->count; from += SIEVE_ASK_GROUP)
        ask_memory(merged, batch, from, bitmap);
    error = ask_files(merged, batch, bitmap);
    sieve->count += merged->recent.count - before;
    return error;
}

static int learn(struct sieve_disk *sieve, const struct sieve_disk_batch *batch)
{
    struct merged *merged = container_of(sieve, struct merged, sieve);
    bool is_new[SIEVE_ASK_GROUP];
    int error = make_room(merged, batch, merged->runs_max);
    if (error)
        return error;
    for (size_t from = 0; from < batch->count; from += SIEVE_ASK_GROUP) {
        size_t count = batch->count - from < SIEVE_ASK_GROUP ? batch->count - from : SIEVE_ASK_GROUP;
        bloom_add_owned_batch(&merged->filter, batch->signatures + from, count, is_new);
        sieve->count += sieve_recent_add_batch(&merged->recent, batch->signatures + from, count);
    }
    return 0;
}

const struct sieve_disk_calls sieve_mercator = {
    .bytes = sizeof(struct merged), .open = open_mercator, .close = close_merged, .ask = ask, .learn = learn};
const struct sieve_disk_calls sieve_offline = {
    .bytes = sizeof(struct merged), .open = open_offline, .close = close_merged, .ask = ask, .learn = learn};
