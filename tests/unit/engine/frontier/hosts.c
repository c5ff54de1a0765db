/* The table of hosts by itself: two loops on it, in one thread. */
#include "engine/frontier/hosts.h"

#include "engine/outcome/fetch_outcome.h"
#include "tests/support/check.h"

static struct tuning tuning;
static struct hosts hosts;
static struct hosts_loop loops[2];
static unsigned forgotten;

static void forget(void *owner, struct host *host)
{
    CHECK(owner == &forgotten && inbox_is_closed(&host->incoming));
    forgotten++;
}

static void begin(unsigned count)
{
    struct hosts_options options = {.count_max = count, .homes = 2, .priority = &tuning.fixed.priority};
    tuning_init(&tuning);
    forgotten = 0;
    CHECK_INT(hosts_init(&hosts, &options), 0);
    for (unsigned i = 0; i < 2; i++)
        hosts_loop_init(
            &loops[i], &hosts,
            &(struct hosts_loop_options){
                .index = i, .limits = &tuning.live.limits, .forget = forget, .owner = &forgotten});
}

static void finish(void)
{
    for (unsigned i = 0; i < 2; i++)
        hosts_loop_fini(&loops[i]);
    hosts_fini(&hosts);
}

static struct url url;
static char url_bytes[64];

static uint64_t hash_of(unsigned number)
{
    char text[64];
    snprintf(text, sizeof text, "https://h%u.test:8443/x", number);
    url_init(&url, url_bytes, sizeof url_bytes);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    return hosts_hash(&hosts, &url);
}

static struct host *find(unsigned number)
{
    uint64_t hash = hash_of(number);
    return hosts_find(&hosts, &url, hash);
}

static struct host *make(struct hosts_loop *loop, unsigned number, bool expects_new)
{
    bool is_new;
    uint64_t hash = hash_of(number);
    struct host *host = hosts_make(loop, &url, hash, &is_new);
    CHECK_INT(is_new, expects_new);
    return host;
}

/* Every loop has been through a turn, more often than a grace period takes. */
static void let_turns_pass(void)
{
    for (unsigned i = 0; i < 16; i++)
        hosts_quiescent(&loops[i % 2]);
}

static uint32_t count(void)
{
    return lf_load(&hosts.count, relaxed);
}

TEST(a_host_is_made_once)
{
    begin(8);
    CHECK(!find(1));
    struct host *host = make(&loops[0], 1, true);
    CHECK_SLICE(host_key(host), "https://h1.test:8443");
    CHECK(host->is_https && host->port == 8443);
    CHECK(find(1) == host && !find(2));
    CHECK_INT(count(), 1);
    /* The other loop looked for it just before, and comes too late. */
    CHECK(make(&loops[1], 1, false) == host);
    CHECK_INT(count(), 1);
    CHECK_INT(loops[1].spare_count, 1);
    CHECK_INT(loops[1].names.bytes_in_use, 0);
    CHECK_INT(lf_load(&hosts.domains.counts[host->domain].hosts, relaxed), 1);
    finish();
}

TEST(a_full_table_makes_no_more)
{
    begin(8);
    for (unsigned i = 0; i < 8; i++)
        CHECK(make(&loops[i % 2], i, true) != NULL);
    CHECK(!make(&loops[0], 8, false));
    CHECK(!hosts_reserve(&loops[1], 1));
    CHECK_INT(count(), 8);
    CHECK_INT(lf_load(&hosts.begun, relaxed), 8);
    finish();
}

/* A loop asks for room before each URL of a batch, and must not take another record each time. */
TEST(room_that_was_asked_for_twice_is_kept_once)
{
    begin(8);
    CHECK(hosts_reserve(&loops[0], 3));
    CHECK(hosts_reserve(&loops[0], 3));
    CHECK(hosts_reserve(&loops[0], 2));
    CHECK_INT(loops[0].spare_count, 3);
    make(&loops[0], 1, true);
    CHECK_INT(loops[0].spare_count, 2);
    CHECK(hosts_reserve(&loops[1], 5));
    CHECK(!hosts_reserve(&loops[0], 3));
    finish();
}

/* While there are unused records, a loop keeps what it has for the next batch. */
TEST(spares_are_kept_while_there_are_more)
{
    begin(8);
    CHECK(hosts_reserve(&loops[0], 3));
    hosts_quiescent(&loops[0]);
    CHECK_INT(loops[0].spare_count, 3);
    finish();
}

