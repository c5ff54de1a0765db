/* Time-outs of one loop: an intrusive hierarchical wheel.
 *
 * Arming and cancelling are O(1); moving a deadline further away, which every request on a kept-alive
 * connection does, is one store: the timer stays where it hangs and is hung anew when it comes up too early.
 * A timer never fires before its moment and, on a loop that is not overloaded, at most two ticks after it.
 *
 * Everything here belongs to one thread. The memory of a timer is its owner's; it may be freed or armed again
 * when it is not armed, and also inside its own on_expiry. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/limits.h"

#define TIMER_NEVER UINT64_MAX

struct timer {
    struct timer *next;
    struct timer **link;   /* what points to us; NULL while not armed */
    uint64_t expires_tick; /* when it is to fire */
    uint32_t slot;         /* level and slot in which it hangs */
    void (*on_expiry)(struct timer *timer);
};

struct timer_wheel {
    uint64_t tick;  /* every timer due at or before this tick has fired */
    uint64_t armed; /* timers that hang in the wheel */
    uint64_t occupied[TIMER_LEVELS];
    struct timer *slots[TIMER_LEVELS << TIMER_LEVEL_BITS];
};

void timer_wheel_init(struct timer_wheel *wheel, uint64_t now_ns);

/* Before the first arming. */
void timer_init(struct timer *timer, void (*on_expiry)(struct timer *timer));

/* Fires at the first tick at or after `expires_ns`. An armed timer gets the new moment instead of the old. */
void timer_arm(struct timer_wheel *wheel, struct timer *timer, uint64_t expires_ns);

/* No-op if not armed. */
void timer_cancel(struct timer_wheel *wheel, struct timer *timer);

static inline bool timer_is_armed(const struct timer *timer)
{
    return timer->link;
}

/* Calls on_expiry of each timer that is due, each no longer armed. They may arm and cancel any timer. */
void timer_wheel_advance(struct timer_wheel *wheel, uint64_t now_ns);

/* Nanoseconds from now_ns in which nothing has to be done: 0 if something is due, TIMER_NEVER if nothing is
 * armed. */
uint64_t timer_wheel_wait(const struct timer_wheel *wheel, uint64_t now_ns);
