/* Which rule decides about a path: the matching one with the most octets, allow if two are equal (RFC 9309,
 * section 2.2.2). Rules with a '*' take most of the time; ROBOTS_STEPS_MAX bounds the work on them. */
#include <assert.h>

#include "engine/robots/robots_pattern.h"
#include "engine/robots/robots_rules.h"
#include "engine/url/limits.h"

struct search {
    const struct robots *robots;
    struct slice path;
    uint64_t pairs; /* of the path, once `has_pairs` */
    bool has_pairs;
    const struct robots_entry *best;
    uint32_t steps; /* bytes looked at for rules with a '*' */
};

/* The cost of a rule that is skipped because the path lacks one of its pairs of bytes. */
enum { RULE_STEPS = 8 };

/* `pattern` begins with '*' and has no final '$'; `anchored` says that it had one. */
static bool match_wild(struct search *search, struct slice pattern, struct slice path, bool anchored)
{
    for (;;) {
        pattern = slice_skip(pattern, 1);
        if (!pattern.len)
            return true;
        const char *star = memchr(pattern.ptr, '*', pattern.len);
        struct slice piece = star ? slice_between(pattern.ptr, star) : pattern;
        if (!star && anchored)
            return path.len >= piece.len &&
                   memcmp(path.ptr + path.len - piece.len, piece.ptr, piece.len) == 0;
        const char *found = memmem(path.ptr, path.len, piece.ptr, piece.len);
        search->steps += (uint32_t)(found ? (size_t)(found - path.ptr) + piece.len : path.len);
        if (!found)
            return false;
        if (!star)
            return true;
        path = slice_skip(path, (size_t)(found - path.ptr) + piece.len);
        pattern = slice_skip(pattern, piece.len);
    }
}

/* The literal of `entry` is known to be a prefix of the path. */
static bool match_rest(struct search *search, const struct robots_entry *entry)
{
    bool anchored = entry->text_flags & ROBOTS_END;
    if (!(entry->text_flags & ROBOTS_WILD))
        return !anchored || entry->literal == search->path.len;
    const char *text = robots_entry_text(search->robots, entry);
    uint64_t pairs;
    memcpy(&pairs, text - sizeof pairs, sizeof pairs);
    if (!search->has_pairs) {
        search->pairs = robots_pairs(search->path);
        search->has_pairs = true;
    }
    search->steps += RULE_STEPS;
    if (pairs & ~search->pairs)
        return false;
    struct slice pattern = {text + entry->literal, (size_t)(entry->len - entry->literal - anchored)};
    return match_wild(search, pattern, slice_skip(search->path, entry->literal), anchored);
}

static void consider(struct search *search, const struct robots_entry *entry)
{
    const struct robots_entry *best = search->best;
    if (best && (entry->len < best->len || (entry->len == best->len && !(entry->text_flags & ROBOTS_ALLOW))))
        return;
    if (match_rest(search, entry))
        search->best = entry;
}

/* Length of the common prefix of two texts, at most `max`. */
static size_t common_length(const char *a, const char *b, size_t max)
{
    size_t i = 0;
    for (uint64_t x, y; i + sizeof x <= max; i += sizeof x) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        if (x != y)
            break;
    }
    while (i < max && a[i] == b[i])
        i++;
    return i;
}

/* Whether the literal of `entry` comes after the path. */
static bool is_after(const struct robots *robots, const struct robots_entry *entry, struct slice path)
{
    size_t shorter = entry->literal < path.len ? entry->literal : path.len;
    int order = memcmp(robots_entry_text(robots, entry), path.ptr, shorter);
    return order > 0 || (order == 0 && entry->literal > path.len);
}

/* The number of rules whose head is not above `head`. A binary search without branches to mispredict. */
static uint32_t count_heads(const struct robots *robots, uint32_t head)
{
    const struct robots_entry *entries = robots_entries(robots);
    uint32_t at = 0, count = robots->rule_count;
    while (count > 1) {
        uint32_t half = count / 2;
        at += entries[at + half - 1].head <= head ? half : 0;
        count -= half;
    }
    return at + (entries[at].head <= head);
}

/* The number of rules whose literal does not come after the path. */
static uint32_t find_last(const struct robots *robots, struct slice path)
{
    const struct robots_entry *entries = robots_entries(robots);
    uint16_t head = robots_head(path);
    uint32_t high = count_heads(robots, head), low = high;
    bool undecided = high && entries[high - 1].head == head;
    if (undecided && is_after(robots, &entries[high - 1], path))
        low = head ? count_heads(robots, head - 1u) : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_after(robots, &entries[middle], path))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void find_best(struct search *search)
{
    const struct robots_entry *entries = robots_entries(search->robots), *entry;
    uint32_t at = find_last(search->robots, search->path);
    if (!at)
        return;
    entry = &entries[at - 1];
    size_t shorter = entry->literal < search->path.len ? entry->literal : search->path.len;
    size_t common = common_length(robots_entry_text(search->robots, entry), search->path.ptr, shorter);
    for (; at && search->steps < ROBOTS_STEPS_MAX; at = entry->parent) {
        entry = &entries[at - 1];
        if (entry->literal <= common)
            consider(search, entry);
    }
}

/* The path is searched as it is, and once more with the delimiters in its query decoded if that makes a
 * difference. */
static __attribute__((noinline)) void find_normalised(struct search *search, struct slice path)
{
    char normal[URL_BYTES_MAX * ROBOTS_PATTERN_GROWTH], decoded[URL_BYTES_MAX * ROBOTS_PATTERN_GROWTH];
    search->path = (struct slice){normal, robots_path_normalise(normal, path, ROBOTS_QUERY_AS_IS)};
    find_best(search);
    struct slice other = {decoded, robots_path_normalise(decoded, path, ROBOTS_QUERY_DECODED)};
    if (!slice_equals(search->path, other)) {
        search->path = other;
        search->has_pairs = false;
        find_best(search);
    }
    search->path = path; /* the buffers end here */
}

bool robots_allows(const struct robots *robots, struct slice path, struct robots_rule *rule)
{
    struct search search = {.robots = robots, .path = path};
    assert(path.len <= URL_BYTES_MAX);
    if (rule)
        *rule = (struct robots_rule){.allow = !robots->disallow_all};
    if (slice_equals(path, SLICE("/robots.txt"))) {
        if (rule)
            rule->allow = true;
        return true;
    }
    if (!robots->rule_count)
        return !robots->disallow_all;
    if (robots_path_is_normal(path))
        find_best(&search);
    else
        find_normalised(&search, path);
    bool gave_up = search.steps >= ROBOTS_STEPS_MAX;
    bool allow = !gave_up && (!search.best || search.best->text_flags & ROBOTS_ALLOW);
    if (!rule)
        return allow;
    *rule = (struct robots_rule){.allow = allow, .gave_up = gave_up, .steps = search.steps};
    if (search.best && !gave_up)
        rule->pattern = (struct slice){robots_entry_text(robots, search.best), search.best->len};
    return allow;
}
