#include "engine/robots/robots_rules.h"

#include <assert.h>

static struct slice literal_of(const struct robots *robots, const struct robots_entry *entry)
{
    return (struct slice){robots_entry_text(robots, entry), entry->literal};
}

static struct slice pattern_of(const struct robots *robots, const struct robots_entry *entry)
{
    return (struct slice){robots_entry_text(robots, entry), entry->len};
}

static int compare_slices(struct slice a, struct slice b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* An entry while it is being sorted. The key is the start of the pattern as a number, with a zero for the
 * '*' or '$' that ends the literal, so that most comparisons do not touch the text. No pattern has a zero
 * byte, so keys are in the order of literals, then of patterns. */
struct robots_sorted {
    uint64_t key;
    struct robots_entry entry;
};

static uint64_t key_of(const struct robots *robots, const struct robots_entry *entry)
{
    struct slice pattern = pattern_of(robots, entry);
    uint64_t key = 0;
    for (size_t i = 0; i < sizeof key; i++)
        key = key << 8 | (i < pattern.len && i != entry->literal ? (uint8_t)pattern.ptr[i] : 0);
    return key;
}

/* By literal, then by the whole pattern, so that equal patterns are neighbours. */
static bool is_greater(const struct robots *robots, const struct robots_sorted *a,
                       const struct robots_sorted *b)
{
    if (a->key != b->key)
        return a->key > b->key;
    struct slice left = literal_of(robots, &a->entry), right = literal_of(robots, &b->entry);
    int order = compare_slices(left, right);
    if (order == 0) /* so what is behind the literals decides */
        order = compare_slices(slice_skip(pattern_of(robots, &a->entry), left.len),
                               slice_skip(pattern_of(robots, &b->entry), right.len));
    return order > 0;
}

/* Merges two sorted runs of `from`, which meet at `middle`, into `to`. */
static void merge(const struct robots *robots, struct robots_sorted *to, const struct robots_sorted *from,
                  const size_t bounds[3])
{
    size_t left = bounds[0], right = bounds[1];
    for (size_t at = bounds[0]; at < bounds[2]; at++) {
        bool take_right =
            left == bounds[1] || (right < bounds[2] && is_greater(robots, &from[left], &from[right]));
        to[at] = from[take_right ? right++ : left++];
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Merge sort, which no input can make slow. `scratch` holds two arrays. */
static void sort(struct robots *robots, struct robots_sorted *scratch)
{
    size_t count = robots->rule_count;
    struct robots_entry *entries = robots_entries(robots);
    struct robots_sorted *from = scratch, *to = scratch + count;
    for (size_t i = 0; i < count; i++)
        from[i] = (struct robots_sorted){key_of(robots, &entries[i]), entries[i]};
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run)
            merge(robots, to, from, (size_t[]){at, least(at + run, count), least(at + 2 * run, count)});
        struct robots_sorted *merged = to;
        to = from;
        from = merged;
    }
    for (size_t i = 0; i < count; i++)
        entries[i] = from[i].entry;
}

size_t robots_rules_scratch(size_t count)
{
    return 2 * count * sizeof(struct robots_sorted);
}

static void merge_equal(struct robots *robots)
{
    struct robots_entry *entries = robots_entries(robots);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < robots->rule_count; i++) {
        if (kept && slice_equals(pattern_of(robots, &entries[kept - 1]), pattern_of(robots, &entries[i])))
            entries[kept - 1].text_flags |= entries[i].text_flags & ROBOTS_ALLOW;
        else
            entries[kept++] = entries[i];
    }
    robots->rule_count = kept;
}

/* A rule that one climb passes is never passed again, so the whole takes linear time. */
static void find_parents(struct robots *robots)
{
    struct robots_entry *entries = robots_entries(robots);
    for (uint32_t i = 0; i < robots->rule_count; i++) {
        uint32_t parent = i;
        while (parent &&
               !slice_starts_with(literal_of(robots, &entries[i]), literal_of(robots, &entries[parent - 1])))
            parent = entries[parent - 1].parent;
        entries[i].parent = (uint16_t)parent;
    }
}

void robots_rules_finish(struct robots *robots, void *scratch)
{
    assert(robots->rule_count < UINT16_MAX);
    sort(robots, scratch);
    merge_equal(robots);
    find_parents(robots);
}
