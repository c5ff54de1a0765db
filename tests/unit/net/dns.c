/* The resolver against servers in the same thread: UDP sockets whose answers are made here, by the first
 * label of the name asked for. */
#include "net/dns.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

enum rcode { NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED };

struct server {
    int fd;
    uint16_t port;
    unsigned asked;
    enum rcode rcode_always; /* unless NOERROR */
};

static struct server server_open(void)
{
    struct server server = {.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    CHECK(server.fd >= 0 && bind(server.fd, (struct sockaddr *)&address, len) == 0);
    CHECK(getsockname(server.fd, (struct sockaddr *)&address, &len) == 0);
    server.port = ntohs(address.sin_port);
    return server;
}

static bool begins_with(const unsigned char *query, const char *label)
{
    return query[12] == strlen(label) && memcmp(query + 13, label, strlen(label)) == 0;
}

/* Appends an address record for the name of the question. */
static size_t add_record(unsigned char *message, size_t len, unsigned type, uint8_t last)
{
    unsigned bytes = type == 1 ? 4 : 16;
    memcpy(message + len, "\xc0\x0c\0\0\0\1\0\0\0\x78\0\0", 12);
    message[len + 3] = (unsigned char)type;
    message[len + 11] = (unsigned char)bytes;
    memset(message + len + 12, 1, bytes);
    message[len + 12 + bytes - 1] = last;
    message[7]++;
    return len + 12 + bytes;
}

/* Turns the query into its answer. 0: there is none. */
static size_t answer(const struct server *server, unsigned char *message)
{
    size_t question = 12;
    while (message[question])
        question += message[question] + 1U;
    unsigned type = message[question + 2];
    size_t len = question + 5;
    message[2] |= 0x80;
    message[11] = 0; /* without the EDNS record */
    static const struct {
        const char *label;
        enum rcode rcode;
    } failures[] = {{"formerr", FORMERR},
                    {"servfail", SERVFAIL},
                    {"nx", NXDOMAIN},
                    {"notimp", NOTIMP},
                    {"refused", REFUSED}};
    enum rcode rcode = server->rcode_always;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (begins_with(message, failures[i].label))
            rcode = failures[i].rcode;
    message[3] = (unsigned char)((message[3] & 0xf0) | rcode);
    if (rcode != NOERROR || begins_with(message, "nodata"))
        return len;
    if (begins_with(message, "silent"))
        return 0;
    if (begins_with(message, "stranger"))
        message[0] ^= 1;
    if (begins_with(message, "broken")) {
        message[7] = 5;
        return len;
    }
    if (begins_with(message, "six") && type == 1)
        return len;
    if (begins_with(message, "half") && type == 28) {
        message[3] |= SERVFAIL;
        return len;
    }
    for (int i = 0; i < (begins_with(message, "many") ? 12 : 1); i++)
        len = add_record(message, len, type, (uint8_t)(i + 1));
    return len;
}

static void serve(struct server *server)
{
    unsigned char message[2048] = {0};
    struct sockaddr_in from;
    socklen_t from_len = sizeof from;
    ssize_t len;
    while ((len = recvfrom(server->fd, message, 512, 0, (struct sockaddr *)&from, &from_len)) > 0) {
        server->asked++;
        size_t answer_len = answer(server, message);
        if (answer_len)
            CHECK(sendto(server->fd, message, answer_len, 0, (struct sockaddr *)&from, from_len) > 0);
        memset(message, 0, sizeof message);
    }
}

static unsigned done_count;

static void on_done(struct dns_query *query)
{
    (void)query;
    done_count++;
}

static struct dns *resolver(const struct server *servers, size_t count, enum dns_families families)
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
static void turn(struct dns *dns, struct server *servers, size_t count)
{
    while (dns_is_busy(dns)) {
        struct pollfd polls[3] = {{.fd = dns_fd(dns), .events = POLLIN}};
        for (size_t i = 0; i < count; i++)
            polls[i + 1] = (struct pollfd){.fd = servers[i].fd, .events = POLLIN};
        CHECK(poll(polls, (nfds_t)count + 1, 10) >= 0);
        for (size_t i = 0; i < count; i++)
            serve(&servers[i]);
        dns_on_ready(dns, clock_now_ns());
        dns_on_tick(dns, clock_now_ns());
    }
}

static struct dns_answer resolve(struct dns *dns, struct server *servers, size_t count, const char *name)
{
    struct dns_query query = {.on_done = on_done};
    if (!dns_begin(dns, &query, slice_of(name), clock_now_ns()))
        turn(dns, servers, count);
    return query.answer;
}

TEST(literals_need_no_server)
{
    struct server server = server_open();
    struct dns *dns = resolver(&server, 1, DNS_BOTH);
    struct dns_answer found = resolve(dns, &server, 1, "192.0.2.3");
    CHECK_INT(found.error, DNS_OK);
    CHECK_INT(found.count, 1);
    CHECK_INT(found.addresses[0].family, AF_INET);
    CHECK(found.until_ns == UINT64_MAX);
    found = resolve(dns, &server, 1, "2001:db8::1");
    CHECK_INT(found.addresses[0].family, AF_INET6);
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
    struct server server = server_open();
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
    struct server server = server_open();
    close(server.fd);
    struct dns *dns = resolver(&server, 1, DNS_IPV4);
    CHECK_INT(resolve(dns, NULL, 0, "ok.test").error, DNS_ERROR_UNREACHABLE);
    dns_destroy(dns);
}

TEST(families)
{
    struct server server = server_open();
    struct dns *dns = resolver(&server, 1, DNS_BOTH);
    struct dns_answer found = resolve(dns, &server, 1, "ok.test");
    CHECK_INT(found.count, 2);
    CHECK_INT(found.addresses[0].family, AF_INET);
    CHECK_INT(found.addresses[1].family, AF_INET6);
    found = resolve(dns, &server, 1, "many.test");
    CHECK_INT(found.count, DNS_ADDRESSES_MAX);
    CHECK_INT(found.addresses[0].family, AF_INET);
    CHECK_INT(found.addresses[0].bytes[3], 1);
    CHECK(found.was_fresh);
    found = resolve(dns, &server, 1, "six.test");
    CHECK_INT(found.count, 1);
    CHECK_INT(found.addresses[0].family, AF_INET6);
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
    struct server server = server_open();
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
    struct server server = server_open();
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
    struct server server = server_open();
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
    static const enum rcode failures[] = {SERVFAIL, REFUSED, NOTIMP};
    for (size_t i = 0; i < 3; i++) {
        struct server servers[2] = {server_open(), server_open()};
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
    struct server servers[2] = {server_open(), server_open()};
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
    struct server server = server_open();
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
    struct server server = server_open();
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
    struct server server = server_open();
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
    CHECK_INT(query.answer.addresses[0].bytes[3], 9);
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
