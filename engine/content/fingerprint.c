/* SHA-1 (FIPS 180-4) and base32. The compression function is chosen at run time: CPUs with the SHA extensions
 * do four rounds in one instruction. */
#include "engine/content/fingerprint.h"

#include <endian.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#define BLOCK_BYTES 64

static uint32_t rotate(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

#define CHOOSE(b, c, d)   ((d) ^ ((b) & ((c) ^ (d))))
#define PARITY(b, c, d)   ((b) ^ (c) ^ (d))
#define MAJORITY(b, c, d) (((b) & (c)) | ((d) & ((b) | (c))))

/* One round. Instead of moving five values, each call permutes their names, which repeat after five
 * rounds. */
#define ROUND(a, b, e, mixed, word)                                                                          \
    do {                                                                                                     \
        e += rotate(a, 5) + (mixed) + (word);                                                                \
        b = rotate(b, 30);                                                                                   \
    } while (0)

#define TWENTY_PLAIN_ROUNDS(first, mix, constant)                                                            \
    for (int i = (first); i < (first) + 20; i += 5) {                                                        \
        ROUND(a, b, e, mix(b, c, d), w[i] + (constant));                                                     \
        ROUND(e, a, d, mix(a, b, c), w[i + 1] + (constant));                                                 \
        ROUND(d, e, c, mix(e, a, b), w[i + 2] + (constant));                                                 \
        ROUND(c, d, b, mix(d, e, a), w[i + 3] + (constant));                                                 \
        ROUND(b, c, a, mix(c, d, e), w[i + 4] + (constant));                                                 \
    }

static void compress_plain(uint32_t state[5], const unsigned char *bytes, size_t blocks)
{
    for (; blocks; blocks--, bytes += BLOCK_BYTES) {
        uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
        memcpy(w, bytes, BLOCK_BYTES);
        for (int i = 0; i < 16; i++)
            w[i] = be32toh(w[i]);
        for (int i = 16; i < 80; i++)
            w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        TWENTY_PLAIN_ROUNDS(0, CHOOSE, 0x5a827999)
        TWENTY_PLAIN_ROUNDS(20, PARITY, 0x6ed9eba1)
        TWENTY_PLAIN_ROUNDS(40, MAJORITY, 0x8f1bbcdc)
        TWENTY_PLAIN_ROUNDS(60, PARITY, 0xca62c1d6)
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
    }
}

/* Whole blocks, and the state they are added to. */
struct stream {
    uint32_t *state;
    const unsigned char *bytes;
};

#if defined(__x86_64__)
#define SHA_TARGET __attribute__((target("sha,sse4.1")))

/* One stream of blocks. All of it stays in registers, since every index is a constant. */
struct lane {
    __m128i abcd, last;   /* the state; `last` has e in its upper word */
    __m128i begin;        /* abcd before the block */
    __m128i before, w[4]; /* of the rounds */
};

static inline SHA_TARGET __attribute__((always_inline)) void lane_begin(struct lane *lane,
                                                                        const uint32_t state[5])
{
    lane->abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0x1b);
    lane->last = _mm_set_epi32((int)state[4], 0, 0, 0);
}

static inline SHA_TARGET __attribute__((always_inline)) void lane_finish(const struct lane *lane,
                                                                         uint32_t state[5])
{
    _mm_storeu_si128((__m128i *)state, _mm_shuffle_epi32(lane->abcd, 0x1b));
    state[4] = (uint32_t)_mm_extract_epi32(lane->last, 3);
}

static inline SHA_TARGET __attribute__((always_inline)) void lane_open(struct lane *lane,
                                                                       const unsigned char *bytes)
{
    const __m128i big_endian = _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
    const __m128i *block = (const __m128i *)bytes;
    lane->begin = lane->abcd;
    lane->w[0] = _mm_shuffle_epi8(_mm_loadu_si128(block), big_endian);
    lane->w[1] = _mm_shuffle_epi8(_mm_loadu_si128(block + 1), big_endian);
    lane->w[2] = _mm_shuffle_epi8(_mm_loadu_si128(block + 2), big_endian);
    lane->w[3] = _mm_shuffle_epi8(_mm_loadu_si128(block + 3), big_endian);
}

static inline SHA_TARGET __attribute__((always_inline)) void lane_close(struct lane *lane)
{
    lane->last = _mm_sha1nexte_epu32(lane->before, lane->last);
    lane->abcd = _mm_add_epi32(lane->abcd, lane->begin);
}

