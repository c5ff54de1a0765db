/* The server of the simulated web beside nginx, both on the last processor, under wrk on the first: a crawl
 * can be no faster than what serves it. nginx sends files; websim makes up every page that it sends. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "macro/crawl_parts.h"
#include "macro/nginx.h"
#include "macro/process.h"

enum { PROCESSORS_MAX = 1024 };

static const struct crawl_report_column columns[] = {
    {"requests/s", "requests_per_s", "%.0f"},
    {"bytes", "bytes_per_answer", "%.0f"}, /* head and body */
    {"cpu us", "server_cpu_us_per_request", "%.2f"},
    {"busy", "server_cpu_s_per_s", "%.2f"},
    {"wrk busy", "wrk_cpu_s_per_s", "%.2f"}, /* above the server's: the limit was wrk */
    {"of nginx", "rate_by_nginx", "%.2f"},   /* the last, since it is left out where there is no nginx */
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static const struct size {
    uint64_t bytes;
    const char *option, *file, *nginx_row, *websim_row;
} sizes[] = {
    {1024, "1024", "http://localhost/1k", "nginx, file of 1 KB", "websim, page of about 1 KB"},
    {10240, "10240", "http://localhost/10k", "nginx, file of 10 KB", "websim, page of about 10 KB"},
};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

struct servers {
    struct nginx nginx;
    bool has_nginx;
    struct crawl_web webs[SIZES];
    struct crawl_web_truth truths[SIZES];
    char hosts[16], pages[16];
    const char *options[SIZES][8];
    int open; /* webs */
};

/* One row: what is asked for, and whose processor time counts. */
struct target {
    const char *row, *url;
    uint16_t port;
    const struct nginx *nginx; /* NULL: websim */
    pid_t websim;
};

/* A digit per processor, the first one's at the end. */
static void write_last_processor(char mask[PROCESSORS_MAX + 1])
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    processors = processors < PROCESSORS_MAX ? processors : PROCESSORS_MAX;
    memset(mask, '0', (size_t)processors);
    mask[0] = '1';
    mask[processors] = '\0';
}

static bool open_nginx(struct servers *servers, struct crawl_report *report)
{
    char mask[PROCESSORS_MAX + 1];
    if (!nginx_is_installed()) {
        report->column_count = COLUMNS - 1;
        for (int i = 0; i < SIZES; i++)
            crawl_report_row(report, sizes[i].nginx_row)->note = "not installed";
        return true;
    }
    write_last_processor(mask);
    servers->has_nginx =
        nginx_begin(&servers->nginx, &(struct nginx_options){.workers = 1, .cpus = mask, .addresses = 1});
    return servers->has_nginx;
}

static bool open_webs(struct servers *servers, const struct crawl_settings *settings)
{
    snprintf(servers->hosts, sizeof servers->hosts, "%u", settings->hosts);
    snprintf(servers->pages, sizeof servers->pages, "%u", settings->pages);
    while (servers->open < SIZES) {
        const int i = servers->open;
        struct crawl_web *web = &servers->webs[i];
        const char *const options[] = {"--plain",      "--hosts", servers->hosts,  "--pages",
                                       servers->pages, "--size",  sizes[i].option, NULL};
        memcpy(servers->options[i], options, sizeof options);
        if (!crawl_web_begin(web, &(struct crawl_web_options){.web = servers->options[i]}))
            return false;
        servers->open++;
        if (!crawl_web_write_seeds(web) || !crawl_web_write_truth(web, sizes[i].bytes, &servers->truths[i]))
            return false;
    }
    return true;
}

static double cpu_s(const struct target *target)
{
    return target->nginx ? nginx_cpu_s(target->nginx) : process_cpu_s(target->websim);
}

/* `nginx_rate` is that of the size in this round: set by its row, and 0 where there is none. */
static bool run_row(const struct target *target, double seconds, double *nginx_rate,
                    struct crawl_report *report)
{
    struct crawl_peer_result wrk;
    const double before = cpu_s(target);
    if (!crawl_peer_wrk(target->port, target->url, seconds, &wrk))
        return false;
    const double used = cpu_s(target) - before, rate = wrk.pages / wrk.seconds;
    if (target->nginx)
        *nginx_rate = rate;
    crawl_report_add(report, target->row,
                     (const double[COLUMNS]){rate, wrk.received / wrk.pages, used * 1e6 / wrk.pages,
                                             used / wrk.seconds, wrk.cpu_s / wrk.seconds,
                                             *nginx_rate > 0 ? rate / *nginx_rate : 0});
    return true;
}

static bool run_round(const struct servers *servers, double seconds, struct crawl_report *report)
{
    for (int i = 0; i < SIZES; i++) {
        const struct target nginx = {.row = sizes[i].nginx_row,
                                     .url = sizes[i].file,
                                     .port = servers->nginx.port,
                                     .nginx = &servers->nginx};
        const struct target websim = {.row = sizes[i].websim_row,
                                      .url = servers->truths[i].page,
                                      .port = servers->webs[i].http_port,
                                      .websim = servers->webs[i].pid};
        double nginx_rate = 0;
        if (servers->has_nginx && !run_row(&nginx, seconds, &nginx_rate, report))
            return false;
        if (!run_row(&websim, seconds, &nginx_rate, report))
            return false;
    }
    return true;
}

bool crawl_server(const struct crawl_settings *settings, struct crawl_report *report)
{
    static struct servers servers;
    report->title = "server: nginx and websim on the last processor, wrk on the first";
    report->columns = columns;
    report->column_count = COLUMNS;
    bool good = open_nginx(&servers, report) && open_webs(&servers, settings);
    for (unsigned i = 0; i < settings->repeats && good; i++)
        good = run_round(&servers, settings->seconds, report);
    for (int i = 0; i < servers.open; i++)
        crawl_web_finish(&servers.webs[i], false);
    if (servers.has_nginx)
        nginx_finish(&servers.nginx);
    return good;
}
