/* Fingerprints in tables by parts of their bits: after the block-permuted tables of Manku, Jain and Das Sarma (2007),
 * with changed bits in the place of further tables, as multi-index hashing does (Norouzi, Punjani and Fleet, 2012);
 * why nothing within the distance is missed is said in near_plan.c.
 *
 * A table is an array of lines. A part's value, scaled to the number of lines, gives its home; a fingerprint that finds
 * its home full goes to one of the next lines, and the home's `hops` say how far a query has to read on. Hops
 * only grow. The highest bits of a part count most for the home, so values that differ in the lowest bits have
 * the same home, which is looked at once.
 *
 * Why it is correct. A cell is free if its tag is 0 or that of a dropped generation. An add takes it by a
 * compare-and-swap of the control word, which makes the tag CLAIMED: of several only one succeeds, and nobody else
 * touches the cell until its tag says otherwise. It writes the fingerprint (and the URL), raises the home's hops, and
 * makes the tag that of the generation. So a thread that sees the tag sees the fingerprint (R1, A1); and who
 * sees that add return finds it in each table.
 *
 * A query compares whole lines without order: what it misses for that was not added before it began. What looks like a
 * match is read again: tag, cell, tag. If the tag is the same before and after, the cell is that of the tag: a later
 * owner first claimed it, and who reads what a later owner wrote sees the claim (R2, A2). The same tag cannot
 * come back meanwhile: a cell becomes free by the generation being dropped, so its next tag is another one.
 *
 * Tags have 254 values and generations no end. Whoever begins a generation clears the tags of dropped ones in one
 * of SWEEPS parts of the index, so that none is left when its number comes round. A thread may be behind with the number
 * of the generation: tags up to AHEAD generations newer than its own count as held. */
#include "engine/duplicates/near.h"

#include <assert.h>

#include "engine/duplicates/near_parts.h"
#include "lockfree/wide.h"

/* Lines fetched together. */
#define GROUP     64
#define TAGS      254
#define CLAIMED   255u
#define AHEAD     16
#define SWEEPS    128
#define HOPS_BITS 56

_Static_assert(SWEEPS + NEAR_GENERATIONS + AHEAD < TAGS, "a tag is cleared before its number comes round");

/* A query on its way. */
struct search {
    const struct near *near;
    uint64_t fingerprint;
    uint64_t generation;
    struct near_match *match;
    unsigned within; /* the distance up to which matches are still of interest, and one more */
};

/* Cells of a line within the distance: a bit each. */
typedef unsigned look_function(const struct near_line *line, uint64_t fingerprint, unsigned distance);

static inline unsigned tag_at(uint64_t control, unsigned cell)
{
    return control >> (8 * cell) & 255;
}

static inline unsigned hops_of(uint64_t control)
{
    return (unsigned)(control >> HOPS_BITS);
}

static inline unsigned tag_of(uint64_t generation)
{
    return (unsigned)(generation % TAGS) + 1;
}

/* Whether the tag is of a generation that is held. */
static inline bool is_held(unsigned tag, uint64_t generation)
{
    if (tag == 0 || tag == CLAIMED)
        return false;
    unsigned age = (tag_of(generation) + TAGS - tag) % TAGS;
    return age < NEAR_GENERATIONS || age >= TAGS - AHEAD;
}

/* The part of a fingerprint by which a table is ordered, as the highest bits of a word. */
static inline uint64_t part_of(const struct near_table *table, uint64_t fingerprint)
{
    return fingerprint << table->shift & table->mask;
}

static inline struct near_line *home_of(const struct near_table *table, uint64_t part)
{
    return &table->lines[(uint64_t)((unsigned __int128)part * table->lines_count >> 64)];
}

/* Portable, or with the instruction that counts bits where the function that it is inlined into may use it. */
__attribute__((always_inline)) static inline unsigned look_plain(const struct near_line *line,
                                                                 uint64_t fingerprint, unsigned distance)
{
    unsigned mask = 0;
#pragma GCC unroll 7
    for (unsigned i = 0; i < NEAR_CELLS; i++) {
        uint64_t cell = lf_load(&line->cells[i], relaxed);
        mask |= (unsigned)((unsigned)__builtin_popcountll(cell ^ fingerprint) <= distance) << i;
    }
    return mask;
}

#ifdef WIDE
#define AVX512 __attribute__((target("avx512f,avx512vpopcntdq,popcnt")))

static inline AVX512 unsigned look_avx512(const struct near_line *line, uint64_t fingerprint,
                                          unsigned distance)
{
    __m512i cells = _mm512_load_si512((const void *)line);
    __m512i differ = _mm512_xor_si512(cells, _mm512_set1_epi64((long long)fingerprint));
    __mmask8 mask =
        _mm512_cmple_epu64_mask(_mm512_popcnt_epi64(differ), _mm512_set1_epi64((long long)distance));
    return (unsigned)mask >> 1; /* the control word comes first */
}
#endif

