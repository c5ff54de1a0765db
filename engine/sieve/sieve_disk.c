#include "engine/sieve/sieve_disk.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/sieve/sieve_disk_kinds.h"
#include "engine/sieve/sieve_file.h"

static const struct sieve_disk_calls *const kinds[] = {
    [SIEVE_DISK_MERCATOR] = &sieve_mercator,
    [SIEVE_DISK_OFFLINE] = &sieve_offline,
#ifdef HAVE_ROCKSDB
    [SIEVE_DISK_ROCKS] = &sieve_rocks,
#else
    [SIEVE_DISK_ROCKS] = NULL,
#endif
};

bool sieve_disk_has(enum sieve_disk_kind kind)
{
    return kinds[kind] != NULL;
}

static void remove_file(void *argument, const char *name)
{
    struct sieve_disk *sieve = argument;
    const struct sieve_disk_options *options = &sieve->options;
    char path[SIEVE_FILE_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", options->directory, name);
    int error = options->disk->unlink(options->disk->owner, path);
    if (error)
        sieve_error_of_call(&sieve->error, error, "remove", path);
}

static int empty_directory(struct sieve_disk *sieve)
{
    const struct sieve_disk_options *options = &sieve->options;
    int error = options->disk->list(options->disk->owner, options->directory, remove_file, sieve);
    if (error)
        sieve_error_of_call(&sieve->error, error, "list", options->directory);
    return sieve->error.code;
}

static int make_directory(struct sieve_disk *sieve)
{
    const char *path = sieve->options.directory;
    if (mkdir(path, 0755) == 0)
        return 0;
    return errno == EEXIST ? empty_directory(sieve)
                           : sieve_error_of_call(&sieve->error, -errno, "make", path);
}

static void remove_directory(struct sieve_disk *sieve)
{
    empty_directory(sieve);
    rmdir(sieve->options.directory);
}

static int open_kind(struct sieve_disk *sieve)
{
    int error = make_directory(sieve);
    if (error)
        return error;
    error = sieve->calls->open(sieve);
    if (error)
        remove_directory(sieve);
    return error;
}

struct sieve_disk *sieve_disk_open(const struct sieve_disk_options *options, struct sieve_error *error)
{
    const struct sieve_disk_calls *calls = kinds[options->kind];
    assert(options->batch_max > 0 && options->batch_max <= SIEVE_DISK_BATCH_MAX);
    *error = (struct sieve_error){0};
    if (!calls) {
        sieve_error_set(error, -ENOTSUP, "this build has no RocksDB: install librocksdb-dev and build again");
        return NULL;
    }
    struct sieve_disk *sieve = calloc(1, calls->bytes);
    if (!sieve) {
        sieve_error_of_call(error, -ENOMEM, "open", options->directory);
        return NULL;
    }
    sieve->calls = calls;
    sieve->options = *options;
    if (open_kind(sieve) == 0)
        return sieve;
    *error = sieve->error;
    free(sieve);
    return NULL;
}

void sieve_disk_close(struct sieve_disk *sieve)
{
    sieve->calls->close(sieve);
    remove_directory(sieve);
    free(sieve);
}

int sieve_disk_ask(struct sieve_disk *sieve, const struct sieve_disk_batch *batch, uint64_t *bitmap)
{
    assert(batch->count <= sieve->options.batch_max && !sieve->error.code);
    memset(bitmap, 0, sieve_disk_words(batch->count) * sizeof *bitmap);
    return sieve->calls->ask(sieve, batch, bitmap);
}

int sieve_disk_learn(struct sieve_disk *sieve, const struct sieve_disk_batch *batch)
{
    assert(batch->count <= sieve->options.batch_max && !sieve->error.code);
    return sieve->calls->learn(sieve, batch);
}

uint64_t sieve_disk_count(const struct sieve_disk *sieve)
{
    return sieve->count;
}

const struct sieve_error *sieve_disk_error(const struct sieve_disk *sieve)
{
    return &sieve->error;
}
