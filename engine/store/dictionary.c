#include "engine/store/dictionary.h"

#include <stdlib.h>
#include <string.h>
#define ZDICT_STATIC_LINKING_ONLY /* for the parameters of the training */
#include <zdict.h>
#include <zstd.h>

#include "engine/store/limits.h"

bool dictionary_init(struct dictionary *dictionary, int level)
{
    *dictionary = (struct dictionary){.stage = DICTIONARY_GATHERS, .level = level};
    dictionary->samples = malloc(DICTIONARY_SAMPLES_BYTES);
    dictionary->sizes = malloc(DICTIONARY_SAMPLES_MAX * sizeof *dictionary->sizes);
    return dictionary->samples && dictionary->sizes;
}

static void free_samples(struct dictionary *dictionary)
{
    free(dictionary->samples);
    free(dictionary->sizes);
    dictionary->samples = NULL;
    dictionary->sizes = NULL;
}

void dictionary_fini(struct dictionary *dictionary)
{
    if (dictionary->has_thread)
        pthread_join(dictionary->thread, NULL);
    free_samples(dictionary);
    free(dictionary->text);
    ZSTD_freeCDict(dictionary->digested);
    *dictionary = (struct dictionary){0};
}

void dictionary_add(struct dictionary *dictionary, struct slice record)
{
    if (lf_load(&dictionary->stage, relaxed) != DICTIONARY_GATHERS) /* the loop's own until it is not */
        return;
    size_t len = record.len < DICTIONARY_SAMPLE_BYTES ? record.len : DICTIONARY_SAMPLE_BYTES;
    memcpy(dictionary->samples + dictionary->used, record.ptr, len);
    dictionary->used += len;
    dictionary->sizes[dictionary->count++] = len;
    if (dictionary->used + DICTIONARY_SAMPLE_BYTES > DICTIONARY_SAMPLES_BYTES ||
        dictionary->count == DICTIONARY_SAMPLES_MAX)
        lf_store(&dictionary->stage, DICTIONARY_GATHERED,
                 release); /* Hand-over: R1 pairs with A1 in dictionary_serve. */
}

bool dictionary_ready(const struct dictionary *dictionary)
{
    return lf_load(&dictionary->stage, acquire) == DICTIONARY_READY; /* A2 pairs with R2 in train */
}

static bool make(struct dictionary *dictionary)
{
    dictionary->text = malloc(DICTIONARY_BYTES);
    if (!dictionary->text)
        return false;
    /* The lengths of segments and of what is counted: ZDICT_trainFromBuffer tries many, takes five times as long, and finds
     * nothing better for records of web pages. */
    ZDICT_fastCover_params_t how = {.k = DICTIONARY_SEGMENT_BYTES,
                                    .d = DICTIONARY_PIECE_BYTES,
                                    .f = DICTIONARY_TABLE_BITS,
                                    .accel = 1,
                                    .splitPoint = 1,
                                    .zParams.compressionLevel = dictionary->level};
    dictionary->bytes = ZDICT_trainFromBuffer_fastCover(dictionary->text, DICTIONARY_BYTES, dictionary->samples,
                                                        dictionary->sizes, dictionary->count, how);
    if (ZDICT_isError(dictionary->bytes))
        return false;
    dictionary->digested = ZSTD_createCDict(dictionary->text, dictionary->bytes, dictionary->level);
    return dictionary->digested;
}

static void *train(void *argument)
{
    struct dictionary *dictionary = argument;
    bool is_made = make(dictionary);
    free_samples(dictionary);
    /* Hand-over: R2 pairs with A2 in dictionary_ready. */
    lf_store(&dictionary->stage, is_made ? DICTIONARY_READY : DICTIONARY_FAILED, release);
    return NULL;
}

void dictionary_serve(struct dictionary *dictionary)
{
    if (lf_load(&dictionary->stage, acquire) != DICTIONARY_GATHERED) /* A1 pairs with R1 in dictionary_add */
        return;
    lf_store(&dictionary->stage, DICTIONARY_TRAINS, relaxed); /* the thread is not there yet */
    dictionary->has_thread = pthread_create(&dictionary->thread, NULL, train, dictionary) == 0;
    if (!dictionary->has_thread)
        lf_store(&dictionary->stage, DICTIONARY_FAILED, relaxed); /* nothing to be seen with it */
}