/* Reads again what looks like a match, and keeps it if it is the nearest so far. */
static __attribute__((noinline)) void consider(struct search *search, const struct near_line *line,
                                               unsigned mask)
{
    for (; mask; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctz(mask);
        unsigned tag = tag_at(lf_load(&line->control, acquire), i); /* A1 pairs with R1 in put */
        uint64_t fingerprint = lf_load(&line->cells[i], acquire);   /* A2 pairs with R2 in put */
        bool is_whole = tag_at(lf_load(&line->control, relaxed), i) == tag;
        unsigned distance = (unsigned)__builtin_popcountll(fingerprint ^ search->fingerprint);
        if (is_whole && distance < search->within && is_held(tag, search->generation)) {
            search->within = distance;
            search->match->fingerprint = fingerprint;
            search->match->distance = distance;
        }
    }
}

/* Looks at lines that are on their way from memory; where some were put further on, at those last. */
__attribute__((always_inline)) static inline void
look_at(struct search *search, struct near_line *const *lines, unsigned count, look_function *look)
{
    const struct near_line *late[GROUP];
    unsigned late_count = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned mask = look(lines[i], search->fingerprint, search->near->distance);
        if (__builtin_expect(mask, 0))
            consider(search, lines[i], mask);
        if (hops_of(lf_load(&lines[i]->control, relaxed))) {
            __builtin_prefetch(lines[i] + 1);
            late[late_count++] = lines[i];
        }
    }
    for (unsigned i = 0; i < late_count; i++)
        for (unsigned hop = hops_of(lf_load(&late[i]->control, relaxed)); hop; hop--) {
            unsigned mask = look(late[i] + hop, search->fingerprint, search->near->distance);
            if (__builtin_expect(mask, 0))
                consider(search, late[i] + hop, mask);
        }
}

__attribute__((always_inline)) static inline void search_all(struct search *search, look_function *look)
{
    struct near_line *lines[GROUP];
    unsigned count = 0;
    for (unsigned t = 0; t < search->near->tables_count; t++) {
        const struct near_table *table = &search->near->tables[t];
        uint64_t part = part_of(table, search->fingerprint);
        struct near_line *home = home_of(table, part);
        for (uint32_t i = 0; i < table->probes_count; i++) {
            struct near_line *line = home_of(table, part ^ table->probes[i]);
            if (i && line == home)
                continue;
            __builtin_prefetch(line);
            lines[count++] = line;
            if (count == GROUP) {
                look_at(search, lines, count, look);
                count = 0;
            }
        }
    }
    look_at(search, lines, count, look);
}

#ifdef WIDE
static AVX512 void search_avx512(struct search *search)
{
    search_all(search, look_avx512);
}

__attribute__((target("popcnt"))) static void search_popcnt(struct search *search)
{
    search_all(search, look_plain);
}
#endif

static void search_plain(struct search *search)
{
    search_all(search, look_plain);
}

static bool search_run(struct search *search)
{
    search->within = search->near->distance + 1;
#ifdef WIDE
    if (search->near->way == NEAR_AVX512)
        search_avx512(search);
    else if (search->near->way == NEAR_POPCNT)
        search_popcnt(search);
    else
#endif
        search_plain(search);
    return search->within <= search->near->distance;
}

/* The URL of a fingerprint that is held; 0 if it was dropped this moment. */
static uint64_t url_of(struct near *near, uint64_t fingerprint, uint64_t generation)
{
    const struct near_table *table = &near->tables[0];
    struct near_line *line = home_of(table, part_of(table, fingerprint));
    for (unsigned hops = hops_of(lf_load(&line->control, relaxed)) + 1; hops; hops--, line++)
        for (unsigned i = 0; i < NEAR_CELLS; i++) {
            if (lf_load(&line->cells[i], relaxed) != fingerprint)
                continue;
            unsigned tag = tag_at(lf_load(&line->control, acquire), i); /* A1 pairs with R1 in put */
            uint64_t cell = lf_load(&line->cells[i], acquire);          /* A2 pairs with R2 in put */
            size_t number = (size_t)(line - table->lines) * NEAR_URLS_PER_LINE + i;
            uint64_t url = lf_load(&near->urls[number], acquire); /* A2 pairs with R2 in put */
            if (cell == fingerprint && tag_at(lf_load(&line->control, relaxed), i) == tag &&
                is_held(tag, generation))
                return url;
        }
    return 0;
}

/* The control word without the tags of dropped generations. *cell: the first that is free, or NEAR_CELLS. */
static uint64_t clear_dropped(uint64_t control, uint64_t generation, unsigned *cell)
{
    *cell = NEAR_CELLS;
    for (unsigned i = NEAR_CELLS; i-- > 0;) {
        unsigned tag = tag_at(control, i);
        if (tag == CLAIMED || is_held(tag, generation))
            continue;
        control &= ~(UINT64_C(255) << (8 * i));
        *cell = i;
    }
    return control;
}

/* A free cell of the line, which is the caller's from here on; NEAR_CELLS if there is none. */
static unsigned claim(struct near_line *line, uint64_t generation)
{
    uint64_t seen = lf_load(&line->control, relaxed);
    for (;;) {
        unsigned cell;
        uint64_t wanted = clear_dropped(seen, generation, &cell);
        if (cell == NEAR_CELLS ||
            lf_cas_weak(&line->control, &seen, wanted | (uint64_t)CLAIMED << (8 * cell), relaxed, relaxed))
            return cell;
    }
}

