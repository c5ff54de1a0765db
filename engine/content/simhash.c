/* One pass over a page. The walk finds the tags; the text between them is looked at 64 bytes at a time, as masks
 * of letters and digits. Words are runs of ones in a mask. Each is hashed 8 bytes at a time, in lower case, and together
 * with the words before it makes a shingle, whose hash goes to the counters.
 *
 * A counter for each of 64 bits would cost 64 additions per shingle. They lie across words instead: plane i holds bit i of
 * all 64 counters. Sixteen hashes at a time are added by a tree of carry-save adders (Harley and Seal): five logical
 * operations per hash, whose carry goes up the planes once per sixteen. */
#include "engine/content/simhash.h"

#include <endian.h>

#include "engine/content/html.h"
#include "engine/content/simhash_parts.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define BLOCK_BYTES 64
#define TOGETHER    16
/* A page of SIMHASH_BYTES_MAX has half as many words at most. */
#define PLANES 20
_Static_assert(SIMHASH_BYTES_MAX / 2 < 1u << PLANES, "counters do not overflow");

/* How often each of 64 bits was set. */
struct counters {
    uint64_t planes[PLANES];
    uint64_t pending[TOGETHER]; /* hashes that are not counted yet */
    unsigned pending_count;
    uint32_t count; /* of all hashes that are counted */
};

struct reader {
    const char *end;     /* bytes before it are readable */
    uint64_t before;     /* the hash of the word before */
    uint32_t words_left; /* to be met before there is a shingle */
    bool is_html;
    struct counters counters;
};

/* Where letters and digits are within 64 bytes, and where '<' is: a bit each. */
struct masks {
    uint64_t letters, digits, open;
};
typedef struct masks classify_function(const char *block);

/* high and *low: the sum of three bits in each of 64 places. */
static inline uint64_t add_three(uint64_t *low, uint64_t a, uint64_t b)
{
    uint64_t both = *low ^ a, high = (*low & a) | (both & b);
    *low = both ^ b;
    return high;
}

/* Adds `bits` to the counters from a plane on. */
static inline void add_bits(struct counters *counters, unsigned plane, uint64_t bits)
{
    for (; bits; plane++) {
        uint64_t carry = counters->planes[plane] & bits;
        counters->planes[plane] ^= bits;
        bits = carry;
    }
}

static inline uint64_t add_four(uint64_t planes[2], const uint64_t hashes[4])
{
    uint64_t first = add_three(&planes[0], hashes[0], hashes[1]);
    uint64_t second = add_three(&planes[0], hashes[2], hashes[3]);
    return add_three(&planes[1], first, second);
}

static inline uint64_t add_eight(uint64_t planes[3], const uint64_t hashes[8])
{
    uint64_t first = add_four(planes, hashes), second = add_four(planes, hashes + 4);
    return add_three(&planes[2], first, second);
}

static void count_pending(struct counters *counters)
{
    uint64_t low[4];
    memcpy(low, counters->planes, sizeof(low));
    uint64_t first = add_eight(low, counters->pending), second = add_eight(low, counters->pending + 8);
    uint64_t carry = add_three(&low[3], first, second);
    memcpy(counters->planes, low, sizeof(low));
    add_bits(counters, 4, carry);
    counters->count += TOGETHER;
    counters->pending_count = 0;
}

static inline void add_hash(struct counters *counters, uint64_t hash)
{
    counters->pending[counters->pending_count++] = hash;
    if (counters->pending_count == TOGETHER)
        count_pending(counters);
}

/* A bit for each counter that is above half of all. */
static uint64_t majority(struct counters *counters)
{
    for (unsigned i = 0; i < counters->pending_count; i++)
        add_bits(counters, 0, counters->pending[i]);
    counters->count += counters->pending_count;
    counters->pending_count = 0;
    uint32_t half = counters->count / 2;
    uint64_t above = 0, equal = ~UINT64_C(0);
    for (unsigned plane = PLANES; plane-- > 0;) {
        uint64_t bits = counters->planes[plane], wanted = half >> plane & 1 ? ~UINT64_C(0) : 0;
        above |= equal & bits & ~wanted;
        equal &= ~(bits ^ wanted);
    }
    return above;
}

