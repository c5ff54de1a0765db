/* The frontier with a clock of the test's own and an imagined web: every host resolves at once. */
#include "engine/frontier.h"

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
static unsigned others;   /* addresses that a host has beside, in an order that moves */

static void resolve(void *owner, struct host *host)
{
    struct frontier_loop *loop = owner;
    unsigned number = (unsigned)strtoul(host->key + 8, NULL, 10);
    struct address_key keys[4];
    unsigned moved = lf_fetch_add(&resolved, 1, relaxed) * wanders + moved_by;
    uint64_t now_ns = wanders ? clock_now_ns() : now;
    for (unsigned i = 0; i <= others; i++) {
        unsigned address = (number + (moved + i) % (others ? others + 1 : UINT32_MAX)) % address_count;
        keys[i] = (struct address_key){{[10] = 0xff, [11] = 0xff, [12] = 127}};
        keys[i].bytes[14] = (uint8_t)(address >> 8);
        keys[i].bytes[15] = (uint8_t)address;
    }
    struct frontier_resolved answer = {.keys = keys,
                                       .count = others + 1,
                                       .until_ns = lives_ns ? now_ns + lives_ns : UINT64_MAX,
                                       .now_ns = now_ns};
    frontier_resolved(loop, host, &answer);
}

/* Takes three at a time: the frontier has to ask again. */
static bool abandon(void *owner, struct host *host)
{
    struct frontier_loop *loop = owner;
    for (int i = 0; i < 3; i++) {
        struct host_item *item = host_pop(host, false);
        if (!item)
            return true;
        host_item_release(&loop->urls, item);
        abandoned++;
    }
    return false;
}

static void wake(void *owner, unsigned loop)
{
    (void)owner;
    (void)loop;
}

static void begin(unsigned threads, unsigned addresses)
{
    tuning.threads = threads;
    tuning.hosts_max = 5000;
    tuning.frontier_bytes = 64 << 20;
    address_count = addresses;
    abandoned = moved_by = others = 0;
    lf_store(&resolved, 0, relaxed);
    wanders = false;
    lives_ns = 0;
    CHECK_INT(frontier_init(&frontier, &tuning), 0);
    for (unsigned i = 0; i < threads; i++) {
        struct frontier_loop_options options = {
            .index = i, .resolve = resolve, .abandon = abandon, .wake = wake, .owner = &loops[i]};
        CHECK_INT(frontier_loop_init(&loops[i], &frontier, &options), 0);
    }
    now = clock_now_ns();
}

static void finish(void)
{
    for (unsigned i = 0; i < tuning.threads; i++)
        frontier_loop_fini(&loops[i]);
    frontier_fini(&frontier);
}

static struct host *push(struct frontier_loop *loop, unsigned number, const char *path)
{
    char buffer[256], text[256];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    snprintf(text, sizeof text, "http://h%u.test%s", number, path);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    struct host *host = frontier_host(loop, &url, frontier_hash(&url));
    CHECK(host != NULL);
    struct host_item *item = host_item_acquire(&loop->urls, url_path_query(&url));
    CHECK(item != NULL);
    frontier_push(loop, host, item);
    return host;
}

static void check_item(struct host *host, const char *path)
{
    struct host_item *item = host_pop(host, tuning.url_weights);
    CHECK(item != NULL);
    CHECK_SLICE(host_item_path(item), path);
    host_item_release(&loops[0].urls, item);
}

static struct host *take(void)
{
    frontier_turn(&loops[0], now);
    return frontier_take(&loops[0], now);
}

static void give_back(struct host *host, uint64_t spent_ns)
{
    frontier_return(&loops[0], host, &(struct politeness_visit){.spent_ns = spent_ns}, now);
}

static void ratio_mode(void)
{
    tuning_init(&tuning);
    tuning.host_ratio = 0.1;
    tuning.address_ratio = 1;
    tuning.host_min_idle_ns = 1 * S;
    tuning.address_min_idle_ns = 100 * MS;
}

