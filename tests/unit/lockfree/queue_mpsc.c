#include "lockfree/queue_mpsc.h"
#include "lockfree/container_of.h"
#include "tests/support/check.h"

struct item {
    uint64_t number;
    struct queue_mpsc_node node;
};

static struct queue_mpsc queue;
static struct item items[100];

static struct item *item_of(struct queue_mpsc_node *node)
{
    return container_of(node, struct item, node);
}

static void start(void)
{
    queue_mpsc_init(&queue);
    for (unsigned i = 0; i < 100; i++)
        items[i].number = i;
}

TEST(an_empty_queue_gives_nothing)
{
    struct queue_mpsc_node *nodes[4];
    start();
    CHECK(queue_mpsc_is_empty(&queue));
    CHECK(queue_mpsc_pop(&queue) == NULL);
    CHECK_INT(queue_mpsc_pop_batch(&queue, nodes, 4), 0);
}

TEST(first_in_first_out)
{
    start();
    for (unsigned i = 0; i < 100; i++)
        queue_mpsc_push(&queue, &items[i].node);
    for (unsigned i = 0; i < 100; i++) {
        CHECK(!queue_mpsc_is_empty(&queue));
        CHECK_INT(item_of(queue_mpsc_pop(&queue))->number, i);
    }
    CHECK(queue_mpsc_is_empty(&queue));
    CHECK(queue_mpsc_pop(&queue) == NULL);
}

/* A node may go round at once: popped, pushed again. Lengths from 1 on, so that every place is met where a
 * detached chain ends. */
TEST(a_popped_node_can_be_pushed_again_at_once)
{
    start();
    for (unsigned length = 1; length < 100; length++) {
        for (unsigned i = 0; i < length; i++)
            queue_mpsc_push(&queue, &items[i].node);
        for (unsigned turn = 0; turn < 3 * length; turn++) {
            struct queue_mpsc_node *node = queue_mpsc_pop(&queue);
            CHECK_INT(item_of(node)->number, turn % length);
            queue_mpsc_push(&queue, node);
        }
        for (unsigned i = 0; i < length; i++)
            CHECK_INT(item_of(queue_mpsc_pop(&queue))->number, i);
        CHECK(queue_mpsc_pop(&queue) == NULL);
    }
}

TEST(a_batch_pops_up_to_its_size_across_detached_chains)
{
    struct queue_mpsc_node *nodes[100];
    start();
    for (unsigned i = 0; i < 10; i++)
        queue_mpsc_push(&queue, &items[i].node);
    CHECK_INT(queue_mpsc_pop_batch(&queue, nodes, 0), 0);
    CHECK_INT(queue_mpsc_pop_batch(&queue, nodes, 4), 4);
    for (unsigned i = 10; i < 30; i++)
        queue_mpsc_push(&queue, &items[i].node);
    CHECK_INT(queue_mpsc_pop_batch(&queue, nodes + 4, 96), 26);
    for (unsigned i = 0; i < 30; i++)
        CHECK(nodes[i] == &items[i].node);
    CHECK_INT(queue_mpsc_pop_batch(&queue, nodes, 1), 0);
}

/* One wake-up for each run of pushes, and none is missing when the consumer found the queue empty. */
TEST(push_tells_that_the_consumer_may_be_asleep)
{
    start();
    CHECK(queue_mpsc_push(&queue, &items[0].node));
    CHECK(!queue_mpsc_push(&queue, &items[1].node));
    CHECK(queue_mpsc_pop(&queue) == &items[0].node);
    CHECK(!queue_mpsc_is_empty(&queue));
    CHECK(queue_mpsc_push(&queue, &items[2].node));
    CHECK(!queue_mpsc_push(&queue, &items[3].node));
    for (unsigned i = 1; i < 4; i++)
        CHECK(queue_mpsc_pop(&queue) == &items[i].node);
    CHECK(queue_mpsc_is_empty(&queue));
    CHECK(queue_mpsc_push(&queue, &items[4].node));
}

/* A producer stopped between its exchange and its link, played by hand: in front of everything, and in the
 * middle. */
TEST(a_stopped_producer_hides_what_is_behind_it)
{
    start();
    lf_store(&items[0].node.next, NULL, relaxed);
    struct queue_mpsc_node *previous = lf_exchange(&queue.tail, &items[0].node, acq_rel);
    CHECK(!queue_mpsc_push(&queue, &items[1].node));
    CHECK(queue_mpsc_pop(&queue) == NULL);
    CHECK(!queue_mpsc_is_empty(&queue));
    lf_store(&previous->next, &items[0].node, release);
    CHECK(queue_mpsc_pop(&queue) == &items[0].node);
    CHECK(queue_mpsc_pop(&queue) == &items[1].node);

    queue_mpsc_push(&queue, &items[2].node);
    lf_store(&items[3].node.next, NULL, relaxed);
    previous = lf_exchange(&queue.tail, &items[3].node, acq_rel);
    queue_mpsc_push(&queue, &items[4].node);
    CHECK(queue_mpsc_pop(&queue) == NULL);
    CHECK(!queue_mpsc_is_empty(&queue));
    lf_store(&previous->next, &items[3].node, release);
    for (unsigned i = 2; i < 5; i++)
        CHECK(queue_mpsc_pop(&queue) == &items[i].node);
    CHECK(queue_mpsc_is_empty(&queue));
}
