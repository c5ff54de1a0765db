/* bench_fetch [--seconds S] [--repeats N] [rates|hold|tls]...
 *
 *   rates   requests per second of one loop on one processor, against nginx on the other,
 *           beside wrk in the same run
 *   hold    32,000 kept-alive connections on two loops, a request on each every few seconds
 *   tls     handshakes and bulk, beside OpenSSL
 *
 * Each figure is the median of the repeats, with the smallest and the largest. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "macro/fetch_client.h"
#include "macro/fetch_peer.h"
#include "macro/nginx.h"
#include "macro/series.h"

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

struct settings {
    double seconds;
    unsigned repeats;
};

/* The repeats of one client in one row. */
struct client_series {
    const char *name;
    double rate[SERIES_REPEATS_MAX];
    double cpu_us[SERIES_REPEATS_MAX];
    double user_us[SERIES_REPEATS_MAX];
    double enters[SERIES_REPEATS_MAX];
};

static void print_machine(const struct settings *settings)
{
    series_print_machine(stdout, BENCH_FLAGS);
    printf("\n%u repeats of %.1f s, medians [smallest largest]\n\n", settings->repeats, settings->seconds);
}

static void record_own(struct client_series *series, unsigned i, const struct fetch_result *result)
{
    const double requests = result->requests ? (double)result->requests : 1;
    series->rate[i] = (double)result->requests / result->seconds;
    series->cpu_us[i] = (result->user_us + result->system_us) / requests;
    series->user_us[i] = result->user_us / requests;
    series->enters[i] = (double)result->enters / requests;
}

static void print_row(const char *path, unsigned connections, struct client_series *series, unsigned repeats)
{
    const double rate = series_median(series->rate, repeats);
    printf("%-5s %6u  %-7s %9.0f [%7.0f %7.0f]  %7.2f  %7.2f", path + 1, connections, series->name, rate,
           series->rate[0], series->rate[repeats - 1], series_median(series->cpu_us, repeats),
           series_median(series->user_us, repeats));
    if (series->enters[0] > 0)
        printf("  %7.4f", series_median(series->enters, repeats));
    printf("\n");
    fflush(stdout);
}

static bool measure_rate(const struct settings *settings, const struct nginx *server, const char *path,
                         unsigned connections)
{
    struct client_series own = {.name = "lycosa"}, wrk = {.name = "wrk"};
    const struct fetch_load load = {.port = server->port,
                                    .path = path,
                                    .addresses = 1,
                                    .loops = 1,
                                    .first_cpu = 1,
                                    .connections = connections,
                                    .seconds = settings->seconds};
    for (unsigned i = 0; i < settings->repeats; i++) {
        struct fetch_result result = {0};
        struct fetch_peer_result peer;
        if (!fetch_client_run(&load, &result) || result.failures) {
            fprintf(stderr, "bench_fetch: %llu failures\n", (unsigned long long)result.failures);
            return false;
        }
        record_own(&own, i, &result);
        if (!fetch_peer_wrk(&load, &peer))
            return false;
        wrk.rate[i] = peer.rate;
        wrk.cpu_us[i] = peer.cpu_us;
        wrk.user_us[i] = peer.user_us;
    }
    print_row(path, connections, &own, settings->repeats);
    print_row(path, connections, &wrk, settings->repeats);
    return true;
}

static bool run_rates(const struct settings *settings)
{
    struct nginx server;
    if (!nginx_begin(&server, &(struct nginx_options){.workers = 1, .cpus = "01", .addresses = 1}))
        return false;
    printf("one loop on processor 1, nginx on processor 0\n");
    printf("%-5s %6s  %-7s %9s %17s  %7s  %7s  %7s\n", "body", "conns", "client", "req/s", "", "cpu us",
           "user us", "enters");
    bool good = true;
    static const char *const paths[] = {"/1k", "/10k"};
    static const unsigned connections[] = {64, 1000};
    for (unsigned p = 0; p < 2 && good; p++)
        for (unsigned c = 0; c < 2 && good; c++)
            good = measure_rate(settings, &server, paths[p], connections[c]);
    nginx_finish(&server);
    printf("\n");
    return good;
}

static bool run_hold(const struct settings *settings)
{
    struct nginx server;
    struct fetch_result result = {0};
    const struct fetch_load load = {.path = "/1k",
                                    .addresses = 8,
                                    .loops = 2,
                                    .connections = 32000,
                                    .seconds = settings->seconds * settings->repeats,
                                    .interval_ms = 3000};
    struct fetch_load to = load;
    if (!nginx_begin(&server,
                     &(struct nginx_options){.workers = 2, .cpus = "01 10", .addresses = load.addresses}))
        return false;
    to.port = server.port;
    const bool good =
        fetch_client_run(&to, &result) && result.failures == 0 && result.open == load.connections;
    printf("%u kept-alive connections on %u loops, a request on each every %.0f s, file limit %ld\n",
           load.connections, load.loops, load.interval_ms / 1000.0, sysconf(_SC_OPEN_MAX));
    printf("open at the end %llu, failures %llu, requests %llu in %.1f s, %.0f bytes of user memory per "
           "connection\n\n",
           (unsigned long long)result.open, (unsigned long long)result.failures,
           (unsigned long long)result.requests, result.seconds, result.connection_bytes);
    nginx_finish(&server);
    return good;
}