/* Up to 8 bytes, in lower case, as a word: the first byte is the lowest. */
__attribute__((always_inline)) static inline uint64_t load_letters(const struct reader *reader,
                                                                   const char *text, size_t len)
{
    uint64_t letters = 0;
    if (__builtin_expect(reader->end - text >= 8, 1))
        memcpy(&letters, text, 8);
    else
        memcpy(&letters, text, len < 8 ? len : 8);
    letters = le64toh(letters);
    letters |= (~letters & UINT64_C(0x8080808080808080)) >> 2; /* not in bytes above 127 */
    return len < 8 ? letters & ~(~UINT64_C(0) << (8 * len)) : letters;
}

/* Whether what begins at `word`, right before a ';', is a character reference that begins no earlier than `text`. */
static bool is_reference(const char *word, const char *text)
{
    if (word > text && word[-1] == '#')
        word--;
    return word > text && word[-1] == '&';
}

/* One word, of letters alone. */
__attribute__((always_inline)) static inline void add_word(struct reader *reader, const char *word,
                                                           size_t len)
{
    uint64_t letters = load_letters(reader, word, len), hash;
    if (__builtin_expect(len <= 8, 1)) {
        if (simhash_is_date(letters))
            return;
        hash = simhash_mix(letters ^ SIMHASH_WORD, SIMHASH_FACTOR);
    } else {
        hash = simhash_mix(letters ^ SIMHASH_WORD, SIMHASH_FACTOR);
        for (size_t at = 8; at < len; at += 8) {
            uint64_t more = load_letters(reader, word + at, len - at);
            if (len == 9 && simhash_is_long_date(letters, more))
                return;
            hash = simhash_mix(hash ^ more ^ SIMHASH_WORD, SIMHASH_FACTOR);
        }
    }
    uint64_t shingle = simhash_shingle(hash, reader->before);
    reader->before = hash;
    if (__builtin_expect(reader->words_left, 0))
        reader->words_left--;
    else
        add_hash(&reader->counters, shingle);
}

/* The words that the mask of a block shows. `open` is the end of the block's text, `text` its begin. */
__attribute__((always_inline)) static inline void add_words(struct reader *reader, const char *block,
                                                            const struct masks *masks, const char *text)
{
    /* Adding the lowest one to a run of ones carries it beyond the run. */
    for (uint64_t mask = masks->letters | masks->digits, rest; mask; mask = rest) {
        rest = mask & (mask + (mask & -mask));
        uint64_t run = mask ^ rest;
        if (run & masks->digits)
            continue;
        unsigned begin = (unsigned)__builtin_ctzll(run), end = 64 - (unsigned)__builtin_clzll(run);
        const char *word = block + begin;
        if (__builtin_expect(end < masks->open && block[end] == ';', 0) && reader->is_html &&
            is_reference(word, text))
            continue;
        add_word(reader, word, end - begin);
    }
}

static bool is_word_byte(char c)
{
    char lower = c | 0x20;
    return (lower >= 'a' && lower <= 'z') || (unsigned char)c >= 0x80 || (c >= '0' && c <= '9');
}

/* A word that is longer than a block. Returns its end. */
static __attribute__((noinline)) const char *add_long_word(struct reader *reader, const char *word,
                                                           const char *end, const char *text)
{
    const char *at = word;
    bool has_digit = false;
    for (; at < end && is_word_byte(*at); at++)
        has_digit |= *at >= '0' && *at <= '9';
    bool is_skipped = at < end && *at == ';' && reader->is_html && is_reference(word, text);
    if (!has_digit && !is_skipped)
        add_word(reader, word, (size_t)(at - word));
    return at;
}

