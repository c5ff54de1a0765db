#include "engine/sieve/sieve_disk.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <isa-l.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sieve/sieve_disk_kinds.h"

static const struct sieve_disk_calls *const kinds[] = {
    [SIEVE_DISK_MERCATOR] = &sieve_mercator,
    [SIEVE_DISK_OFFLINE] = &sieve_offline,
#ifdef HAVE_ROCKSDB
    [SIEVE_DISK_ROCKS] = &sieve_rocks,
#else
    [SIEVE_DISK_ROCKS] = NULL,
#endif
};

size_t sieve_disk_seens_words(const struct sieve_disk_seens *seens)
{
    size_t words = 0;
    for (unsigned i = 0; i < seens->count; i++)
        words += sieve_disk_words(seens->batches[i].count);
    return words;
}

bool sieve_disk_has(enum sieve_disk_kind kind)
{
    return kinds[kind] != NULL;
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
    if (calls->open(sieve) == 0)
        return sieve;
    *error = sieve->error;
    free(sieve);
    return NULL;
}

void sieve_disk_close(struct sieve_disk *sieve)
{
    sieve->calls->close(sieve);
    free(sieve);
}

static struct sieve_disk_seen seen_of(const struct sieve_disk_batch *batch)
{
    unsigned char *bytes = (unsigned char *)(uintptr_t)batch->signatures;
    return (struct sieve_disk_seen){
        .version = batch->version,
        .count = (uint32_t)batch->count,
        .checksum = crc32_iscsi(bytes, (int)(batch->count * sizeof *batch->signatures), 0),
    };
}

/* A batch that was answered before is asked about again. */
static int recall(struct sieve_disk *sieve, const struct sieve_disk_seen *seen, uint64_t *bitmap)
{
    const struct sieve_disk_seens *answered = &sieve->answered;
    struct sieve_disk_span span = {.count = sieve_disk_words(seen->count)};
    for (unsigned i = 0; i < answered->count; i++) {
        const struct sieve_disk_seen *known = &answered->batches[i];
        if (known->version == seen->version) {
            if (known->count != seen->count || known->checksum != seen->checksum)
                return sieve_error_set(&sieve->error, -EINVAL,
                                       "%s: batch %" PRIu64 " is not the one that was answered before",
                                       sieve->options.directory, seen->version);
            return span.count ? sieve->calls->recall(sieve, span, bitmap) : 0;
        }
        span.first += sieve_disk_words(known->count);
    }
    return sieve_error_set(&sieve->error, -ESTALE,
                           "%s: batch %" PRIu64 " is no longer remembered, %" PRIu64 " were answered",
                           sieve->options.directory, seen->version, sieve->version);
}

int sieve_disk_ask(struct sieve_disk *sieve, const struct sieve_disk_batch *batch, uint64_t *bitmap)
{
    assert(batch->count <= sieve->options.batch_max && !sieve->error.code);
    struct sieve_disk_seens *pending = &sieve->pending;
    struct sieve_disk_seen seen = seen_of(batch);
    if (batch->version <= sieve->version) {
        int error = recall(sieve, &seen, bitmap);
        return error ? error : SIEVE_DISK_NOW;
    }
    uint64_t next = sieve->version + pending->count + 1;
    if (batch->version != next)
        return sieve_error_set(&sieve->error, -ESTALE, "%s: the next batch is %" PRIu64 ", not %" PRIu64,
                               sieve->options.directory, next, batch->version);
    assert(pending->count < (sieve->calls->answers_at_once ? 1 : sieve->options.runs));
    pending->batches[pending->count++] = seen;
    int error = sieve->calls->take(sieve, batch);
    if (!error && sieve->calls->answers_at_once)
        error = sieve_disk_merge(sieve, bitmap);
    if (error)
        return error;
    return sieve->calls->answers_at_once ? SIEVE_DISK_NOW : SIEVE_DISK_LATER;
}

int sieve_disk_merge(struct sieve_disk *sieve, uint64_t *bitmap)
{
    assert(!sieve->error.code);
    struct sieve_disk_seens *pending = &sieve->pending;
    if (pending->count == 0)
        return 0;
    memset(bitmap, 0, sieve_disk_pending_words(sieve) * sizeof *bitmap);
    int error = sieve->calls->merge(sieve, bitmap);
    if (error)
        return error;
    sieve->version = pending->batches[pending->count - 1].version;
    sieve->answered = *pending;
    pending->count = 0;
    return 0;
}

unsigned sieve_disk_pending(const struct sieve_disk *sieve)
{
    return sieve->pending.count;
}

size_t sieve_disk_pending_words(const struct sieve_disk *sieve)
{
    return sieve_disk_seens_words(&sieve->pending);
}

uint64_t sieve_disk_version(const struct sieve_disk *sieve)
{
    return sieve->version;
}

uint64_t sieve_disk_count(const struct sieve_disk *sieve)
{
    return sieve->count;
}

const struct sieve_error *sieve_disk_error(const struct sieve_disk *sieve)
{
    return &sieve->error;
}
