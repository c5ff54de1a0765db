/* What the journal knew of hosts and addresses holds in the crawl that goes on. */
#include "tests/unit/engine/frontier/frontier_web.h"

static struct url url;
static char url_bytes[64];

static const struct url *url_of(unsigned number)
{
    char text[64];
    snprintf(text, sizeof text, "http://h%u.test/", number);
    url_init(&url, url_bytes, sizeof url_bytes);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    return &url;
}

static void restore(unsigned number, const struct frontier_past *past)
{
    frontier_restore_host(&loops[0], url_of(number), past);
}

static struct host *find(unsigned number)
{
    const struct url *of = url_of(number);
    return hosts_find(&frontier.hosts, of, frontier_hash(&loops[0], of));
}

/* 127.0.0.x, as the imagined web has it. */
static struct ip address_of(unsigned number)
{
    return (struct ip){{[10] = 0xff, [11] = 0xff, [12] = 127, [15] = (uint8_t)number}};
}

TEST(a_host_rests_on_until_its_moment)
{
    ratio_mode();
    begin(1, 16);
    restore(1, &(struct frontier_past){.next_ns = now + 10 * S, .failures = 4});
    push(&loops[0], 1, "/");
    push(&loops[0], 2, "/"); /* the journal does not know it */
    struct host *host = take();
    CHECK(host && host == find(2));
    CHECK(!take());
    now += 9 * S;
    CHECK(!take());
    now += 2 * S;
    host = take();
    CHECK(host && host == find(1));
    CHECK_INT(host->failures, 4);
    CHECK_INT(find(2)->failures, 0);
    finish();
}

/* It may never have a URL again. */
TEST(a_host_without_urls_takes_no_record)
{
    ratio_mode();
    begin(1, 16);
    restore(1, &(struct frontier_past){.next_ns = now + 1 * S, .failures = 1});
    CHECK(!find(1));
    CHECK_INT(lf_load(&frontier.hosts.count, relaxed), 0);
    finish();
}

/* Of pages, bytes and time the one counts that is nearest to its limit: retired.h keeps one share. */
TEST(limits_are_as_far_used_as_before)
{
    ratio_mode();
    tuning.live.limits.pages_per_host_max = 10;
    tuning.live.limits.bytes_per_host_max = 1000;
    tuning.live.limits.time_per_host_max_ns = 100 * S;
    begin(1, 16);
    restore(1, &(struct frontier_past){.pages = 7, .bytes = 100});
    restore(2, &(struct frontier_past){.pages = 1, .bytes = 900});
    restore(3, &(struct frontier_past){.pages = 1, .spent_ns = 50 * S});
    restore(4, &(struct frontier_past){.next_ns = now});
    for (unsigned i = 1; i <= 4; i++)
        push(&loops[0], i, "/");
    CHECK_INT(find(1)->pages, 7);
    CHECK(find(2)->bytes >= 900 && find(2)->bytes <= 901);
    CHECK(find(3)->spent_ns >= 50 * S && find(3)->spent_ns < 51 * S);
    CHECK_INT(find(4)->pages + find(4)->bytes + find(4)->spent_ns, 0);
    finish();
}

/* A host that was given up takes no record before a URL for it turns up; that is dropped then. */
TEST(a_dead_host_stays_dead_and_takes_no_record)
{
    ratio_mode();
    begin(1, 16);
    restore(1, &(struct frontier_past){.next_ns = now, .dead_why = FETCH_CONNECT_REFUSED});
    CHECK(!find(1));
    CHECK_INT(lf_load(&frontier.hosts.count, relaxed), 0);
    struct host *host = push(&loops[0], 1, "/");
    CHECK(host->is_dead);
    CHECK_INT(host->dead_why, FETCH_CONNECT_REFUSED);
    CHECK(!take());
    CHECK_INT(abandoned, 1);
    finish();
}

/* Visits one host that waits, however long it has to rest; then it rests again, and may be retired. */
static void visit_next(unsigned failures)
{
    struct host *host = NULL;
    for (unsigned i = 0; !host && i < 100; i++, now += 1 * S)
        host = take();
    CHECK(host != NULL);
    CHECK_INT(host->failures, failures);
    host->failures = 0;
    frontier_done(&loops[0], host, host_pop(host, false));
    give_back(host, 0);
    for (unsigned i = 0; i < 20; i++, now += 1 * S)
        CHECK(!take());
}

