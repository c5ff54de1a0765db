/* From letters to counters, compiled once per instruction set: the including file defines
 *
 *     READ_TARGET                          attribute of every function
 *     lanes, LANES                         a vector of so many words of 64 bits, or one such word
 *     lanes READ(multiply)(lanes, uint32_t)  the lower half of each lane times a number
 *     lanes READ(swap)(lanes)              both halves of each lane change places
 *     lanes READ(add)(lanes *low, lanes a, lanes b)  *low, the returned: both bits of the sum of three
 *
 * and gets READ(flush) and READ(finish).
 *
 * A counter for each of 64 bits would cost 64 additions per shingle. Sixteen vectors of hashes are added by a tree of carry-save
 * adders instead (Harley and Seal); its carry waits for a second one, and both go to the next plane together. */
#include "engine/content/simhash_parts.h"

static inline READ_TARGET lanes READ(load)(const uint64_t *words)
{
    lanes value;
    memcpy(&value, words, sizeof(value));
    return value;
}

static inline READ_TARGET void READ(store)(uint64_t *words, lanes value)
{
    memcpy(words, &value, sizeof(value));
}

/* Both halves of a shingle are multiplied, then both halves of the sum: each bit of the result depends on all letters. */
static inline READ_TARGET lanes READ(hash)(const uint64_t *shingles)
{
    lanes letters = READ(load)(shingles) << 8; /* without the eighth */
    lanes sum =
        READ(multiply)(letters, SIMHASH_FIRST) + READ(swap)(READ(multiply)(letters >> 32, SIMHASH_LAST));
    return READ(multiply)(sum, SIMHASH_LOWER) ^ READ(swap)(READ(multiply)(sum >> 32, SIMHASH_HIGHER));
}

static inline READ_TARGET lanes READ(add_four)(lanes low[2], const uint64_t *hashes)
{
    lanes first = READ(add)(&low[0], READ(load)(hashes), READ(load)(hashes + LANES));
    lanes second = READ(add)(&low[0], READ(load)(hashes + 2 * LANES), READ(load)(hashes + 3 * LANES));
    return READ(add)(&low[1], first, second);
}

static inline READ_TARGET lanes READ(add_eight)(lanes low[3], const uint64_t *hashes)
{
    lanes first = READ(add_four)(low, hashes), second = READ(add_four)(low, hashes + 4 * LANES);
    return READ(add)(&low[2], first, second);
}

/* Adds 16 vectors of hashes. */
static READ_TARGET void READ(count)(struct simhash_counters *counters, const uint64_t *hashes)
{
    lanes low[SIMHASH_PLANE_GROUP];
    for (unsigned i = 0; i < SIMHASH_PLANE_GROUP; i++)
        low[i] = READ(load)(counters->planes[i]);
    lanes first = READ(add_eight)(low, hashes), second = READ(add_eight)(low, hashes + 8 * LANES);
    lanes carry = READ(add)(&low[3], first, second);
    for (unsigned i = 0; i < SIMHASH_PLANE_GROUP; i++)
        READ(store)(counters->planes[i], low[i]);
    unsigned plane = SIMHASH_PLANE_GROUP;
    for (uint32_t groups = counters->groups; groups & 1; groups >>= 1, plane++) {
        lanes bits = READ(load)(counters->planes[plane]);
        carry = READ(add)(&bits, READ(load)(counters->carries[plane]), carry);
        READ(store)(counters->planes[plane], bits);
    }
    READ(store)(counters->carries[plane], carry);
    counters->groups++;
}

/* Counts shingles in whole groups. */
static READ_TARGET void READ(count_groups)(struct simhash_reader *reader)
{
    uint64_t hashes[SIMHASH_TOGETHER * LANES];
    unsigned at = 0;
    for (; reader->shingles_len - at >= SIMHASH_TOGETHER * LANES; at += SIMHASH_TOGETHER * LANES) {
        for (unsigned i = 0; i < SIMHASH_TOGETHER; i++)
            READ(store)(hashes + i * LANES, READ(hash)(reader->shingles + at + i * LANES));
        READ(count)(&reader->counters, hashes);
    }
    reader->counters.count += at;
    reader->shingles_len -= at;
    memmove(reader->shingles, reader->shingles + at, reader->shingles_len * sizeof(reader->shingles[0]));
}

/* Goes from letters to shingles. What is too short for one stays, and waits for more letters. */
static READ_TARGET __attribute__((noinline)) void READ(flush)(struct simhash_reader *reader)
{
    if (reader->letters_len < SIMHASH_SHINGLE_LETTERS)
        return;
    unsigned done = reader->letters_len - SIMHASH_SHINGLE_LETTERS + 1, words = done / 64;
    uint64_t rest = reader->starts[words] >> done % 64 | reader->starts[words + 1] << 1 << (63 - done % 64);
    reader->starts[words] &= ~(~UINT64_C(0) << done % 64);
    for (unsigned i = 0; i <= words; i++) {
        const char *letters = reader->letters + 64 * (size_t)i;
        uint64_t *to = reader->shingles + reader->shingles_len;
        for (uint64_t starts = reader->starts[i]; starts; starts &= starts - 1, to++)
            *to = simhash_letters_at(letters + __builtin_ctzll(starts));
        reader->shingles_len = (uint32_t)(to - reader->shingles);
        if (reader->shingles_len >= SIMHASH_TOGETHER * LANES)
            READ(count_groups)(reader);
    }
    reader->letters_count += done;
    reader->letters_len -= done;
    memmove(reader->letters, reader->letters + done, reader->letters_len);
    reader->starts[0] = rest & ((1u << (SIMHASH_SHINGLE_LETTERS - 1)) - 1);
    reader->starts[1] = 0;
}

/* Counts what is left, and brings the carries to their planes. */
static READ_TARGET void READ(finish)(struct simhash_reader *reader)
{
    struct simhash_counters *counters = &reader->counters;
    uint64_t hashes[SIMHASH_TOGETHER * LANES];
    READ(flush)(reader);
    size_t missing = SIMHASH_TOGETHER * LANES - reader->shingles_len;
    memset(reader->shingles + reader->shingles_len, 0, missing * sizeof(reader->shingles[0]));
    for (unsigned i = 0; i < SIMHASH_TOGETHER; i++)
        READ(store)(hashes + i * LANES, READ(hash)(reader->shingles + i * LANES));
    READ(count)(counters, hashes); /* the hash of zeros is zero, and counts nothing */
    counters->count += reader->shingles_len;
    lanes carry = READ(load)(counters->planes[SIMHASH_PLANES - 1]); /* zeros */
    for (unsigned plane = SIMHASH_PLANE_GROUP; plane < SIMHASH_PLANES; plane++) {
        lanes bits = READ(load)(counters->planes[plane]), zero = bits ^ bits;
        bool has_carry = counters->groups >> (plane - SIMHASH_PLANE_GROUP) & 1;
        carry = READ(add)(&bits, has_carry ? READ(load)(counters->carries[plane]) : zero, carry);
        READ(store)(counters->planes[plane], bits);
    }
}
