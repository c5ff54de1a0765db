/* How an index is laid out for a distance and an amount of memory.
 *
 * The 64 bits are cut into as many parts as there are tables. If two fingerprints differ in k bits, and table i
 * is asked for all values of its part that differ in up to r(i) bits, then one table answers if the sum of
 * r(i) + 1 is more than k: were part i different in more than r(i) bits for every i, that would be k + 1 bits
 * at least. So for 3 bits two tables are asked with one changed bit each (some 50 lines of memory), three with one changed
 * bit in the first alone (some 25), four with none. But the fewer bits a part has, the more fingerprints agree in
 * it by chance: with many more lines than values of the part, a query has to read many lines for each value.
 * The layout with the least expected work is taken. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "engine/duplicates/near_parts.h"

/* Fingerprints per line when memory is full: 5 of 7 cells. The rest is for lines that get more than others. */
#define FILL 5
/* What it costs to read the next line of a value, in hundredths of the first line, and to wait for the next lines of all values
 * together: they are asked for when the first ones are there. Both by measurement of layouts at 1 to 30 million (bench/README.md). */
#define NEXT_LINE_COST 47
#define NEXT_WAIT_COST 420
/* The largest number of lines per value of a part: half of what hops can reach. */
#define LINES_PER_VALUE_MAX (NEAR_HOPS_MAX / 2)
/* More probes than this would take tens of microseconds. */
#define PROBES_MAX 8192

uint64_t near_plan_probes(unsigned width, unsigned radius)
{
    uint64_t probes = 0, choices = 1; /* choices: width over i */
    for (unsigned i = 0; i <= radius; i++) {
        probes += choices;
        choices = choices * (width - i) / (i + 1);
    }
    return probes;
}

static unsigned log2_up(uint64_t value)
{
    return value <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(value - 1);
}

/* The layout with so many tables: its work in hundredths of a line read, 0 if it is impossible. */
static uint64_t lay_out(struct near_plan *plan, unsigned tables, uint64_t bytes, unsigned distance)
{
    uint64_t cost = 0, most = 0, lines = bytes / LF_CACHE_LINE / (tables + 1); /* one more for the URLs */
    if (lines <= NEAR_HOPS_MAX)
        return 0;
    *plan = (struct near_plan){.tables_count = tables, .lines_count = lines - NEAR_HOPS_MAX};
    for (unsigned i = 0; i < tables; i++) {
        unsigned width = 64 / tables + (i >= tables - 64 % tables);
        unsigned radius = (distance + 1) / tables + (i < (distance + 1) % tables) - 1;
        /* Changes of the lowest bits stay in the same line. */
        unsigned told = log2_up(plan->lines_count) < width ? log2_up(plan->lines_count) : width;
        uint64_t hundredths = width < 40 ? plan->lines_count * 100 >> width : 0; /* of lines per value */
        if (hundredths > LINES_PER_VALUE_MAX * 100 || near_plan_probes(width, radius) > PROBES_MAX)
            return 0;
        cost += near_plan_probes(told, radius) * (100 + hundredths * NEXT_LINE_COST / 100);
        most = hundredths > most ? hundredths : most;
        plan->width[i] = width;
        plan->radius[i] = radius;
    }
    plan->count_max = plan->lines_count * FILL;
    return cost + most * NEXT_WAIT_COST / 100;
}

struct near_plan near_plan(uint64_t bytes, unsigned distance)
{
    struct near_plan best = {0}, plan;
    uint64_t best_cost = UINT64_MAX;
    for (unsigned tables = 1; tables <= NEAR_TABLES_MAX && tables <= distance + 1; tables++) {
        uint64_t cost = lay_out(&plan, tables, bytes, distance);
        if (cost && cost < best_cost) {
            best_cost = cost;
            best = plan;
        }
    }
    return best;
}

uint64_t near_bytes_for(uint64_t count, unsigned distance)
{
    uint64_t lines = count / FILL + NEAR_GENERATIONS + NEAR_HOPS_MAX;
    uint64_t bytes = 0;
    for (unsigned tables = 1; tables <= NEAR_TABLES_MAX; tables++) {
        bytes = lines * LF_CACHE_LINE * (tables + 1);
        bytes = bytes < NEAR_BYTES_MIN ? NEAR_BYTES_MIN : bytes;
        if (near_plan(bytes, distance).count_max >= count + NEAR_GENERATIONS)
            break;
    }
    return bytes;
}

/* All changes of up to `radius` bits of a part whose bits are the highest of a word. Returns their number. */
static uint32_t list_probes(uint64_t *probes, unsigned width, unsigned radius)
{
    uint32_t count = 1, begin = 0;
    probes[0] = 0;
    /* Those with one bit more: each of the last with a bit below its lowest. */
    for (unsigned bits = 0; bits < radius; bits++) {
        uint32_t end = count;
        for (uint32_t i = begin; i < end; i++) {
            unsigned lowest = probes[i] ? (unsigned)__builtin_ctzll(probes[i]) : 64;
            for (unsigned bit = 64 - width; bit < lowest; bit++)
                probes[count++] = probes[i] | UINT64_C(1) << bit;
        }
        begin = end;
    }
    return count;
}

static unsigned best_way(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl"))
        return NEAR_AVX512;
    if (__builtin_cpu_supports("popcnt"))
        return NEAR_POPCNT;
#endif
    return NEAR_PLAIN;
}

static void fill_tables(struct near *near, const struct near_plan *plan)
{
    unsigned bit = 0;
    size_t bytes = (plan->lines_count + NEAR_HOPS_MAX) * sizeof(struct near_line);
    for (unsigned i = 0; i < plan->tables_count; i++) {
        struct near_table *table = &near->tables[i];
        uint64_t count = near_plan_probes(plan->width[i], plan->radius[i]);
        uint64_t *probes = arena_take(&near->arena, count * sizeof(uint64_t), sizeof(uint64_t));
        table->lines = arena_take(&near->arena, bytes, LF_CACHE_LINE);
        table->lines_count = plan->lines_count;
        table->shift = bit;
        table->mask = ~UINT64_C(0) << (64 - plan->width[i]);
        table->probes = probes;
        assert(probes && table->lines);
        table->probes_count = list_probes(probes, plan->width[i], plan->radius[i]);
        assert(table->probes_count == count);
        bit += plan->width[i];
    }
    near->urls = arena_take(&near->arena, bytes, LF_CACHE_LINE);
    assert(near->urls && bit == 64);
}

int near_init(struct near *near, const struct near_options *options)
{
    assert(options->bytes >= NEAR_BYTES_MIN && options->bytes <= NEAR_BYTES_MAX);
    assert(options->distance <= NEAR_DISTANCE_MAX);
    struct near_plan plan = near_plan(options->bytes, options->distance);
    assert(plan.tables_count);
    /* The lists of probes come on top: some kilobytes. */
    uint64_t bytes = options->bytes + NEAR_TABLES_MAX * (PROBES_MAX * sizeof(uint64_t) + LF_CACHE_LINE);
    int error = arena_init(&near->arena, &(struct arena_options){.bytes = bytes});
    if (error)
        return error;
    fill_tables(near, &plan);
    near->tables_count = plan.tables_count;
    near->distance = options->distance;
    near->way = best_way();
    near->generation_count_max = plan.count_max / NEAR_GENERATIONS;
    lf_store(&near->added, 0, relaxed);
    lf_store(&near->refused, 0, relaxed);
    lf_store(&near->generation, 0, relaxed);
    return 0;
}

void near_fini(struct near *near)
{
    arena_fini(&near->arena);
}
