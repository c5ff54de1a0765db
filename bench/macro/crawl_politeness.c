/* With politeness on, how much of what its rules allow does the scheduler use?
 *
 * A visit of length v is followed by a rest of the address for max(v / p, minimum), and by a longer one of
 * the host by the host's p. At best an address is at every moment either visited or in such a rest, unless it
 * has too few hosts for that: with h hosts it can be so for h * (v + rest of the address) / (v + rest of the
 * host) of the time. The best is the sum of this over all addresses. What was reached is computed from the
 * server's journal: the sum of all visits and rests of addresses within a window, which leaves out the first
 * third of the run, in which names are resolved and visits spread, and the last tenth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "macro/crawl_parts.h"
#include "macro/process.h"

#define BURST_MS        1000.0
#define ADDRESS_RATIO   0.5
#define HOST_RATIO      0.1
#define HOST_IDLE_S     1.0
#define ADDRESS_IDLE_S  0.1
#define TOLERANCE_US    "2000"
#define CONNECTIONS_MAX (1u << 24)

static const struct crawl_report_column columns[] = {
    {"pages/s", "pages_per_s", "%.0f"},
    {"at best", "pages_per_s_at_best", "%.0f"},
    {"share", "share_of_best", "%.3f"},
    {"violations", "violations", "%.0f"},
    {"visits", "visits", "%.0f"},
    {"visit ms", "visit_ms", "%.0f"},
    {"pages/visit", "pages_per_visit", "%.1f"},
    {"cpu s/1k", "cpu_s_per_1000", "%.4f"},
};

struct visit_times {
    double begin, end;
    unsigned pages;
};

struct window {
    double begin, end; /* seconds of the journal */
    double used;       /* seconds of visits and rests within it, over all addresses */
    double pages, visits, visit_s;
};

static const char tuning[] = "[politeness]\nburst = 1s\nhost-ratio = 0.1\naddress-ratio = 0.5\n"
                             "host-min-idle = 1s\naddress-min-idle = 100ms\n[store]\nkind = none\n"
                             "[net]\nconnections = 4000\n[memory]\nhosts = 100000\n";

/* The exit code; -1, with a message, if there is none or it is above `code_max`. */
static int run_websim(const struct crawl_web *web, char *const *arguments, const char *name, int code_max)
{
    static struct process_result result;
    char output[CRAWL_WEB_PATH_BYTES];
    struct process_options options = {.arguments = arguments,
                                      .cpu = PROCESS_ANY_CPU,
                                      .output = crawl_web_path(web, name, output),
                                      .answers_by_code = true};
    process_run(&options, &result);
    if (WIFEXITED(result.status) && WEXITSTATUS(result.status) <= code_max)
        return WEXITSTATUS(result.status);
    fprintf(stderr, "bench_crawl: websim %s failed (status %#x)\n", arguments[1], (unsigned)result.status);
    return -1;
}

/* Times of all connections from the journal's text: time, connection, event, and more. */
static struct visit_times *read_visits(const struct crawl_web *web, unsigned *count, double *last)
{
    char path[CRAWL_WEB_PATH_BYTES], line[16384], event[16];
    struct visit_times *visits = NULL;
    unsigned room = 0;
    FILE *file = fopen(crawl_web_path(web, "dump", path), "re");
    *count = 0;
    *last = 0;
    while (file && fgets(line, sizeof line, file)) {
        double time;
        unsigned connection;
        if (sscanf(line, "%lf %u %15s", &time, &connection, event) != 3 || connection >= CONNECTIONS_MAX)
            continue;
        if (connection >= room) {
            unsigned more = (connection + 1) * 2;
            visits = realloc(visits, more * sizeof *visits);
            memset(visits + room, 0, (more - room) * sizeof *visits);
            room = more;
        }
        struct visit_times *visit = &visits[connection];
        if (strcmp(event, "connect") == 0)
            visit->begin = visit->end = time;
        if (strcmp(event, "end") == 0) {
            visit->end = time;
            visit->pages++;
        }
        *last = time;
        *count = connection >= *count ? connection + 1 : *count;
    }
    if (file)
        fclose(file);
    return visits;
}

static double rest_of(double visit_s, double ratio, double least_s)
{
    return visit_s / ratio > least_s ? visit_s / ratio : least_s;
}

