#include "engine/frontier/rests.h"

#include <stdlib.h>

enum { ROOM_MIN = 64 };

void rests_fini(struct rests *rests)
{
    free(rests->places);
    *rests = (struct rests){0};
}

/* The place of a hash, or the free one where it would be: at least half of them are free. */
static struct rests_place *find(const struct rests *rests, uint64_t hash)
{
    size_t i = hash & (rests->room - 1);
    while (rests->places[i].hash && rests->places[i].hash != hash)
        i = (i + 1) & (rests->room - 1);
    return &rests->places[i];
}

/* 0 marks a free place. */
static uint64_t not_zero(uint64_t hash)
{
    return hash ? hash : 1;
}

static void set(struct rests_place *place, uint64_t hash, struct rest rest)
{
    place->hash = hash;
    lf_store(&place->next_ns, rest.next_ns, relaxed);
    lf_store(&place->failures, rest.failures, relaxed);
}

static struct rest get(const struct rests_place *place)
{
    return (struct rest){.next_ns = lf_load(&place->next_ns, relaxed),
                         .failures = lf_load(&place->failures, relaxed)};
}

static bool grow(struct rests *rests)
{
    struct rests larger = {.count = rests->count, .room = rests->room ? 2 * rests->room : ROOM_MIN};
    larger.places = calloc(larger.room, sizeof *larger.places);
    if (!larger.places)
        return false;
    for (size_t i = 0; i < rests->room; i++)
        if (rests->places[i].hash)
            set(find(&larger, rests->places[i].hash), rests->places[i].hash, get(&rests->places[i]));
    free(rests->places);
    *rests = larger;
    return true;
}

bool rests_put(struct rests *rests, uint64_t hash, struct rest rest)
{
    if (2 * (rests->count + 1) > rests->room && !grow(rests))
        return false;
    struct rests_place *place = find(rests, not_zero(hash));
    rests->count += !place->hash;
    struct rest known = get(place);
    if (known.next_ns > rest.next_ns)
        rest.next_ns = known.next_ns;
    set(place, not_zero(hash), rest);
    return true;
}

struct rest rests_get(const struct rests *rests, uint64_t hash)
{
    return rests->count ? get(find(rests, not_zero(hash))) : (struct rest){0};
}

void rests_forget(struct rests *rests, uint64_t hash)
{
    if (!rests->count)
        return;
    struct rests_place *place = find(rests, not_zero(hash));
    if (!place->hash)
        return;
    lf_store(&place->next_ns, 0, relaxed);
    lf_store(&place->failures, 0, relaxed);
}
