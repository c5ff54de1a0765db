/* The walk in portable C: eight bytes at a time in a 64-bit word. */
#include <endian.h>

#include "engine/content/html_tag.h"

#define WALK(name) html_##name##_plain
#define WALK_TARGET

#define EACH_BYTE 0x0101010101010101u

/* A bit per byte of `word` (lowest byte first) that equals `byte`: the high bit of each byte is set where it
 * does, then the eight are gathered by a multiplication. */
static inline uint64_t match(uint64_t word, unsigned char byte)
{
    uint64_t low = 0x7f * EACH_BYTE, other = word ^ byte * EACH_BYTE;
    uint64_t equal = ~(((other & low) + low) | other | low);
    return (equal >> 7) * 0x0102040810204080u >> 56;
}

static inline uint64_t word_at(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return le64toh(word);
}

static inline uint64_t html_find_plain(const char *at, char byte)
{
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= match(word_at(at + 8 * i), (unsigned char)byte) << 8 * i;
    return mask;
}

static inline void html_load_plain(struct html_block *block, const char *at)
{
    block->lt = html_find_plain(at, '<');
    block->gt = html_find_plain(at, '>');
    block->double_quote = html_find_plain(at, '"');
    block->single_quote = html_find_plain(at, '\'');
    block->equals = html_find_plain(at, '=');
    block->name_end = ~0ull; /* may be anywhere: names are short, to look costs less than a mask */
}

#include "engine/content/html_walk.h"

bool html_next_plain(struct html_walk *walk, struct html_tag *tag)
{
    return WALK(step)(walk, tag);
}
