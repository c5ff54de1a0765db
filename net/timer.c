/* A timer hangs in the level of the highest group of TIMER_LEVEL_BITS bits in which its moment differs from
 * the wheel's tick, in the slot that this group of its moment names. Hence, in each level:
 *
 *   - every occupied slot lies ahead of the tick's own slot, and none wraps around;
 *   - the lowest occupied slot of the lowest occupied level comes up first.
 *
 * When the tick reaches the beginning of a slot, each timer in it either is due or differs from the tick in a
 * lower group only: it fires, or moves down. A timer whose moment was put off while it hung is found too
 * early in the same way, and hangs itself anew. */
#include "net/timer.h"

#include <assert.h>
#include <stddef.h>

#define SLOTS_PER_LEVEL (1u << TIMER_LEVEL_BITS)

void timer_wheel_init(struct timer_wheel *wheel, uint64_t now_ns)
{
    *wheel = (struct timer_wheel){.tick = now_ns >> TIMER_TICK_SHIFT};
}

void timer_init(struct timer *timer, void (*on_expiry)(struct timer *timer))
{
    *timer = (struct timer){.on_expiry = on_expiry};
}

static uint64_t tick_after(uint64_t ns)
{
    const uint64_t tick_ns = UINT64_C(1) << TIMER_TICK_SHIFT;
    return (ns >> TIMER_TICK_SHIFT) + (ns % tick_ns != 0);
}

/* The first tick of a slot that lies ahead. */
static uint64_t slot_begins(const struct timer_wheel *wheel, unsigned slot)
{
    const unsigned shift = slot / SLOTS_PER_LEVEL * TIMER_LEVEL_BITS;
    const uint64_t below = (UINT64_C(1) << (shift + TIMER_LEVEL_BITS)) - 1;
    return (wheel->tick & ~below) | ((uint64_t)(slot % SLOTS_PER_LEVEL) << shift);
}

static void hang(struct timer_wheel *wheel, struct timer *timer)
{
    const uint64_t differs = timer->expires_tick ^ wheel->tick;
    assert(timer->expires_tick > wheel->tick);
    const unsigned level = (63u - (unsigned)__builtin_clzll(differs)) / TIMER_LEVEL_BITS;
    const unsigned in_level = (unsigned)(timer->expires_tick >> (level * TIMER_LEVEL_BITS)) % SLOTS_PER_LEVEL;
    timer->slot = level * SLOTS_PER_LEVEL + in_level;
    struct timer **head = &wheel->slots[timer->slot];
    timer->next = *head;
    timer->link = head;
    if (timer->next)
        timer->next->link = &timer->next;
    *head = timer;
    wheel->occupied[level] |= UINT64_C(1) << in_level;
    wheel->armed++;
}

static void unhang(struct timer_wheel *wheel, struct timer *timer)
{
    *timer->link = timer->next;
    if (timer->next)
        timer->next->link = timer->link;
    timer->link = NULL;
    if (!wheel->slots[timer->slot])
        wheel->occupied[timer->slot / SLOTS_PER_LEVEL] &= ~(UINT64_C(1) << timer->slot % SLOTS_PER_LEVEL);
    wheel->armed--;
}

void timer_arm(struct timer_wheel *wheel, struct timer *timer, uint64_t expires_ns)
{
    uint64_t tick = tick_after(expires_ns);
    if (tick <= wheel->tick)
        tick = wheel->tick + 1;
    timer->expires_tick = tick;
    if (timer->link) {
        if (tick >= slot_begins(wheel, timer->slot))
            return;
        unhang(wheel, timer);
    }
    hang(wheel, timer);
}

void timer_cancel(struct timer_wheel *wheel, struct timer *timer)
{
    if (timer->link)
        unhang(wheel, timer);
}

/* The slot that comes up first; false if nothing is armed. */
static bool next_slot(const struct timer_wheel *wheel, unsigned *slot)
{
    for (unsigned level = 0; level < TIMER_LEVELS; level++)
        if (wheel->occupied[level]) {
            *slot = level * SLOTS_PER_LEVEL + (unsigned)__builtin_ctzll(wheel->occupied[level]);
            return true;
        }
    return false;
}

void timer_wheel_advance(struct timer_wheel *wheel, uint64_t now_ns)
{
    const uint64_t now = now_ns >> TIMER_TICK_SHIFT;
    unsigned slot;
    while (next_slot(wheel, &slot) && slot_begins(wheel, slot) <= now) {
        wheel->tick = slot_begins(wheel, slot);
        struct timer *timer;
        while ((timer = wheel->slots[slot])) {
            unhang(wheel, timer);
            if (timer->expires_tick <= wheel->tick)
                timer->on_expiry(timer);
            else
                hang(wheel, timer);
        }
    }
    if (now > wheel->tick)
        wheel->tick = now;
}

uint64_t timer_wheel_wait(const struct timer_wheel *wheel, uint64_t now_ns)
{
    unsigned slot;
    if (!next_slot(wheel, &slot))
        return TIMER_NEVER;
    const uint64_t due_ns = slot_begins(wheel, slot) << TIMER_TICK_SHIFT;
    return due_ns > now_ns ? due_ns - now_ns : 0;
}
