/* SimHash in portable C. */

#include "engine/content/simhash_append.h"

#define READ(name) simhash_##name##_plain
#define READ_TARGET
#define LANES 1
typedef uint64_t lanes;

#define EACH_BYTE UINT64_C(0x0101010101010101)

static inline lanes READ(multiply)(lanes value, uint32_t factor)
{
    return (uint64_t)(uint32_t)value * factor;
}

static inline lanes READ(swap)(lanes value)
{
    return value << 32 | value >> 32;
}

static inline lanes READ(add)(lanes *low, lanes a, lanes b)
{
    uint64_t both = *low ^ a, high = (*low & a) | (both & b);
    *low = both ^ b;
    return high;
}

/* The highest bits of bytes, gathered: a bit each. */
static inline uint64_t gather(uint64_t bytes)
{
    return (bytes >> 7 & EACH_BYTE) * UINT64_C(0x0102040810204080) >> 56;
}

/* The highest bit of each byte that is at least `least`, of bytes below 128. */
static inline uint64_t at_least(uint64_t bytes, unsigned char least)
{
    return bytes + (0x80u - least) * EACH_BYTE;
}

/* The highest bit of each byte that equals `wanted`, which is below 128. */
static inline uint64_t equals(uint64_t bytes, char wanted)
{
    uint64_t other = bytes ^ (unsigned char)wanted * EACH_BYTE;
    return ~(((other & 0x7f * EACH_BYTE) + 0x7f * EACH_BYTE) | other);
}

static struct simhash_words READ(words)(const char *block)
{
    struct simhash_words masks = {.dates = ~UINT64_C(0)};
    uint64_t lead = 0, above = 0;
    for (unsigned i = 0; i < SIMHASH_BLOCK_BYTES; i += 8) {
        uint64_t bytes = simhash_letters_at(block + i), low = bytes & 0x7f * EACH_BYTE,
                 folded = low | 0x20 * EACH_BYTE;
        uint64_t letters = (at_least(folded, 'a') & ~at_least(folded, 'z' + 1)) | bytes;
        masks.letters |= gather(letters) << i;
        masks.digits |= gather(at_least(low, '0') & ~at_least(low, '9' + 1) & ~bytes) << i;
        masks.open |= gather(equals(bytes, '<')) << i;
        masks.ampersand |= gather(equals(bytes, '&')) << i;
        lead |= gather(at_least(low, 0x40) & bytes) << i;
        above |= gather(bytes) << i;
    }
    masks.leads = lead & (above & ~lead) >> 1;
    return masks;
}

static struct simhash_tags READ(tags)(const char *block)
{
    struct simhash_tags masks = {0};
    for (unsigned i = 0; i < SIMHASH_BLOCK_BYTES; i += 8) {
        uint64_t bytes = simhash_letters_at(block + i);
        masks.close |= gather(equals(bytes, '>')) << i;
        masks.double_quote |= gather(equals(bytes, '"')) << i;
        masks.single_quote |= gather(equals(bytes, '\'')) << i;
        masks.equals |= gather(equals(bytes, '=')) << i;
        masks.space |= gather(~at_least(bytes & 0x7f * EACH_BYTE, ' ' + 1) & ~bytes) << i;
    }
    return masks;
}

static inline uint64_t READ(append)(char *out, const char *block, struct simhash_letters letters)
{
    return simhash_append(out, block, letters);
}

#include "engine/content/simhash_read.h"

void simhash_read_plain(struct simhash_reader *reader)
{
    READ(document)(reader, HTML_PLAIN);
}