/* Whether a '<' is more than text. */
static inline bool is_markup(const char *open, const char *end)
{
    if (end - open < 2)
        return false;
    char lower = slice_lower(open[1]);
    return open[1] == '!' || open[1] == '?' || open[1] == '/' || (lower >= 'a' && lower <= 'z');
}

/* Behind the comment or declaration at `open`, which is_markup, as fingerprint_normalise reads it. */
static __attribute__((noinline)) const char *skip_markup(const char *open, const char *end)
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

/* Masks of the bytes from `at` on, also where fewer than a block are readable. */
__attribute__((always_inline)) static inline struct masks
classify_at(const struct reader *reader, const char *at, classify_function *classify)
{
    if (__builtin_expect(reader->end - at >= BLOCK_BYTES, 1))
        return classify(at);
    char padded[BLOCK_BYTES] = {0};
    memcpy(padded, at, (size_t)(reader->end - at));
    return classify(padded);
}

/* The words of a text. `has_markup`: a '<' in it begins a comment or a declaration. */
__attribute__((always_inline)) static inline void add_text(struct reader *reader, struct slice run,
                                                           bool has_markup, classify_function *classify)
{
    const char *at = run.ptr, *end = run.ptr + run.len, *text = at;
    while (at < end && reader->counters.count < SIMHASH_SHINGLES_MAX) {
        struct masks masks = classify_at(reader, at, classify);
        size_t len = end - at < BLOCK_BYTES ? (size_t)(end - at) : BLOCK_BYTES;
        uint64_t inside = ~UINT64_C(0) >> (BLOCK_BYTES - len);
        bool is_cut = false, goes_on = end - at > BLOCK_BYTES;
        uint64_t opens = has_markup ? masks.open & inside : 0;
        while (__builtin_expect(opens != 0, 0) && !is_markup(at + __builtin_ctzll(opens), end))
            opens &= opens - 1;
        if (__builtin_expect(opens != 0, 0)) {
            len = (size_t)__builtin_ctzll(opens);
            inside = (UINT64_C(1) << len) - 1;
            is_cut = true;
        }
        uint64_t word_bytes = masks.letters | masks.digits;
        if (!is_cut && goes_on && word_bytes >> 63) { /* the last word may go on behind the block */
            if (word_bytes == ~UINT64_C(0)) {
                at = add_long_word(reader, at, end, text);
                continue;
            }
            len = 64 - (size_t)__builtin_clzll(~word_bytes);
            inside = ~UINT64_C(0) >> __builtin_clzll(~word_bytes);
        }
        struct masks words = {masks.letters & inside, masks.digits & inside, len};
        add_words(reader, at, &words, text);
        at += len;
        if (is_cut)
            text = at = skip_markup(at, end);
    }
}

__attribute__((always_inline)) static inline void add_page(struct reader *reader, struct slice html,
                                                           unsigned flags, classify_function *classify)
{
    struct html_walk walk;
    struct html_tag tag;
    const char *from = html.ptr;
    unsigned tags_left = SIMHASH_TAGS_MAX;
    html_init(&walk, html, HTML_READ_ALL | HTML_READ_NOSCRIPT | HTML_SKIP_ATTRIBUTES | flags);
    while (html_next(&walk, &tag)) {
        if (tag.open > from)
            add_text(reader, slice_between(from, tag.open), true, classify);
        from = tag.close;
        if (!tag.is_end && tag.body.len) {
            if (tag.element == HTML_TITLE || tag.element == HTML_TEXTAREA)
                add_text(reader, tag.body, false, classify);
            from = tag.body.ptr + tag.body.len;
        }
        if (--tags_left == 0 || reader->counters.count >= SIMHASH_SHINGLES_MAX)
            return;
    }
    add_text(reader, slice_between(from, html.ptr + html.len), true, classify);
}

