#include "lockfree/list.h"

#include "tests/support/check.h"

#include <stdlib.h>

static struct list list;
static struct backoff backoff;

static void set_up(list_match *match)
{
    list_init(&list, match);
    backoff_init(&backoff, 1);
}

static struct list_node *insert(struct list_node *node, uint64_t key)
{
    node->key = key;
    return list_insert(&list, node, NULL, &backoff);
}

static struct list_node *removed(uint64_t key)
{
    return list_remove(&list, key, NULL, &backoff);
}

static struct list_node *find(uint64_t key)
{
    return list_find(&list, key, NULL);
}

static void check_keys(const uint64_t *keys, size_t count)
{
    struct list_node *node = list_first(&list);
    for (size_t i = 0; i < count; i++, node = list_next(node)) {
        CHECK(node);
        CHECK_INT(node->key, keys[i]);
    }
    CHECK(!node);
}

TEST(empty)
{
    set_up(NULL);
    CHECK(!list_first(&list));
    CHECK(!find(0) && !find(1) && !find(UINT64_MAX));
    CHECK(!removed(0) && !removed(UINT64_MAX));
}

TEST(keeps_keys_in_order)
{
    struct list_node nodes[5];
    const uint64_t keys[5] = {7, 0, UINT64_MAX, 3, UINT64_MAX - 1};
    set_up(NULL);
    for (int i = 0; i < 5; i++)
        CHECK(!insert(&nodes[i], keys[i]));
    check_keys((const uint64_t[]){0, 3, 7, UINT64_MAX - 1, UINT64_MAX}, 5);
    for (int i = 0; i < 5; i++)
        CHECK(find(keys[i]) == &nodes[i]);
    CHECK(!find(1) && !find(8) && !find(UINT64_MAX - 2));
}

TEST(a_second_insert_finds_the_first)
{
    struct list_node first, second;
    set_up(NULL);
    CHECK(!insert(&first, 5));
    CHECK(insert(&second, 5) == &first);
    check_keys((const uint64_t[]){5}, 1);
}

TEST(remove_first_middle_last)
{
    struct list_node nodes[4];
    set_up(NULL);
    for (uint64_t i = 0; i < 4; i++)
        CHECK(!insert(&nodes[i], i * 10));
    CHECK(removed(10) == &nodes[1]);
    check_keys((const uint64_t[]){0, 20, 30}, 3);
    CHECK(removed(0) == &nodes[0]);
    check_keys((const uint64_t[]){20, 30}, 2);
    CHECK(removed(30) == &nodes[3]);
    check_keys((const uint64_t[]){20}, 1);
    CHECK(!removed(30));
    CHECK(removed(20) == &nodes[2]);
    CHECK(!list_first(&list));
}

/* What a removed node's link says to one who still stands on it. */
TEST(a_removed_node_still_leads_on)
{
    struct list_node nodes[3];
    set_up(NULL);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(!insert(&nodes[i], i));
    CHECK(removed(1) == &nodes[1]);
    CHECK(list_next(&nodes[1]) == &nodes[2]);
    CHECK(lf_load(&nodes[1].next, relaxed) & LIST_MARK);
    CHECK(removed(2) == &nodes[2]);
    CHECK(!list_next(&nodes[1]));
}

/* As if the remover had been stopped between the mark and the unlinking. */
TEST(a_marked_node_is_absent_and_gets_unlinked)
{
    struct list_node nodes[3], again;
    set_up(NULL);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(!insert(&nodes[i], i));
    lf_fetch_or(&nodes[1].next, LIST_MARK, relaxed);
    CHECK(!find(1));
    check_keys((const uint64_t[]){0, 2}, 2);
    CHECK(list_node_of(lf_load(&nodes[0].next, relaxed)) == &nodes[1]); /* find has not written */
    CHECK(!removed(1));
    CHECK(list_node_of(lf_load(&nodes[0].next, relaxed)) == &nodes[2]);
    CHECK(!insert(&again, 1));
    CHECK(find(1) == &again);
}

