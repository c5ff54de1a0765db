#include "tools/websim/limit.h"

#include <pthread.h>
#include <stdlib.h>

#include "lockfree/atomic.h"
#include "tests/support/check.h"

static struct websim_limits limits;

TEST(connections_are_counted_per_host)
{
    uint32_t slots[3], count, other;
    for (uint32_t i = 0; i < 3; i++) {
        slots[i] = websim_limit_acquire(&limits, 7, &count);
        CHECK_INT(count, i + 1);
    }
    other = websim_limit_acquire(&limits, 8, &count);
    CHECK_INT(count, 1);
    for (uint32_t i = 0; i < 3; i++)
        websim_limit_release(&limits, slots[i]);
    slots[0] = websim_limit_acquire(&limits, 7, &count);
    CHECK_INT(count, 1);
    websim_limit_release(&limits, slots[0]);
    websim_limit_release(&limits, other);
}

TEST(a_full_neighbourhood_is_not_enforced)
{
    uint32_t *slots = malloc(2 * WEBSIM_LIMIT_SLOTS * sizeof *slots), count, none = 0;
    for (uint32_t host = 0; host < 2 * WEBSIM_LIMIT_SLOTS; host++) {
        slots[host] = websim_limit_acquire(&limits, host, &count);
        none += slots[host] == WEBSIM_LIMIT_NONE;
        CHECK(count == (slots[host] == WEBSIM_LIMIT_NONE ? 0 : 1));
    }
    CHECK(none >= WEBSIM_LIMIT_SLOTS);
    for (uint32_t host = 0; host < 2 * WEBSIM_LIMIT_SLOTS; host++)
        if (slots[host] != WEBSIM_LIMIT_NONE)
            websim_limit_release(&limits, slots[host]);
    free(slots);
}

static void *hammer(void *argument)
{
    (void)argument;
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t count, slot = websim_limit_acquire(&limits, i % 3, &count);
        CHECK(slot != WEBSIM_LIMIT_NONE && count >= 1 && count <= 4);
        websim_limit_release(&limits, slot);
    }
    return NULL;
}

TEST(threads_leave_nothing_behind)
{
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, hammer, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < WEBSIM_LIMIT_SLOTS; i++)
        CHECK_INT((uint32_t)lf_load(&limits.slots[i], relaxed), 0);
}
