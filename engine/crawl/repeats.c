#include "engine/crawl/repeats.h"

#include <stdio.h>

#include "engine/crawl/limits.h"
#include "engine/url/hash.h"

/* Neither a line of JSON nor a file can refer to another: then a copy is stored in full. */
static uint64_t way_to_store(const struct tuning *tuning)
{
    uint64_t way = tuning->fixed.duplicates.store;
    bool has_revisits =
        tuning->fixed.store.kind != TUNING_STORE_JSONL && tuning->fixed.store.kind != TUNING_STORE_DIRECTORY;
    return way == TUNING_DUPLICATES_REVISIT && !has_revisits ? TUNING_DUPLICATES_FULL : way;
}

/* Digests are needed for revisit records, to store a body once, and to skip the links of a copy. */
static bool wants_exact(const struct tuning *tuning)
{
    const struct duplicates_tuning_fixed *duplicates = &tuning->fixed.duplicates;
    if (duplicates->kind == TUNING_DUPLICATES_OFF)
        return false;
    return duplicates->links == TUNING_DUPLICATES_SKIP_LINKS ||
           (tuning->fixed.store.kind != TUNING_STORE_NONE && way_to_store(tuning) != TUNING_DUPLICATES_FULL);
}

int repeats_init(struct repeats *repeats, const struct tuning *tuning)
{
    const struct duplicates_tuning_fixed *duplicates = &tuning->fixed.duplicates;
    unsigned loops = (unsigned)tuning->fixed.crawl.threads;
    uint64_t least = (uint64_t)loops * EXACT_LOOP_BYTES_MIN;
    *repeats = (struct repeats){.follows = duplicates->links == TUNING_DUPLICATES_FOLLOW,
                                .store = way_to_store(tuning)};
    int error = 0;
    if (wants_exact(tuning)) {
        uint64_t bytes = duplicates->bytes > least ? duplicates->bytes : least;
        error = exact_init(&repeats->exact, &(struct exact_options){.bytes = bytes, .loops = loops});
        repeats->has_exact = !error;
    }
    if (!error && duplicates->kind == TUNING_DUPLICATES_NEAR) {
        struct near_options options = {.bytes = duplicates->bytes,
                                       .distance = (unsigned)duplicates->distance_max};
        error = near_init(&repeats->near, &options);
        repeats->has_near = !error;
    }
    return error;
}

uint64_t repeats_bytes(struct repeats *repeats)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; repeats->has_exact && i < repeats->exact.loops; i++) {
        const struct exact_log *log = &repeats->exact.logs[i];
        uint64_t words = lf_load(&log->reserved, relaxed);
        bytes += sizeof(uint64_t) * (words < log->words_count ? words : log->words_count);
    }
    return bytes + (repeats->has_near ? near_count(&repeats->near) * sizeof(uint64_t) * repeats->near.tables_count : 0);
}

void repeats_fini(struct repeats *repeats)
{
    if (repeats->has_exact)
        exact_fini(&repeats->exact);
    if (repeats->has_near)
        near_fini(&repeats->near);
    repeats->has_exact = repeats->has_near = false;
}

bool repeats_find(struct repeats *repeats, const unsigned char *digest, size_t body_len,
                  struct exact_copy *copy)
{
    return repeats->has_exact && body_len >= REPEATS_BYTES_MIN && exact_find(&repeats->exact, digest, copy);
}

void repeats_add(struct repeats *repeats, unsigned loop, const unsigned char *digest,
                 const struct exact_source *source)
{
    if (repeats->has_exact)
        exact_add(&repeats->exact, loop, digest, *source);
}

uint64_t repeats_forgotten(struct repeats *repeats)
{
    uint64_t forgotten = 0;
    if (repeats->has_exact)
        forgotten += exact_overwritten(&repeats->exact) + exact_displaced(&repeats->exact);
    if (repeats->has_near)
        forgotten += near_dropped(&repeats->near) + near_refused(&repeats->near);
    return forgotten;
}

void repeats_note_exact(const struct exact_copy *copy, char *note)
{
    snprintf(note, REPEATS_NOTE_CHARS, "duplicate:%016llx",
             (unsigned long long)hash_slice((struct slice){copy->url, copy->url_len}));
}

void repeats_note_near(const struct near_match *match, char *note)
{
    snprintf(note, REPEATS_NOTE_CHARS, "near-duplicate:%u:%016llx", match->distance,
             (unsigned long long)match->url);
}