/* Figures per second of processor time of the client, which the server's pace does not touch. */
struct tls_series {
    double full[SERIES_REPEATS_MAX];
    double resumed[SERIES_REPEATS_MAX];
    double bulk[SERIES_REPEATS_MAX];
    double context_bytes;
};

static bool measure_own_tls(const struct fetch_load *load, struct tls_series *series, unsigned i)
{
    struct fetch_load handshakes = *load, bulk = *load, idle = *load;
    struct fetch_result full = {0}, resumed = {0}, body = {0}, quiet = {0};
    handshakes.handshakes = true;
    bulk.connections = 1;
    bulk.path = "/16m";
    idle.connections = 500;
    idle.interval_ms = 1000;
    if (!fetch_client_run(&handshakes, &full) || !fetch_client_run(&bulk, &body))
        return false;
    handshakes.resumes = true;
    if (!fetch_client_run(&handshakes, &resumed) || !fetch_client_run(&idle, &quiet) || quiet.failures ||
        full.failures || resumed.failures || body.failures)
        return false;
    series->full[i] = (double)full.requests * 1e6 / (full.user_us + full.system_us);
    series->resumed[i] = (double)resumed.requests * 1e6 / (resumed.user_us + resumed.system_us);
    series->bulk[i] = (double)body.bytes / (body.user_us + body.system_us);
    series->context_bytes = quiet.tls_bytes;
    return true;
}

static bool measure_peer_tls(const struct fetch_load *load, struct tls_series *series, unsigned i)
{
    struct fetch_peer_tls full, resumed, bulk;
    if (!fetch_peer_openssl(load, false, NULL, &full) || !fetch_peer_openssl(load, true, NULL, &resumed) ||
        !fetch_peer_openssl(load, true, "/16m", &bulk))
        return false;
    series->full[i] = full.connections * 1e6 / full.cpu_us;
    series->resumed[i] = resumed.connections * 1e6 / resumed.cpu_us;
    series->bulk[i] = bulk.connections * bulk.bytes / bulk.cpu_us;
    return true;
}

static void print_tls(const char *name, struct tls_series *series, unsigned repeats)
{
    double *const columns[] = {series->full, series->resumed, series->bulk};
    printf("%-9s", name);
    for (size_t c = 0; c < 3; c++) {
        const double middle = series_median(columns[c], repeats);
        printf(" %8.0f [%6.0f %6.0f]", middle, columns[c][0], columns[c][repeats - 1]);
    }
    printf("\n");
}

static bool run_tls(const struct settings *settings)
{
    static struct tls_series own, peer;
    struct nginx server;
    char cacert[128];
    if (!nginx_begin(&server,
                     &(struct nginx_options){.workers = 1, .cpus = "01", .addresses = 1, .tls = true}))
        return false;
    snprintf(cacert, sizeof cacert, "%s/cert.pem", server.directory);
    const struct fetch_load load = {.port = server.tls_port,
                                    .path = "/1k",
                                    .addresses = 1,
                                    .loops = 1,
                                    .first_cpu = 1,
                                    .connections = 16,
                                    .seconds = settings->seconds,
                                    .cacert = cacert};
    bool good = true;
    for (unsigned i = 0; i < settings->repeats && good; i++)
        good = measure_own_tls(&load, &own, i) && measure_peer_tls(&load, &peer, i);
    if (good) {
        printf("TLS 1.2, RSA 2048, per second of the client's processor time\n");
        printf("%-9s %24s %24s %24s\n", "client", "full handshakes", "resumed handshakes", "MB of body");
        print_tls("lycosa", &own, settings->repeats);
        print_tls("openssl", &peer, settings->repeats);
        printf("lycosa holds %.0f bytes for TLS per idle connection, of 500\n\n", own.context_bytes);
    }
    nginx_finish(&server);
    return good;
}

static int usage(void)
{
    fprintf(stderr, "usage: bench_fetch [--seconds S] [--repeats N] [rates|hold|tls]...\n");
    return 2;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"seconds", required_argument, NULL, 's'},
                                          {"repeats", required_argument, NULL, 'r'},
                                          {NULL, 0, NULL, 0}};
    static const struct {
        const char *name;
        bool (*run)(const struct settings *settings);
    } parts[] = {{"rates", run_rates}, {"hold", run_hold}, {"tls", run_tls}};
    const size_t part_count = sizeof parts / sizeof parts[0];
    struct settings settings = {.seconds = 2, .repeats = 5};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (option == 's')
            settings.seconds = atof(optarg);
        else if (option == 'r')
            settings.repeats = (unsigned)strtoul(optarg, NULL, 10);
        else
            return usage();
    }
    if (settings.seconds <= 0 || settings.repeats < 1 || settings.repeats > SERIES_REPEATS_MAX)
        return usage();
    for (int i = optind; i < argc; i++) {
        size_t p = 0;
        while (p < part_count && strcmp(argv[i], parts[p].name) != 0)
            p++;
        if (p == part_count)
            return usage();
    }
    print_machine(&settings);
    bool good = true;
    for (size_t p = 0; p < part_count; p++) {
        bool wanted = optind == argc;
        for (int i = optind; i < argc; i++)
            wanted |= strcmp(argv[i], parts[p].name) == 0;
        if (wanted)
            good &= parts[p].run(&settings);
    }
    return good ? 0 : 1;
}