/* Four rounds, the i-th of twenty: `before` keeps the state that the next four need, and the words of the
 * message that are used up make room for those of four quadruples later. Unrolled, the message is computed
 * while the rounds wait for each other. */
#define FOUR_ROUNDS(lane, i, function)                                                                       \
    do {                                                                                                     \
        __m128i e = (i) ? _mm_sha1nexte_epu32((lane).before, (lane).w[(i) % 4])                              \
                        : _mm_add_epi32((lane).last, (lane).w[0]);                                           \
        (lane).before = (lane).abcd;                                                                         \
        (lane).abcd = _mm_sha1rnds4_epu32((lane).abcd, e, function);                                         \
        if ((i) < 16)                                                                                        \
            (lane).w[(i) % 4] = _mm_sha1msg2_epu32(                                                          \
                _mm_xor_si128(_mm_sha1msg1_epu32((lane).w[(i) % 4], (lane).w[((i) + 1) % 4]),                \
                              (lane).w[((i) + 2) % 4]),                                                      \
                (lane).w[((i) + 3) % 4]);                                                                    \
    } while (0)

#define TWENTY_ROUNDS(step, i, function)                                                                     \
    do {                                                                                                     \
        step(i, function);                                                                                   \
        step((i) + 1, function);                                                                             \
        step((i) + 2, function);                                                                             \
        step((i) + 3, function);                                                                             \
        step((i) + 4, function);                                                                             \
    } while (0)

#define EIGHTY_ROUNDS(step)                                                                                  \
    do {                                                                                                     \
        TWENTY_ROUNDS(step, 0, 0);                                                                           \
        TWENTY_ROUNDS(step, 5, 1);                                                                           \
        TWENTY_ROUNDS(step, 10, 2);                                                                          \
        TWENTY_ROUNDS(step, 15, 3);                                                                          \
    } while (0)

static SHA_TARGET void compress_sha(uint32_t state[5], const unsigned char *bytes, size_t blocks)
{
    struct lane one;
    lane_begin(&one, state);
    for (; blocks; blocks--, bytes += BLOCK_BYTES) {
        lane_open(&one, bytes);
#define STEP(i, function) FOUR_ROUNDS(one, i, function)
        EIGHTY_ROUNDS(STEP);
#undef STEP
        lane_close(&one);
    }
    lane_finish(&one, state);
}

/* Each round waits for the one before it; those of the other stream fill the time. */
static SHA_TARGET void compress_sha_both(struct stream *a, struct stream *b, size_t blocks)
{
    struct lane one, two;
    lane_begin(&one, a->state);
    lane_begin(&two, b->state);
    for (size_t i = 0; i < blocks; i++) {
        lane_open(&one, a->bytes + i * BLOCK_BYTES);
        lane_open(&two, b->bytes + i * BLOCK_BYTES);
#define STEP(i, function)                                                                                    \
    FOUR_ROUNDS(one, i, function);                                                                           \
    FOUR_ROUNDS(two, i, function)
        EIGHTY_ROUNDS(STEP);
#undef STEP
        lane_close(&one);
        lane_close(&two);
    }
    lane_finish(&one, a->state);
    lane_finish(&two, b->state);
}
#endif

static bool use_plain;

#if defined(__x86_64__)
static bool has_sha;

/* The compilers' own test does not know this feature by name: leaf 7, EBX bit 29. */
__attribute__((constructor)) static void look_for_sha(void)
{
    unsigned eax, ebx = 0, ecx, edx;
    has_sha = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx >> 29 & 1) &&
              __builtin_cpu_supports("sse4.1");
}
#endif

void fingerprint_use_plain(bool plain)
{
    use_plain = plain;
}

static void compress(uint32_t state[5], const unsigned char *bytes, size_t blocks)
{
#if defined(__x86_64__)
    if (has_sha && !use_plain) {
        compress_sha(state, bytes, blocks);
        return;
    }
#endif
    compress_plain(state, bytes, blocks);
}

static void compress_both(struct stream a, struct stream b, size_t blocks)
{
#if defined(__x86_64__)
    if (has_sha && !use_plain) {
        compress_sha_both(&a, &b, blocks);
        return;
    }
#endif
    compress_plain(a.state, a.bytes, blocks);
    compress_plain(b.state, b.bytes, blocks);
}

void fingerprint_sha1_init(struct fingerprint_sha1 *sha1)
{
    static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    memcpy(sha1->state, initial, sizeof(initial));
    sha1->pending = 0;
    sha1->bytes = 0;
}

