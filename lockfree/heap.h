/* Pairing heap, intrusive: insert in constant time, take the least or any other in logarithmic time on average. No
 * memory of its own, no position to keep: a node is in at most one heap. Belongs to one thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct heap_node {
    uint64_t key;
    struct heap_node *child;   /* first of those below */
    struct heap_node *sibling; /* next beside */
    struct heap_node *previous; /* of which it is the first below, or the next beside; undefined for the least */
};

struct heap {
    struct heap_node *least; /* NULL: empty */
};

void heap_insert(struct heap *heap, struct heap_node *node, uint64_t key);
/* The node with the least key; the heap must not be empty. */
struct heap_node *heap_pop(struct heap *heap);
/* Takes out a node that is in this heap. */
void heap_remove(struct heap *heap, struct heap_node *node);
