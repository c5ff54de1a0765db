/* Idle hosts are retired when the table is crowded, and their records used again. */
#include "tests/unit/engine/frontier/frontier_web.h"

static unsigned forgotten;

static void forget(void *owner, struct host *host)
{
    (void)owner;
    (void)host;
    forgotten++;
}

static unsigned addresses_wanted = 16;

static void begin_small(unsigned threads, unsigned hosts)
{
    hosts_max = hosts;
    begin(threads, addresses_wanted);
    hosts_max = 5000;
    forgotten = 0;
    for (unsigned i = 0; i < threads; i++)
        loops[i].hosts.forget = forget;
}

static bool has_room(unsigned number)
{
    char buffer[64], text[64];
    struct url url;
    snprintf(text, sizeof text, "http://h%u.test/", number);
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    struct frontier_place place = {.url = &url, .hash = frontier_hash(&loops[0], &url)};
    return frontier_room(&loops[0], &place, 0) == FETCH_DONE;
}

static void let_time_pass(uint64_t ns)
{
    for (int i = 0; i < 20; i++) {
        now += ns / 20;
        frontier_turn(&loops[0], now);
    }
}

/* Pushes one URL to each of so many hosts and visits them; returns how many there was room for. */
static unsigned fill_and_visit(unsigned count)
{
    unsigned first = 0;
    while (first < count && has_room(first))
        push(&loops[0], first++, "/");
    for (unsigned visited = 0; visited < first; now += 1 * MS) {
        struct host *host = take();
        if (!host)
            continue;
        frontier_done(&loops[0], host, host_pop(host, false));
        host->pages = 3;
        give_back(host, 0);
        visited++;
    }
    return first;
}

static void short_rests(void)
{
    ratio_mode();
    tuning.live.politeness.host_min_idle_ns = 1 * S;
    tuning.live.politeness.address_min_idle_ns = 0;
}

/* Each is the only host that waits. */
static void visit_one_by_one(unsigned count)
{
    for (unsigned i = 1000; i < 1000 + count; i++) {
        struct host *host = NULL;
        push(&loops[0], i, "/");
        for (unsigned tries = 0; !host && tries < 1000; tries++, now += 5 * MS)
            host = take();
        CHECK(host && strtoul(host->key + 8, NULL, 10) == i);
        frontier_done(&loops[0], host, host_pop(host, false));
        give_back(host, 0);
        let_time_pass(1 * S);
    }
}

TEST(idle_hosts_make_room_for_others)
{
    short_rests();
    begin_small(1, 64);
    CHECK_INT(fill_and_visit(1000), 64);
    let_time_pass(2 * S);
    CHECK_INT(forgotten, 16); /* a quarter is free then */
    CHECK(lf_load(&frontier.hosts.count, relaxed) <= 48);
    CHECK(has_room(1000));
    visit_one_by_one(4000);
    CHECK_INT(pool_region_bytes_used(&frontier.urls), 0);
    CHECK(lf_load(&loops[0].states[HOST_IDLE], relaxed) <= 64);
    finish();
}

TEST(addresses_that_their_hosts_have_left_make_room_for_others)
{
    short_rests();
    addresses_wanted = 60000;
    begin_small(1, 64);
    visit_one_by_one(4000);
    CHECK_INT(abandoned, 0);
    CHECK(lf_load(&frontier.addresses.count, relaxed) <= 128);
    addresses_wanted = 16;
    finish();
}

/* A token that is owed a rest is not forgotten with the last host of its address. */
TEST(an_address_that_owes_a_rest_is_not_retired)
{
    short_rests();
    tuning.live.politeness.address_min_idle_ns = 3600 * S;
    addresses_wanted = 60000;
    begin_small(1, 64);
    CHECK_INT(fill_and_visit(64), 64);
    let_time_pass(100 * S);
    visit_one_by_one(48);
    let_time_pass(100 * S);
    CHECK(forgotten >= 48);
    CHECK_INT(lf_load(&frontier.addresses.count, relaxed), 64 + 48); /* of 128 */
    now += 3600 * S;
    let_time_pass(100 * S);
    CHECK(lf_load(&frontier.addresses.count, relaxed) <= 96);
    addresses_wanted = 16;
    finish();
}

