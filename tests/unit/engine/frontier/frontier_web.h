/* For tests of the frontier: a clock of the test's own and an imagined web, where every host resolves at once. */
#pragma once

#include "engine/frontier/frontier.h"

#include <pthread.h>
#include <stdlib.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

#define MS CLOCK_NS_PER_MS
#define S  CLOCK_NS_PER_S

static struct tuning tuning;
static struct frontier frontier;
static struct frontier_loop loops[2];
static unsigned address_count; /* hosts are spread over so many addresses, by the number in their name */
static uint64_t now;
static unsigned abandoned;
static _Atomic(unsigned) resolved;
static uint64_t lives_ns; /* how long an answer holds; 0: always */
static unsigned moved_by; /* hosts have moved on by so many addresses */
static bool wanders;      /* with each answer a host is elsewhere, by the real clock */
static unsigned hosts_max = 5000;
static size_t frontier_bytes = 64 << 20;
static const char *slots_path; /* where URLs wait on disk; NULL: they do not */
static unsigned others;        /* addresses that a host has beside, in an order that moves */

static inline void resolve(void *owner, struct host *host)
{
    struct frontier_loop *loop = owner;
    unsigned number = (unsigned)strtoul(host->key + 8, NULL, 10);
    struct ip ips[4];
    unsigned moved = lf_fetch_add(&resolved, 1, relaxed) * wanders + moved_by;
    uint64_t now_ns = wanders ? clock_now_ns() : now;
    for (unsigned i = 0; i <= others; i++) {
        unsigned address = (number + (moved + i) % (others ? others + 1 : UINT32_MAX)) % address_count;
        ips[i] = (struct ip){{[10] = 0xff, [11] = 0xff, [12] = 127}};
        ips[i].bytes[14] = (uint8_t)(address >> 8);
        ips[i].bytes[15] = (uint8_t)address;
    }
    struct frontier_resolved answer = {.addresses = ips,
                                       .count = others + 1,
                                       .until_ns = lives_ns ? now_ns + lives_ns : UINT64_MAX,
                                       .now_ns = now_ns};
    frontier_resolved(loop, host, &answer);
}

/* Takes three at a time: the frontier has to ask again. */
static inline bool abandon(void *owner, struct host *host)
{
    struct frontier_loop *loop = owner;
    for (int i = 0; i < 3; i++) {
        struct host_item *item = host_pop(host, false);
        if (!item)
            return true;
        frontier_done(loop, host, item);
        abandoned++;
    }
    return false;
}

static _Atomic(unsigned) woken; /* a bit for each loop */

static inline void wake(void *owner, unsigned loop)
{
    (void)owner;
    lf_fetch_or(&woken, 1u << loop, relaxed);
}

static inline void begin(unsigned threads, unsigned addresses)
{
    tuning.fixed.crawl.threads = threads;
    tuning.fixed.memory.hosts_max = hosts_max;
    tuning.fixed.memory.frontier_bytes = frontier_bytes;
    address_count = addresses;
    abandoned = moved_by = others = 0;
    lf_store(&resolved, 0, relaxed);
    wanders = false;
    lives_ns = 0;
    CHECK_INT(frontier_init(&frontier, &tuning), 0);
    if (slots_path)
        CHECK_INT(frontier_open_slots(&frontier, &disk_system, slots_path), 0);
    for (unsigned i = 0; i < threads; i++) {
        struct frontier_loop_options options = {
            .index = i, .resolve = resolve, .abandon = abandon, .wake = wake, .owner = &loops[i]};
        CHECK_INT(frontier_loop_init(&loops[i], &frontier, &options), 0);
    }
    now = clock_now_ns();
}

static inline void finish(void)
{
    for (unsigned i = 0; i < tuning.fixed.crawl.threads; i++)
        frontier_loop_fini(&loops[i]);
    frontier_fini(&frontier);
}