TEST(a_host_gives_its_urls_in_order_and_rests)
{
    ratio_mode();
    begin(1, 1);
    CHECK(take() == NULL);
    struct host *host = push(&loops[0], 1, "/a");
    CHECK(push(&loops[0], 1, "/b") == host);
    CHECK(take() == host);
    CHECK(take() == NULL);
    check_item(host, "/a");
    push(&loops[0], 1, "/c");
    now += 200 * MS;
    give_back(host, 200 * MS);
    now += 2 * S - 1;
    CHECK(take() == NULL);
    now += 2 * MS;
    CHECK(take() == host);
    check_item(host, "/b");
    check_item(host, "/c");
    CHECK(host_pop(host, false) == NULL);
    give_back(host, 0);
    CHECK_INT(host->state, HOST_IDLE);
    push(&loops[0], 1, "/d");
    CHECK(take() == NULL); /* an idle host rests as long as a busy one */
    now += 1 * S + 2 * MS;
    CHECK(take() == host);
    finish();
}

TEST(hosts_of_one_address_share_its_token)
{
    ratio_mode();
    begin(1, 1);
    push(&loops[0], 1, "/");
    push(&loops[0], 2, "/");
    struct host *first = take();
    CHECK(first != NULL);
    CHECK(take() == NULL);
    now += 50 * MS;
    check_item(first, "/");
    give_back(first, 50 * MS);
    CHECK(take() == NULL);
    now += 99 * MS;
    CHECK(take() == NULL);
    now += 3 * MS;
    struct host *second = take();
    CHECK(second && second != first);
    finish();
}

TEST(an_address_with_two_tokens_takes_two_visits)
{
    ratio_mode();
    tuning.connections_per_address = 2;
    begin(1, 1);
    for (unsigned i = 0; i < 3; i++)
        push(&loops[0], i, "/");
    struct host *a = take(), *b = take();
    CHECK(a && b && a != b);
    CHECK(take() == NULL);
    check_item(a, "/");
    give_back(a, 0);
    CHECK(take() == NULL);
    now += 101 * MS + 2 * MS;
    CHECK(take() != NULL);
    finish();
}

TEST(weights_prefer_but_do_not_starve)
{
    ratio_mode();
    tuning.host_min_idle_ns = 10 * MS;
    tuning.address_min_idle_ns = 0;
    snprintf(tuning.preferred_suffixes, sizeof tuning.preferred_suffixes, "h1.test");
    tuning.suffix_weight_ns = 1 * S;
    begin(1, 1);
    unsigned taken[2] = {0, 0}, first_taken = 0;
    push(&loops[0], 2, "/");
    push(&loops[0], 1, "/");
    for (int i = 0; i < 1000; i++) {
        struct host *host = take();
        if (host) {
            unsigned number = (unsigned)host->key[8] - '1';
            taken[number]++;
            first_taken = first_taken ? first_taken : number + 1;
            host_item_release(&loops[0].urls, host_pop(host, false));
            push(&loops[0], number + 1, "/");
            give_back(host, 0);
        }
        now += 5 * MS;
    }
    CHECK_INT(first_taken, 1);
    CHECK(taken[0] > 300);
    CHECK(taken[1] >= 3); /* 5 s of a weight of 1 s */
    CHECK(taken[1] < taken[0]);
    finish();
}

TEST(shallow_urls_first_but_deep_ones_are_not_forgotten)
{
    ratio_mode();
    tuning.url_weights = true;
    begin(1, 1);
    struct host *host = push(&loops[0], 1, "/a/b/c/d/e/f/g/h.html");
    for (int i = 0; i < 20; i++)
        push(&loops[0], 1, "/x");
    CHECK(take() == host);
    int at = -1;
    for (int i = 0; i < 21; i++) {
        struct host_item *item = host_pop(host, true);
        if (item->len > 10)
            at = i;
        host_item_release(&loops[0].urls, item);
    }
    CHECK(at > 0 && at < 10);
    finish();
}