TEST(a_mark_at_either_end)
{
    struct list_node nodes[3], extra;
    set_up(NULL);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(!insert(&nodes[i], i));
    lf_fetch_or(&nodes[0].next, LIST_MARK, relaxed);
    lf_fetch_or(&nodes[2].next, LIST_MARK, relaxed);
    check_keys((const uint64_t[]){1}, 1);
    CHECK(!insert(&extra, 3));
    check_keys((const uint64_t[]){1, 3}, 2);
    CHECK(list_node_of(lf_load(&list.head.next, relaxed)) == &nodes[1]);
    CHECK(list_node_of(lf_load(&nodes[1].next, relaxed)) == &extra);
}

struct word {
    struct list_node node;
    const char *text;
};

static bool is_word(const struct list_node *node, const void *wanted)
{
    return strcmp(((const struct word *)node)->text, wanted) == 0;
}

static struct list_node *insert_word(struct word *word, uint64_t key, const char *text)
{
    word->node.key = key;
    word->text = text;
    return list_insert(&list, &word->node, text, &backoff);
}

TEST(one_key_for_several)
{
    struct word a, b, c, other, twin;
    set_up(is_word);
    CHECK(!insert_word(&a, 5, "a"));
    CHECK(!insert_word(&b, 5, "b"));
    CHECK(!insert_word(&other, 6, "a"));
    CHECK(!insert_word(&c, 5, "c"));
    CHECK(insert_word(&twin, 5, "b") == &b.node);
    check_keys((const uint64_t[]){5, 5, 5, 6}, 4);
    CHECK(list_find(&list, 5, "c") == &c.node);
    CHECK(list_find(&list, 6, "a") == &other.node);
    CHECK(!list_find(&list, 6, "b") && !list_find(&list, 5, "d"));
    CHECK(list_remove(&list, 5, "b", &backoff) == &b.node);
    CHECK(!list_remove(&list, 5, "b", &backoff));
    CHECK(!list_find(&list, 5, "b"));
    CHECK(list_find(&list, 5, "c") == &c.node);
}

TEST(fences_are_seen_by_no_walk)
{
    struct list_node nodes[4], fences[2] = {0};
    set_up(NULL);
    for (uint64_t i = 0; i < 4; i++)
        CHECK(!insert(&nodes[i], i * 10));
    list_fence_insert(&list.head, &fences[0], 20, &backoff);
    list_fence_insert(&fences[0], &fences[1], 100, &backoff);
    check_keys((const uint64_t[]){0, 10, 20, 30}, 4);
    CHECK(find(20) == &nodes[2] && find(30) == &nodes[3]);
    CHECK(list_fence_is_ready(lf_load(&fences[0].next, relaxed)));
    CHECK(list_node_of(lf_load(&nodes[1].next, relaxed)) == &fences[0]); /* before its own key */
    CHECK(lf_load(&nodes[1].next, relaxed) & LIST_FENCE);
    CHECK(list_node_of(lf_load(&fences[0].next, relaxed)) == &nodes[2]);
    CHECK(removed(20) == &nodes[2]);
    CHECK(list_node_of(lf_load(&fences[0].next, relaxed)) == &nodes[3]);
}

TEST(a_fence_is_put_in_place_once)
{
    struct list_node node, fence = {0};
    set_up(NULL);
    CHECK(!insert(&node, 5));
    list_fence_insert(&list.head, &fence, 5, &backoff);
    list_fence_insert(&list.head, &fence, 5, &backoff);
    CHECK(list_node_of(lf_load(&list.head.next, relaxed)) == &fence);
    CHECK(list_node_of(lf_load(&fence.next, relaxed)) == &node);
}

TEST(a_search_finishes_the_fence_of_a_stopped_thread)
{
    struct list_node node, fence = {0};
    set_up(NULL);
    CHECK(!insert(&node, 5));
    list_fence_insert(&list.head, &fence, 5, &backoff);
    lf_fetch_or(&fence.next, LIST_PENDING, relaxed);
    CHECK(!list_fence_is_ready(lf_load(&fence.next, relaxed)));
    CHECK(find(5) == &node);
    CHECK(removed(5) == &node);
    CHECK(list_fence_is_ready(lf_load(&fence.next, relaxed)));
}

