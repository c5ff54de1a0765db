/* The resolver against servers in the same thread. */
#include "net/dns.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tests/support/dns_server.h"

static unsigned done_count;

static void on_done(struct dns_query *query)
{
    (void)query;
    done_count++;
}

static struct dns *resolver(const struct dns_server *servers, size_t count, enum dns_families families)
{
    static char list[128];
    int len = 0;
    for (size_t i = 0; i < count; i++)
        len +=
            snprintf(list + len, sizeof list - (size_t)len, "%s127.0.0.1:%u", i ? "," : "", servers[i].port);
    struct dns_options options = DNS_OPTIONS_DEFAULT;
    options.servers = list;
    options.hosts_path = "";
    options.families = families;
    options.timeout_ms = 100;
    options.tries = 2;
    options.cache.entries_max = 64;
    char message[256];
    struct dns *dns = dns_create(&options, message, sizeof message);
    if (!dns)
        check_failed(__FILE__, __LINE__, "%s", message);
    return dns;
}

/* Until nothing is under way. */
static void turn(struct dns *dns, struct dns_server *servers, size_t count)
{
    while (dns_is_busy(dns)) {
        struct pollfd polls[3] = {{.fd = dns_fd(dns), .events = POLLIN}};
        for (size_t i = 0; i < count; i++)
            polls[i + 1] = (struct pollfd){.fd = servers[i].fd, .events = POLLIN};
        CHECK(poll(polls, (nfds_t)count + 1, 10) >= 0);
        for (size_t i = 0; i < count; i++)
            dns_server_serve(&servers[i]);
        dns_on_ready(dns, clock_now_ns());
        dns_on_tick(dns, clock_now_ns());
    }
}

static struct dns_answer resolve(struct dns *dns, struct dns_server *servers, size_t count, const char *name)
{
    struct dns_query query = {.on_done = on_done};
    if (!dns_begin(dns, &query, slice_of(name), clock_now_ns()))
        turn(dns, servers, count);
    return query.answer;
}

TEST(literals_need_no_server)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_BOTH);
    struct dns_answer found = resolve(dns, &server, 1, "192.0.2.3");
    CHECK_INT(found.error, DNS_OK);
    CHECK_INT(found.count, 1);
    CHECK(ip_is_v4(&found.addresses[0]));
    CHECK(found.until_ns == UINT64_MAX);
    found = resolve(dns, &server, 1, "2001:db8::1");
    CHECK(!ip_is_v4(&found.addresses[0]));
    CHECK(!found.was_fresh);
    CHECK_INT(server.asked, 0);
    dns_destroy(dns);
    close(server.fd);
}

TEST(every_failure_is_named)
{
    static const struct {
        const char *name;
        enum dns_error error;
    } cases[] = {
        {"ok.test", DNS_OK},
        {"nx.test", DNS_ERROR_NO_NAME},
        {"nodata.test", DNS_ERROR_NO_DATA},
        {"servfail.test", DNS_ERROR_SERVER_FAILED},
        {"refused.test", DNS_ERROR_REFUSED},
        {"notimp.test", DNS_ERROR_NOT_IMPLEMENTED},
        {"formerr.test", DNS_ERROR_FORMAT},
        {"silent.test", DNS_ERROR_TIMEOUT},
        {"stranger.test", DNS_ERROR_TIMEOUT},
        {"broken.test", DNS_ERROR_ANSWER_BAD},
        {"bad name", DNS_ERROR_NAME_BAD},
        {"", DNS_ERROR_NAME_BAD},
        {"a..b", DNS_ERROR_NAME_BAD},
        {"half.test", DNS_OK},
    };
    struct dns_server server = dns_server_open();
    for (int families = DNS_IPV4; families <= DNS_BOTH; families++) {
        struct dns *dns = resolver(&server, 1, (enum dns_families)families);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            if (families == DNS_IPV6 && !strcmp(cases[i].name, "half.test"))
                continue;
            struct dns_answer found = resolve(dns, &server, 1, cases[i].name);
            CHECK_STR(dns_error_text(found.error), dns_error_text(cases[i].error));
            CHECK_INT(found.count > 0, found.error == DNS_OK);
        }
        dns_destroy(dns);
    }
    close(server.fd);
}

TEST(a_closed_port_is_unreachable)
{
    struct dns_server server = dns_server_open();
    close(server.fd);
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    CHECK_INT(resolve(dns, NULL, 0, "ok.test").error, DNS_ERROR_UNREACHABLE);
    dns_destroy(dns);
}