TEST(whales_are_cut_and_their_urls_counted)
{
    ratio_mode();
    tuning.hosts_per_address_max = 3;
    begin(1, 1);
    for (unsigned i = 0; i < 10; i++)
        push(&loops[0], i, "/");
    take();
    CHECK_INT(abandoned, 7);
    push(&loops[0], 9, "/again");
    take();
    CHECK_INT(abandoned, 8);
    finish();
}

TEST(no_room_for_more_hosts_is_an_answer)
{
    ratio_mode();
    begin(1, 7);
    for (unsigned i = 0; i < tuning.hosts_max; i++)
        push(&loops[0], i, "/");
    char buffer[64];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, SLICE("http://one-more.test/")) == URL_OK);
    CHECK(frontier_host(&loops[0], &url, frontier_hash(&url)) == NULL);
    CHECK(url_parse(&url, NULL, SLICE("http://h17.test/x")) == URL_OK);
    CHECK(frontier_host(&loops[0], &url, frontier_hash(&url)) != NULL);
    finish();
}

static const struct address_key *key_of(const struct host *host)
{
    return &frontier_address(&frontier, host->address)->key;
}

/* Taken, its next URL read, and given back: a visit of no length. */
static void visit_once(struct host *expected)
{
    CHECK(take() == expected);
    host_item_release(&loops[0].urls, host_pop(expected, false));
    give_back(expected, 0);
}

TEST(an_address_is_asked_for_again_when_a_visit_needs_it)
{
    ratio_mode();
    begin(1, 16);
    lives_ns = 60 * S;
    struct host *host = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    push(&loops[0], 1, "/c");
    visit_once(host);
    now += 59 * S;
    visit_once(host);
    CHECK_INT(resolved, 1);
    CHECK_INT(key_of(host)->bytes[15], 1);
    now += 2 * S;
    frontier_turn(&loops[0], now);
    CHECK_INT(resolved, 1); /* a host at rest needs none */
    moved_by = 4;
    visit_once(host);
    CHECK_INT(resolved, 2);
    CHECK_INT(key_of(host)->bytes[15], 5);
    CHECK_INT(lf_load(&loops[0].states[HOST_RESOLVING], relaxed), 0);
    CHECK_INT(lf_load(&loops[0].states[HOST_IDLE], relaxed), 1);
    finish();
}

TEST(a_host_that_moves_rests_as_long_and_shares_the_new_token)
{
    ratio_mode();
    begin(1, 2);
    lives_ns = 60 * S;
    struct host *mover = push(&loops[0], 0, "/a"), *there = push(&loops[0], 1, "/a");
    struct host *first = take(), *second = take();
    CHECK((first == mover && second == there) || (first == there && second == mover));
    check_item(mover, "/a");
    push(&loops[0], 0, "/b");
    now += 61 * S;
    moved_by = 1;
    give_back(mover, 0);
    now += 1 * S - 1 * MS;
    CHECK(take() == NULL); /* its own rest */
    now += 3 * MS;
    CHECK(take() == NULL); /* the visit of the other is at the new address */
    CHECK_INT(resolved, 3);
    CHECK_INT(key_of(mover)->bytes[15], 1);
    check_item(there, "/a");
    give_back(there, 0);
    CHECK(take() == NULL);
    now += 102 * MS;
    CHECK(take() == mover);
    finish();
}

TEST(a_host_that_moves_goes_to_the_home_of_its_address)
{
    ratio_mode();
    begin(2, 64);
    lives_ns = 60 * S;
    struct host *host = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    unsigned homes = 0;
    for (moved_by = 0; moved_by < 64 && homes != 3; moved_by++) {
        struct host *taken = NULL;
        for (int i = 0; i < 4 && !taken; i++) {
            frontier_turn(&loops[i % 2], now);
            taken = frontier_take(&loops[i % 2], now);
        }
        CHECK(taken == host);
        CHECK_INT(key_of(host)->bytes[15], 1 + moved_by);
        unsigned home = lf_load(&host->home, relaxed);
        CHECK_INT(home, frontier_address(&frontier, host->address)->home);
        homes |= 1u << home;
        frontier_return(&loops[0], host, &(struct politeness_visit){.spent_ns = 0}, now);
        now += 61 * S;
    }
    CHECK_INT(homes, 3);
    finish();
}

