/* The processors of a loop. */
#include "net/ring.h"

#include <pthread.h>
#include <sched.h>

#include "tests/support/check.h"

static void *count_processors(void *argument)
{
    cpu_set_t allowed, one;
    (void)argument;
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CHECK_INT(ring_processors(), CPU_COUNT(&allowed));
    CPU_ZERO(&one);
    for (unsigned cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_INT(ring_processors(), 1);
    return NULL;
}

/* In a thread of its own: a thread that was confined stays so. */
TEST(processors_that_a_thread_may_not_run_on_do_not_count)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, count_processors, NULL), 0);
    pthread_join(thread, NULL);
}

static void *pin_twice(void *argument)
{
    cpu_set_t allowed, now;
    (void)argument;
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    const unsigned count = (unsigned)CPU_COUNT(&allowed);
    struct ring ring;
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET((unsigned)last, &allowed))
        last--;
    CHECK_INT(ring_init(&ring, &(struct ring_options){.cpu = (int)(3 * count - 1)}), 0); /* counted around: the last one */
    CHECK_INT(sched_getaffinity(0, sizeof now, &now), 0);
    CHECK(CPU_COUNT(&now) == 1 && CPU_ISSET((unsigned)last, &now));
    ring_fini(&ring);
    CHECK_INT(ring_init(&ring, &(struct ring_options){.cpu = 1}), 0); /* of one processor, each is that one */
    CHECK_INT(sched_getaffinity(0, sizeof now, &now), 0);
    CHECK(CPU_COUNT(&now) == 1 && CPU_ISSET((unsigned)last, &now));
    ring_fini(&ring);
    return NULL;
}

/* In a thread of its own: a thread that was pinned stays so. */
TEST(a_loop_is_pinned_to_a_processor_that_it_may_run_on)
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, pin_twice, NULL), 0);
    pthread_join(thread, NULL);
}
