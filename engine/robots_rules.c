#include "engine/robots_rules.h"

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

/* By literal, then by the whole pattern so that equal patterns meet. */
static int compare(const struct robots *robots, size_t a, size_t b)
{
    const struct robots_entry *entries = robots_entries(robots);
    int order = compare_slices(literal_of(robots, &entries[a]), literal_of(robots, &entries[b]));
    return order ? order : compare_slices(pattern_of(robots, &entries[a]), pattern_of(robots, &entries[b]));
}

static void swap(struct robots *robots, size_t a, size_t b)
{
    struct robots_entry *entries = robots_entries(robots), kept = entries[a];
    entries[a] = entries[b];
    entries[b] = kept;
}

static void sift_down(struct robots *robots, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare(robots, child, child + 1) < 0)
            child++;
        if (compare(robots, root, child) >= 0)
            return;
        swap(robots, root, child);
    }
}

/* Heap sort: in place, no allocation, and no input makes it slow. */
static void sort(struct robots *robots)
{
    size_t count = robots->rule_count;
    for (size_t i = count / 2; i-- > 0;)
        sift_down(robots, i, count);
    for (size_t i = count; i-- > 1;) {
        swap(robots, 0, i);
        sift_down(robots, 0, i);
    }
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

/* Each climb leaves rules that no later one climbs through again, so the whole is linear. */
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

void robots_rules_finish(struct robots *robots)
{
    assert(robots->rule_count < UINT16_MAX);
    sort(robots);
    merge_equal(robots);
    find_parents(robots);
}
