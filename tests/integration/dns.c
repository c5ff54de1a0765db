/* The resolver against a real name server: nsd, with zones made for the test. */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "net/dns.h"
#include "tests/support/check.h"

extern char **environ;

static const char zone[] = "$ORIGIN zone.test.\n"
                           "$TTL 3600\n"
                           "@ IN SOA ns hostmaster 1 2 3 4 45\n"
                           "@ IN NS ns\n"
                           "ns IN A 127.0.0.1\n"
                           "four 120 IN A 192.0.2.4\n"
                           "six 120 IN AAAA 2001:db8::6\n"
                           "both 120 IN A 192.0.2.10\n"
                           "both 120 IN AAAA 2001:db8::10\n"
                           "text IN TXT \"no address\"\n"
                           "alias0 300 IN CNAME alias1\n"
                           "alias1 90 IN CNAME alias2\n"
                           "alias2 300 IN CNAME alias3\n"
                           "alias3 300 IN CNAME both\n"
                           "dangling IN CNAME nowhere\n"
                           "abroad IN CNAME www.elsewhere.example.\n"
                           "circle IN CNAME circle2\n"
                           "circle2 IN CNAME circle\n"
                           "*.wild IN A 192.0.2.77\n";

static char directory[64];
static pid_t nsd;
static uint16_t port;

static void write_file(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void write_file(const char *name, const char *format, ...)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    CHECK(file);
    va_list args;
    va_start(args, format);
    CHECK(vfprintf(file, format, args) >= 0);
    va_end(args);
    fclose(file);
}

static void stop(void)
{
    pid_t pid;
    if (nsd > 0) {
        kill(nsd, SIGTERM);
        waitpid(nsd, NULL, 0);
    }
    const char *const arguments[] = {"rm", "-rf", directory, NULL};
    if (posix_spawnp(&pid, "rm", NULL, NULL, (char *const *)arguments, environ) == 0)
        waitpid(pid, NULL, 0);
}

/* A port that is free for UDP and TCP at this moment. */
static uint16_t free_port(void)
{
    for (;;) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof address;
        int udp = socket(AF_INET, SOCK_DGRAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(udp >= 0 && tcp >= 0 && bind(udp, (struct sockaddr *)&address, len) == 0);
        CHECK(getsockname(udp, (struct sockaddr *)&address, &len) == 0);
        bool is_free = bind(tcp, (struct sockaddr *)&address, len) == 0;
        close(udp);
        close(tcp);
        if (is_free)
            return ntohs(address.sin_port);
    }
}

static void write_zones(void)
{
    write_file("zone", "%s", zone);
    /* A set of addresses that is too large for UDP. */
    char path[128];
    snprintf(path, sizeof path, "%s/zone", directory);
    FILE *file = fopen(path, "a");
    for (int i = 0; i < 250; i++)
        fprintf(file, "large 120 IN A 192.0.3.%d\n", i);
    fclose(file);
    write_file("nsd.conf",
               "server:\n  ip-address: 127.0.0.1@%u\n  username: \"\"\n  zonesdir: \"%s\"\n  pidfile: \"\"\n"
               "  database: \"\"\n  xfrdfile: \"%s/xfrd\"\n  zonelistfile: \"%s/zonelist\"\n  server-count: "
               "1\n  rrl-ratelimit: 0\n"
               "  logfile: \"%s/log\"\nremote-control:\n  control-enable: no\n"
               "zone:\n  name: zone.test\n  zonefile: zone\n"
               "zone:\n  name: unloaded.test\n  zonefile: absent\n",
               port, directory, directory, directory, directory);
}

static struct dns *resolver(const char *servers)
{
    struct dns_options options = DNS_OPTIONS_DEFAULT;
    char message[256], list[64];
    snprintf(list, sizeof list, "127.0.0.1:%u", port);
    options.servers = servers ? servers : list;
    options.hosts_path = "";
    options.timeout_ms = 300;
    options.tries = 2;
    options.cache.entries_max = 1000;
    struct dns *dns = dns_create(&options, message, sizeof message);
    if (!dns)
        check_failed(__FILE__, __LINE__, "%s", message);
    return dns;
}

