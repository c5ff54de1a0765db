#include "engine/frontier/scope_traps.h"

#include <stdint.h>
#include <string.h>

#include "engine/url/hash.h"

enum { SEGMENTS_MAX = 256, SEGMENT_SLOTS = 2 * SEGMENTS_MAX, PAIRS_MAX = 20 };

unsigned scope_count_segments(struct slice path)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = 0x7f * ones;
    unsigned segments = 0;
    for (; path.len >= sizeof ones; path = slice_skip(path, sizeof ones)) {
        uint64_t word;
        memcpy(&word, path.ptr, sizeof word);
        word ^= '/' * ones;                                         /* slashes become 0 */
        uint64_t slashes = ~(((word & low) + low) | word | low);    /* the top bit of each byte that is 0 */
        segments += (unsigned)((slashes >> 7) * ones >> 56);        /* their sum */
    }
    for (size_t i = 0; i < path.len; i++)
        segments += path.ptr[i] == '/';
    return segments;
}

/* The segments of a path by their hash: open addressing, never more than half full. */
struct segments {
    struct slice text[SEGMENT_SLOTS];
    uint16_t times[SEGMENT_SLOTS]; /* 0: the slot is free */
};

static unsigned count_segment(struct segments *segments, struct slice text)
{
    size_t at = hash_slice(text) % SEGMENT_SLOTS;
    while (segments->times[at] && !slice_equals(segments->text[at], text))
        at = (at + 1) % SEGMENT_SLOTS;
    segments->text[at] = text;
    return ++segments->times[at];
}

/* The segments that are not empty, of the first SEGMENTS_MAX; returns how many. */
static unsigned split(struct slice path, struct slice *texts)
{
    unsigned count = 0;
    for (unsigned i = 0; i < SEGMENTS_MAX && path.len; i++) {
        path = slice_skip(path, 1);
        const char *slash = memchr(path.ptr, '/', path.len);
        struct slice segment = slash ? slice_between(path.ptr, slash) : path;
        path = slice_skip(path, segment.len);
        if (segment.len)
            texts[count++] = segment;
    }
    return count;
}

/* Compares all pairs: for few segments faster than clearing the table. */
static bool pairs_repeat(const struct slice *texts, unsigned count, unsigned repeats_max)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned times = 1;
        for (unsigned j = 0; j < i; j++)
            times += texts[i].len == texts[j].len && slice_equals(texts[i], texts[j]);
        if (times > repeats_max)
            return true;
    }
    return false;
}

bool scope_repeats_itself(struct slice path, unsigned repeats_max)
{
    struct slice texts[SEGMENTS_MAX];
    struct segments segments;
    unsigned count = split(path, texts);
    if (count <= PAIRS_MAX)
        return pairs_repeat(texts, count, repeats_max);
    memset(segments.times, 0, sizeof segments.times);
    for (unsigned i = 0; i < count; i++)
        if (count_segment(&segments, texts[i]) > repeats_max)
            return true;
    return false;
}

bool scope_is_bad_port(unsigned port)
{
    static const uint16_t bad[] = {
        0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,    22,    23,   25,   37,   42,
        43,   53,   69,   77,   79,   87,   95,   101,  102,  103,  104,   109,   110,  111,  113,  115,
        117,  119,  123,  135,  137,  139,  143,  161,  179,  389,  427,   445,   465,  512,  513,  514,
        515,  526,  530,  531,  532,  540,  548,  554,  556,  563,  587,   601,   636,  989,  990,  993,
        995,  1433, 1521, 1719, 1720, 1723, 2049, 3306, 3389, 3659, 4045,  4190,  5060, 5061, 5432, 5900,
        6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017};
    size_t low = 0, high = sizeof bad / sizeof *bad; /* asked for every link: they are sorted */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (bad[middle] < port)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof bad / sizeof *bad && bad[low] == port;
}
