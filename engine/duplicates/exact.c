/* A table of cells that lead to copies in logs; each log has one writer, any thread reads.
 *
 * A cell is {tag: 16 bits of the digest, loop: 8, position: 40}. A copy is four words and its URL:
 *
 *     URL's length, end of the digest | digest | digest | date | URL ...
 *
 * Positions count words for ever; position p is word p % words_count of the log. (After 8 TB in one log cells no longer
 * lead to copies, and all are new.) A copy does not go over the log's
 * end: a gap is left there, whose first word tells its length.
 *
 * Why it is correct. The writer of a log raises `reserved` to the end of what it is going to write, writes the words,
 * and publishes the position in a cell. Who reads the cell sees the words as they were written, or as a later
 * copy overwrote them (R1, A1). Each word is written with release, and read with acquire if it goes into a copy: a reader who got a
 * single word of a later copy sees the value of `reserved` that the writer had set before it (R2, A2). Therefore
 * the reader looks at `reserved` last: if it is not more than a whole log beyond the position, then no word was
 * a later one, and the copy is whole. Lengths are checked before they are used, since a length may be part of a
 * URL by then.
 *
 * Cells are only hints: a cell whose copy was overwritten is free, and what a cell leads to is compared with the
 * whole digest. They are changed by compare-and-swap from what was seen, so that no thread replaces a cell
 * that it has not judged. */
#include "engine/duplicates/exact.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define BUCKET_CELLS  LF_SCALE(8u, 2u)
#define FIXED_WORDS   4u
#define LOOP_BITS     8
#define POSITION_BITS 40
#define POSITION_MASK ((UINT64_C(1) << POSITION_BITS) - 1)
#define GAP           UINT32_MAX /* in place of a URL's length */
/* Of the memory, the part of the table. A copy with a URL of 80 bytes takes 112 in its log: so its cells are
 * half full when the logs are. */
#define TABLE_PART 8

/* A digest as words. */
struct key {
    uint64_t first, second;
    uint32_t third;
};

static struct key key_of(const unsigned char digest[EXACT_DIGEST_BYTES])
{
    struct key key;
    memcpy(&key.first, digest, 8);
    memcpy(&key.second, digest + 8, 8);
    memcpy(&key.third, digest + 16, 4);
    return key;
}

/* The bucket comes from the digest's first word, the tag from its second. */
static _Atomic(uint64_t) *bucket_of(const struct exact *exact, struct key key)
{
    uint64_t bucket = (uint64_t)((unsigned __int128)key.first * exact->buckets_count >> 64);
    return exact->cells + bucket * BUCKET_CELLS;
}

static uint64_t make_cell(struct key key, unsigned loop, uint64_t position)
{
    return key.second << (LOOP_BITS + POSITION_BITS) | (uint64_t)loop << POSITION_BITS |
           (position & POSITION_MASK);
}

static bool has_tag(uint64_t cell, struct key key)
{
    return cell && (cell ^ make_cell(key, 0, 0)) >> (LOOP_BITS + POSITION_BITS) == 0;
}

static struct exact_log *log_of(const struct exact *exact, uint64_t cell)
{
    return &exact->logs[cell >> POSITION_BITS & ((1u << LOOP_BITS) - 1)];
}

static uint32_t words_of(uint32_t url_len)
{
    return FIXED_WORDS + (url_len + 7) / 8;
}

/* How far the writer has gone beyond a position: more than words_count, and it was overwritten. */
static uint64_t age_of(struct exact_log *log, uint64_t position)
{
    return lf_load(&log->reserved, relaxed) - position;
}

int exact_init(struct exact *exact, const struct exact_options *options)
{
    assert(options->loops && options->loops <= EXACT_LOOPS_MAX);
    assert(options->bytes >= (uint64_t)options->loops * EXACT_LOOP_BYTES_MIN);
    size_t table = options->bytes / TABLE_PART / LF_CACHE_LINE * LF_CACHE_LINE;
    size_t logs = options->loops * sizeof(struct exact_log);
    size_t log = (options->bytes - table) / options->loops / LF_CACHE_LINE * LF_CACHE_LINE;
    int error = arena_init(&exact->arena, &(struct arena_options){.bytes = options->bytes + logs});
    if (error)
        return error;
    exact->loops = options->loops;
    exact->cells = arena_take(&exact->arena, table, LF_CACHE_LINE);
    exact->buckets_count = table / sizeof(uint64_t) / BUCKET_CELLS;
    exact->logs = arena_take(&exact->arena, logs, _Alignof(struct exact_log));
    for (unsigned i = 0; i < options->loops; i++) {
        struct exact_log *made = &exact->logs[i];
        made->words = arena_take(&exact->arena, log, LF_CACHE_LINE);
        made->words_count = log / sizeof(uint64_t);
        assert(made->words);
        /* The second lap comes first: no position is 0, and so no cell. */
        made->oldest = made->words_count;
        lf_store(&made->reserved, made->words_count, relaxed);
    }
    lf_store(&exact->displaced, 0, relaxed);
    return 0;
}

void exact_fini(struct exact *exact)
{
    arena_fini(&exact->arena);
}

