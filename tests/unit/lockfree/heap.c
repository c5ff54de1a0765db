#include "lockfree/heap.h"

#include "tests/support/check.h"

static uint64_t state = 1;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

TEST(comes_out_in_order_whatever_goes_in)
{
    enum { COUNT = 5000 };
    static struct heap_node nodes[COUNT];
    for (int order = 0; order < 3; order++) {
        struct heap heap = {NULL};
        for (uint64_t i = 0; i < COUNT; i++)
            heap_insert(&heap, &nodes[i], order == 0 ? i : order == 1 ? COUNT - i : next_random() % 1000);
        uint64_t last = 0;
        for (int i = 0; i < COUNT; i++) {
            struct heap_node *node = heap_pop(&heap);
            CHECK(node->key >= last);
            last = node->key;
        }
        CHECK(heap.least == NULL);
    }
}

/* As a scheduler uses it: the least goes back in with a later key; nobody is lost or forgotten. */
TEST(pop_and_insert_again)
{
    enum { COUNT = 300, ROUNDS = 100000 };
    static struct heap_node nodes[COUNT];
    static unsigned taken[COUNT];
    struct heap heap = {NULL};
    for (int i = 0; i < COUNT; i++)
        heap_insert(&heap, &nodes[i], next_random() % 100);
    uint64_t last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct heap_node *node = heap_pop(&heap);
        CHECK(node->key >= last);
        last = node->key;
        taken[node - nodes]++;
        heap_insert(&heap, node, last + 50 + next_random() % 100);
    }
    for (int i = 0; i < COUNT; i++)
        CHECK(taken[i] > ROUNDS / COUNT / 2);
}

/* Any node can leave: the least, one in the middle, one without others below it. The rest stays in order. */
TEST(any_node_can_leave)
{
    enum { COUNT = 400, ROUNDS = 200 };
    static struct heap_node nodes[COUNT];
    static bool is_in[COUNT];
    for (int round = 0; round < ROUNDS; round++) {
        struct heap heap = {NULL};
        int left = COUNT;
        for (int i = 0; i < COUNT; i++) {
            heap_insert(&heap, &nodes[i], next_random() % 50);
            is_in[i] = true;
        }
        for (int i = 0; i < COUNT / 4; i++, left--) /* gives the heap its shape */
            is_in[heap_pop(&heap) - nodes] = false;
        for (int i = 0; i < COUNT; i++)
            if (is_in[i] && next_random() % 2) {
                heap_remove(&heap, &nodes[i]);
                is_in[i] = false;
                left--;
            }
        for (uint64_t last = 0; left > 0; left--) {
            struct heap_node *node = heap_pop(&heap);
            CHECK(node->key >= last && is_in[node - nodes]);
            is_in[node - nodes] = false;
            last = node->key;
        }
        CHECK(heap.least == NULL);
    }
}