static void turn(struct dns *dns)
{
    while (dns_is_busy(dns)) {
        struct pollfd poll_dns = {.fd = dns_fd(dns), .events = POLLIN};
        CHECK(poll(&poll_dns, 1, DNS_TICK_MS) >= 0);
        if (poll_dns.revents)
            dns_on_ready(dns, clock_now_ns());
        else
            dns_on_tick(dns, clock_now_ns());
    }
}

static void on_done(struct dns_query *query)
{
    (void)query;
}

static struct dns_answer resolve(struct dns *dns, const char *name)
{
    struct dns_query query = {.on_done = on_done};
    if (!dns_begin(dns, &query, slice_of(name), clock_now_ns()))
        turn(dns);
    return query.answer;
}

static void start(void)
{
    if (nsd)
        return;
    if (access("/usr/sbin/nsd", X_OK) != 0)
        SKIP("nsd is not installed");
    snprintf(directory, sizeof directory, "/tmp/nsd.XXXXXX");
    CHECK(mkdtemp(directory));
    port = free_port();
    write_zones();
    char config[128];
    snprintf(config, sizeof config, "%s/nsd.conf", directory);
    nsd = fork();
    CHECK(nsd >= 0);
    if (nsd == 0) {
        /* A test that fails aborts: the server must not outlive it. */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execl("/usr/sbin/nsd", "nsd", "-d", "-c", config, (char *)NULL);
        _exit(127);
    }
    atexit(stop);
    /* It is up when it answers. */
    enum dns_error error;
    uint64_t deadline_ns = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    do {
        struct dns *dns = resolver(NULL);
        error = resolve(dns, "four.zone.test").error;
        dns_destroy(dns);
    } while (error != DNS_OK && clock_now_ns() < deadline_ns);
    CHECK_STR(dns_error_text(error), "ok");
}

static void check_addresses(const struct dns_answer *answer, const char *first, const char *second)
{
    char text[IP_TEXT_BYTES];
    CHECK_STR(dns_error_text(answer->error), "ok");
    CHECK_INT(answer->count, second ? 2 : 1);
    CHECK_SLICE(ip_text(&answer->addresses[0], text), first);
    if (second)
        CHECK_SLICE(ip_text(&answer->addresses[1], text), second);
}

TEST(addresses)
{
    start();
    struct dns *dns = resolver(NULL);
    struct dns_answer answer = resolve(dns, "four.zone.test");
    check_addresses(&answer, "192.0.2.4", NULL);
    answer = resolve(dns, "six.zone.test");
    check_addresses(&answer, "2001:db8::6", NULL);
    answer = resolve(dns, "both.zone.test");
    check_addresses(&answer, "192.0.2.10", "2001:db8::10");
    answer = resolve(dns, "any.wild.zone.test");
    check_addresses(&answer, "192.0.2.77", NULL);
    dns_destroy(dns);
}

TEST(alias_chains)
{
    start();
    struct dns *dns = resolver(NULL);
    struct dns_answer answer = resolve(dns, "alias0.zone.test");
    check_addresses(&answer, "192.0.2.10", "2001:db8::10");
    /* The least time to live of the chain is 90 s. */
    struct dns_query query = {.on_done = on_done};
    CHECK(dns_begin(dns, &query, SLICE("alias0.zone.test"), clock_now_ns() + 85 * CLOCK_NS_PER_S));
    CHECK(!dns_begin(dns, &query, SLICE("alias0.zone.test"), clock_now_ns() + 91 * CLOCK_NS_PER_S));
    turn(dns);
    CHECK_INT(resolve(dns, "dangling.zone.test").error, DNS_ERROR_NO_NAME);
    CHECK_INT(resolve(dns, "abroad.zone.test").error, DNS_ERROR_NO_DATA);
    CHECK(resolve(dns, "circle.zone.test").error != DNS_OK);
    dns_destroy(dns);
}

