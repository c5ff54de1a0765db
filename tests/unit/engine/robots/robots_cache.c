#include "engine/robots/robots_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/check.h"

static struct robots_cache cache;
static struct robots_cache_loop loop;

static void begin(size_t bytes)
{
    CHECK(robots_cache_init(&cache, bytes));
    robots_cache_loop_init(&loop, &cache);
}

/* Compiles and adds a file; the caller frees what it left in `rules`, if that is asked for. */
static robots_handle add_text(struct robots_cache_loop *to, const char *text)
{
    struct robots *rules = malloc(robots_size(strlen(text)));
    robots_handle handle = robots_cache_add(to, robots_compile(rules, slice_of(text), SLICE("lycosa")));
    free(rules);
    return handle;
}

static robots_handle add(const char *text)
{
    return add_text(&loop, text);
}

/* A file of its own kind, of about `bytes` bytes compiled. */
static robots_handle add_large(unsigned number, size_t bytes)
{
    char *text = malloc(2 * bytes);
    size_t len = (size_t)snprintf(text, 2 * bytes, "user-agent: *\n");
    for (size_t made = 0; made < bytes; made += 112)
        len += (size_t)snprintf(text + len, 2 * bytes - len, "disallow: /%u/%0100zu\n", number, made);
    robots_handle handle = add(text);
    free(text);
    return handle;
}

static bool allows(robots_handle handle, const char *path)
{
    const struct robots *rules = robots_cache_acquire(&cache, handle);
    CHECK(rules != NULL);
    bool answer = robots_allows(rules, slice_of(path), NULL);
    robots_cache_release(&cache, handle);
    return answer;
}

static bool is_there(robots_handle handle)
{
    bool there = robots_cache_acquire(&cache, handle);
    if (there)
        robots_cache_release(&cache, handle);
    return there;
}

TEST(rules_are_found_by_their_handle)
{
    begin(ROBOTS_CACHE_BYTES_MIN);
    robots_handle a = add("user-agent: *\ndisallow: /a\ncrawl-delay: 2"),
                  b = add("user-agent: *\ndisallow: /b");
    CHECK(a != b);
    CHECK(!allows(a, "/a") && allows(a, "/b") && !allows(b, "/b") && allows(b, "/a"));
    CHECK(robots_cache_acquire(&cache, ROBOTS_NONE) == NULL);
    CHECK_INT(robots_cache_acquire(&cache, a)->crawl_delay_ms, 2000);
    robots_cache_release(&cache, a);
    robots_cache_fini(&cache);
}

TEST(no_rules_take_no_memory)
{
    begin(ROBOTS_CACHE_BYTES_MIN);
    CHECK_INT(add(""), ROBOTS_ALL_ALLOWED);
    CHECK_INT(add("sitemap: http://a.it/x"), ROBOTS_ALL_ALLOWED);
    CHECK_INT(add("user-agent: other\ndisallow: /"), ROBOTS_ALL_ALLOWED);
    CHECK(allows(ROBOTS_ALL_ALLOWED, "/x") && !allows(ROBOTS_ALL_DENIED, "/x"));
    CHECK_INT(lf_load(&cache.bytes_used, relaxed), 0);
    robots_cache_fini(&cache);
}

TEST(equal_rules_are_kept_once_whatever_their_sitemaps)
{
    begin(ROBOTS_CACHE_BYTES_MIN);
    robots_handle a = add("user-agent: *\ndisallow: /a\nsitemap: http://a.it/s");
    size_t bytes = lf_load(&cache.bytes_used, relaxed);
    CHECK_INT(add("user-agent: *\ndisallow: /a\nsitemap: http://b.it/s"), a);
    CHECK_INT(lf_load(&cache.bytes_used, relaxed), bytes);
    uint32_t cursor = 0;
    struct slice text;
    CHECK(!robots_sitemap(robots_cache_acquire(&cache, a), &cursor, &text));
    robots_cache_release(&cache, a);
    robots_cache_fini(&cache);
}

TEST(old_rules_make_room_and_those_in_use_stay)
{
    enum { COUNT = 64, LARGE = 200 << 10 };
    robots_handle handles[COUNT];
    begin(ROBOTS_CACHE_BYTES_MIN);
    handles[0] = add_large(0, LARGE);
    const struct robots *held = robots_cache_acquire(&cache, handles[0]);
    for (unsigned i = 1; i < COUNT; i++) {
        handles[i] = add_large(i, LARGE);
        CHECK(handles[i] != ROBOTS_NONE);
        CHECK(is_there(handles[i]));
        CHECK(lf_load(&cache.bytes_used, relaxed) <= ROBOTS_CACHE_BYTES_MIN);
    }
    CHECK(robots_cache_acquire(&cache, handles[0]) == held);
    CHECK(!is_there(handles[1]));
    CHECK(lf_load(&cache.evicted, relaxed) >= 40);
    robots_cache_fini(&cache);
}

TEST(without_room_the_answer_is_none_and_nothing_is_lost)
{
    enum { LARGE = 450 << 10, HELD_MAX = 16 };
    robots_handle held[HELD_MAX];
    unsigned count = 0;
    begin(ROBOTS_CACHE_BYTES_MIN);
    while (count < HELD_MAX && (held[count] = add_large(count, LARGE)) != ROBOTS_NONE)
        CHECK(robots_cache_acquire(&cache, held[count++]) != NULL);
    CHECK(count >= 3 && count < HELD_MAX);
    for (unsigned i = 0; i < count; i++)
        robots_cache_release(&cache, held[i]);
    CHECK(add_large(HELD_MAX, LARGE) != ROBOTS_NONE);
    robots_cache_fini(&cache);
}

TEST(a_stale_handle_opens_nothing_else)
{
    begin(ROBOTS_CACHE_BYTES_MIN);
    robots_handle first = add_large(0, 1000);
    for (unsigned i = 1; i < 3 * cache.slots_max; i++)
        CHECK(add_large(i, 1500) != ROBOTS_NONE);
    CHECK(!is_there(first));
    robots_cache_fini(&cache);
}

TEST(one_large_set_takes_the_room_of_many_small_ones)
{
    begin(ROBOTS_CACHE_BYTES_MIN);
    for (unsigned i = 0; i < cache.slots_max; i++)
        CHECK(add_large(i, 1500) != ROBOTS_NONE);
    uint64_t evicted = lf_load(&cache.evicted, relaxed);
    robots_handle large = add_large(cache.slots_max, 450 << 10);
    CHECK(large != ROBOTS_NONE && is_there(large));
    CHECK(lf_load(&cache.bytes_used, relaxed) <= ROBOTS_CACHE_BYTES_MIN);
    CHECK(lf_load(&cache.evicted, relaxed) > evicted + 100);
    robots_cache_fini(&cache);
}