static struct masks classify_plain(const char *block)
{
    struct masks masks = {0};
    for (unsigned i = 0; i < BLOCK_BYTES; i++) {
        char lower = block[i] | 0x20;
        bool is_letter = (lower >= 'a' && lower <= 'z') || (unsigned char)block[i] >= 0x80;
        masks.letters |= (uint64_t)is_letter << i;
        masks.digits |= (uint64_t)(block[i] >= '0' && block[i] <= '9') << i;
        masks.open |= (uint64_t)(block[i] == '<') << i;
    }
    return masks;
}

static void read_plain(struct reader *reader, struct slice text)
{
    if (reader->is_html)
        add_page(reader, text, HTML_PLAIN, classify_plain);
    else
        add_text(reader, text, false, classify_plain);
}

#if defined(__x86_64__)
#define AVX2   __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx2,bmi,bmi2,lzcnt,popcnt")))

static inline AVX2 uint64_t bits_of(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;
}

/* 255 in bytes that are `first` or one of the `count` - 1 after it. */
static inline AVX2 __m256i is_among(__m256i bytes, char first, char count)
{
    __m256i from_first = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(from_first, _mm256_set1_epi8((char)(count - 1))), from_first);
}

static inline AVX2 struct masks classify_avx2(const char *block)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)block);
    __m256i high = _mm256_loadu_si256((const __m256i *)(block + 32));
    __m256i fold = _mm256_set1_epi8(0x20), open = _mm256_set1_epi8('<');
    /* The highest bit is set in bytes above 127, which count as letters. */
    __m256i low_letters = _mm256_or_si256(low, is_among(_mm256_or_si256(low, fold), 'a', 26));
    __m256i high_letters = _mm256_or_si256(high, is_among(_mm256_or_si256(high, fold), 'a', 26));
    return (struct masks){bits_of(low_letters, high_letters),
                          bits_of(is_among(low, '0', 10), is_among(high, '0', 10)),
                          bits_of(_mm256_cmpeq_epi8(low, open), _mm256_cmpeq_epi8(high, open))};
}

static AVX2 void read_avx2(struct reader *reader, struct slice text)
{
    if (reader->is_html)
        add_page(reader, text, 0, classify_avx2);
    else
        add_text(reader, text, false, classify_avx2);
}

static inline AVX512 struct masks classify_avx512(const char *block)
{
    __m512i bytes = _mm512_loadu_si512(block);
    __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    __m512i from_a = _mm512_sub_epi8(folded, _mm512_set1_epi8('a'));
    __m512i from_zero = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));
    return (struct masks){_mm512_cmplt_epu8_mask(from_a, _mm512_set1_epi8(26)) | _mm512_movepi8_mask(bytes),
                          _mm512_cmplt_epu8_mask(from_zero, _mm512_set1_epi8(10)),
                          _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('<'))};
}

static AVX512 void read_avx512(struct reader *reader, struct slice text)
{
    if (reader->is_html)
        add_page(reader, text, 0, classify_avx512);
    else
        add_text(reader, text, false, classify_avx512);
}
#endif

static bool use_plain;

void simhash_use_plain(bool plain)
{
    use_plain = plain;
}

static void read_words(struct reader *reader, struct slice text)
{
#if defined(__x86_64__)
    /* LZCNT, which not every compiler can ask for, came with BMI2 or before it. */
    bool has_bits = __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") && !use_plain;
    if (has_bits && __builtin_cpu_supports("avx512bw")) {
        read_avx512(reader, text);
        return;
    }
    if (has_bits && __builtin_cpu_supports("avx2")) {
        read_avx2(reader, text);
        return;
    }
#endif
    read_plain(reader, text);
}

static bool hash_of(struct slice text, bool is_html, uint64_t *hash)
{
    struct reader reader = {
        .end = text.ptr + text.len, .words_left = SIMHASH_SHINGLE_WORDS - 1, .is_html = is_html};
    text.len = text.len < SIMHASH_BYTES_MAX ? text.len : SIMHASH_BYTES_MAX;
    read_words(&reader, text);
    if (reader.counters.count + reader.counters.pending_count < SIMHASH_SHINGLES_MIN)
        return false;
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
