/* Names of hosts in a real frontier, looked up through a real ring, answered by a name server in this thread. */
#include "engine/crawl/names.h"

#include <stdio.h>
#include <unistd.h>

#include "engine/crawl/limits.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tests/support/dns_server.h"

static struct tuning tuning;
static struct frontier frontier;
static struct frontier_loop loop;
static struct ring ring;
static struct conn_loop conns;
static struct names names;
static struct troubles troubles;
static struct stats stats;
static struct dns_server server;
static unsigned abandoned;

static void resolve(void *owner, struct host *host)
{
    (void)owner;
    names_push(&names, host);
}

static bool abandon(void *owner, struct host *host)
{
    (void)owner;
    for (struct host_item *item; (item = host_pop(host, false)); abandoned++)
        frontier_done(&loop, host, item);
    return true;
}

static void wake(void *owner, unsigned index)
{
    (void)owner;
    (void)index;
}

static void quick_tuning(void)
{
    tuning_init(&tuning);
    snprintf(tuning.fixed.crawl.contact_url, sizeof tuning.fixed.crawl.contact_url, "http://test/");
    tuning.fixed.crawl.private_addresses = true;
    tuning.fixed.net.ipv6 = false;
    tuning.fixed.memory.hosts_max = 5000;
    tuning.fixed.memory.frontier_bytes = 16 << 20;
    tuning.fixed.net.dns_cache_entries = 1024;
    tuning.fixed.net.dns_timeout_ns = 200 * CLOCK_NS_PER_MS;
    tuning.fixed.net.dns_denial_max_ns = 50 * CLOCK_NS_PER_MS;
    tuning.live.retry.wait_ns = CLOCK_NS_PER_MS;
}

static void begin(void)
{
    char message[256];
    server = dns_server_open();
    snprintf(tuning.fixed.net.dns_servers, sizeof tuning.fixed.net.dns_servers, "127.0.0.1:%u", server.port);
    abandoned = 0;
    CHECK_INT(frontier_init(&frontier, &tuning), 0);
    struct frontier_loop_options options = {.resolve = resolve, .abandon = abandon, .wake = wake};
    CHECK_INT(frontier_loop_init(&loop, &frontier, &options), 0);
    CHECK_INT(ring_init(&ring, &(struct ring_options){.cpu = -1}), 0);
    struct dns *dns = names_create_dns(&tuning, message, sizeof message);
    CHECK(dns != NULL);
    conn_loop_init(&conns, &(struct conn_loop_options){.ring = &ring, .dns = dns});
    CHECK_INT(names_init(&names, &(struct names_options){.frontier = &loop,
                                                         .conns = &conns,
                                                         .tuning = &tuning,
                                                         .troubles = &troubles,
                                                         .stats = &stats,
                                                         .visits_max = 1000}),
              0);
}

static void finish(void)
{
    conn_loop_close(&conns);
    CHECK(ring_finish(&ring));
    dns_destroy(conns.dns);
    names_fini(&names);
    ring_fini(&ring);
    frontier_loop_fini(&loop);
    frontier_fini(&frontier);
    close(server.fd);
}

static struct host *push(const char *name)
{
    char buffer[256], text[256];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    snprintf(text, sizeof text, "http://%s/", name);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    struct frontier_place place = {.url = &url, .hash = frontier_hash(&loop, &url)};
    struct host_item *item = host_item_acquire(&loop.urls, url_path_query(&url));
    CHECK(item && frontier_push(&loop, &place, item));
    return place.host;
}

static void turn(void)
{
    uint64_t now_ns = clock_now_ns();
    frontier_turn(&loop, now_ns);
    names_turn(&names, now_ns);
    CHECK_INT(ring_turn(&ring, CLOCK_NS_PER_MS), 0);
    dns_server_serve(&server);
}

/* Asked of the server, without those that were sent again because this thread was late. */
static unsigned questions(void)
{
    struct dns_counts counts;
    dns_counts(conns.dns, &counts);
    return (unsigned)counts.asked;
}

static bool has_address(const struct host *host)
{
    return host->address && (host->state == HOST_RESTING || host->state == HOST_READY);
}

static void turn_until(bool (*is_so)(const struct host *host), const struct host *host)
{
    uint64_t deadline_ns = clock_now_ns() + 30 * CLOCK_NS_PER_S;
    while (!is_so(host)) {
        turn();
        CHECK(clock_now_ns() < deadline_ns);
    }
}

static bool is_dead(const struct host *host)
{
    return host->is_dead;
}

static bool has_failed(const struct host *host)
{
    return host->failures > 0;
}

static bool is_out(const struct host *host)
{
    (void)host;
    return names.outage_since_ns;
}

TEST(a_name_gets_its_address)
{
    quick_tuning();
    begin();
    struct host *host = push("ok.test"), *literal = push("127.0.0.1"), *v6 = push("[::1]");
    turn_until(has_address, host);
    turn_until(has_address, literal);
    turn_until(has_address, v6);
    CHECK_INT(questions(), 1);
    CHECK_INT(host->ip.bytes[15], 1);
    CHECK_INT(names.quick + names.slow, 0);
    finish();
}

