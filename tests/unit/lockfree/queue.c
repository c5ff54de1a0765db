#include "lockfree/queue.h"

#include "tests/support/check.h"

#include <stdlib.h>

#define THREADS 2
#define NODES   1000

static struct reclaim domain;
static struct reclaim_thread slots[THREADS];
static struct queue queue;
static struct queue_thread threads[THREADS];
static struct queue_node first_node, nodes[NODES];

static void *value_of(uintptr_t number)
{
    return (void *)(number + 1);
}

/* Thread 0 has `count` nodes; both are online. */
static void set_up(size_t count, size_t limbo_max)
{
    memset(nodes, 0xee, sizeof nodes);
    reclaim_init(&domain, slots, THREADS, limbo_max);
    queue_init(&queue, &first_node);
    for (int i = 0; i < THREADS; i++) {
        queue_thread_init(&threads[i], &queue, reclaim_claim(&domain, NULL));
        reclaim_online(threads[i].reclaim);
    }
    queue_give(&threads[0], nodes, count);
}

static void turn_all(void)
{
    for (int turns = 0; turns < 3; turns++)
        for (int i = 0; i < THREADS; i++)
            reclaim_quiescent(threads[i].reclaim);
}

TEST(empty)
{
    set_up(1, 10);
    CHECK(!queue_pop(&threads[0]));
    CHECK_INT(queue_count(&queue), 0);
    CHECK(queue_push(&threads[0], value_of(1)));
    CHECK_INT(queue_count(&queue), 1);
    CHECK(queue_pop(&threads[0]) == value_of(1));
    CHECK(!queue_pop(&threads[0]));
    CHECK_INT(queue_count(&queue), 0);
}

TEST(first_in_first_out)
{
    set_up(NODES, 100);
    for (uintptr_t i = 0; i < NODES; i++) {
        CHECK(queue_push(&threads[0], value_of(i)));
        CHECK_INT(queue_count(&queue), i + 1);
    }
    for (uintptr_t i = 0; i < NODES; i++)
        CHECK(queue_pop(&threads[i % THREADS]) == value_of(i));
    CHECK(!queue_pop(&threads[1]));
}

TEST(the_tail_lags_but_not_far)
{
    set_up(NODES, 100);
    for (uintptr_t i = 0; i < NODES; i++) {
        CHECK(queue_push(&threads[0], value_of(i)));
        uint64_t behind = i + 1 - lf_load(&queue.tail, relaxed)->position;
        CHECK(behind <= QUEUE_LAG_MAX);
    }
    CHECK(lf_load(&queue.tail, relaxed)->position > 0);
}

TEST(without_nodes_push_refuses)
{
    set_up(2, 10);
    CHECK(queue_push(&threads[0], value_of(0)));
    CHECK(queue_push(&threads[0], value_of(1)));
    CHECK(!queue_push(&threads[0], value_of(2)));
    CHECK(!queue_push(&threads[1], value_of(2)));
    queue_give(&threads[1], &nodes[2], 1);
    CHECK(queue_push(&threads[1], value_of(2)));
    for (uintptr_t i = 0; i < 3; i++)
        CHECK(queue_pop(&threads[0]) == value_of(i));
}

/* The queue turns over many times its number of nodes. */
TEST(nodes_come_back)
{
    set_up(4 * QUEUE_CHAIN, 10);
    uintptr_t pushed = 0, popped = 0;
    for (int round = 0; round < 1000; round++) {
        for (int i = 0; i < 10; i++)
            CHECK(queue_push(&threads[0], value_of(pushed++)));
        for (int i = 0; i < 10; i++)
            CHECK(queue_pop(&threads[0]) == value_of(popped++));
        for (int i = 0; i < THREADS; i++)
            reclaim_quiescent(threads[i].reclaim);
    }
    CHECK_INT(queue_count(&queue), 0);
}