TEST(families)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_BOTH);
    struct dns_answer found = resolve(dns, &server, 1, "ok.test");
    CHECK_INT(found.count, 2);
    CHECK(ip_is_v4(&found.addresses[0]));
    CHECK(!ip_is_v4(&found.addresses[1]));
    found = resolve(dns, &server, 1, "many.test");
    CHECK_INT(found.count, DNS_ADDRESSES_MAX);
    CHECK(ip_is_v4(&found.addresses[0]));
    CHECK_INT(found.addresses[0].bytes[15], 1);
    CHECK(found.was_fresh);
    found = resolve(dns, &server, 1, "six.test");
    CHECK_INT(found.count, 1);
    CHECK(!ip_is_v4(&found.addresses[0]));
    dns_destroy(dns);
    dns = resolver(&server, 1, DNS_IPV4);
    found = resolve(dns, &server, 1, "ok.test");
    CHECK_INT(found.count, 1);
    CHECK_INT(resolve(dns, &server, 1, "six.test").error, DNS_ERROR_NO_DATA);
    dns_destroy(dns);
    close(server.fd);
}

TEST(answers_are_remembered)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    static const char *const names[] = {"ok.test", "OK.Test.", "nx.test", "servfail.test", "nodata.test"};
    for (size_t i = 0; i < 5; i++)
        resolve(dns, &server, 1, names[i]);
    unsigned asked = server.asked;
    CHECK_INT(asked, 4);
    for (size_t i = 0; i < 5; i++) {
        struct dns_query query = {.on_done = on_done};
        CHECK(dns_begin(dns, &query, slice_of(names[i]), clock_now_ns()));
        CHECK(!query.answer.was_fresh);
    }
    struct dns_query query = {.on_done = on_done};
    CHECK(dns_begin(dns, &query, SLICE("ok.test"), clock_now_ns()));
    uint64_t left_ns = query.answer.until_ns - clock_now_ns();
    CHECK(left_ns > 60 * CLOCK_NS_PER_S && left_ns <= 120 * CLOCK_NS_PER_S); /* the server says 120 s */
    CHECK(!dns_begin(dns, &query, SLICE("ok.test"), clock_now_ns() + 121 * CLOCK_NS_PER_S));
    turn(dns, &server, 1);
    CHECK(query.answer.was_fresh);
    CHECK_INT(server.asked, 5);
    dns_destroy(dns);
    close(server.fd);
}

TEST(the_same_name_is_asked_for_once)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct dns_query queries[100];
    done_count = 0;
    for (int i = 0; i < 100; i++) {
        queries[i] = (struct dns_query){.on_done = on_done};
        CHECK(!dns_begin(dns, &queries[i], i % 2 ? SLICE("ok.test") : SLICE("Ok.TEST."), clock_now_ns()));
    }
    for (int i = 0; i < 100; i += 3)
        dns_cancel(&queries[i]);
    turn(dns, &server, 1);
    CHECK_INT(done_count, 66);
    CHECK_INT(server.asked, 1);
    for (int i = 0; i < 100; i++)
        CHECK_INT(queries[i].answer.count, i % 3 ? 1 : 0);
    struct dns_counts counts;
    dns_counts(dns, &counts);
    CHECK_INT(counts.asked, 1);
    CHECK_INT(counts.coalesced, 99);
    CHECK_INT(counts.outcomes[DNS_OK], 1);
    dns_destroy(dns);
    close(server.fd);
}

TEST(a_cancelled_query_still_fills_the_cache)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct dns_query query = {.on_done = on_done};
    done_count = 0;
    CHECK(!dns_begin(dns, &query, SLICE("ok.test"), clock_now_ns()));
    dns_cancel(&query);
    dns_cancel(&query);
    turn(dns, &server, 1);
    CHECK_INT(done_count, 0);
    CHECK(dns_begin(dns, &query, SLICE("ok.test"), clock_now_ns()));
    dns_destroy(dns);
    close(server.fd);
}

TEST(another_server_is_asked_when_one_fails)
{
    static const enum dns_rcode failures[] = {DNS_SERVFAIL, DNS_REFUSED, DNS_NOTIMP};
    for (size_t i = 0; i < 3; i++) {
        struct dns_server servers[2] = {dns_server_open(), dns_server_open()};
        servers[0].rcode_always = failures[i];
        struct dns *dns = resolver(servers, 2, DNS_IPV4);
        for (int k = 0; k < 6; k++) {
            char name[32];
            snprintf(name, sizeof name, "ok.n%d.test", k);
            CHECK_INT(resolve(dns, servers, 2, name).error, DNS_OK);
        }
        CHECK(servers[0].asked > 0 && servers[1].asked == 6);
        dns_destroy(dns);
        close(servers[0].fd);
        close(servers[1].fd);
    }
}

