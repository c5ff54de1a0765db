/* Sorted linked list with logical deletion.
 *
 * T. Harris, "A pragmatic implementation of non-blocking linked-lists" (2001): a node is deleted by setting a
 * mark in its own next pointer, and unlinked afterwards. M. Michael, "High performance dynamic lock-free hash
 * tables and list-based sets" (2002): a search that intends to write unlinks the deleted nodes it meets, one
 * at a time. The search that does not write is from Herlihy and Shavit, "The art of multiprocessor
 * programming", 9.8.
 *
 * In the set are the nodes that have been linked and are not marked.
 *
 * 1. Links lead to larger keys, and within a run of equal keys to nodes that were inserted later. An insert
 *    searches through the run of its key and links its node behind it, between `prev` and what prev led to.
 *    Its compare-and-swap succeeds only if prev still leads there and is not marked.
 * 2. A marked link never changes again: every compare-and-swap expects a link without mark. So nothing is
 *    inserted behind a deleted node, and nothing is unlinked through one. Without the mark, an insert
 *    behind a node that is just being unlinked would be lost.
 * 3. No duplicates. Two inserts of the same thing compete for the same link, the last of the run. The loser
 *    searches again and finds the winner's node.
 * 4. No ABA. A link found unchanged leads to the same node, because nodes are not used again before
 *    everybody who might have seen them has been quiescent.
 * 5. The thread whose compare-and-swap set the mark has removed the node, and gives it to its caller once
 *    it is unlinked. Either its own compare-and-swap on prev does that, or it has lost to a change at prev,
 *    and then searches through the run, which unlinks every marked node on the way or starts anew. While
 *    the node is linked, such a search cannot miss it: there is one way through the list, and it leads
 *    through all smaller keys to the end of the run. Once unlinked, the node stays so: an insert that still
 *    has it as successor links its own node to prev, and succeeds only where prev still leads to the
 *    deleted node, that is, before the unlinking. So no search that begins later can reach it, and it may
 *    be retired.
 *
 * Linearization: insert at the compare-and-swap that links, remove at the one that marks, a find that
 * succeeds when it read the node's unmarked link. For a find that fails: each node it passes led to the next
 * one it passes, and was itself linked, at some moment during the find, and these moments follow each other.
 * The fence it begins at is always linked. Say that node a was linked at its moment, and the find reads b
 * from its link. If a is not marked, then a is linked and leads to b when the link is read. If a is marked,
 * its link has been what it is since then: a led to b already at its moment, or else when it was marked,
 * which came later. So at the moment of the last node passed, or of a marked node of the thing itself, that
 * node was followed by one beyond the thing: the thing was absent.
 *
 * Progress: a search starts anew only when it lost a compare-and-swap, so that another thread's insert,
 * deletion or unlinking went through; and a node is inserted, deleted and unlinked once. */
#include "lockfree/list.h"

#include <assert.h>

static bool match_nothing(const struct list_node *node, const void *wanted)
{
    (void)node;
    (void)wanted;
    return false;
}

void list_init(struct list *list, list_match *match)
{
    lf_store(&list->head.next, LIST_END, relaxed);
    list->head.key = 0;
    list->match = match;
}

/* The fence holds the place in the list that its link says; it only has to be told so. A search that meets it
 * does this as well as the thread that put it there, which may be stopped. */
static uintptr_t finish_fence(struct list_node *fence, uintptr_t link)
{
    while (link & LIST_PENDING) {
        /* R2, pairs with A1: who begins here sees the nodes that follow. A1 if it is lost; a failure may not
         * be ordered more strongly than a success. */
        if (lf_cas(&fence->next, &link, link & ~LIST_PENDING, acq_rel, acquire))
            return link & ~LIST_PENDING;
    }
    return link;
}

/* list_skip for one who wants to know the node before, and stops at deleted ones. */
static inline struct list_place skip_from(struct list_node *prev, uintptr_t link, uint64_t key)
{
    while (!(link & LIST_FLAGS)) {
        struct list_node *node = (struct list_node *)link;
        uintptr_t next = lf_load(&node->next, acquire); /* A1, pairs with R1, R2, R3, R4 */
        if ((next & LIST_MARK) || lf_plain_read(node->key) >= key)
            break;
        prev = node;
        link = next;
    }
    return (struct list_place){.prev = prev, .link = link};
}

/* False: lost a race on the way, start anew. */
static bool search_once(struct list_node *fence, const struct list_query *query, struct list_place *place)
{
    struct list_node *prev = fence;
    uintptr_t link = lf_load(&prev->next, acquire); /* A1, pairs with R1, R2, R3 */
    for (;;) {
        *place = skip_from(prev, link, query->key);
        prev = place->prev;
        link = place->link;
        struct list_node *node = list_node_of(link);
        if (!node || ((link & LIST_FENCE) && query->within))
            return true;
        uintptr_t next = lf_load(&node->next, acquire); /* A1, pairs with R1, R2, R3, R4 */
        if (next & LIST_MARK) {
            /* R3, pairs with A1: who reads past the gap sees that the node is gone. */
            if (!lf_cas(&prev->next, &link, next & ~LIST_MARK, release, relaxed))
                return false;
            link = next & ~LIST_MARK;
            continue;
        }
        if (link & LIST_FENCE)
            next = finish_fence(node, next);
        uint64_t key = lf_plain_read(node->key);
        if (key > query->key)
            return true;
        if (key == query->key && !(link & LIST_FENCE) && list_is_match(query, node)) {
            place->next = next;
            place->found = true;
            return true;
        }
        prev = node;
        link = next;
    }
}

