/* The sorted rules of a compiled robots.txt. Private to robots.
 *
 * A rule's literal is its pattern up to the first '*' or final '$'. Rules are sorted by literal, and each
 * knows its parent: the nearest rule before it whose literal is a prefix of its own. All literals that are
 * prefixes of a path are ancestors of the last literal that does not sort after the path, so a search finds
 * that one and climbs from parent to parent. */
#pragma once

#include "engine/robots/robots.h"

enum robots_flag {
    ROBOTS_ALLOW = 1u << 24,
    ROBOTS_END = 1u << 25,  /* ends in '$' */
    ROBOTS_WILD = 1u << 26, /* has a '*' before its end; its 8 bytes of pairs precede the pattern */
};

#define ROBOTS_TEXT_MASK 0xffffffu

struct robots_entry {
    uint32_t text_flags; /* place of the pattern after robots->text, and flags */
    uint16_t literal;    /* bytes of the literal */
    uint16_t len;        /* bytes of the pattern, special characters included: how specific it is */
    uint16_t parent;     /* index + 1, or 0 */
    uint16_t head;       /* robots_head of the literal: decides most comparisons of a search */
};

/* The two bytes after the first, which is '/' in every path and in every literal that is kept, as a number;
 * zeros where there are none. Never larger for the lesser of two texts. */
static inline uint16_t robots_head(struct slice text)
{
    unsigned second = text.len > 1 ? (uint8_t)text.ptr[1] : 0,
             third = text.len > 2 ? (uint8_t)text.ptr[2] : 0;
    return (uint16_t)(second << 8 | third);
}

static inline struct robots_entry *robots_entries(const struct robots *robots)
{
    return (struct robots_entry *)(uintptr_t)(robots + 1);
}

static inline const char *robots_entry_text(const struct robots *robots, const struct robots_entry *entry)
{
    return (const char *)robots + robots->text + (entry->text_flags & ROBOTS_TEXT_MASK);
}

/* Sorts the entries, merges those with the same pattern (allow wins) and finds parents. Sets rule_count.
 * `scratch` has robots_rules_scratch(rule_count) bytes, aligned as malloc does. */
void robots_rules_finish(struct robots *robots, void *scratch);
size_t robots_rules_scratch(size_t count);
