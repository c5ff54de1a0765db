/* bench_crawl [OPTIONS]
 *
 * A whole crawl of a simulated web, stage by stage, beside wrk and other crawlers in the same run. See
 * bench/README.md for what the figures mean. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macro/crawl_parts.h"

#ifndef BENCH_FLAGS
#define BENCH_FLAGS "unknown flags"
#endif

struct part {
    const char *name;
    bool (*run)(const struct crawl_settings *settings, struct crawl_report *report);
    bool is_scaling; /* one of --scaling */
};

static const struct part parts[] = {
    {"server", crawl_server, false},
    {"stages", crawl_stages, false},
    {"production", crawl_production, false},
    {"loops", crawl_loops, true},
    {"queue", crawl_queue, true},
    {"slots", crawl_slots, true},
    {"disk", crawl_disk, true},
    {"known", crawl_known, true},
    {"hosts", crawl_hosts, true},
    {"connections", crawl_connections, true},
    {"whale", crawl_whale, false},
    {"politeness", crawl_politeness, false},
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static int usage(FILE *out)
{
    fprintf(out,
            "usage: bench_crawl [OPTIONS] [PART]...\n\n"
            "parts (all unless named):\n"
            "  server        the web's server beside nginx, under wrk: pages of 1 KB and 10 KB\n"
            "  stages        fetch, links, sieve and frontier, decoding, WARC, TLS, beside wrk and peers\n"
            "  production    WARC, index, journal, near-duplicates, URLs on disk: one thing more in each row, by pairs\n"
            "  loops         the whole crawl with one loop, two, and so on\n"
            "  queue         up to 50 million URLs in sieve and frontier\n"
            "  slots         20 million URLs in queues on disk\n"
            "  disk          200 million URLs of long queues in 256 MiB, a long queue beside short ones, 10 million hosts\n"
            "  known         resumed with many URLs that are done, by kind of sieve\n"
            "  hosts         1,000 to 1,000,000 hosts\n"
            "  connections   100 to 40,000 connections to servers that take 200 ms to answer\n"
            "  whale         one host with very many seeds beside 10,000 small ones, with politeness\n"
            "  politeness    the share of what the rules allow, with the audit's violations\n"
            "  --scaling     loops, queue, slots, disk, known, hosts and connections\n"
            "  --politeness  politeness\n\n"
            "  --repeats N   rounds (default 5)\n"
            "  --filter TEXT only rows whose name this extended regular expression matches (stages, production,\n"
            "                known, disk)\n"
            "  --other DIR   stages and production crawl with DIR/lycosa, too, in turns; keys that it does not\n"
            "                know are left out of its tuning file\n"
            "  --hosts N     hosts of the web of server, stages, production, loops and known (default 2000)\n"
            "  --pages N     pages per host, mean (default 50)\n"
            "  --known N     URLs of known (default 10 million)\n"
            "  --urls N      URLs of the largest row of disk (default 200 million), on the disk of TMPDIR or /tmp\n"
            "  --whale N     seeds of the large host of whale (default 1 million)\n"
            "  --seconds S   length of runs that have no end of their own (default 5)\n"
            "  --no-peers    wrk and lycosa only\n"
            "  --quick       smallest sizes, to see that it works: the first option, others may change them\n"
            "  --json FILE   the figures as JSON, too\n");
    return out == stdout ? 0 : 2;
}

static bool read_number(const char *text, double least, double most, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= least && *number <= most;
}

struct arguments {
    struct crawl_settings settings;
    const char *json;
    bool wanted[PARTS];
};

static const struct option known_options[] = {
    {"repeats", required_argument, NULL, 'r'},
    {"hosts", required_argument, NULL, 'h'},
    {"pages", required_argument, NULL, 'p'},
    {"known", required_argument, NULL, 'k'},
    {"urls", required_argument, NULL, 'u'},
    {"whale", required_argument, NULL, 'w'},
    {"seconds", required_argument, NULL, 's'},
    {"filter", required_argument, NULL, 'f'},
    {"other", required_argument, NULL, 'o'},
    {"no-peers", no_argument, NULL, 'n'},
    {"quick", no_argument, NULL, 'q'},
    {"scaling", no_argument, NULL, 'S'},
    {"politeness", no_argument, NULL, 'P'},
    {"json", required_argument, NULL, 'j'},
    {"help", no_argument, NULL, '?' + 256},
    {NULL, 0, NULL, 0},
};

/* An option with a number, whose text is optarg. */
static bool take_number(struct crawl_settings *settings, int option)
{
    static const struct {
        int option;
        double most;
    } limits[] = {{'r', SERIES_REPEATS_MAX}, {'h', 1e6}, {'p', 1e6}, {'k', 1e10}, {'u', 1e10}, {'w', 1e8}, {'s', 3600}};
    double number = 0, most = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        most = limits[i].option == option ? limits[i].most : most;
    if (!read_number(optarg, 1, most, &number))
        return false;
    settings->repeats = option == 'r' ? (unsigned)number : settings->repeats;
    settings->hosts = option == 'h' ? (unsigned)number : settings->hosts;
    settings->pages = option == 'p' ? (unsigned)number : settings->pages;
    settings->known = option == 'k' ? (uint64_t)number : settings->known;
    settings->urls = option == 'u' ? (uint64_t)number : settings->urls;
    settings->whale = option == 'w' ? (uint64_t)number : settings->whale;
    settings->seconds = option == 's' ? number : settings->seconds;
    return true;
}

/* What follows on the command line may change it. */
static void make_quick(struct crawl_settings *settings)
{
    settings->is_quick = true;
    settings->repeats = 1;
    settings->hosts = settings->pages = 20;
    settings->known = 100000;
    settings->urls = 0;
    settings->whale = 20000;
    settings->seconds = 1;
    settings->peers = false;
}

static bool take_option(struct arguments *arguments, int option)
{
    static struct crawl_build other;
    struct crawl_settings *settings = &arguments->settings;
    switch (option) {
    case 'f':
        return crawl_filter_open(&settings->filter, optarg);
    case 'o':
        settings->other = &other;
        return crawl_build_open(&other, optarg);
    case 'n':
        settings->peers = false;
        return true;
    case 'q':
        make_quick(settings);
        return true;
    case 'S':
        for (int p = 0; p < PARTS; p++)
            arguments->wanted[p] |= parts[p].is_scaling;
        return true;
    case 'P':
        arguments->wanted[PARTS - 1] = true;
        return true;
    case 'j':
        arguments->json = optarg;
        return true;
    case '?':
        return false;
    default:
        return take_number(settings, option);
    }
}

/* 0: go on; otherwise 1 + the exit code. */
static int read_options(struct arguments *arguments, int argc, char **argv)
{
    bool good = true;
    for (int option; good && (option = getopt_long(argc, argv, "", known_options, NULL)) != -1;) {
        if (option == '?' + 256)
            return 1 + usage(stdout);
        good = take_option(arguments, option);
    }
    for (int i = optind; i < argc && good; i++) {
        good = false;
        for (int p = 0; p < PARTS; p++)
            if (strcmp(argv[i], parts[p].name) == 0)
                good = arguments->wanted[p] = true;
    }
    return good ? 0 : 1 + usage(stderr);
}

static void begin_json(FILE *out)
{
    fprintf(out, "{\"machine\": \"");
    series_print_machine(out, BENCH_FLAGS);
    fprintf(out, "\", \"parts\": [\n");
}

int main(int argc, char **argv)
{
    static struct crawl_report reports[PARTS];
    static struct arguments arguments = {
        .settings = {.repeats = 5, .hosts = 2000, .pages = 50, .known = 10000000, .urls = 200000000, .whale = 1000000,
                     .seconds = 5, .peers = true}};
    int code = read_options(&arguments, argc, argv);
    if (code)
        return code - 1;
    struct crawl_settings *settings = &arguments.settings;
    FILE *json = arguments.json ? fopen(arguments.json, "we") : NULL;
    if (arguments.json && !json) {
        perror(arguments.json);
        return 1;
    }
    series_print_machine(stdout, BENCH_FLAGS);
    printf("\n%u repeats, medians\n\n", settings->repeats);
    if (json)
        begin_json(json);
    bool all = true, good = true, first = true;
    for (int p = 0; p < PARTS; p++)
        all &= !arguments.wanted[p];
    for (int p = 0; p < PARTS; p++) {
        if (!all && !arguments.wanted[p])
            continue;
        good &= parts[p].run(settings, &reports[p]);
        crawl_report_print(&reports[p], stdout);
        if (json) {
            fprintf(json, "%s", first ? "" : ",\n");
            crawl_report_write_json(&reports[p], json);
        }
        first = false;
    }
    if (json) {
        fprintf(json, "\n]}\n");
        good &= fclose(json) == 0;
    }
    return good ? 0 : 1;
}