/* Else one loop would sit on the last records that another one needs, for as long as it makes no host itself. */
TEST(spares_are_given_back_when_the_table_is_exhausted)
{
    begin(8);
    CHECK(hosts_reserve(&loops[0], 6));
    CHECK(!hosts_reserve(&loops[1], 5));
    CHECK_INT(loops[1].spare_count, 2); /* all there were */
    hosts_quiescent(&loops[0]);
    CHECK_INT(loops[0].spare_count, 0);
    CHECK(hosts_reserve(&loops[1], 8));
    for (unsigned i = 0; i < 8; i++)
        CHECK(make(&loops[1], i, true) != NULL);
    for (unsigned i = 0; i < 8; i++)
        CHECK(find(i) && find(i) == &hosts.records[find(i)->id]); /* each has a record of its own */
    hosts_quiescent(&loops[1]);
    CHECK(!hosts_reserve(&loops[0], 1));
    finish();
}

TEST(a_retired_record_is_free_after_the_turns_of_all_loops)
{
    begin(8);
    for (unsigned i = 0; i < 8; i++)
        make(&loops[0], i, true);
    struct host *host = find(3);
    const struct domain_counts *counts = &hosts.domains.counts[host->domain];
    unsigned of_domain = lf_load(&counts->hosts, relaxed); /* domains may share a counter */
    lf_store(&host->spilled, 7, relaxed);
    CHECK(hosts_retire(&loops[0], host));
    CHECK(!find(3));
    CHECK_INT(count(), 7);
    CHECK_INT(lf_load(&counts->hosts, relaxed), of_domain - 1);
    for (unsigned i = 0; i < 16; i++)
        hosts_quiescent(&loops[0]); /* the other loop may still have a pointer to it */
    CHECK_INT(forgotten, 0);
    CHECK(!hosts_reserve(&loops[1], 1));
    let_turns_pass();
    CHECK_INT(forgotten, 1);
    CHECK(make(&loops[1], 100, true) == host);
    CHECK_SLICE(host_key(find(100)), "https://h100.test:8443");
    CHECK_INT(lf_load(&host->spilled, relaxed), 0);
    finish();
}

TEST(a_host_is_not_retired_under_a_url_that_came)
{
    struct inbox_node node;
    bool was_parked;
    uint64_t losses = 0;
    begin(8);
    struct host *host = make(&loops[0], 1, true);
    CHECK(inbox_park(&host->incoming));
    CHECK(inbox_try_push(&host->incoming, &node, &was_parked, &losses));
    CHECK(was_parked);
    CHECK(!hosts_retire(&loops[0], host));
    CHECK(find(1) == host);
    CHECK_INT(count(), 1);
    finish();
}

TEST(what_was_remembered_comes_back_with_the_host)
{
    begin(8);
    tuning.live.limits.bytes_per_host_max = 1000;
    struct host *host = make(&loops[0], 1, true);
    host->bytes = 250;
    host->failures = 3;
    host->is_dead = true;
    host->dead_why = FETCH_CONNECT_REFUSED;
    CHECK(hosts_retire(&loops[0], host));
    host = make(&loops[1], 1, true); /* before its old record is free */
    CHECK(host->bytes >= 250 && host->bytes <= 251);
    CHECK(host->is_dead && host->dead_why == FETCH_CONNECT_REFUSED);
    CHECK_INT(host->failures, 0);
    struct hosts_past nothing = {.pages = 5}; /* no limit of pages */
    hosts_remember(&loops[0], hash_of(2), &nothing);
    CHECK_INT(make(&loops[0], 2, true)->pages, 0);
    finish();
}

TEST(the_table_tells_how_full_it_is)
{
    begin(16);
    for (unsigned i = 0; i < 16; i++) {
        CHECK_INT(hosts_is_crowded(&hosts), i > 12);
        CHECK_INT(hosts_is_cramped(&hosts), i > 14);
        make(&loops[0], i, true);
    }
    finish();
}

/* In a circle, over the records that were ever used. */
TEST(the_hand_steps_over_records_that_were_used)
{
    static const uint32_t expected[] = {1, 2, 3, 1, 2, 3, 4, 1};
    begin(8);
    for (unsigned i = 0; i < 3; i++)
        make(&loops[0], i, true);
    for (unsigned i = 0; i < 8; i++) {
        if (i == 5)
            make(&loops[0], 3, true);
        CHECK_INT(hosts_next(&loops[0]) - hosts.records, expected[i]);
    }
    finish();
}
