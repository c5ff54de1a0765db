#include "net/dns_cache.h"

#include "lockfree/clock.h"
#include "tests/support/check.h"

static const struct dns_cache_options ordinary = {.entries_max = 4,
                                                  .ttl_s_min = 60,
                                                  .ttl_s_max = 3600,
                                                  .negative_ttl_ms_max = 300000,
                                                  .failure_ttl_ms = 30000};

static struct dns_answer address(uint8_t last)
{
    return (struct dns_answer){
        .error = DNS_OK, .count = 1, .was_fresh = true, .addresses = {{{[10] = 0xff, 0xff, 10, 0, 0, last}}}};
}

static struct dns_cache_life life(uint64_t now_s, uint32_t ttl_s)
{
    return (struct dns_cache_life){.now_ns = now_s * CLOCK_NS_PER_S, .ttl_s = ttl_s};
}

static void insert(struct dns_cache *cache, const char *name, uint8_t last, struct dns_cache_life when)
{
    struct dns_answer answer = address(last);
    dns_cache_insert(cache, slice_of(name), &answer, when);
}

/* The last byte of the address, -1 if the name is not there. */
static int find_at(struct dns_cache *cache, const char *name, uint64_t now_s)
{
    struct dns_answer answer;
    if (!dns_cache_find(cache, slice_of(name), now_s * CLOCK_NS_PER_S, &answer))
        return -1;
    CHECK(!answer.was_fresh);
    return answer.error == DNS_OK ? answer.addresses[0].bytes[15] : 1000 + (int)answer.error;
}

TEST(finds_what_was_inserted)
{
    struct dns_cache *cache = dns_cache_create(&ordinary);
    CHECK_INT(find_at(cache, "a.test", 0), -1);
    insert(cache, "a.test", 1, life(0, 100));
    insert(cache, "b.test", 2, life(0, 100));
    CHECK_INT(find_at(cache, "a.test", 1), 1);
    CHECK_INT(find_at(cache, "b.test", 1), 2);
    CHECK_INT(find_at(cache, "a.tes", 1), -1);
    insert(cache, "a.test", 3, life(0, 100));
    CHECK_INT(find_at(cache, "a.test", 1), 3);
    struct dns_cache_counts counts;
    dns_cache_counts(cache, &counts);
    CHECK_INT(counts.entries, 2);
    CHECK_INT(counts.hits, 3);
    CHECK_INT(counts.misses, 2);
    CHECK_INT(counts.evictions, 0);
    dns_cache_destroy(cache);
}

TEST(answers_say_how_long_they_hold)
{
    struct dns_cache *cache = dns_cache_create(&ordinary);
    struct dns_answer answer = address(1), found;
    dns_cache_insert(cache, SLICE("short.test"), &answer, life(1000, 1));
    CHECK(answer.until_ns == 1060 * CLOCK_NS_PER_S);
    CHECK(dns_cache_find(cache, SLICE("short.test"), 1050 * CLOCK_NS_PER_S, &found));
    CHECK(found.until_ns == answer.until_ns);
    answer = address(2);
    dns_cache_pin(cache, SLICE("pinned.test"), &answer);
    CHECK(dns_cache_find(cache, SLICE("pinned.test"), 0, &found));
    CHECK(found.until_ns == UINT64_MAX);
    dns_cache_destroy(cache);
}

TEST(times_to_live_are_clamped)
{
    static const struct {
        enum dns_error error;
        uint32_t ttl_s, lives_s;
    } cases[] = {
        {DNS_OK, 0, 60},
        {DNS_OK, 59, 60},
        {DNS_OK, 100, 100},
        {DNS_OK, 3600, 3600},
        {DNS_OK, 1000000, 3600},
        {DNS_OK, UINT32_MAX, 3600},
        {DNS_ERROR_NO_NAME, 0, 30},
        {DNS_ERROR_NO_NAME, 100, 100},
        {DNS_ERROR_NO_DATA, 86400, 300},
        {DNS_ERROR_SERVER_FAILED, 86400, 30},
        {DNS_ERROR_TIMEOUT, 0, 30},
    };
    struct dns_cache *cache = dns_cache_create(&ordinary);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dns_answer answer = address(7);
        if (cases[i].error)
            answer = (struct dns_answer){.error = cases[i].error};
        uint64_t now_s = 10000 * (i + 1);
        dns_cache_insert(cache, SLICE("a.test"), &answer, life(now_s, cases[i].ttl_s));
        int expected = cases[i].error ? 1000 + (int)cases[i].error : 7;
        CHECK_INT(find_at(cache, "a.test", now_s + cases[i].lives_s - 1), expected);
        CHECK_INT(find_at(cache, "a.test", now_s + cases[i].lives_s), -1);
    }
    struct dns_cache_counts counts;
    dns_cache_counts(cache, &counts);
    CHECK_INT(counts.entries, 0);
    CHECK_INT(counts.expiries, sizeof cases / sizeof *cases);
    dns_cache_destroy(cache);
}