void fingerprint_sha1_push(struct fingerprint_sha1 *sha1, struct slice bytes)
{
    sha1->bytes += bytes.len;
    if (sha1->pending) {
        size_t wanted = BLOCK_BYTES - sha1->pending, len = bytes.len < wanted ? bytes.len : wanted;
        if (len)
            memcpy(sha1->block + sha1->pending, bytes.ptr, len);
        sha1->pending += (uint32_t)len;
        bytes = slice_skip(bytes, len);
        if (sha1->pending < BLOCK_BYTES)
            return;
        compress(sha1->state, sha1->block, 1);
        sha1->pending = 0;
    }
    size_t blocks = bytes.len / BLOCK_BYTES;
    if (blocks)
        compress(sha1->state, (const unsigned char *)bytes.ptr, blocks);
    bytes = slice_skip(bytes, blocks * BLOCK_BYTES);
    if (bytes.len)
        memcpy(sha1->block, bytes.ptr, bytes.len);
    sha1->pending = (uint32_t)bytes.len;
}

/* Completes the block that is begun; returns what is left of the bytes. */
static struct slice complete_block(struct fingerprint_sha1 *sha1, struct slice bytes)
{
    size_t wanted = sha1->pending ? BLOCK_BYTES - sha1->pending : 0;
    size_t len = bytes.len < wanted ? bytes.len : wanted;
    fingerprint_sha1_push(sha1, (struct slice){bytes.ptr, len});
    return slice_skip(bytes, len);
}

void fingerprint_sha1_push_both(struct fingerprint_sha1 *a, struct fingerprint_sha1 *b, struct slice bytes)
{
    struct slice rest_a = complete_block(a, bytes), rest_b = complete_block(b, bytes);
    size_t blocks = (rest_a.len < rest_b.len ? rest_a.len : rest_b.len) / BLOCK_BYTES;
    if (blocks)
        compress_both((struct stream){a->state, (const unsigned char *)rest_a.ptr},
                      (struct stream){b->state, (const unsigned char *)rest_b.ptr}, blocks);
    a->bytes += blocks * BLOCK_BYTES;
    b->bytes += blocks * BLOCK_BYTES;
    fingerprint_sha1_push(a, slice_skip(rest_a, blocks * BLOCK_BYTES));
    fingerprint_sha1_push(b, slice_skip(rest_b, blocks * BLOCK_BYTES));
}

void fingerprint_sha1_pair(struct slice head, struct slice body, unsigned char block[FINGERPRINT_SHA1_BYTES],
                           unsigned char payload[FINGERPRINT_SHA1_BYTES])
{
    struct fingerprint_sha1 of_block, of_payload;
    fingerprint_sha1_init(&of_block);
    fingerprint_sha1_init(&of_payload);
    fingerprint_sha1_push(&of_block, head);
    fingerprint_sha1_push_both(&of_block, &of_payload, body);
    fingerprint_sha1_finish(&of_block, block);
    fingerprint_sha1_finish(&of_payload, payload);
}

void fingerprint_sha1_finish(struct fingerprint_sha1 *sha1, unsigned char digest[FINGERPRINT_SHA1_BYTES])
{
    uint64_t bits = htobe64(sha1->bytes * 8);
    sha1->block[sha1->pending++] = 0x80;
    if (sha1->pending > BLOCK_BYTES - sizeof(bits)) {
        memset(sha1->block + sha1->pending, 0, BLOCK_BYTES - sha1->pending);
        compress(sha1->state, sha1->block, 1);
        sha1->pending = 0;
    }
    memset(sha1->block + sha1->pending, 0, BLOCK_BYTES - sizeof(bits) - sha1->pending);
    memcpy(sha1->block + BLOCK_BYTES - sizeof(bits), &bits, sizeof(bits));
    compress(sha1->state, sha1->block, 1);
    for (int i = 0; i < 5; i++) {
        uint32_t word = htobe32(sha1->state[i]);
        memcpy(digest + 4 * i, &word, sizeof(word));
    }
}

void fingerprint_base32(const unsigned char digest[FINGERPRINT_SHA1_BYTES],
                        char text[FINGERPRINT_BASE32_CHARS])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    for (int group = 0; group < 4; group++) { /* 5 bytes are 8 letters */
        uint64_t bits = 0;
        for (int i = 0; i < 5; i++)
            bits = bits << 8 | digest[5 * group + i];
        for (int i = 0; i < 8; i++)
            text[8 * group + i] = letters[bits >> (35 - 5 * i) & 31];
    }
}
