/* The signatures are the keys of a RocksDB database, in big-endian order, without values. A batch is sorted, looked
 * up in groups with MultiGet, and what is new of a group is written in one WriteBatch. Nothing has to survive the
 * process, so the write-ahead log is off, and RocksDB writes a memtable to a file when it is full.
 *
 * RocksDB does its own file calls, in threads of its own, and keeps to the bounds that are set here. */
#include <errno.h>
#include <rocksdb/c.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sieve/sieve_disk_kinds.h"
#include "engine/sieve/sieve_list.h"
#include "lockfree/arena.h"
#include "lockfree/container_of.h"

/* One question to the database. */
struct group {
    uint64_t keys[SIEVE_ROCKS_GET_MAX]; /* big endian */
    const char *key_list[SIEVE_ROCKS_GET_MAX];
    size_t sizes[SIEVE_ROCKS_GET_MAX];
    rocksdb_pinnableslice_t *values[SIEVE_ROCKS_GET_MAX];
    char *errors[SIEVE_ROCKS_GET_MAX];
};

struct rocks {
    struct sieve_disk sieve;
    struct sieve_list list;
    struct arena arena;
    struct group *group;
    rocksdb_t *db;
    rocksdb_column_family_handle_t *family; /* the default one: the batched MultiGet asks for it */
    rocksdb_options_t *options;
    rocksdb_readoptions_t *reads;
    rocksdb_writeoptions_t *writes;
    rocksdb_writebatch_t *batch;
};

/* RocksDB tells in words, which name the file and the offset, and the words are its own: frees them. */
static int fail(struct rocks *rocks, char *text)
{
    int code = -EIO;
    if (strstr(text, "No space left") || strstr(text, "quota exceeded"))
        code = -ENOSPC;
    else if (strstr(text, "File too large"))
        code = -EFBIG;
    else if (strstr(text, "Corruption"))
        code = -EBADMSG;
    sieve_error_set(&rocks->sieve.error, code, "%s: RocksDB: %s", rocks->sieve.options.directory, text);
    rocksdb_free(text);
    return code;
}

static rocksdb_options_t *make_options(void)
{
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(options, 1);
    rocksdb_options_set_compression(options, rocksdb_no_compression); /* hashes */
    rocksdb_options_set_write_buffer_size(options, SIEVE_ROCKS_MEMTABLE_BYTES);
    /* With a filter in front of it, most questions need no walk over the memtable. */
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, SIEVE_ROCKS_MEMTABLE_FILTER);
    rocksdb_options_set_memtable_whole_key_filtering(options, 1);
    rocksdb_options_set_max_background_jobs(options, SIEVE_ROCKS_JOBS_MAX);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_max_log_file_size(options, 1 << 20);
    rocksdb_options_set_keep_log_file_num(options, 2);
    rocksdb_block_based_table_options_t *tables = rocksdb_block_based_options_create();
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(SIEVE_ROCKS_CACHE_BYTES);
    rocksdb_block_based_options_set_block_cache(tables, cache);
    rocksdb_cache_destroy(cache); /* the tables hold it */
    /* Filters stay in memory. In the cache they would push each other out, and be read for every question. */
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(tables, 0);
    rocksdb_block_based_options_set_filter_policy(
        tables, rocksdb_filterpolicy_create_bloom_full(SIEVE_ROCKS_FILTER_BITS));
    rocksdb_options_set_block_based_table_factory(options, tables);
    rocksdb_block_based_options_destroy(tables);
    return options;
}

static void close_rocks(struct sieve_disk *sieve)
{
    struct rocks *rocks = container_of(sieve, struct rocks, sieve);
    if (rocks->db) {
        rocksdb_column_family_handle_destroy(rocks->family);
        rocksdb_close(rocks->db);
    }
    rocksdb_writebatch_destroy(rocks->batch);
    rocksdb_writeoptions_destroy(rocks->writes);
    rocksdb_readoptions_destroy(rocks->reads);
    rocksdb_options_destroy(rocks->options);
    arena_fini(&rocks->arena);
}

static int open_database(struct rocks *rocks)
{
    const char *names[] = {"default"};
    const rocksdb_options_t *options[] = {rocks->options};
    char *error = NULL;
    rocks->db = rocksdb_open_column_families(rocks->options, rocks->sieve.options.directory, 1, names,
                                             options, &rocks->family, &error);
    return error ? fail(rocks, error) : 0;
}