/* What was restored is paid once: a host that has recovered and was retired since is like any other. */
TEST(a_restored_host_that_is_retired_is_forgotten)
{
    ratio_mode();
    hosts_max = 4;
    begin(1, 16);
    hosts_max = 5000;
    restore(1, &(struct frontier_past){.next_ns = now + 1 * S, .failures = 3});
    push(&loops[0], 1, "/");
    visit_next(3);
    for (unsigned i = 2; find(1) && i < 20; i++) {
        push(&loops[0], i, "/");
        visit_next(0);
    }
    CHECK(!find(1));
    push(&loops[0], 1, "/again");
    visit_next(0);
    finish();
}

/* There are records for 8 hosts and 16 addresses. Those that come first owe nothing any more, and give way to others. */
TEST(hosts_and_addresses_beyond_the_tables_keep_their_rests)
{
    enum { RECORDS = 8, RESTORED = 40 };
    ratio_mode();
    hosts_max = RECORDS;
    begin(1, RESTORED);
    hosts_max = 5000;
    for (unsigned i = 0; i < RESTORED; i++) {
        struct ip ip = address_of(i);
        uint64_t owed_ns = i < RESTORED - 2 ? 0 : 10 * S;
        restore(i, &(struct frontier_past){.next_ns = now + (i == RESTORED - 1 ? owed_ns : 0), .failures = 2});
        frontier_restore_address(&loops[0], &ip, now + (i == RESTORED - 2 ? owed_ns : 0));
    }
    for (unsigned i = 0; i < 100; i++, now += 5 * MS) /* idle hosts are retired */
        CHECK(!take());
    push(&loops[0], RESTORED - 1, "/");
    push(&loops[0], RESTORED - 2, "/");
    CHECK(!take());
    now += 9 * S;
    CHECK(!take());
    now += 1 * S;
    for (unsigned i = 0; i < 2; i++) {
        struct host *host = take();
        CHECK(host && host->failures == 2);
    }
    finish();
}

/* The journal does not say since when a host fails: the time that it is given begins anew, not with the machine. */
TEST(a_host_that_fails_is_given_its_time_from_now_on)
{
    ratio_mode();
    begin(1, 16);
    uint64_t before_ns = clock_now_ns();
    restore(1, &(struct frontier_past){.next_ns = now, .failures = 1});
    push(&loops[0], 1, "/");
    CHECK(find(1)->failing_since_ns >= before_ns);
    finish();
}

/* No token of the address is available before, so that no host of it is visited. */
TEST(an_address_rests_with_all_its_tokens)
{
    ratio_mode();
    tuning.fixed.politeness.connections_per_address = 3;
    tuning.live.politeness.address_min_idle_ns = 0;
    begin(1, 2); /* even numbers are at the first address, odd ones at the second */
    struct ip ip = address_of(0);
    frontier_restore_address(&loops[0], &ip, now + 10 * S);
    for (unsigned i = 0; i < 6; i += 2)
        push(&loops[0], i, "/");
    push(&loops[0], 1, "/");
    CHECK(take() == find(1));
    CHECK(!take());
    now += 9 * S;
    CHECK(!take());
    now += 2 * S;
    for (unsigned i = 0; i < 3; i++)
        CHECK(take() != NULL);
    finish();
}

/* Records come in the order of the journal: a visit that ended earlier may have the longer rest. */
TEST(the_latest_moment_of_an_address_counts)
{
    ratio_mode();
    begin(1, 1);
    struct ip ip = address_of(0);
    frontier_restore_address(&loops[0], &ip, now + 10 * S);
    frontier_restore_address(&loops[0], &ip, now + 5 * S);
    push(&loops[0], 1, "/");
    now += 6 * S;
    CHECK(!take());
    now += 5 * S;
    CHECK(take() == find(1));
    finish();
}

/* Of IPv6 the first 64 bits. */
TEST(addresses_are_units)
{
    ratio_mode();
    begin(1, 1);
    struct ip first = {{0x20, 0x01, [15] = 1}}, second = {{0x20, 0x01, [15] = 2}}, unit = {{0x20, 0x01}};
    frontier_restore_address(&loops[0], &first, now + 10 * S);
    frontier_restore_address(&loops[0], &second, now + 20 * S);
    CHECK_INT(lf_load(&frontier.addresses.count, relaxed), 0);
    struct address *address = addresses_acquire(&loops[0].addresses, &unit);
    CHECK(address && !address_is_at_rest(address, now + 19 * S));
    CHECK(address_is_at_rest(address, now + 20 * S));
    addresses_release(&frontier.addresses, address->id);
    finish();
}