TEST(a_host_of_several_addresses_stays_at_one)
{
    ratio_mode();
    tuning.hosts_per_address_max = 1;
    begin(1, 16);
    lives_ns = 60 * S;
    others = 2;
    struct host *host = push(&loops[0], 1, "/a");
    for (moved_by = 0; moved_by < 5; moved_by++) {
        push(&loops[0], 1, "/b");
        visit_once(host);
        CHECK_INT(key_of(host)->bytes[15], 1);
        now += 61 * S;
    }
    CHECK_INT(resolved, 5);
    CHECK_INT(abandoned, 0);
    finish();
}

TEST(a_host_that_has_left_makes_room_at_its_address)
{
    ratio_mode();
    tuning.hosts_per_address_max = 1;
    begin(1, 16);
    lives_ns = 60 * S;
    struct host *first = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    visit_once(first);
    now += 61 * S;
    moved_by = 1;
    visit_once(first);
    moved_by = 0;
    struct host *second = push(&loops[0], 17, "/a");
    visit_once(second);
    CHECK_INT(abandoned, 0);
    CHECK_INT(key_of(second)->bytes[15], 1);
    finish();
}

/* Two loops, each pushing to all hosts and visiting whatever it is given. Nothing is lost or seen twice, and
 * no host or address is ever visited by two. */
enum { HOSTS = 200, ADDRESSES = 20, PUSHES = 20000 };
static _Atomic(int) at_host[HOSTS], at_address[ADDRESSES];
static _Atomic(unsigned) visits, popped;

static void visit(struct frontier_loop *loop, struct host *host)
{
    unsigned number = (unsigned)strtoul(host->key + 8, NULL, 10);
    CHECK_INT(lf_fetch_add(&at_host[number], 1, relaxed), 0);
    unsigned address = key_of(host)->bytes[15];
    CHECK_INT(lf_fetch_add(&at_address[address], 1, relaxed), 0);
    struct host_item *item;
    for (int burst = 0; burst < 20 && (item = host_pop(host, false)); burst++) {
        host_item_release(&loop->urls, item);
        lf_fetch_add(&popped, 1, relaxed);
    }
    lf_fetch_add(&visits, 1, relaxed);
    lf_fetch_sub(&at_address[address], 1, relaxed);
    lf_fetch_sub(&at_host[number], 1, relaxed);
    frontier_return(loop, host, &(struct politeness_visit){.spent_ns = 0}, clock_now_ns());
}

static void *run_loop(void *argument)
{
    struct frontier_loop *loop = argument;
    unsigned pushed = 0;
    uint64_t until = clock_now_ns() + 60 * S;
    while (lf_load(&popped, relaxed) < 2 * PUSHES) {
        for (int i = 0; i < 10 && pushed < PUSHES; i++, pushed++)
            push(loop, (pushed * 7919 + loop->index) % HOSTS, "/some/path");
        uint64_t moment = clock_now_ns();
        CHECK(moment < until);
        frontier_turn(loop, moment);
        struct host *host = frontier_take(loop, moment);
        if (host)
            visit(loop, host);
    }
    return NULL;
}

static void run_two_loops(uint64_t address_lives_ns)
{
    ratio_mode();
    tuning.host_min_idle_ns = 0;
    tuning.address_min_idle_ns = 0;
    begin(2, ADDRESSES);
    now = 0;
    lives_ns = address_lives_ns;
    wanders = lives_ns;
    lf_store(&popped, 0, relaxed);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, run_loop, &loops[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(popped, 2 * PUSHES);
    CHECK_INT(loops[0].urls.bytes_in_use + loops[1].urls.bytes_in_use, 0);
    finish();
}

TEST(two_loops_lose_nothing_and_never_meet)
{
    run_two_loops(0);
}

TEST(hosts_that_wander_between_loops_are_not_lost_either)
{
    run_two_loops(5 * MS);
    CHECK(lf_load(&resolved, relaxed) > HOSTS);
}
