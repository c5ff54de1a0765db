#include "engine/console/recent.h"

#include <stdlib.h>

/* A sample of the file may come so much sooner than its time: half of their interval. */
enum { SLACK_MS = 5000 };

bool recent_init(struct recent *recent)
{
    static const uint32_t shapes[RECENT_LEVEL_COUNT][2] = {
#define RECENT_SHAPE(step, capacity) {step, capacity},
        RECENT_LEVELS(RECENT_SHAPE)
#undef RECENT_SHAPE
    };
    bool good = true;
    *recent = (struct recent){0};
    for (int i = 0; i < RECENT_LEVEL_COUNT; i++) {
        struct recent_level *level = &recent->levels[i];
        level->step = shapes[i][0];
        level->capacity = shapes[i][1];
        level->samples = calloc(level->capacity, sizeof *level->samples);
        level->are_gaps = calloc(level->capacity, sizeof *level->are_gaps);
        good &= level->samples && level->are_gaps;
    }
    return good;
}

void recent_fini(struct recent *recent)
{
    for (int i = 0; i < RECENT_LEVEL_COUNT; i++) {
        free(recent->levels[i].samples);
        free(recent->levels[i].are_gaps);
    }
}

static void push(struct recent_level *level, const struct sample *sample, bool is_gap)
{
    uint64_t at = level->count++ % level->capacity;
    level->samples[at] = *sample;
    level->are_gaps[at] = is_gap;
}

/* Adds what is missing up to a moment, that of the next sample left out. False: the next one is due later. */
static bool fill(struct recent_level *level, uint64_t wall_ms)
{
    uint64_t step_ms = level->step * UINT64_C(1000);
    if (level->count == 0)
        return true;
    struct sample gap = *recent_at(level, level->count);
    uint64_t last_ms = gap.values[SAMPLE_wall_ms], passed = wall_ms > last_ms ? wall_ms - last_ms : 0;
    uint64_t steps = (passed + SLACK_MS) / step_ms;
    gap.values[SAMPLE_connections] = gap.values[SAMPLE_hosts_visiting] = gap.values[SAMPLE_unwritten_bytes] = 0;
    gap.values[SAMPLE_looking_up] = 0;
    gap.values[SAMPLE_fetch_p50_us] = gap.values[SAMPLE_fetch_p90_us] = gap.values[SAMPLE_fetch_p99_us] = 0;
    for (uint64_t i = steps > level->capacity ? steps - level->capacity : 1; i < steps; i++) {
        gap.values[SAMPLE_wall_ms] = last_ms + i * step_ms;
        push(level, &gap, true);
    }
    return steps > 0;
}

void recent_restore(struct recent *recent, const struct sample *sample)
{
    for (int i = 0; i < RECENT_LEVEL_COUNT; i++)
        if (recent->levels[i].step > 1 && fill(&recent->levels[i], sample->values[SAMPLE_wall_ms]))
            push(&recent->levels[i], sample, false);
}

void recent_begin(struct recent *recent, uint64_t wall_ms)
{
    for (int i = 0; i < RECENT_LEVEL_COUNT; i++)
        fill(&recent->levels[i], wall_ms);
}

void recent_add(struct recent *recent, const struct sample *sample)
{
    for (int i = 0; i < RECENT_LEVEL_COUNT; i++) {
        struct recent_level *level = &recent->levels[i];
        if (recent->count % level->step == 0)
            push(level, sample, false);
    }
    recent->count++;
}

const struct recent_level *recent_level(const struct recent *recent, unsigned step)
{
    for (int i = 0; i < RECENT_LEVEL_COUNT; i++)
        if (recent->levels[i].step == step)
            return &recent->levels[i];
    return NULL;
}

uint64_t recent_first(const struct recent_level *level)
{
    return level->count > level->capacity ? level->count - level->capacity + 1 : 1;
}

const struct sample *recent_at(const struct recent_level *level, uint64_t number)
{
    if (number < recent_first(level) || number > level->count)
        return NULL;
    return &level->samples[(number - 1) % level->capacity];
}

bool recent_is_gap(const struct recent_level *level, uint64_t number)
{
    return level->are_gaps[(number - 1) % level->capacity];
}