TEST(a_host_that_is_owed_a_rest_or_named_elsewhere_is_not_retired)
{
    short_rests();
    begin_small(1, 64);
    CHECK_INT(fill_and_visit(64), 64);
    for (uint32_t id = 1; id <= 64; id++)
        frontier_host_by_id(&frontier, id)->next_ns = now + 3600 * S;
    let_time_pass(100 * S);
    CHECK_INT(forgotten, 0);
    for (uint32_t id = 1; id <= 64; id++) {
        frontier_host_by_id(&frontier, id)->next_ns = now;
        frontier_host_by_id(&frontier, id)->awaits_robots = true;
    }
    let_time_pass(100 * S);
    CHECK_INT(forgotten, 0);
    for (uint32_t id = 1; id <= 64; id++)
        frontier_host_by_id(&frontier, id)->awaits_robots = false;
    let_time_pass(100 * S);
    CHECK(forgotten >= 16);
    finish();
}

static struct host *find(unsigned number)
{
    char buffer[64], text[64];
    struct url url;
    snprintf(text, sizeof text, "http://h%u.test/", number);
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    return hosts_find(&frontier.hosts, &url, frontier_hash(&loops[0], &url));
}

TEST(limits_and_deaths_survive_retirement)
{
    short_rests();
    tuning.live.limits.pages_per_host_max = 10;
    begin_small(1, 64);
    CHECK_INT(fill_and_visit(64), 64);
    for (unsigned i = 0; i < 64; i += 2) {
        find(i)->is_dead = true;
        find(i)->dead_why = FETCH_CONNECT_REFUSED;
    }
    let_time_pass(2 * S);
    CHECK(forgotten >= 16);
    unsigned checked = 0;
    for (unsigned i = 0; i < 64; i++) {
        if (find(i) || !has_room(i))
            continue;
        struct host *host = push(&loops[0], i, "/again");
        CHECK_INT(host->pages, 3);
        CHECK_INT(host->is_dead, i % 2 == 0);
        CHECK_INT(host->dead_why, i % 2 ? 0 : FETCH_CONNECT_REFUSED);
        checked++;
    }
    CHECK(checked >= 16);
    finish();
}

/* A loop that found a host just before its home retired it. */
TEST(a_push_to_a_retired_host_makes_it_anew)
{
    char buffer[64];
    struct url url;
    short_rests();
    begin_small(2, 64);
    push(&loops[0], 7, "/a");
    struct host *old = find(7);
    CHECK(old);
    struct host_item *item = host_item_acquire(&loops[0].urls, SLICE("/b"));
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, SLICE("http://h7.test/b")) == URL_OK);
    struct frontier_place place = {.url = &url, .hash = frontier_hash(&loops[0], &url), .host = old};
    inbox_take(&old->incoming);
    unsigned home = lf_load(&old->home, relaxed);
    CHECK(hosts_retire(&loops[home].hosts, old));
    CHECK(find(7) == NULL);
    CHECK(frontier_push(&loops[0], &place, item));
    CHECK(place.host != old && find(7) == place.host);
    for (unsigned i = 0; i < 8; i++) {
        hosts_quiescent(&loops[0].hosts);
        hosts_quiescent(&loops[1].hosts);
    }
    CHECK_INT(forgotten, 1);
    CHECK(find(7) == place.host);
    finish();
}

/* With fewer records than hosts: each is retired and made anew many times. */
TEST(two_loops_that_retire_hosts_lose_nothing_and_never_meet)
{
    enum { RECORDS = 100 };
    short_rests();
    tuning.live.politeness.host_min_idle_ns = 0;
    hosts_max = RECORDS;
    begin(2, ADDRESSES);
    hosts_max = 5000;
    is_scarce = true;
    run_both_loops();
    is_scarce = false;
    CHECK(lf_load(&frontier.hosts.count, relaxed) <= RECORDS);
    finish();
}