TEST(failures)
{
    start();
    struct dns *dns = resolver(NULL);
    CHECK_STR(dns_error_text(resolve(dns, "nothing.zone.test").error), "no-name");
    CHECK_STR(dns_error_text(resolve(dns, "text.zone.test").error), "no-data");
    CHECK_STR(dns_error_text(resolve(dns, "a.unloaded.test").error), "server-failed");
    /* Lame: the server does not know the zone. */
    CHECK_STR(dns_error_text(resolve(dns, "www.elsewhere.example").error), "refused");
    dns_destroy(dns);
}

TEST(a_no_holds_as_long_as_its_soa_says)
{
    start();
    struct dns *dns = resolver(NULL);
    CHECK_INT(resolve(dns, "nothing.zone.test").error, DNS_ERROR_NO_NAME);
    struct dns_query query = {.on_done = on_done};
    CHECK(dns_begin(dns, &query, SLICE("nothing.zone.test"), clock_now_ns() + 40 * CLOCK_NS_PER_S));
    CHECK(!dns_begin(dns, &query, SLICE("nothing.zone.test"), clock_now_ns() + 46 * CLOCK_NS_PER_S));
    turn(dns);
    dns_destroy(dns);
}

TEST(a_truncated_answer_comes_by_tcp)
{
    start();
    struct dns *dns = resolver(NULL);
    struct dns_answer answer = resolve(dns, "large.zone.test");
    CHECK_STR(dns_error_text(answer.error), "ok");
    CHECK_INT(answer.count, DNS_ADDRESSES_MAX);
    CHECK_INT(answer.addresses[0].bytes[14], 3);
    dns_destroy(dns);
}

TEST(a_silent_server_times_out)
{
    start();
    int silent = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    CHECK(bind(silent, (struct sockaddr *)&address, len) == 0);
    CHECK(getsockname(silent, (struct sockaddr *)&address, &len) == 0);
    char list[64];
    snprintf(list, sizeof list, "127.0.0.1:%u", ntohs(address.sin_port));
    struct dns *dns = resolver(list);
    uint64_t begin_ns = clock_now_ns();
    CHECK_STR(dns_error_text(resolve(dns, "four.zone.test").error), "timeout");
    uint64_t took_ms = (clock_now_ns() - begin_ns) / CLOCK_NS_PER_MS;
    CHECK(took_ms >= 300 + 600 && took_ms < 10000);
    dns_destroy(dns);
    /* With a living one beside it, it only costs time. */
    snprintf(list, sizeof list, "127.0.0.1:%u,127.0.0.1:%u", ntohs(address.sin_port), port);
    dns = resolver(list);
    CHECK_STR(dns_error_text(resolve(dns, "four.zone.test").error), "ok");
    dns_destroy(dns);
    close(silent);
}

TEST(many_names_at_once)
{
    start();
    enum { NAMES = 2000 };
    struct dns *dns = resolver(NULL);
    struct dns_query *queries = calloc(NAMES, sizeof *queries);
    for (int i = 0; i < NAMES; i++) {
        char name[64];
        snprintf(name, sizeof name, "n%d.wild.zone.test", i);
        queries[i].on_done = on_done;
        CHECK(!dns_begin(dns, &queries[i], slice_of(name), clock_now_ns()));
    }
    turn(dns);
    for (int i = 0; i < NAMES; i++)
        check_addresses(&queries[i].answer, "192.0.2.77", NULL);
    struct dns_counts counts;
    dns_counts(dns, &counts);
    CHECK_INT(counts.asked, 2 * NAMES);
    CHECK_INT(counts.cache.entries, 1000);
    dns_destroy(dns);
    free(queries);
}
