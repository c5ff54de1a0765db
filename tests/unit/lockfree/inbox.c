#include "lockfree/inbox.h"

#include <pthread.h>
#include <sched.h>

#include "tests/support/check.h"

TEST(the_first_push_is_told_that_nobody_looks)
{
    struct inbox inbox;
    struct inbox_node nodes[3];
    inbox_init(&inbox);
    CHECK(!inbox_has_some(&inbox));
    CHECK(inbox_push(&inbox, &nodes[0]));
    CHECK(!inbox_push(&inbox, &nodes[1]));
    CHECK(inbox_has_some(&inbox));
    struct inbox_node *first = inbox_take(&inbox);
    CHECK(first == &nodes[0] && first->next == &nodes[1] && nodes[1].next == NULL);
    CHECK(inbox_take(&inbox) == NULL);
    CHECK(!inbox_push(&inbox, &nodes[2]));
    CHECK(!inbox_park(&inbox));
    CHECK(inbox_take(&inbox) == &nodes[2]);
    CHECK(inbox_park(&inbox));
    CHECK(!inbox_has_some(&inbox));
    CHECK(inbox_push(&inbox, &nodes[0]));
}

TEST(a_consumer_may_end_its_own_parking)
{
    struct inbox inbox;
    struct inbox_node node;
    inbox_init(&inbox);
    CHECK(inbox_take(&inbox) == NULL);
    CHECK(!inbox_push(&inbox, &node));
    CHECK(inbox_take(&inbox) == &node);
}

/* Producers push numbered nodes; whoever finds the inbox parked becomes the consumer, until it can park
 * again. Two consumers at once, a lost, doubled or reordered node are seen. */
enum { PRODUCERS = 3, PER_PRODUCER = 30000 };

struct numbered {
    struct inbox_node node;
    int producer, number;
};

static struct inbox shared;
static struct numbered all[PRODUCERS][PER_PRODUCER];
static int last_seen[PRODUCERS]; /* plain: the role of consumer is what protects it */
static int taken;
static _Atomic(int) consumers;

static void consume(void)
{
    CHECK_INT(lf_fetch_add(&consumers, 1, relaxed), 0);
    do {
        for (struct inbox_node *node = inbox_take(&shared); node; node = node->next) {
            struct numbered *item = (struct numbered *)node;
            CHECK_INT(item->number, last_seen[item->producer] + 1);
            last_seen[item->producer] = item->number;
            taken++;
        }
        lf_fetch_sub(&consumers, 1, relaxed);
        if (inbox_park(&shared))
            return;
        lf_fetch_add(&consumers, 1, relaxed);
    } while (true);
}

static void *produce(void *argument)
{
    int producer = (int)(intptr_t)argument;
    for (int i = 0; i < PER_PRODUCER; i++) {
        struct numbered *item = &all[producer][i];
        item->producer = producer;
        item->number = i + 1;
        if (inbox_push(&shared, &item->node))
            consume();
        if (i % 64 == 0)
            sched_yield();
    }
    return NULL;
}

TEST(the_role_of_consumer_is_one_and_moves_in_order)
{
    pthread_t threads[PRODUCERS];
    inbox_init(&shared);
    for (intptr_t i = 0; i < PRODUCERS; i++)
        CHECK(pthread_create(&threads[i], NULL, produce, (void *)i) == 0);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(taken, PRODUCERS * PER_PRODUCER);
}