TEST(another_server_is_asked_when_one_is_silent)
{
    struct dns_server servers[2] = {dns_server_open(), dns_server_open()};
    struct dns *dns = resolver(servers, 2, DNS_IPV4);
    struct dns_query query = {.on_done = on_done};
    CHECK(!dns_begin(dns, &query, SLICE("ok.test"), clock_now_ns()));
    /* Only the second one is looked after. */
    turn(dns, servers + 1, 1);
    CHECK_INT(query.answer.error, DNS_OK);
    dns_destroy(dns);
    close(servers[0].fd);
    close(servers[1].fd);
}

/* Nobody listens for TCP at the server's port. */
TEST(a_failed_tcp_connection_harms_no_other_name)
{
    enum { GOOD = 40, BIG = 6 };
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct dns_query good[GOOD], big[BIG];
    char name[32];
    for (int i = 0; i < BIG; i++) {
        big[i] = (struct dns_query){.on_done = on_done};
        snprintf(name, sizeof name, "big.n%d.test", i);
        CHECK(!dns_begin(dns, &big[i], slice_of(name), clock_now_ns()));
    }
    for (int i = 0; i < GOOD; i++) { /* they wait while the connections fail */
        good[i] = (struct dns_query){.on_done = on_done};
        snprintf(name, sizeof name, "%s.n%d.test", i % 2 ? "silent" : "ok", i);
        CHECK(!dns_begin(dns, &good[i], slice_of(name), clock_now_ns()));
    }
    turn(dns, &server, 1);
    for (int i = 0; i < BIG; i++)
        CHECK_STR(dns_error_text(big[i].answer.error), "unreachable");
    for (int i = 0; i < GOOD; i++)
        CHECK_STR(dns_error_text(good[i].answer.error), i % 2 ? "timeout" : "ok");
    dns_destroy(dns);
    close(server.fd);
}

TEST(what_came_of_a_truncated_answer_is_better_than_nothing)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct dns_answer found = resolve(dns, &server, 1, "cut.test");
    CHECK_INT(found.error, DNS_OK);
    CHECK_INT(found.count, 1);
    dns_destroy(dns);
    close(server.fd);
}

TEST(silence_of_one_name_is_no_outage)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct dns_answer found = resolve(dns, &server, 1, "silent.test");
    CHECK_INT(found.error, DNS_ERROR_TIMEOUT);
    CHECK(!found.is_outage && !dns_is_out(dns));
    CHECK(found.until_ns > clock_now_ns());
    dns_destroy(dns);
    close(server.fd);
}

TEST(silence_of_all_is_an_outage_until_somebody_answers)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_BOTH);
    server.is_deaf = true;
    struct dns_answer found = resolve(dns, &server, 1, "ok.test");
    CHECK_INT(found.error, DNS_ERROR_TIMEOUT);
    CHECK(found.is_outage && dns_is_out(dns));
    dns_probe(dns, clock_now_ns());
    turn(dns, &server, 1);
    CHECK(dns_is_out(dns));
    server.is_deaf = false;
    dns_probe(dns, clock_now_ns());
    CHECK(dns_is_busy(dns));
    turn(dns, &server, 1);
    CHECK(!dns_is_out(dns));
    CHECK_INT(resolve(dns, &server, 1, "ok.test").error, DNS_OK); /* the outage was not remembered */
    dns_destroy(dns);
    close(server.fd);
}

/* A name that was asked for shortly before the servers fell silent is not to blame. */
TEST(an_outage_may_begin_while_names_are_looked_up)
{
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        struct dns_server server = dns_server_open();
        struct dns *dns = resolver(&server, 1, DNS_IPV4);
        struct dns_query early = {.on_done = on_done}, ok = {.on_done = on_done};
        CHECK(!dns_begin(dns, &early, SLICE("silent.test"), clock_now_ns()));
        unsigned before = done_count;
        CHECK(!dns_begin(dns, &ok, SLICE("ok.test"), clock_now_ns()));
        while (done_count == before) {
            dns_server_serve(&server);
            dns_on_ready(dns, clock_now_ns());
        }
        CHECK_INT(ok.answer.error, DNS_OK);
        server.is_deaf = true;
        if (is_closed)
            close(server.fd);
        turn(dns, &server, !is_closed);
        CHECK(early.answer.error != DNS_OK && early.answer.is_outage && dns_is_out(dns));
        dns_destroy(dns);
        if (!is_closed)
            close(server.fd);
    }
}

