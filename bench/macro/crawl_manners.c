#include "macro/crawl_manners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "macro/process.h"

#define ADDRESS_RATIO   0.5
#define HOST_RATIO      0.1
#define HOST_IDLE_S     1.0
#define ADDRESS_IDLE_S  0.1
#define TOLERANCE_US    "2000"
#define CONNECTIONS_MAX (1u << 24)

const char crawl_manners_tuning[] = "[politeness]\nburst = 1s\nhost-ratio = 0.1\naddress-ratio = 0.5\n"
                                    "host-min-idle = 1s\naddress-min-idle = 100ms\n[store]\nkind = none\n"
                                    "[net]\nconnections = 4000\n[memory]\nhosts = 100000\n";

struct visit_times {
    double begin, end;
    unsigned pages;
    bool is_apart; /* of the host that stands apart */
};

struct visits {
    struct visit_times *all; /* by connection */
    unsigned count, room;
    double last; /* seconds: when the journal ends */
    double pages_apart;
};

struct window {
    double begin, end; /* seconds of the journal */
    double used;       /* seconds of visits and rests within it, over all addresses */
    double pages, visits, visit_s;
};

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

static struct visit_times *visit_of(struct visits *visits, unsigned connection)
{
    if (connection >= visits->room) {
        unsigned more = (connection + 1) * 2;
        visits->all = realloc(visits->all, more * sizeof *visits->all);
        memset(visits->all + visits->room, 0, (more - visits->room) * sizeof *visits->all);
        visits->room = more;
    }
    visits->count = connection >= visits->count ? connection + 1 : visits->count;
    return &visits->all[connection];
}

/* A line of the journal's text: time, connection, event, status, delay, URL. */
static void take_line(struct visits *visits, const char *line, const char *apart)
{
    double time;
    unsigned connection;
    char event[16];
    int url = 0;
    if (sscanf(line, "%lf %u %15s %*u %*u %n", &time, &connection, event, &url) != 3 || connection >= CONNECTIONS_MAX)
        return;
    struct visit_times *visit = visit_of(visits, connection);
    if (strcmp(event, "connect") == 0)
        visit->begin = visit->end = time;
    if (strcmp(event, "end") == 0) {
        visit->end = time;
        visit->pages++;
        visit->is_apart = apart && url && strncmp(line + url, apart, strlen(apart)) == 0;
        visits->pages_apart += visit->is_apart;
    }
    visits->last = time;
}

static bool read_visits(const struct crawl_web *web, const char *apart, struct visits *visits)
{
    char program[CRAWL_WEB_PATH_BYTES + 16], journal[CRAWL_WEB_PATH_BYTES], path[CRAWL_WEB_PATH_BYTES], line[16384];
    snprintf(program, sizeof program, "%s/websim", web->programs);
    crawl_web_path(web, "journal", journal);
    char *arguments[] = {program, (char[]){"journal"}, (char[]){"dump"}, journal, NULL};
    if (run_websim(web, arguments, "dump", 0) != 0)
        return false;
    FILE *file = fopen(crawl_web_path(web, "dump", path), "re");
    while (file && fgets(line, sizeof line, file))
        take_line(visits, line, apart);
    if (file)
        fclose(file);
    return visits->count > 0;
}

static double rest_of(double visit_s, double ratio, double least_s)
{
    return visit_s / ratio > least_s ? visit_s / ratio : least_s;
}

/* How many addresses' time can be used at best, with visits of this length. */
static double best_of(const struct crawl_manners_zone *zone, const char *apart, double visit_s)
{
    double best = 0, cycle = visit_s + rest_of(visit_s, ADDRESS_RATIO, ADDRESS_IDLE_S);
    double share = cycle / (visit_s + rest_of(visit_s, HOST_RATIO, HOST_IDLE_S));
    for (size_t i = 0, hosts; i < zone->count; i += hosts) {
        bool is_apart = false;
        for (hosts = 0; i + hosts < zone->count && strcmp(zone->hosts[i].address, zone->hosts[i + hosts].address) == 0;
             hosts++)
            is_apart |= apart && crawl_manners_is_of(apart, zone->hosts[i + hosts].name);
        if (!is_apart)
            best += (double)hosts * share < 1 ? (double)hosts * share : 1;
    }
    return best;
}

static void add_visit(struct window *window, const struct visit_times *visit)
{
    double length = visit->end - visit->begin, rest = rest_of(length, ADDRESS_RATIO, ADDRESS_IDLE_S);
    double from = visit->begin > window->begin ? visit->begin : window->begin;
    double to = visit->end + rest < window->end ? visit->end + rest : window->end;
    if (to <= from || !visit->pages || visit->is_apart)
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

static int compare_addresses(const void *a, const void *b)
{
    return strcmp(((const struct crawl_manners_host *)a)->address, ((const struct crawl_manners_host *)b)->address);
}

bool crawl_manners_read_zone(const struct crawl_web *web, struct crawl_manners_zone *zone)
{
    char path[CRAWL_WEB_PATH_BYTES], line[1024];
    size_t room = 0;
    FILE *file = crawl_web_ask(web, (const char *const[]){"zone", NULL}, "zone")
                     ? fopen(crawl_web_path(web, "zone", path), "re")
                     : NULL;
    *zone = (struct crawl_manners_zone){0};
    while (file && fgets(line, sizeof line, file)) {
        if (zone->count == room)
            zone->hosts = realloc(zone->hosts, (room = room * 2 + 1024) * sizeof *zone->hosts);
        struct crawl_manners_host *host = &zone->hosts[zone->count];
        zone->count += sscanf(line, "%63[^ ] IN A %15s", host->name, host->address) == 2 && host->name[0] == 'h';
    }
    if (file)
        fclose(file);
    if (zone->count)
        qsort(zone->hosts, zone->count, sizeof *zone->hosts, compare_addresses);
    return zone->count > 0;
}

bool crawl_manners_is_of(const char *origin, const char *name)
{
    size_t len = strlen(name) - 1; /* names of a zone end with a dot */
    const char *at = strstr(origin, "://");
    return at && strncmp(at + 3, name, len) == 0 && (at[3 + len] == ':' || at[3 + len] == '/');
}

bool crawl_manners_judge(const struct crawl_web *web, const char *apart, struct crawl_manners *manners)
{
    struct visits visits = {0};
    struct crawl_manners_zone zone = {0};
    *manners = (struct crawl_manners){.violations = count_violations(web)};
    bool good = manners->violations >= 0 && read_visits(web, apart, &visits) && crawl_manners_read_zone(web, &zone);
    struct window window = {.begin = visits.last / 3, .end = visits.last * 0.9};
    for (unsigned i = 0; i < visits.count; i++)
        add_visit(&window, &visits.all[i]);
    free(visits.all);
    double seconds = window.end - window.begin, visit_s = window.visit_s / window.visits;
    manners->share = good ? window.used / (best_of(&zone, apart, visit_s) * seconds) : 0;
    manners->rate = window.pages / seconds;
    manners->visits = window.visits;
    manners->visit_s = visit_s;
    manners->pages_per_visit = window.pages / window.visits;
    manners->pages_apart = visits.pages_apart;
    free(zone.hosts);
    return good;
}