static int compare_addresses(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* How many addresses' time can be used at best, with visits of this length. */
static double best_of(const struct crawl_web *web, double visit_s)
{
    char path[CRAWL_WEB_PATH_BYTES], line[1024], (*addresses)[16] = NULL;
    size_t count = 0, room = 0;
    double best = 0, cycle = visit_s + rest_of(visit_s, ADDRESS_RATIO, ADDRESS_IDLE_S);
    double share = cycle / (visit_s + rest_of(visit_s, HOST_RATIO, HOST_IDLE_S));
    FILE *file = crawl_web_ask(web, (const char *const[]){"zone", NULL}, "zone")
                     ? fopen(crawl_web_path(web, "zone", path), "re")
                     : NULL;
    while (file && fgets(line, sizeof line, file)) {
        if (count == room)
            addresses = realloc(addresses, (room = room * 2 + 1024) * sizeof *addresses);
        count += sscanf(line, "h%*s IN A %15s", addresses[count]) == 1;
    }
    if (file)
        fclose(file);
    if (count)
        qsort(addresses, count, sizeof *addresses, compare_addresses);
    for (size_t i = 0, hosts; i < count; i += hosts) {
        for (hosts = 1; i + hosts < count && strcmp(addresses[i], addresses[i + hosts]) == 0;)
            hosts++;
        best += (double)hosts * share < 1 ? (double)hosts * share : 1;
    }
    free(addresses);
    return best;
}

static void add_visit(struct window *window, const struct visit_times *visit)
{
    double length = visit->end - visit->begin, rest = rest_of(length, ADDRESS_RATIO, ADDRESS_IDLE_S);
    double from = visit->begin > window->begin ? visit->begin : window->begin;
    double to = visit->end + rest < window->end ? visit->end + rest : window->end;
    if (to <= from || !visit->pages)
        return;
    double share = (to - from) / (length + rest);
    window->used += to - from;
    window->pages += visit->pages * share;
    window->visits += share;
    window->visit_s += length * share;
}

/* The audit's lines go to stderr. -1: it could not be made. */
static double count_violations(const struct crawl_web *web)
{
    char program[CRAWL_WEB_PATH_BYTES + 16], journal[CRAWL_WEB_PATH_BYTES], path[CRAWL_WEB_PATH_BYTES],
        line[4096];
    double violations = -1;
    snprintf(program, sizeof program, "%s/websim", web->programs);
    char *arguments[] = {program,
                         (char[]){"audit"},
                         (char *)(uintptr_t)crawl_web_path(web, "journal", journal),
                         (char[]){"--ratio"},
                         (char[]){"0.1"},
                         (char[]){"--ip-ratio"},
                         (char[]){"0.5"},
                         (char[]){"--burst-ms"},
                         (char[]){"1000"},
                         (char[]){"--min-idle-ms"},
                         (char[]){"1000"},
                         (char[]){"--ip-min-idle-ms"},
                         (char[]){"100"},
                         (char[]){"--tolerance-us"},
                         (char[]){TOLERANCE_US},
                         NULL};
    if (run_websim(web, arguments, "audit", 1) < 0) /* 1: there are violations */
        return -1;
    FILE *file = fopen(crawl_web_path(web, "audit", path), "re");
    while (file && fgets(line, sizeof line, file)) {
        const char *word = strstr(line, " violations\n");
        if (word && strncmp(line, "audit: ", strlen("audit: ")) == 0)
            violations = strtod(line + strlen("audit: "), NULL);
        fputs(line, stderr);
    }
    if (file)
        fclose(file);
    return violations;
}

/* The violations of a round; -1: it could not be judged. */
static double judge(const struct crawl_web *web, const struct crawl_run *run, struct crawl_report *report)
{
    char program[CRAWL_WEB_PATH_BYTES + 16], journal[CRAWL_WEB_PATH_BYTES];
    unsigned count;
    double last, violations = count_violations(web);
    snprintf(program, sizeof program, "%s/websim", web->programs);
    crawl_web_path(web, "journal", journal);
    char *arguments[] = {program, (char[]){"journal"}, (char[]){"dump"}, journal, NULL};
    struct visit_times *visits =
        run_websim(web, arguments, "dump", 0) == 0 ? read_visits(web, &count, &last) : NULL;
    if (!visits || violations < 0) {
        free(visits);
        return -1;
    }
    struct window window = {.begin = last / 3, .end = last * 0.9};
    for (unsigned i = 0; i < count; i++)
        add_visit(&window, &visits[i]);
    free(visits);
    double seconds = window.end - window.begin, visit_s = window.visit_s / window.visits;
    double share = window.used / (best_of(web, visit_s) * seconds);
    double rate = window.pages / seconds;
    crawl_report_add(report, "burst 1 s, host 1:10, address 1:2",
                     (const double[]){rate, rate / share, share, violations, window.visits, visit_s * 1000,
                                      window.pages / window.visits,
                                      (run->user_s + run->system_s) * 1000 / (double)run->pages});
    return violations;
}

bool crawl_politeness(const struct crawl_settings *settings, struct crawl_report *report)
{
    const char *hosts = settings->is_quick ? "50" : "10000", *addresses = settings->is_quick ? "10" : "2000";
    const char *const options[] = {"--plain", "--hosts",  hosts,     "--addresses", addresses,
                                   "--pages", "3000",     "--depth", "4",           "--think-ms",
                                   "200",     "--rtt-ms", "20",      NULL};
    report->title = "politeness: latencies of 200 ms, share of what the rules allow at best";
    report->columns = columns;
    report->column_count = sizeof columns / sizeof columns[0];
    bool good = true;
    double violations = 0;
    for (unsigned i = 0; i < settings->repeats && good; i++) {
        struct crawl_web web;
        struct crawl_run run;
        struct crawl_run_options how = {
            .tuning = tuning, .seeds = "seeds", .seconds_max = (unsigned)settings->seconds * 8};
        if (!crawl_web_begin(&web, &(struct crawl_web_options){.web = options, .journal = true}))
            return false;
        good = crawl_web_write_seeds(&web) && crawl_run(&web, &how, &run);
        crawl_web_finish(&web, true);
        double found = good ? judge(&web, &run, report) : -1;
        good = found >= 0;
        violations += good ? found : 0;
        crawl_web_finish(&web, false);
    }
    if (violations > 0)
        fprintf(stderr, "bench_crawl: politeness: the audit found %.0f violations in all rounds\n",
                violations);
    return good && violations == 0;
}
