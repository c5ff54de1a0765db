#include "lockfree/map.h"

#include "tests/support/check.h"

#include <stdlib.h>

static struct map map;
static struct map_thread writer;
static struct list_node *buckets;

static void set_up(size_t initial, size_t max, list_match *match)
{
    free(buckets);
    buckets = aligned_alloc(LF_CACHE_LINE, max * sizeof *buckets < 64 ? 64 : max * sizeof *buckets);
    memset(buckets, 0, max * sizeof *buckets);
    struct map_options options = {
        .buckets = buckets, .buckets_max = max, .buckets_initial = initial, .match = match};
    map_init(&map, &options);
    map_thread_init(&writer, &map, 1);
}

/* A bijection, so that different keys have different hashes. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* Checks that the nodes come in the order of their hash, and counts them. */
static size_t walk_count(void)
{
    size_t count = 0;
    uint64_t last = 0;
    for (struct map_node *node = map_first(&map); node; node = map_next(node)) {
        CHECK(node->link.key >= last);
        last = node->link.key;
        count++;
    }
    return count;
}

TEST(empty)
{
    set_up(2, 16, NULL);
    CHECK(!map_first(&map));
    CHECK(!map_find(&map, 0, NULL) && !map_find(&map, UINT64_MAX, NULL));
    CHECK(!map_remove(&writer, 0, NULL) && !map_remove(&writer, UINT64_MAX, NULL));
    CHECK_INT(map_count(&map), 0);
    CHECK_INT(map_bucket_count(&map), 2);
}

TEST(hashes_at_the_edges_of_buckets)
{
    for (size_t initial = 2; initial <= 16; initial *= 2) {
        struct map_node nodes[3 * 16];
        size_t count = 0;
        uint64_t width = UINT64_MAX / initial + 1;
        set_up(initial, 16, NULL);
        for (uint64_t i = 0; i < initial; i++) {
            CHECK(!map_insert(&writer, &nodes[count++], i * width + width - 1, NULL));
            CHECK(!map_insert(&writer, &nodes[count++], i * width, NULL));
            CHECK(!map_insert(&writer, &nodes[count++], i * width + 1, NULL));
        }
        CHECK_INT(walk_count(), count);
        for (uint64_t i = 0; i < initial; i++) {
            CHECK(map_find(&map, i * width, NULL) == &nodes[3 * i + 1]);
            CHECK(map_find(&map, i * width + width - 1, NULL) == &nodes[3 * i]);
            CHECK(!map_find(&map, i * width + 2, NULL));
            CHECK(!map_find(&map, i * width + width - 2, NULL));
        }
    }
}

TEST(a_second_insert_finds_the_first)
{
    struct map_node first, second;
    set_up(4, 4, NULL);
    CHECK(!map_insert(&writer, &first, 42, NULL));
    CHECK(map_insert(&writer, &second, 42, NULL) == &first);
    CHECK(map_remove(&writer, 42, NULL) == &first);
    CHECK(!map_insert(&writer, &second, 42, NULL));
    CHECK(map_find(&map, 42, NULL) == &second);
}

TEST(grows_and_keeps_everything)
{
    enum { KEYS = 5000, MAX = 4096 };
    static struct map_node nodes[KEYS];
    set_up(2, MAX, NULL);
    for (uint64_t key = 0; key < KEYS; key++) {
        size_t before = map_bucket_count(&map);
        CHECK(!map_insert(&writer, &nodes[key], mix(key), NULL));
        CHECK(map_bucket_count(&map) <= before * 2);
        if (map_bucket_count(&map) != before)
            for (uint64_t old = 0; old <= key; old++)
                CHECK(map_find(&map, mix(old), NULL) == &nodes[old]);
    }
    CHECK_INT(map_bucket_count(&map), MAX);
    CHECK_INT(walk_count(), KEYS);
    for (uint64_t key = 0; key < KEYS; key++) {
        CHECK(map_find(&map, mix(key), NULL) == &nodes[key]);
        CHECK(!map_find(&map, mix(key + KEYS), NULL));
    }
    map_thread_fini(&writer);
    CHECK_INT(map_count(&map), KEYS);
    for (uint64_t key = 0; key < KEYS; key++)
        CHECK(map_remove(&writer, mix(key), NULL) == &nodes[key]);
    CHECK(!map_first(&map));
    map_thread_fini(&writer);
    CHECK_INT(map_count(&map), 0);
}

TEST(doubles_when_full_and_not_before)
{
    enum { FIRST = 64 };
    static struct map_node nodes[4 * FIRST];
    set_up(FIRST, 4 * FIRST, NULL);
    uint64_t key = 0;
    for (; key < FIRST * MAP_LOAD_MAX; key++)
        CHECK(!map_insert(&writer, &nodes[key], mix(key), NULL));
    CHECK_INT(map_bucket_count(&map), FIRST);
    for (; key < FIRST * MAP_LOAD_MAX + MAP_UNCOUNTED_MAX; key++)
        CHECK(!map_insert(&writer, &nodes[key], mix(key), NULL));
    CHECK_INT(map_bucket_count(&map), 2 * FIRST);
}