TEST(nodes_wander_from_consumer_to_producer)
{
    set_up(4 * QUEUE_CHAIN, 10);
    for (uintptr_t i = 0; i < 10000; i++) {
        CHECK(queue_push(&threads[0], value_of(i)));
        CHECK(queue_pop(&threads[1]) == value_of(i));
        for (int k = 0; k < THREADS; k++)
            reclaim_quiescent(threads[k].reclaim);
    }
}

/* A thread that may still stand on the nodes keeps them from being used again; push says so. */
TEST(a_stalled_thread_keeps_nodes_out)
{
    set_up(2 * QUEUE_CHAIN, 10);
    size_t pushed = 0;
    while (queue_push(&threads[0], value_of(pushed))) {
        CHECK(queue_pop(&threads[0]) == value_of(pushed));
        pushed++;
        reclaim_quiescent(threads[0].reclaim);
    }
    CHECK_INT(pushed, 2 * QUEUE_CHAIN);
    turn_all();
    CHECK(queue_push(&threads[0], value_of(0)));
}

TEST(the_tail_never_points_to_a_retired_node)
{
    set_up(4 * QUEUE_CHAIN, 10);
    for (uintptr_t i = 0; i < 3 * QUEUE_CHAIN; i++) {
        CHECK(queue_push(&threads[0], value_of(i)));
        CHECK(queue_pop(&threads[0]) == value_of(i));
        uint64_t retired = (i + 1) / QUEUE_CHAIN * QUEUE_CHAIN; /* positions below this one */
        CHECK(lf_load(&queue.tail, relaxed)->position >= retired);
    }
}

TEST(a_full_limbo_delays_but_loses_nothing)
{
    set_up(NODES, 1);
    for (uintptr_t i = 0; i < 10 * QUEUE_CHAIN; i++) {
        CHECK(queue_push(&threads[0], value_of(i)));
        CHECK(queue_pop(&threads[0]) == value_of(i));
    }
    CHECK(threads[0].popped);
    for (uintptr_t i = 0; i < 20 * QUEUE_CHAIN; i++) {
        turn_all();
        CHECK(queue_push(&threads[0], value_of(i)));
        CHECK(queue_pop(&threads[0]) == value_of(i));
    }
}

TEST(a_leaving_thread_passes_its_nodes_on)
{
    set_up(100, 10);
    for (uintptr_t i = 0; i < 10; i++)
        CHECK(queue_push(&threads[0], value_of(i)));
    for (uintptr_t i = 0; i < 5; i++)
        CHECK(queue_pop(&threads[0]) == value_of(i));
    CHECK(queue_thread_fini(&threads[0]));
    CHECK(!queue_push(&threads[1], value_of(10)));
    turn_all();
    size_t more = 0;
    while (queue_push(&threads[1], value_of(10 + more)))
        more++;
    CHECK_INT(more, 90 + 5); /* the first of the popped ones is the queue's own node */
    for (uintptr_t i = 5; i < 10 + more; i++)
        CHECK(queue_pop(&threads[1]) == value_of(i));
}

TEST(a_leaving_thread_asks_again_when_the_limbo_is_full)
{
    set_up(100, 1);
    CHECK(queue_push(&threads[0], value_of(0)));
    CHECK(queue_pop(&threads[0]) == value_of(0));
    CHECK(!queue_thread_fini(&threads[0])); /* two chains, room for one */
    turn_all();
    CHECK(queue_thread_fini(&threads[0]));
}

TEST(against_an_array)
{
    set_up(NODES, 100);
    uintptr_t pushed = 0, popped = 0;
    srandom(3);
    for (int i = 0; i < 200000; i++) {
        struct queue_thread *thread = &threads[random() % THREADS];
        if (random() % 2) {
            pushed += queue_push(thread, value_of(pushed));
        } else {
            void *value = queue_pop(thread);
            CHECK(value == (popped == pushed ? NULL : value_of(popped)));
            popped += value != NULL;
        }
        if (i % 16 == 0)
            turn_all();
        CHECK_INT(queue_count(&queue), pushed - popped);
    }
    CHECK(popped > 50000);
}