TEST(servers_that_cannot_be_reached_are_an_outage)
{
    struct dns_server server = dns_server_open();
    close(server.fd);
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct dns_answer found = resolve(dns, NULL, 0, "ok.test");
    CHECK_INT(found.error, DNS_ERROR_UNREACHABLE);
    CHECK(found.is_outage && dns_is_out(dns));
    dns_destroy(dns);
}

TEST(destruction_in_doubt_tells_those_who_wait)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct dns_query query = {.on_done = on_done};
    server.is_deaf = true;
    done_count = 0;
    CHECK(!dns_begin(dns, &query, SLICE("ok.test"), clock_now_ns()));
    while (server.asked < 3) { /* twice for the name, and the probe */
        dns_server_serve(&server);
        dns_on_tick(dns, clock_now_ns());
    }
    CHECK_INT(done_count, 0);
    dns_destroy(dns);
    CHECK_INT(done_count, 1);
    CHECK_INT(query.answer.error, DNS_ERROR_CANCELLED);
    close(server.fd);
}

struct restless {
    struct dns_query query;
    struct dns *dns;
    int left;
};

static void begin_another(struct dns_query *query)
{
    struct restless *restless = (struct restless *)query;
    char name[32];
    snprintf(name, sizeof name, "ok.n%d.test", restless->left);
    if (restless->left-- > 0)
        CHECK(!dns_begin(restless->dns, query, slice_of(name), clock_now_ns()));
}

TEST(queries_begin_within_on_done)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct restless restless = {.query.on_done = begin_another, .dns = dns, .left = 20};
    begin_another(&restless.query);
    turn(dns, &server, 1);
    CHECK_INT(server.asked, 20);
    CHECK_INT(restless.left, -1);
    dns_destroy(dns);
    close(server.fd);
}

TEST(destruction_tells_those_who_wait)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_BOTH);
    struct dns_query queries[3];
    done_count = 0;
    for (int i = 0; i < 3; i++) {
        queries[i] = (struct dns_query){.on_done = on_done};
        CHECK(!dns_begin(dns, &queries[i], i ? SLICE("silent.test") : SLICE("ok.test"), clock_now_ns()));
    }
    dns_destroy(dns);
    CHECK_INT(done_count, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(queries[i].answer.error, DNS_ERROR_CANCELLED);
    close(server.fd);
}

TEST(names_under_way_are_bounded)
{
    struct dns_server server = dns_server_open();
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    struct dns_query *queries = calloc(DNS_IN_FLIGHT_MAX + 1, sizeof *queries);
    for (int i = 0; i <= DNS_IN_FLIGHT_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "silent.n%d.test", i);
        queries[i].on_done = on_done;
        CHECK_INT(dns_begin(dns, &queries[i], slice_of(name), clock_now_ns()), i == DNS_IN_FLIGHT_MAX);
    }
    CHECK_INT(queries[DNS_IN_FLIGHT_MAX].answer.error, DNS_ERROR_OVERLOADED);
    dns_destroy(dns);
    free(queries);
    close(server.fd);
}

TEST(hosts_come_first)
{
    char path[] = "/tmp/hosts.XXXXXX", message[256];
    int fd = mkstemp(path);
    CHECK(fd >= 0 && dprintf(fd, "192.0.2.9 pinned.test\n") > 0);
    struct dns_options options = DNS_OPTIONS_DEFAULT;
    options.servers = "127.0.0.1:1";
    options.hosts_path = path;
    struct dns *dns = dns_create(&options, message, sizeof message);
    CHECK(dns);
    struct dns_query query = {.on_done = on_done};
    CHECK(dns_begin(dns, &query, SLICE("Pinned.test"), UINT64_MAX / 2));
    CHECK_INT(query.answer.addresses[0].bytes[15], 9);
    dns_destroy(dns);
    close(fd);
    unlink(path);
}

TEST(bad_servers_are_said_in_one_line)
{
    struct dns_options options = DNS_OPTIONS_DEFAULT;
    char message[256];
    options.servers = "not-an-address";
    CHECK(!dns_create(&options, message, sizeof message));
    CHECK(strstr(message, "not-an-address") && !strchr(message, '\n'));
}