/* Growing by itself touches nothing: a map may be given far more buckets than it will need. */
TEST(buckets_not_grown_to_stay_untouched)
{
    enum { MAX = 1024, KEYS = 100 };
    static struct map_node nodes[KEYS];
    set_up(2, MAX, NULL);
    for (uint64_t key = 0; key < KEYS; key++)
        CHECK(!map_insert(&writer, &nodes[key], mix(key), NULL));
    size_t used = map_bucket_count(&map);
    CHECK(used < 256);
    for (size_t i = used; i < MAX; i++)
        CHECK(lf_load(&buckets[i].next, relaxed) == 0 && buckets[i].key == 0);
}

/* As if the thread that claimed a bucket's fence had been stopped. */
TEST(a_pending_bucket_is_no_obstacle)
{
    enum { KEYS = 300 };
    static struct map_node nodes[KEYS];
    set_up(2, 256, NULL);
    for (size_t i = 2; i < 256; i += 3)
        lf_store(&buckets[i].next, LIST_PENDING, relaxed);
    for (uint64_t key = 0; key < KEYS; key++)
        CHECK(!map_insert(&writer, &nodes[key], mix(key), NULL));
    CHECK_INT(map_bucket_count(&map), 256);
    CHECK_INT(walk_count(), KEYS);
    for (uint64_t key = 0; key < KEYS; key++)
        CHECK(map_find(&map, mix(key), NULL) == &nodes[key]);
    for (uint64_t key = 0; key < KEYS; key += 2)
        CHECK(map_remove(&writer, mix(key), NULL) == &nodes[key]);
    for (uint64_t key = 0; key < KEYS; key++)
        CHECK(!map_find(&map, mix(key), NULL) == (key % 2 == 0));
    for (size_t i = 2; i < 256; i += 3)
        CHECK(lf_load(&buckets[i].next, relaxed) == LIST_PENDING);
}

struct host {
    struct map_node node;
    char name[16];
};

static unsigned match_calls;

static bool is_host(const struct list_node *node, const void *wanted)
{
    match_calls++;
    return strcmp(((const struct host *)node)->name, wanted) == 0;
}

TEST(equal_hashes_are_told_apart)
{
    enum { HOSTS = 20 };
    static struct host hosts[HOSTS], twin;
    set_up(2, 64, is_host);
    for (int i = 0; i < HOSTS; i++) {
        snprintf(hosts[i].name, sizeof hosts[i].name, "host%d", i);
        CHECK(!map_insert(&writer, &hosts[i].node, (uint64_t)(i % 2) << 63, hosts[i].name));
    }
    for (int i = 0; i < HOSTS; i++) {
        CHECK(map_find(&map, (uint64_t)(i % 2) << 63, hosts[i].name) == &hosts[i].node);
        CHECK(!map_find(&map, (uint64_t)(i % 2 ^ 1) << 63, hosts[i].name));
        CHECK(map_insert(&writer, &twin.node, (uint64_t)(i % 2) << 63, hosts[i].name) == &hosts[i].node);
    }
    CHECK(map_remove(&writer, 0, "host8") == &hosts[8].node);
    CHECK(!map_find(&map, 0, "host8") && map_find(&map, 0, "host10"));
}

TEST(match_is_asked_for_equal_hashes_alone)
{
    enum { HOSTS = 500 };
    static struct host hosts[HOSTS];
    set_up(2, 64, is_host);
    match_calls = 0;
    for (uint64_t i = 0; i < HOSTS; i++)
        CHECK(!map_insert(&writer, &hosts[i].node, mix(i), hosts[i].name));
    CHECK_INT(match_calls, 0);
    for (uint64_t i = 0; i < HOSTS; i++)
        CHECK(map_find(&map, mix(i), ""));
    CHECK_INT(match_calls, HOSTS);
}

TEST(count_is_behind_by_less_than_a_batch)
{
    static struct map_node nodes[200];
    set_up(256, 256, NULL);
    for (size_t i = 0; i < 200; i++) {
        CHECK(!map_insert(&writer, &nodes[i], mix(i), NULL));
        CHECK(map_count(&map) <= i + 1 && map_count(&map) + MAP_UNCOUNTED_MAX > i + 1);
    }
}

TEST(prefetch_has_no_effect_on_contents)
{
    struct map_node node;
    set_up(2, 2, NULL);
    CHECK(!map_insert(&writer, &node, 9, NULL));
    map_prefetch(&map, 9);
    map_prefetch(&map, UINT64_MAX);
    CHECK_INT(walk_count(), 1);
}

TEST(against_an_array)
{
    enum { KEYS = 700 };
    static struct map_node nodes[100000];
    static struct map_node *present[KEYS];
    set_up(2, 512, NULL);
    memset(present, 0, sizeof present);
    srandom(2);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        uint64_t key = (uint64_t)random() % KEYS, hash = mix(key);
        switch (random() % 3) {
        case 0:
            CHECK(map_insert(&writer, &nodes[i], hash, NULL) == present[key]);
            if (!present[key])
                present[key] = &nodes[i];
            break;
        case 1:
            CHECK(map_remove(&writer, hash, NULL) == present[key]);
            present[key] = NULL;
            break;
        default:
            CHECK(map_find(&map, hash, NULL) == present[key]);
        }
    }
    size_t count = 0;
    for (int key = 0; key < KEYS; key++)
        count += present[key] != NULL;
    CHECK_INT(walk_count(), count);
    CHECK_INT(map_bucket_count(&map), 512);
}