/* Queries at this home read at least so many lines further. */
static void raise_hops(struct near_line *home, unsigned hops)
{
    uint64_t seen = lf_load(&home->control, relaxed);
    while (hops_of(seen) < hops) {
        uint64_t wanted = (seen & ((UINT64_C(1) << HOPS_BITS) - 1)) | (uint64_t)hops << HOPS_BITS;
        if (lf_cas_weak(&home->control, &seen, wanted, relaxed, relaxed))
            return;
    }
}

/* Puts a fingerprint into one table. False: all lines within reach are full. */
static bool put(struct near *near, unsigned t, uint64_t fingerprint, uint64_t url, uint64_t generation)
{
    struct near_table *table = &near->tables[t];
    struct near_line *home = home_of(table, part_of(table, fingerprint)), *line = home;
    unsigned cell, hops = 0;
    while ((cell = claim(line, generation)) == NEAR_CELLS) {
        if (hops == NEAR_HOPS_MAX)
            return false;
        hops++;
        line++;
    }
    lf_store(&line->cells[cell], fingerprint, release); /* R2 pairs with A2 in consider, url_of */
    if (t == 0) {
        size_t number = (size_t)(line - table->lines) * NEAR_URLS_PER_LINE + cell;
        lf_store(&near->urls[number], url, release); /* R2 pairs with A2 in url_of */
    }
    raise_hops(home, hops);
    /* R1 pairs with A1 in consider, url_of. From CLAIMED to the generation's tag; no other byte changes. */
    lf_fetch_sub(&line->control, (uint64_t)(CLAIMED - tag_of(generation)) << (8 * cell), release);
    return true;
}

/* Clears the tags of dropped generations in one of SWEEPS parts of the index. */
static void sweep(struct near *near, uint64_t generation)
{
    for (unsigned t = 0; t < near->tables_count; t++) {
        uint64_t count = near->tables[t].lines_count + NEAR_HOPS_MAX, part = generation % SWEEPS;
        for (uint64_t i = count * part / SWEEPS; i < count * (part + 1) / SWEEPS; i++) {
            struct near_line *line = &near->tables[t].lines[i];
            unsigned free_cell;
            uint64_t seen = lf_load(&line->control, relaxed), wanted;
            do
                wanted = clear_dropped(seen, generation, &free_cell);
            while (wanted != seen && !lf_cas_weak(&line->control, &seen, wanted, relaxed, relaxed));
        }
    }
}

/* Counts one more; begins a generation if that filled the last. */
static void count_added(struct near *near)
{
    uint64_t added = lf_fetch_add(&near->added, 1, relaxed) + 1;
    if (added % near->generation_count_max)
        return;
    uint64_t generation = added / near->generation_count_max, seen = lf_load(&near->generation, relaxed);
    while (seen < generation && !lf_cas_weak(&near->generation, &seen, generation, relaxed, relaxed))
        ;
    sweep(near, generation);
}

void near_prefetch(const struct near *near, uint64_t fingerprint)
{
    for (unsigned t = 0; t < near->tables_count; t++) {
        const struct near_table *table = &near->tables[t];
        uint64_t part = part_of(table, fingerprint);
        /* More would drive out those that came first. */
        uint32_t count = table->probes_count < GROUP ? table->probes_count : GROUP;
        for (uint32_t i = 0; i < count; i++)
            __builtin_prefetch(home_of(table, part ^ table->probes[i]));
    }
}

bool near_find(struct near *near, uint64_t fingerprint, struct near_match *match)
{
    struct near_match unused;
    struct search search = {.near = near,
                            .fingerprint = fingerprint,
                            .generation = lf_load(&near->generation, relaxed),
                            .match = match ? match : &unused};
    if (!search_run(&search))
        return false;
    if (match)
        match->url = url_of(near, match->fingerprint, search.generation);
    return true;
}

bool near_add(struct near *near, uint64_t fingerprint, uint64_t url, struct near_match *match)
{
    if (near_find(near, fingerprint, match))
        return true;
    uint64_t generation = lf_load(&near->generation, relaxed);
    for (unsigned t = 0; t < near->tables_count; t++)
        if (!put(near, t, fingerprint, url, generation)) {
            lf_fetch_add(&near->refused, 1, relaxed);
            return false;
        }
    count_added(near);
    return false;
}

uint64_t near_dropped(struct near *near)
{
    uint64_t generation = lf_load(&near->generation, relaxed);
    uint64_t dropped = generation < NEAR_GENERATIONS ? 0 : generation - NEAR_GENERATIONS + 1;
    return dropped * near->generation_count_max;
}

uint64_t near_count(struct near *near)
{
    uint64_t dropped = near_dropped(near), added = lf_load(&near->added, relaxed);
    return added > dropped ? added - dropped : 0;
}

uint64_t near_count_max(const struct near *near)
{
    return near->generation_count_max * NEAR_GENERATIONS;
}

uint64_t near_refused(struct near *near)
{
    return lf_load(&near->refused, relaxed);
}