/* Reads the copy at a position. False: it was overwritten, or is that of another digest. */
static bool read_copy(struct exact_log *log, uint64_t position, struct key key, struct exact_copy *copy)
{
    uint64_t at = position % log->words_count;
    _Atomic(uint64_t) *words = log->words + at;
    /* A2 pairs with R2 in write_word, here and below. */
    uint64_t header = lf_load(&words[0], acquire);
    uint32_t len = (uint32_t)(header >> 32);
    if ((uint32_t)header != key.third || len > URL_BYTES_MAX || words_of(len) > log->words_count - at)
        return false;
    if (lf_load(&words[1], relaxed) != key.first || lf_load(&words[2], relaxed) != key.second)
        return false;                            /* nothing of these goes into the copy: they need no order */
    copy->date_us = lf_load(&words[3], acquire); /* A2 */
    copy->url_len = len;
    for (uint32_t i = FIXED_WORDS; i < words_of(len); i++) {
        uint64_t word = lf_load(&words[i], acquire); /* A2 */
        memcpy(copy->url + (size_t)(i - FIXED_WORDS) * 8, &word, 8);
    }
    return LF_BUG(exact_no_second_look, age_of(log, position) <= log->words_count, true);
}

bool exact_find(struct exact *exact, const unsigned char digest[EXACT_DIGEST_BYTES], struct exact_copy *copy)
{
    struct key key = key_of(digest);
    _Atomic(uint64_t) *cells = bucket_of(exact, key);
    for (unsigned i = 0; i < BUCKET_CELLS; i++) {
        uint64_t cell = lf_load(&cells[i], acquire); /* A1 pairs with R1 in enter */
        if (has_tag(cell, key) && read_copy(log_of(exact, cell), cell & POSITION_MASK, key, copy))
            return true;
    }
    return false;
}

static void write_word(struct exact_log *log, uint64_t position, uint64_t word)
{
    lf_store(&log->words[position % log->words_count], word, release); /* R2 pairs with A2 in read_copy */
}

/* Takes `words` in one piece from the log and returns their position. What stood there is overwritten from here on. */
static uint64_t reserve(struct exact_log *log, uint32_t words)
{
    uint64_t begin = lf_load(&log->reserved, relaxed), rest = log->words_count - begin % log->words_count;
    uint64_t gap = words > rest ? rest : 0, end = begin + gap + words, forgotten = 0;
    while (log->oldest + log->words_count < end && log->oldest < begin) {
        uint64_t header = lf_load(&log->words[log->oldest % log->words_count], relaxed);
        bool is_gap = header >> 32 == GAP;
        log->oldest += is_gap ? (uint32_t)header : words_of((uint32_t)(header >> 32));
        forgotten += !is_gap;
    }
    if (forgotten)
        lf_store(&log->overwritten, lf_load(&log->overwritten, relaxed) + forgotten, relaxed);
    lf_store(&log->reserved, end, relaxed);
    if (gap)
        write_word(log, begin, (uint64_t)GAP << 32 | gap);
    return begin + gap;
}

/* Which cell of the bucket to replace: an empty one, else one whose copy is gone, else the oldest. */
static unsigned choose_cell(const struct exact *exact, const uint64_t *seen, bool *is_free)
{
    unsigned oldest = 0;
    uint64_t oldest_age = 0;
    for (unsigned i = 0; i < BUCKET_CELLS; i++) {
        uint64_t age = UINT64_MAX;
        if (seen[i])
            age = age_of(log_of(exact, seen[i]), seen[i] & POSITION_MASK);
        if (age > oldest_age) {
            oldest_age = age;
            oldest = i;
        }
    }
    *is_free = oldest_age > exact->logs[0].words_count;
    return oldest;
}

/* Makes the table lead to a copy. */
static void enter(struct exact *exact, _Atomic(uint64_t) *cells, uint64_t cell)
{
    for (;;) {
        uint64_t seen[BUCKET_CELLS];
        bool is_free;
        for (unsigned i = 0; i < BUCKET_CELLS; i++)
            seen[i] = lf_load(&cells[i], relaxed);
        unsigned chosen = choose_cell(exact, seen, &is_free);
        /* R1 pairs with A1 in find: the copy is published. */
        if (lf_cas(&cells[chosen], &seen[chosen], cell, release, relaxed)) {
            if (!is_free)
                lf_fetch_add(&exact->displaced, 1, relaxed);
            return;
        }
    }
}

void exact_add(struct exact *exact, unsigned loop, const unsigned char digest[EXACT_DIGEST_BYTES],
               struct exact_source source)
{
    assert(loop < exact->loops && source.url.len <= URL_BYTES_MAX);
    struct exact_log *log = &exact->logs[loop];
    struct key key = key_of(digest);
    uint64_t position = reserve(log, words_of((uint32_t)source.url.len));
    write_word(log, position, (uint64_t)source.url.len << 32 | key.third);
    write_word(log, position + 1, key.first);
    write_word(log, position + 2, key.second);
    write_word(log, position + 3, source.date_us);
    for (size_t at = 0; at < source.url.len; at += 8) {
        size_t rest = source.url.len - at;
        uint64_t word = 0;
        memcpy(&word, source.url.ptr + at, rest < 8 ? rest : 8);
        write_word(log, position + FIXED_WORDS + at / 8, word);
    }
    lf_store(&log->added, lf_load(&log->added, relaxed) + 1, relaxed);
    enter(exact, bucket_of(exact, key), make_cell(key, loop, position));
}

static uint64_t sum_added(struct exact *exact, bool overwritten)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < exact->loops; i++)
        sum += lf_load(overwritten ? &exact->logs[i].overwritten : &exact->logs[i].added, relaxed);
    return sum;
}

uint64_t exact_added(struct exact *exact)
{
    return sum_added(exact, false);
}

uint64_t exact_overwritten(struct exact *exact)
{
    return sum_added(exact, true);
}

uint64_t exact_displaced(struct exact *exact)
{
    return lf_load(&exact->displaced, relaxed);
}
