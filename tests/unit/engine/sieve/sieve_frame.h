/* What the tests of disk sieves have in common: batches that are made up from a seed, the answers that a set in memory
 * gives to them, and a directory, which the sieve removes when it is closed. */
#pragma once

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/sieve/sieve_disk.h"
#include "lockfree/signatures.h"
#include "tests/support/check.h"

enum { FRAME_BATCHES_MAX = 16 };

/* Batches 1 to `count`, and what is new in each. */
struct frame {
    char directory[64];
    unsigned count;
    struct sieve_disk_batch batches[FRAME_BATCHES_MAX + 1]; /* by number, from 1 on */
    uint64_t *answers[FRAME_BATCHES_MAX + 1];
    uint64_t known[FRAME_BATCHES_MAX + 1]; /* signatures after the batch */
    uint64_t random;
};

static inline uint64_t frame_random(struct frame *frame)
{
    uint64_t z = frame->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline void frame_begin(struct frame *frame, uint64_t seed)
{
    *frame = (struct frame){.random = seed};
    snprintf(frame->directory, sizeof frame->directory, "/tmp/lycosa-sieve-XXXXXX");
    CHECK(mkdtemp(frame->directory) != NULL);
}

/* Asks for the path of a file in the directory. Static storage. */
static inline const char *frame_path(const struct frame *frame, const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", frame->directory, name);
    return path;
}

struct frame_names {
    char names[64][64];
    unsigned count;
};

static inline void frame_note(void *argument, const char *name)
{
    struct frame_names *names = argument;
    CHECK(names->count < 64 && strlen(name) < 64);
    strncpy(names->names[names->count++], name, 63);
}

static inline struct frame_names frame_list(const struct frame *frame)
{
    struct frame_names names = {0};
    CHECK_INT(disk_system.list(NULL, frame->directory, frame_note, &names), 0);
    return names;
}

/* Nothing is left behind. */
static inline void frame_finish(struct frame *frame)
{
    CHECK(access(frame->directory, F_OK) != 0);
    for (unsigned i = 1; i <= frame->count; i++) {
        free((void *)(uintptr_t)frame->batches[i].signatures);
        free(frame->answers[i]);
    }
}

/* One more batch. Of a hundred signatures `known` are from earlier batches, and as many as `again` were in this one
 * already. */
static inline void frame_add(struct frame *frame, size_t count, unsigned known, unsigned again)
{
    unsigned number = ++frame->count;
    CHECK(number <= FRAME_BATCHES_MAX);
    uint64_t *signatures = malloc((count + 1) * sizeof *signatures);
    for (size_t i = 0; i < count; i++) {
        unsigned earlier = number > 1 ? 1 + (unsigned)(frame_random(frame) % (number - 1)) : 0;
        const struct sieve_disk_batch *other = &frame->batches[earlier];
        unsigned dice = (unsigned)(frame_random(frame) % 100);
        if (dice < known && other->count)
            signatures[i] = other->signatures[frame_random(frame) % other->count];
        else if (dice >= 100 - again && i > 0)
            signatures[i] = signatures[frame_random(frame) % i];
        else
            signatures[i] = frame_random(frame);
    }
    frame->batches[number] = (struct sieve_disk_batch){signatures, count};
}

/* The reference: a set in memory. After the last frame_add. */
static inline void frame_answer(struct frame *frame)
{
    struct signatures set;
    struct signatures_writer writer;
    uint64_t all = 64, known = 0;
    for (unsigned i = 1; i <= frame->count; i++)
        all += frame->batches[i].count;
    size_t bytes = (signatures_bytes(all) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);
    memset(memory, 0, bytes);
    signatures_init(&set, memory, bytes);
    signatures_writer_init(&writer, &set);
    for (unsigned i = 1; i <= frame->count; i++) {
        const struct sieve_disk_batch *batch = &frame->batches[i];
        uint64_t *answer = frame->answers[i] = calloc(sieve_disk_words(batch->count) + 1, sizeof *answer);
        for (size_t j = 0; j < batch->count; j++)
            if (signatures_add(&writer, batch->signatures[j]) == SIGNATURES_NEW) {
                answer[j / 64] |= UINT64_C(1) << j % 64;
                known++;
            }
        frame->known[i] = known;
    }
    signatures_writer_fini(&writer);
    free(memory);
}

static inline bool frame_is_right(const struct frame *frame, unsigned number, const uint64_t *bitmap)
{
    size_t words = sieve_disk_words(frame->batches[number].count);
    return memcmp(bitmap, frame->answers[number], words * sizeof *bitmap) == 0;
}

static inline uint32_t frame_batch_max(const struct frame *frame)
{
    size_t max = 1;
    for (unsigned i = 1; i <= frame->count; i++)
        if (frame->batches[i].count > max)
            max = frame->batches[i].count;
    return (uint32_t)max;
}

static inline struct sieve_disk_options frame_options(const struct frame *frame, enum sieve_disk_kind kind)
{
    return (struct sieve_disk_options){
        .kind = kind,
        .disk = &disk_system,
        .directory = frame->directory,
        .batch_max = frame_batch_max(frame),
        .runs = 3}; /* and as little memory as can be: nearly each batch goes to disk */
}

/* A loop over the kinds that this build has. */
#define FRAME_EACH_KIND(kind)                                                                                \
    for (enum sieve_disk_kind kind = SIEVE_DISK_MERCATOR; kind <= SIEVE_DISK_ROCKS; kind++)                  \
        if (sieve_disk_has(kind))

static inline struct sieve_disk *frame_open(const struct frame *frame, enum sieve_disk_kind kind)
{
    struct sieve_disk_options options = frame_options(frame, kind);
    struct sieve_error error;
    struct sieve_disk *sieve = sieve_disk_open(&options, &error);
    CHECK_STR(sieve ? "" : error.text, "");
    return sieve;
}

/* A caller of the sieve: asks about batches in order, and compares the answers. */
struct frame_caller {
    const struct frame *frame;
    struct sieve_disk *sieve;
};

static inline int frame_ask(struct frame_caller *caller, unsigned number)
{
    const struct sieve_disk_batch *batch = &caller->frame->batches[number];
    size_t words = sieve_disk_words(batch->count);
    uint64_t *bitmap = malloc((words + 1) * sizeof *bitmap);
    memset(bitmap, 0xa5, words * sizeof *bitmap);
    int error = sieve_disk_ask(caller->sieve, batch, bitmap);
    if (!error)
        CHECK(frame_is_right(caller->frame, number, bitmap));
    free(bitmap);
    return error;
}

/* Batches from `first` on, to the last one. 0, or the error that ended it. */
static inline int frame_ask_from(struct frame_caller *caller, unsigned first)
{
    for (unsigned number = first; number <= caller->frame->count; number++) {
        int error = frame_ask(caller, number);
        if (error)
            return error;
    }
    CHECK_INT(sieve_disk_count(caller->sieve), caller->frame->known[caller->frame->count]);
    return 0;
}