TEST(flags_of_a_fence_do_not_spread)
{
    struct list_node node, fence = {0};
    set_up(NULL);
    list_fence_insert(&list.head, &fence, 5, &backoff);
    lf_fetch_or(&fence.next, LIST_PENDING, relaxed);
    CHECK(!insert(&node, 7));
    CHECK(lf_load(&node.next, relaxed) == LIST_END);
    CHECK(lf_load(&fence.next, relaxed) == (uintptr_t)&node);
}

/* A fence came between a search and the removal: the remover has to look behind it. */
TEST(a_removed_node_is_unlinked_behind_a_new_fence)
{
    struct list_node nodes[3], fence = {0};
    set_up(NULL);
    for (uint64_t i = 0; i < 3; i++)
        CHECK(!insert(&nodes[i], i * 10));
    struct list_query query = {.key = 10, .within = true};
    struct list_place place = list_search(&list.head, &query, &backoff);
    CHECK(place.found);
    list_fence_insert(&list.head, &fence, 5, &backoff);
    CHECK(list_try_remove(&list.head, &place, 10, &backoff));
    CHECK(list_node_of(lf_load(&fence.next, relaxed)) == &nodes[2]);
}

TEST(a_search_within_ends_at_a_fence)
{
    struct list_node nodes[2], fence = {0};
    set_up(NULL);
    CHECK(!insert(&nodes[0], 5));
    CHECK(!insert(&nodes[1], 15));
    list_fence_insert(&list.head, &fence, 10, &backoff);
    struct list_query query = {.key = 15, .within = true};
    struct list_place place = list_search(&list.head, &query, &backoff);
    CHECK(!place.found && place.prev == &nodes[0] && (place.link & LIST_FENCE));
    query.within = false;
    place = list_search(&list.head, &query, &backoff);
    CHECK(place.found && list_node_of(place.link) == &nodes[1]);
}

/* A lost race: the place is stale. */
TEST(stale_places_are_refused)
{
    struct list_node first, second, third;
    set_up(NULL);
    CHECK(!insert(&first, 1));
    struct list_query query = {.key = 2};
    struct list_place place = list_search(&list.head, &query, &backoff);
    CHECK(!place.found);
    CHECK(!insert(&second, 2));
    third.key = 2;
    CHECK(!list_try_insert(&place, &third, &backoff));
    CHECK_INT(backoff_losses(&backoff), 1);
    place = list_search(&list.head, &query, &backoff);
    CHECK(place.found);
    CHECK(removed(2) == &second);
    CHECK(!list_try_remove(&list.head, &place, 2, &backoff));
    CHECK_INT(backoff_losses(&backoff), 2);
    /* prev deleted: nothing may be hung behind it */
    place = list_search(&list.head, &query, &backoff);
    CHECK(place.prev == &first);
    CHECK(removed(1) == &first);
    CHECK(!list_try_insert(&place, &third, &backoff));
    CHECK(!list_first(&list));
}

TEST(against_an_array)
{
    enum { KEYS = 50 };
    static struct list_node nodes[100000];
    struct list_node *present[KEYS] = {0};
    set_up(NULL);
    srandom(1);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        uint64_t key = (uint64_t)random() % KEYS;
        switch (random() % 3) {
        case 0:
            CHECK(insert(&nodes[i], key) == present[key]);
            if (!present[key])
                present[key] = &nodes[i];
            break;
        case 1:
            CHECK(removed(key) == present[key]);
            present[key] = NULL;
            break;
        default:
            CHECK(find(key) == present[key]);
        }
    }
    struct list_node *node = list_first(&list);
    for (int key = 0; key < KEYS; key++) {
        if (present[key]) {
            CHECK(node == present[key]);
            node = list_next(node);
        }
    }
    CHECK(!node);
}
