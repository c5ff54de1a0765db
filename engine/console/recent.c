#include "engine/console/recent.h"

#include <stdlib.h>

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
        good &= level->samples != NULL;
    }
    return good;
}

void recent_fini(struct recent *recent)
{
    for (int i = 0; i < RECENT_LEVEL_COUNT; i++)
        free(recent->levels[i].samples);
}

void recent_add(struct recent *recent, const struct sample *sample)
{
    for (int i = 0; i < RECENT_LEVEL_COUNT; i++) {
        struct recent_level *level = &recent->levels[i];
        if (recent->count % level->step == 0)
            level->samples[level->count++ % level->capacity] = *sample;
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