TEST(the_least_recently_used_goes)
{
    struct dns_cache *cache = dns_cache_create(&ordinary);
    insert(cache, "a", 1, life(0, 100));
    insert(cache, "b", 2, life(0, 100));
    insert(cache, "c", 3, life(0, 100));
    insert(cache, "d", 4, life(0, 100));
    CHECK_INT(find_at(cache, "a", 1), 1);
    insert(cache, "e", 5, life(1, 100));
    CHECK_INT(find_at(cache, "b", 1), -1);
    CHECK_INT(find_at(cache, "a", 1), 1);
    insert(cache, "f", 6, life(1, 100));
    CHECK_INT(find_at(cache, "c", 1), -1);
    insert(cache, "g", 7, life(1, 100));
    insert(cache, "h", 8, life(1, 100));
    CHECK_INT(find_at(cache, "e", 1), -1);
    CHECK_INT(find_at(cache, "a", 1), 1);
    struct dns_cache_counts counts;
    dns_cache_counts(cache, &counts);
    CHECK_INT(counts.entries, 4);
    CHECK_INT(counts.evictions, 4);
    dns_cache_destroy(cache);
}

TEST(pinned_entries_stay)
{
    struct dns_cache *cache = dns_cache_create(&ordinary);
    struct dns_answer answer = address(9);
    CHECK(dns_cache_pin(cache, SLICE("pinned"), &answer));
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "n%d", i);
        insert(cache, name, 1, life(0, 100));
    }
    CHECK_INT(find_at(cache, "pinned", 1000000), 9);
    insert(cache, "pinned", 1, life(0, 100));
    CHECK_INT(find_at(cache, "pinned", 1000000), 9);
    answer = address(10);
    CHECK(dns_cache_pin(cache, SLICE("pinned"), &answer));
    CHECK_INT(find_at(cache, "pinned", 0), 10);
    CHECK(dns_cache_pin(cache, SLICE("p2"), &answer) && dns_cache_pin(cache, SLICE("p3"), &answer) &&
          dns_cache_pin(cache, SLICE("p4"), &answer));
    CHECK(!dns_cache_pin(cache, SLICE("p5"), &answer));
    insert(cache, "no room", 1, life(0, 100));
    CHECK_INT(find_at(cache, "no room", 0), -1);
    dns_cache_destroy(cache);
}

TEST(long_names_and_many_addresses)
{
    struct dns_cache *cache = dns_cache_create(&ordinary);
    char name[DNS_NAME_BYTES_MAX + 1];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct dns_answer answer = {.error = DNS_OK, .count = DNS_ADDRESSES_MAX}, found;
    for (int i = 0; i < DNS_ADDRESSES_MAX; i++)
        answer.addresses[i] = (struct ip){{(uint8_t)i}};
    dns_cache_insert(cache, slice_of(name), &answer, life(0, 100));
    CHECK(dns_cache_find(cache, slice_of(name), 0, &found));
    CHECK_INT(found.count, DNS_ADDRESSES_MAX);
    CHECK(memcmp(found.addresses, answer.addresses, sizeof answer.addresses) == 0);
    dns_cache_destroy(cache);
}

/* Against a plain model: a table that is looked through from end to end. */
TEST(random_use_agrees_with_a_model)
{
    enum { NAMES = 24, ROOM = 8, STEPS = 200000 };
    struct dns_cache_options options = ordinary;
    options.entries_max = ROOM;
    struct dns_cache *cache = dns_cache_create(&options);
    struct {
        uint64_t used, expires_s;
        int value;
        bool is_there;
    } model[NAMES] = {0};
    uint64_t state = 42, now_s = 0;
    for (uint64_t step = 1; step <= STEPS; step++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        unsigned n = (unsigned)(state >> 33) % NAMES, what = (unsigned)(state >> 50) % 8;
        char name[8];
        snprintf(name, sizeof name, "n%u", n);
        now_s += what == 7 ? 5 : 0;
        if (what < 3) {
            uint32_t ttl_s = 60 + (uint32_t)(state >> 40) % 200;
            size_t there = 0, oldest = NAMES;
            for (size_t i = 0; i < NAMES; i++)
                if (model[i].is_there && ++there && (oldest == NAMES || model[i].used < model[oldest].used))
                    oldest = i;
            if (!model[n].is_there && there == ROOM)
                model[oldest].is_there = false;
            model[n].is_there = true;
            model[n].used = step;
            model[n].expires_s = now_s + ttl_s;
            model[n].value = (int)(step % 250);
            insert(cache, name, (uint8_t)(step % 250), life(now_s, ttl_s));
        } else {
            if (model[n].is_there && model[n].expires_s <= now_s)
                model[n].is_there = false;
            CHECK_INT(find_at(cache, name, now_s), model[n].is_there ? model[n].value : -1);
            model[n].used = step;
        }
    }
    dns_cache_destroy(cache);
}