/* The silent names would hold a line for half a minute, at 256 a time. */
TEST(the_dead_names_of_one_domain_hold_nobody_up)
{
    quick_tuning();
    tuning.fixed.net.dns_timeout_ns = 2 * CLOCK_NS_PER_S;
    begin();
    char name[64];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "silent.h%d.tar.test", i);
        push(name);
    }
    uint64_t begin_ns = clock_now_ns();
    turn_until(has_address, push("ok.good.test"));
    CHECK(clock_now_ns() - begin_ns < 10 * CLOCK_NS_PER_S);
    CHECK(questions() <= NAMES_QUICK_MAX + NAMES_SLOW_MAX);
    CHECK_INT(abandoned, 0);
    finish();
}

/* Each of another domain: what is overdue makes room. */
TEST(dead_names_of_many_domains_hold_nobody_up_for_long)
{
    quick_tuning();
    tuning.fixed.net.dns_timeout_ns = 30 * CLOCK_NS_PER_S;
    begin();
    char name[64];
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "silent.d%d.test", i);
        push(name);
    }
    while (names.quick + names.slow < NAMES_QUICK_MAX)
        turn();
    turn_until(has_address, push("ok.good.test"));
    CHECK(names.slow > 0 && names.quick + names.slow >= NAMES_QUICK_MAX - 1);
    finish();
}

TEST(a_denied_name_is_asked_for_twice_and_not_from_the_cache)
{
    quick_tuning();
    begin();
    struct host *host = push("nx.test");
    uint64_t begin_ns = clock_now_ns();
    turn_until(is_dead, host);
    CHECK_INT(questions(), 2);
    CHECK_INT(host->dead_why, FETCH_DNS_NO_NAME);
    CHECK_INT(abandoned, 1);
    CHECK(clock_now_ns() - begin_ns >= tuning.live.retry.wait_ns);
    CHECK_INT(stats_get(&stats.tries_failed[FETCH_DNS_NO_NAME]), 2);
    CHECK_INT(stats_get(&stats.hosts_given_up), 1);
    finish();
}

TEST(a_name_that_was_denied_for_a_moment_is_visited)
{
    quick_tuning();
    tuning.live.retry.retries_max = 2;
    begin();
    server.rcode_always = DNS_NXDOMAIN;
    struct host *host = push("ok.test");
    turn_until(has_failed, host);
    server.rcode_always = DNS_NOERROR;
    turn_until(has_address, host);
    CHECK_INT(questions(), 2);
    CHECK_INT(abandoned, 0);
    finish();
}

TEST(servers_that_fail_are_asked_as_often_as_the_tuning_file_says)
{
    quick_tuning();
    tuning.live.retry.retries_max = 3;
    begin();
    struct host *host = push("servfail.test");
    turn_until(is_dead, host);
    CHECK_INT(questions(), 4);
    CHECK_INT(host->dead_why, FETCH_DNS_SERVER_FAILED);
    finish();
}

TEST(a_dead_name_is_given_up_while_servers_answer)
{
    quick_tuning();
    tuning.live.retry.retries_max = 1;
    begin();
    struct host *host = push("silent.test");
    turn_until(is_dead, host);
    CHECK_INT(host->dead_why, FETCH_DNS_TIMEOUT);
    CHECK_INT(names.outages, 0);
    finish();
}

TEST(an_outage_counts_against_nobody)
{
    quick_tuning();
    tuning.live.retry.retries_max = 0;
    begin();
    struct host *hosts[40];
    char name[64];
    server.is_deaf = true;
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "ok.h%d.test", i);
        hosts[i] = push(name);
    }
    turn_until(is_out, NULL);
    while (names.quick + names.slow)
        turn();
    struct host *literal = push("127.0.0.1"); /* needs no server */
    turn_until(has_address, literal);
    unsigned asked = server.asked;
    while (server.asked == asked) /* a probe */
        turn();
    CHECK(names.outage_since_ns > 0);
    server.is_deaf = false;
    for (int i = 0; i < 40; i++) {
        turn_until(has_address, hosts[i]);
        CHECK_INT(hosts[i]->failures, 0);
    }
    CHECK_INT(names.outage_since_ns, 0);
    CHECK(names.outages >= 1);
    CHECK_INT(abandoned, 0);
    finish();
}

TEST(hosts_keep_their_address_in_an_outage)
{
    quick_tuning();
    begin();
    struct host *host = push("ok.test");
    turn_until(has_address, host);
    server.is_deaf = true;
    push("ok.other.test");
    turn_until(is_out, NULL);
    host->address_until_ns = 0; /* out of date when its turn comes */
    uint64_t now_ns = clock_now_ns();
    CHECK(frontier_take(&loop, now_ns) == NULL);
    CHECK_INT(host->state, HOST_RESOLVING);
    turn_until(has_address, host);
    CHECK(host->address_until_ns > now_ns);
    CHECK_INT(host->failures, 0);
    finish();
}

TEST(an_address_out_of_bounds_is_final)
{
    quick_tuning();
    tuning.fixed.crawl.private_addresses = false;
    begin();
    struct host *host = push("127.0.0.1");
    turn_until(is_dead, host);
    CHECK_INT(host->dead_why, FETCH_ADDRESS_FORBIDDEN);
    finish();
}
