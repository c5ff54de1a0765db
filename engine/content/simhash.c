/* One pass over a page: simhash_read.h finds its letters, simhash_count.h counts their shingles. Here is what is done once per page,
 * and what is the same on every CPU. */
#include "engine/content/simhash.h"

#include "engine/content/simhash_parts.h"

/* A word of a page takes one letter at least, and a block goes beyond the bound. */
_Static_assert(SIMHASH_LETTERS_MAX + SIMHASH_WAITING_MAX < 1u << SIMHASH_PLANES, "counters do not overflow");

const char *simhash_pad(char padded[SIMHASH_BLOCK_ROOM], const char *at, const char *end)
{
    memset(padded, 0, SIMHASH_BLOCK_ROOM);
    memcpy(padded, at, (size_t)(end - at));
    return padded;
}

const char *simhash_skip_markup(const char *open, const char *end)
{
    struct slice run = slice_between(open, end);
    const char *close;
    if (slice_starts_with(run, SLICE("<!--")))
        close = (close = memmem(open + 4, run.len - 4, "-->", 3)) ? close + 2 : NULL;
    else if (open[1] == '!' || open[1] == '?' || open[1] == '/')
        close = memchr(open, '>', run.len);
    else
        close = NULL; /* a tag that the document's end cuts off */
    return close ? close + 1 : end;
}

/* All lanes in the first. */
static void add_lanes(struct simhash_counters *counters)
{
    for (unsigned lane = 1; lane < SIMHASH_LANES_MAX; lane++) {
        uint64_t carry = 0;
        for (unsigned plane = 0; plane < SIMHASH_PLANES; plane++) {
            uint64_t *low = &counters->planes[plane][0], bits = counters->planes[plane][lane];
            uint64_t both = *low ^ bits, high = (*low & bits) | (both & carry);
            *low = both ^ carry;
            carry = high;
        }
    }
}

/* A bit for each counter that is above half of all. */
static uint64_t majority(const struct simhash_counters *counters)
{
    uint32_t half = counters->count / 2;
    uint64_t above = 0, equal = ~UINT64_C(0);
    for (unsigned plane = SIMHASH_PLANES; plane-- > 0;) {
        uint64_t bits = counters->planes[plane][0], wanted = half >> plane & 1 ? ~UINT64_C(0) : 0;
        above |= equal & bits & ~wanted;
        equal &= ~(bits ^ wanted);
    }
    return above;
}

static enum simhash_way best_way = SIMHASH_AVX512;

void simhash_use(enum simhash_way best)
{
    best_way = best;
}

static void read_document(struct simhash_reader *reader)
{
#if defined(__x86_64__)
    /* LZCNT, which not every compiler can ask for, came with BMI2 or before it. */
    bool has_bits = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    if (best_way >= SIMHASH_AVX512 && has_bits && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("avx512bw")) {
        simhash_read_avx512(reader);
        return;
    }
    if (best_way >= SIMHASH_AVX2 && has_bits && __builtin_cpu_supports("avx2")) {
        simhash_read_avx2(reader);
        return;
    }
#endif
    simhash_read_plain(reader);
}

static bool hash_of(struct slice text, bool is_html, uint64_t *hash)
{
    struct simhash_reader reader;
    reader.begin = text.ptr;
    reader.end = text.ptr + (text.len < SIMHASH_BYTES_MAX ? text.len : SIMHASH_BYTES_MAX);
    reader.is_html = is_html;
    reader.tags_left = SIMHASH_TAGS_MAX;
    reader.letters_count = reader.letters_len = reader.shingles_len = 0;
    reader.starts[0] = reader.starts[1] = 0;
    memset(&reader.counters, 0, sizeof(reader.counters));
    read_document(&reader);
    if (reader.counters.count < SIMHASH_SHINGLES_MIN)
        return false;
    add_lanes(&reader.counters);
    *hash = majority(&reader.counters);
    return true;
}

bool simhash_html(struct slice html, uint64_t *hash)
{
    return hash_of(html, true, hash);
}

bool simhash_text(struct slice text, uint64_t *hash)
{
    return hash_of(text, false, hash);
}