struct list_place list_search(struct list_node *fence, const struct list_query *query,
                              struct backoff *backoff)
{
    struct list_place place;
    while (!search_once(fence, query, &place))
        backoff_lost(backoff);
    return place;
}

bool list_try_insert(const struct list_place *place, struct list_node *node, struct backoff *backoff)
{
    uintptr_t link = place->link;
    lf_store(&node->next, link, relaxed);
    /* R1, pairs with A1: the node's contents. */
    if (lf_cas(&place->prev->next, &link, (uintptr_t)node, release, relaxed))
        return true;
    backoff_lost(backoff);
    return false;
}

bool list_try_remove(struct list_node *fence, const struct list_place *place, uint64_t key,
                     struct backoff *backoff)
{
    uintptr_t link = place->link, next = place->next;
    /* R4, pairs with A1: who sees the deletion sees what the remover did before. */
    if (!lf_cas(&list_node_of(link)->next, &next, LF_BUG(list_no_mark, next | LIST_MARK, next), release,
                relaxed)) {
        backoff_lost(backoff);
        return false;
    }
    /* R3, pairs with A1. */
    if (!LF_BUG(list_left_linked, lf_cas(&place->prev->next, &link, place->next, release, relaxed), true)) {
        /* Through fences too: one may have been put before the node meanwhile. */
        struct list_query whole_run = {.key = key, .match = match_nothing};
        list_search(fence, &whole_run, backoff);
    }
    return true;
}

void list_fence_insert(struct list_node *from, struct list_node *fence, uint64_t key, struct backoff *backoff)
{
    assert(key > 0);
    uintptr_t untouched = 0;
    if (!lf_cas(&fence->next, &untouched, LIST_PENDING, relaxed, relaxed))
        return;
    lf_plain_write(fence->key, key);
    /* Beyond all smaller keys, before its own. */
    struct list_query query = {.key = key - 1, .match = match_nothing};
    for (;;) {
        struct list_place place = list_search(from, &query, backoff);
        lf_store(&fence->next, place.link | LIST_PENDING, relaxed);
        /* R1, pairs with A1: the fence's key, and the link it goes on with. */
        if (lf_cas(&place.prev->next, &place.link, (uintptr_t)fence | LIST_FENCE, release, relaxed))
            break;
        backoff_lost(backoff);
    }
    finish_fence(fence, lf_load(&fence->next, acquire)); /* A1, pairs with R1, R2 */
    backoff_won(backoff);
}

struct list_node *list_insert(struct list *list, struct list_node *node, const void *wanted,
                              struct backoff *backoff)
{
    struct list_query query = {.key = node->key, .wanted = wanted, .match = list->match};
    for (;;) {
        struct list_place place = list_search(&list->head, &query, backoff);
        if (place.found)
            return list_node_of(place.link);
        if (list_try_insert(&place, node, backoff)) {
            backoff_won(backoff);
            return NULL;
        }
    }
}

struct list_node *list_remove(struct list *list, uint64_t key, const void *wanted, struct backoff *backoff)
{
    struct list_query query = {.key = key, .wanted = wanted, .match = list->match};
    for (;;) {
        struct list_place place = list_search(&list->head, &query, backoff);
        if (!place.found)
            return NULL;
        if (list_try_remove(&list->head, &place, key, backoff)) {
            backoff_won(backoff);
            return list_node_of(place.link);
        }
    }
}

struct list_node *list_find(const struct list *list, uint64_t key, const void *wanted)
{
    struct list_query query = {.key = key, .wanted = wanted, .match = list->match};
    uintptr_t end;
    return list_find_from(lf_load(&list->head.next, acquire), &query, &end); /* A1, pairs with R1, R3 */
}

/* The first node at or behind the link that is neither a fence nor deleted. */
static struct list_node *first_live(uintptr_t link)
{
    struct list_node *node;
    while ((node = list_node_of(link))) {
        uintptr_t next = lf_load(&node->next, acquire); /* A1, pairs with R1, R2, R3, R4 */
        if (!(link & LIST_FENCE) && !(next & LIST_MARK))
            break;
        link = next;
    }
    return node;
}

struct list_node *list_first(const struct list *list)
{
    return first_live(lf_load(&list->head.next, acquire)); /* A1, pairs with R1, R3 */
}

struct list_node *list_next(const struct list_node *node)
{
    return first_live(lf_load(&node->next, acquire)); /* A1, pairs with R1, R3, R4 */
}
