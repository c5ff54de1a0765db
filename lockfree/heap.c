/* Fredman, Sedgewick, Sleator and Tarjan: The pairing heap (1986), two passes, without recursion. */
#include "lockfree/heap.h"

static struct heap_node *meld(struct heap_node *a, struct heap_node *b)
{
    if (!a)
        return b;
    if (!b)
        return a;
    if (b->key < a->key) {
        struct heap_node *swap = a;
        a = b;
        b = swap;
    }
    b->sibling = a->child;
    b->previous = a;
    if (a->child)
        a->child->previous = b;
    a->child = b;
    return a;
}

void heap_insert(struct heap *heap, struct heap_node *node, uint64_t key)
{
    *node = (struct heap_node){.key = key};
    heap->least = meld(heap->least, node);
}

struct heap_node *heap_pop(struct heap *heap)
{
    struct heap_node *least = heap->least, *rest = least->child, *pairs = NULL;
    while (rest) { /* first pass: meld neighbours, stacking the results */
        struct heap_node *one = rest, *two = one->sibling;
        rest = two ? two->sibling : NULL;
        one->sibling = NULL;
        if (two)
            two->sibling = NULL;
        struct heap_node *pair = meld(one, two);
        pair->sibling = pairs;
        pairs = pair;
    }
    struct heap_node *root = NULL;
    while (pairs) { /* second pass: from the last pair to the first */
        struct heap_node *next = pairs->sibling;
        pairs->sibling = NULL;
        root = meld(root, pairs);
        pairs = next;
    }
    heap->least = root;
    return least;
}

void heap_remove(struct heap *heap, struct heap_node *node)
{
    if (node == heap->least) {
        heap_pop(heap);
        return;
    }
    struct heap below = {node};
    struct heap_node **link = node->previous->child == node ? &node->previous->child : &node->previous->sibling;
    *link = node->sibling;
    if (node->sibling)
        node->sibling->previous = node->previous;
    heap_pop(&below);
    heap->least = meld(heap->least, below.least);
}