static int open_rocks(struct sieve_disk *sieve)
{
    struct rocks *rocks = container_of(sieve, struct rocks, sieve);
    struct arena_options memory = {.bytes =
                                       sieve_list_bytes(sieve->options.batch_max) + sizeof *rocks->group};
    int error = arena_init(&rocks->arena, &memory);
    if (error)
        return sieve_error_of_call(&sieve->error, error, "get memory for", sieve->options.directory);
    sieve_list_init(&rocks->list, &rocks->arena, sieve->options.batch_max);
    rocks->group = arena_take(&rocks->arena, sizeof *rocks->group, sizeof(void *));
    rocks->options = make_options();
    rocks->reads = rocksdb_readoptions_create();
    rocks->writes = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(rocks->writes, 1);
    rocks->batch = rocksdb_writebatch_create();
    error = open_database(rocks);
    if (error)
        close_rocks(sieve);
    return error;
}

/* Of sorted signatures, moves those that are not in the database to the front, and puts them into the WriteBatch. Returns
 * how many they are. */
static size_t ask_group(struct rocks *rocks, const uint64_t *words, size_t count, uint64_t *left)
{
    struct group *group = rocks->group;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        group->keys[i] = __builtin_bswap64(words[i]);
        group->key_list[i] = (const char *)&group->keys[i];
        group->sizes[i] = sizeof group->keys[i];
    }
    rocksdb_batched_multi_get_cf(rocks->db, rocks->reads, rocks->family, count, group->key_list, group->sizes,
                                 group->values, group->errors, true);
    for (size_t i = 0; i < count; i++) {
        if (group->errors[i])
            fail(rocks, group->errors[i]);
        if (group->values[i]) {
            rocksdb_pinnableslice_destroy(group->values[i]);
            continue;
        }
        left[kept++] = words[i];
        rocksdb_writebatch_put(rocks->batch, group->key_list[i], group->sizes[i], "", 0);
    }
    return kept;
}

static void write_group(struct rocks *rocks)
{
    char *error = NULL;
    uint64_t found = (uint64_t)rocksdb_writebatch_count(rocks->batch);
    if (found == 0 || rocks->sieve.error.code)
        return;
    rocksdb_write(rocks->db, rocks->writes, rocks->batch, &error);
    rocksdb_writebatch_clear(rocks->batch);
    if (error)
        fail(rocks, error);
    else
        rocks->sieve.count += found;
}

/* Leaves what is new in the list, and writes it to the database. */
static void look_up(struct rocks *rocks, const struct sieve_disk_batch *batch)
{
    struct sieve_list *list = &rocks->list;
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++)
        sieve_list_push(list, batch->signatures[i]);
    sieve_list_sort(list);
    for (size_t at = 0, count; at < list->count && !rocks->sieve.error.code; at += count) {
        count = list->count - at < SIEVE_ROCKS_GET_MAX ? list->count - at : SIEVE_ROCKS_GET_MAX;
        kept += ask_group(rocks, list->words + at, count, list->words + kept);
        write_group(rocks);
    }
    list->count = kept;
}

static int ask(struct sieve_disk *sieve, const struct sieve_disk_batch *batch, uint64_t *bitmap)
{
    struct rocks *rocks = container_of(sieve, struct rocks, sieve);
    look_up(rocks, batch);
    for (size_t i = 0; i < batch->count && !sieve->error.code; i++)
        if (sieve_list_take(&rocks->list, batch->signatures[i]))
            bitmap[i / 64] |= UINT64_C(1) << i % 64;
    sieve_list_clear(&rocks->list);
    return sieve->error.code;
}

static int learn(struct sieve_disk *sieve, const struct sieve_disk_batch *batch)
{
    struct rocks *rocks = container_of(sieve, struct rocks, sieve);
    look_up(rocks, batch);
    sieve_list_clear(&rocks->list);
    return sieve->error.code;
}

const struct sieve_disk_calls sieve_rocks = {
    .bytes = sizeof(struct rocks), .open = open_rocks, .close = close_rocks, .ask = ask, .learn = learn};
