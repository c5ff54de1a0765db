/* Sorted linked list: set of nodes in the order of a 64-bit key. Harris 2001, Michael 2002.
 *
 * Nodes are intrusive and the caller's. With match == NULL a key identifies its node; with a match function,
 * nodes of one key are told apart by it (hash and string).
 *
 * | may run at the same time as   | insert | remove | find, first, next |
 * |-------------------------------|--------|--------|-------------------|
 * | insert, remove                |  yes   |  yes   |  yes              |
 * | find, first, next             |  yes   |  yes   |  yes              |
 *
 * Progress: insert and remove are lock-free. find and next are wait-free as long as the number of keys below
 * the wanted one is bounded, and never write.
 *
 * Nodes: every caller is online in one reclaim domain, and uses what a call returned only until its next
 * quiescent state. list_insert takes over the node; node->key and whatever `match` reads may not change from
 * then on. list_remove gives the node back to the one caller that removed it: no new search will reach it,
 * but searches under way may still stand on it, so it goes to reclaim_retire(), and is not written to,
 * inserted or freed before it is released.
 *
 * A fence is a node that is never removed, so that searches can begin there: a list's own head, and the map's
 * buckets. Links to a fence are flagged, so that a search that ends at one does not touch it. */
#pragma once

#include "lockfree/atomic.h"
#include "lockfree/backoff.h"

struct list_node {
    _Atomic uintptr_t next; /* the next node's address and the flags below */
    uint64_t key;
};

/* Flags in a link. MARK and PENDING tell of the node that holds the link, FENCE of the one it leads to. */
#define LIST_MARK    ((uintptr_t)1) /* the holder is deleted; the link will not change again */
#define LIST_FENCE   ((uintptr_t)2) /* leads to a fence, or is the end of the list */
#define LIST_PENDING ((uintptr_t)4) /* the holder is a fence that is being put in place */
#define LIST_FLAGS   (LIST_MARK | LIST_FENCE | LIST_PENDING)
#define LIST_END     LIST_FENCE

/* Whether `node`, whose key is the wanted one, is what is wanted. Pure. */
typedef bool list_match(const struct list_node *node, const void *wanted);

struct list {
    struct list_node head;
    list_match *match;
};

void list_init(struct list *list, list_match *match);

/* NULL: `node` is in, under node->key. Otherwise the node that was there already, and `node` is still the
 * caller's. */
struct list_node *list_insert(struct list *list, struct list_node *node, const void *wanted,
                              struct backoff *backoff);
/* The removed node, to be retired by the caller; NULL if there was none. */
struct list_node *list_remove(struct list *list, uint64_t key, const void *wanted, struct backoff *backoff);
/* NULL if there is none. */
struct list_node *list_find(const struct list *list, uint64_t key, const void *wanted);

/* In key order. A walk meets every node that is in the list from its beginning to its end, none twice, and
 * may or may not meet those that come or go meanwhile. */
struct list_node *list_first(const struct list *list);
struct list_node *list_next(const struct list_node *node);

/* The same operations from a fence on: what the map is made of. */
struct list_query {
    uint64_t key;
    const void *wanted;
    list_match *match;
    bool within; /* end at the first fence, though its key may be smaller; else look through fences */
};

/* Where a search ended: the link prev->next held `link`. If `found`, it leads to the wanted node, whose own
 * link was `next`. */
struct list_place {
    struct list_node *prev;
    uintptr_t link;
    uintptr_t next;
    bool found;
};

/* Unlinks the deleted nodes on its way. */
struct list_place list_search(struct list_node *fence, const struct list_query *query,
                              struct backoff *backoff);
/* One attempt to put `node` at the place. False: lost, search again. */
bool list_try_insert(const struct list_place *place, struct list_node *node, struct backoff *backoff);
/* One attempt to delete the node found, whose key is `key`. False: lost, search again. On success it is
 * unlinked too. */
bool list_try_remove(struct list_node *fence, const struct list_place *place, uint64_t key,
                     struct backoff *backoff);
/* Puts `fence`, all zero, into the list after `from`. Of several callers one does the work; returns at once
 * for the others. */
void list_fence_insert(struct list_node *from, struct list_node *fence, uint64_t key,
                       struct backoff *backoff);

static inline struct list_node *list_node_of(uintptr_t link)
{
    return (struct list_node *)(link & ~LIST_FLAGS);
}

/* A fence from which searches may begin. */
static inline bool list_fence_is_ready(uintptr_t link)
{
    return link != 0 && LF_BUG(map_fence_too_early, !(link & LIST_PENDING), true);
}

static inline bool list_is_match(const struct list_query *query, const struct list_node *node)
{
    return !query->match || query->match(node, query->wanted);
}

/* Goes on over smaller keys as long as the links carry no flag: such a link is the node's address as it is,
 * so that a step costs one load after another and no more. */
static inline uintptr_t list_skip(uintptr_t link, uint64_t key)
{
    while (!(link & LIST_FLAGS)) {
        struct list_node *node = (struct list_node *)link;
        if (lf_plain_read(node->key) >= key)
            break;
        link = lf_load(&node->next, acquire); /* A1 in list.c */
    }
    return link;
}

/* The search that does not write, from what a fence's link held on. Returns the node found, or NULL and the
 * link that the search ended with. */
static inline struct list_node *list_find_from(uintptr_t link, const struct list_query *query, uintptr_t *end)
{
    struct list_node *node;
    for (link = list_skip(link, query->key); (node = list_node_of(link));
         link = list_skip(link, query->key)) {
        if ((link & LIST_FENCE) && query->within)
            break;
        uint64_t key = lf_plain_read(node->key);
        if (key > query->key)
            break;
        uintptr_t next = lf_load(&node->next, acquire); /* A1 in list.c */
        if (key == query->key && !(link & LIST_FENCE) && !(next & LIST_MARK) && list_is_match(query, node))
            return node;
        link = next;
    }
    *end = link;
    return NULL;
}