/* The host that the URL was pushed to; NULL: there is no room for another host. */
static inline struct host *try_push(struct frontier_loop *loop, unsigned number, const char *path)
{
    char buffer[256], text[256];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    snprintf(text, sizeof text, "http://h%u.test%s", number, path);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    struct frontier_place place = {.url = &url, .hash = frontier_hash(loop, &url)};
    struct host_item *item = host_item_acquire(&loop->urls, url_path_query(&url));
    CHECK(item != NULL);
    if (frontier_push(loop, &place, item))
        return place.host;
    host_item_release(&loop->urls, item);
    return NULL;
}

static inline struct host *push(struct frontier_loop *loop, unsigned number, const char *path)
{
    struct host *host = try_push(loop, number, path);
    CHECK(host);
    return host;
}

static inline void check_item(struct host *host, const char *path)
{
    struct host_item *item = host_pop(host, tuning.fixed.priority.url_weights);
    CHECK(item != NULL);
    CHECK_SLICE(host_item_path(item), path);
    frontier_done(&loops[0], host, item);
}

static inline struct host *take(void)
{
    frontier_turn(&loops[0], now);
    return frontier_take(&loops[0], now);
}

static inline void give_back(struct host *host, uint64_t spent_ns)
{
    frontier_return(&loops[0], host, &(struct politeness_visit){.spent_ns = spent_ns}, now);
}

static inline void ratio_mode(void)
{
    tuning_init(&tuning);
    tuning.live.politeness.host_ratio = 0.1;
    tuning.live.politeness.address_ratio = 1;
    tuning.live.politeness.host_min_idle_ns = 1 * S;
    tuning.live.politeness.address_min_idle_ns = 100 * MS;
}

static inline const struct ip *unit_of(const struct host *host)
{
    return &frontier_address(&frontier, host->address)->unit;
}

/* Two loops, each pushing to all hosts and visiting whatever it is given. Nothing is lost or seen twice, and
 * no host or address is ever visited by two. */
enum { HOSTS = 200, ADDRESSES = 20, PUSHES = 20000 };
static _Atomic(int) at_host[HOSTS], at_address[ADDRESSES];
static _Atomic(unsigned) visits, popped;

static inline void visit(struct frontier_loop *loop, struct host *host)
{
    unsigned number = (unsigned)strtoul(host->key + 8, NULL, 10);
    CHECK_INT(lf_fetch_add(&at_host[number], 1, relaxed), 0);
    unsigned address = unit_of(host)->bytes[15];
    CHECK_INT(lf_fetch_add(&at_address[address], 1, relaxed), 0);
    struct host_item *item;
    for (int burst = 0; burst < 20 && (item = host_pop(host, false)); burst++) {
        frontier_done(loop, host, item);
        lf_fetch_add(&popped, 1, relaxed);
    }
    lf_fetch_add(&visits, 1, relaxed);
    lf_fetch_sub(&at_address[address], 1, relaxed);
    lf_fetch_sub(&at_host[number], 1, relaxed);
    frontier_return(loop, host, &(struct politeness_visit){.spent_ns = 0}, clock_now_ns());
}

static bool is_scarce; /* there are fewer records than hosts: a push may fail, and is tried again */

static inline void *run_loop(void *argument)
{
    struct frontier_loop *loop = argument;
    unsigned pushed = 0;
    uint64_t until = clock_now_ns() + 60 * S;
    while (lf_load(&popped, relaxed) < 2 * PUSHES) {
        for (int i = 0; i < 10 && pushed < PUSHES; i++) {
            struct host *host = try_push(loop, (pushed * 7919 + loop->index) % HOSTS, "/some/path");
            CHECK(host || is_scarce);
            pushed += host != NULL;
        }
        uint64_t moment = clock_now_ns();
        CHECK(moment < until);
        frontier_turn(loop, moment);
        struct host *host = frontier_take(loop, moment);
        if (host)
            visit(loop, host);
    }
    return NULL;
}

/* Between begin and finish. */
static inline void run_both_loops(void)
{
    pthread_t threads[2];
    now = 0;
    lf_store(&popped, 0, relaxed);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, run_loop, &loops[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(popped, 2 * PUSHES);
    CHECK_INT(loops[0].urls.bytes_in_use + loops[1].urls.bytes_in_use, 0);
}
