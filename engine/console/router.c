#include "engine/console/router.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/console/console.h"
#include "engine/console/metrics.h"
#include "engine/console/router_parts.h"
#include "engine/crawl/summary.h"
#include "engine/url/json.h"

enum { QUERY_NAMES_MAX = 8 };

/* The page may run its own script and style, named by their hashes, and talk to us. */
static void answer_page(struct console *console, const struct console_request *request,
                        struct console_response *response)
{
    (void)request;
    response->type = "text/html; charset=utf-8";
    response->policy = console->page.policy;
    fwrite(console->page.text.ptr, 1, console->page.text.len, response->out);
}

static void answer_crawl(struct console *console, const struct console_request *request,
                         struct console_response *response)
{
    (void)request;
    summary_print(&console->status, console->crawl, CRAWL_END_NONE, response->out);
}

static void answer_metrics(struct console *console, const struct console_request *request,
                           struct console_response *response)
{
    (void)request;
    response->type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(&console->status, console->crawl, response->out);
}

static void answer_health(struct console *console, const struct console_request *request,
                          struct console_response *response)
{
    (void)request;
    if (!console->is_alive)
        console_response_fail(response, 503, "%s", console->why);
    else
        fputs("{\"alive\": true}\n", response->out);
}

static void answer_ready(struct console *console, const struct console_request *request,
                         struct console_response *response)
{
    if (console->status.phase != CRAWL_RUNNING)
        console_response_fail(response, 503, "the crawl is %s", gate_phase_name(console->status.phase));
    else if (lf_load(&console->crawl->is_disk_low, relaxed))
        console_response_fail(response, 503, "the disk has less room than state.reserve");
    else
        answer_health(console, request, response);
}

/* "gaps": [[4, 9]], : those of which nothing is known, from the first to the last. */
static void write_gaps(FILE *out, const struct recent_level *level, uint64_t first)
{
    const char *comma = "";
    fputs("\"gaps\": [", out);
    for (uint64_t number = first; number <= level->count; number++) {
        uint64_t begin = number;
        while (number <= level->count && recent_is_gap(level, number))
            number++;
        if (number == begin)
            continue;
        fprintf(out, "%s[%" PRIu64 ", %" PRIu64 "]", comma, begin, number - 1);
        comma = ", ";
    }
    fputs("], ", out);
}

/* {"step": 10, "first": 3, "gaps": [], "samples": {"pages": [1, 2, 3], ...}} */
static void write_samples(FILE *out, const struct recent_level *level, uint64_t first)
{
    char buffer[SAMPLE_NAME_BYTES];
    fprintf(out, "{\"step\": %u, \"first\": %" PRIu64 ", ", (unsigned)level->step, first);
    write_gaps(out, level, first);
    fputs("\"samples\": {", out);
    for (unsigned i = 0; i < SAMPLE_COUNT; i++) {
        fprintf(out, "%s\"%s\": [", i ? ",\n" : "\n", sample_name(i, buffer));
        for (uint64_t number = first; number <= level->count; number++)
            fprintf(out, "%s%" PRIu64, number > first ? "," : "", recent_at(level, number)->values[i]);
        fputs("]", out);
    }
    fputs("}}\n", out);
}

/* A number in the query, if it is there. False: it is none, or too long. */
static bool read_number(const struct console_request *request, const char *name, uint64_t *number)
{
    char text[64], *end;
    if (!console_request_value(request, name, text, sizeof text))
        return true;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && end != text && text[0] != '-';
}

static void answer_samples(struct console *console, const struct console_request *request,
                           struct console_response *response)
{
    uint64_t step = 1, after = 0;
    bool good = read_number(request, "step", &step) && read_number(request, "after", &after);
    const struct recent_level *level = good && step <= 600 ? recent_level(&console->history, (unsigned)step) : NULL;
    if (!level) {
        console_response_fail(response, 400, "step is 1, 10, 60 or 600 (seconds), after is the number of a sample");
        return;
    }
    uint64_t first = recent_first(level);
    after = after < level->count ? after : level->count; /* there is nothing behind the last */
    write_samples(response->out, level, after >= first ? after + 1 : first);
}

static void answer_openapi(struct console *console, const struct console_request *request,
                           struct console_response *response)
{
    (void)console, (void)request;
    router_write_openapi(response->out);
}

static void answer_tuning(struct console *console, const struct console_request *request,
                          struct console_response *response)
{
    (void)request;
    response->type = "text/plain; charset=utf-8";
    tuning_write(crawl_borrow_tuning(console->crawl), response->out);
    crawl_return_tuning(console->crawl);
}

/* Every order is a line: who, what, and how it was answered. Only of those who may give orders, and of paths that there
 * are: others could fill the disk, or write lines of their own. The order is noted when it is given, so that it is in the log
 * even if its giver does not stay for the answer. */
static void log_order(struct console *console, const struct console_request *request, const struct console_response *response)
{
    char result[16], *order = request->wait->order;
    request->wait->order = NULL;
    if (!order && asprintf(&order, "%s\t%s %s%s%.*s", request->who, request->method, request->path, request->query.len ? "?" : "",
                           (int)request->query.len, request->query.ptr) < 0)
        return;
    if (response->is_pending) {
        request->wait->order = order;
        return;
    }
    snprintf(result, sizeof result, "%u", response->status);
    order_log_add(&console->orders, order, result);
    free(order);
}

void router_leave(struct console *console, struct console_wait *wait)
{
    if (wait->work)
        wait->leave(wait->work);
    wait->work = NULL;
    if (wait->order)
        order_log_add(&console->orders, wait->order, "gone");
    free(wait->order);
    wait->order = NULL;
}

/* clang-format off: a row per route */
const struct route router_routes[] = {
    {"GET", "/", GUARD_NOTHING, answer_page, "", "200", "The page for browsers", NULL},
    {"GET", "/healthz", GUARD_NOTHING, answer_health, "", "200 503", "200 if every thread of the crawl moves", NULL},
    {"GET", "/readyz", GUARD_NOTHING, answer_ready, "", "200 503", "200 if the crawl runs and the disk has room", NULL},
    {"GET", "/metrics", GUARD_METRICS, answer_metrics, "", "200", "Metrics for Prometheus, text format 0.0.4", NULL},
    {"GET", "/api/v1/crawl", GUARD_TOKEN, answer_crawl, "", "200", "All counters: summary.json of now", NULL},
    {"GET", "/api/v1/events", GUARD_TOKEN, router_events, "", "200 503",
     "A sample each second, phases and notes, as server-sent events; goes on from Last-Event-ID", NULL},
    {"GET", "/api/v1/samples", GUARD_TOKEN, answer_samples, "step after", "200", "The history: arrays by name", NULL},
    {"GET", "/api/v1/tuning", GUARD_TOKEN, answer_tuning, "", "200", "The tuning in force, as a tuning file", NULL},
    {"PATCH", "/api/v1/tuning", GUARD_ORDER, router_order_tuning, "", "200 413 503",
     "Changes keys that may change while a crawl runs; tells of each whether it is set, unchanged or fixed", "A piece of a tuning file"},
    {"POST", "/api/v1/pause", GUARD_ORDER, router_order_pause, "", "200 409", "No new requests, until resume", NULL},
    {"POST", "/api/v1/resume", GUARD_ORDER, router_order_resume, "", "200 409", "Goes on after a pause", NULL},
    {"POST", "/api/v1/stop", GUARD_ORDER, router_order_stop, "", "200 409", "Ends the crawl in order; a second time: at once", NULL},
    {"POST", "/api/v1/reload", GUARD_ORDER, router_order_reload, "", "202 409", "Reads the tuning file again", NULL},
    {"POST", "/api/v1/seeds", GUARD_ORDER, router_order_seeds, "lines", "200 409 413 503",
     "Adds seeds; tells how many were accepted, known, out of scope or bad, with lines=1 of each line", "A URL per line"},
    {"POST", "/api/v1/checkpoint", GUARD_ORDER, router_order_checkpoint, "", "200 202 409 503",
     "Commits and syncs all that was done so far", NULL},
    {"GET", "/api/v1/why", GUARD_TOKEN, router_why, "url", "200 503", "Where a URL is: unknown, waiting, in flight or done", NULL},
    {"GET", "/api/v1/hosts", GUARD_TOKEN, router_hosts, "by", "200 503",
     "The 64 hosts with most in their queue, or by failures, time, bytes", NULL},
    {"GET", "/api/v1/host", GUARD_TOKEN, router_host, "key format", "200 404 503",
     "One host: its state, when it is visited next and why then, its queue; format=text: all its URLs in memory", NULL},
    {"POST", "/api/v1/hold", GUARD_ORDER, router_hold, "host domain", "200 202 404 409 503",
     "No further request to a host or a domain, until release", NULL},
    {"POST", "/api/v1/release", GUARD_ORDER, router_release, "host domain", "200 202 404 409 503", "Takes a hold back", NULL},
    {"POST", "/api/v1/drop", GUARD_ORDER, router_drop, "host domain", "200 202 404 409 503",
     "Drops the URLs that wait for a host or a domain", NULL},
    {"GET", "/api/v1/openapi.json", GUARD_TOKEN, answer_openapi, "", "200", "This list", NULL},
};
/* clang-format on */
const size_t router_count = sizeof router_routes / sizeof router_routes[0];

/* The methods of a path, "GET, PATCH"; empty: there is no such path. */
static const char *methods_of(const char *path)
{
    static char methods[64];
    methods[0] = '\0';
    for (size_t i = 0; i < router_count; i++)
        if (strcmp(router_routes[i].path, path) == 0) {
            size_t len = strlen(methods);
            snprintf(methods + len, sizeof methods - len, "%s%s", len ? ", " : "", router_routes[i].method);
        }
    return methods;
}

static const struct route *find(const struct console_request *request)
{
    for (size_t i = 0; i < router_count; i++)
        if (strcmp(router_routes[i].path, request->path) == 0 && strcmp(router_routes[i].method, request->method) == 0)
            return &router_routes[i];
    return NULL;
}

/* The first name in the query that the route does not take. */
static struct slice unknown_name(const struct route *route, const struct console_request *request)
{
    char names[128];
    const char *list[QUERY_NAMES_MAX + 1] = {NULL};
    unsigned count = 0;
    snprintf(names, sizeof names, "%s", route->query);
    for (char *save, *name = strtok_r(names, " ", &save); name && count < QUERY_NAMES_MAX;
         name = strtok_r(NULL, " ", &save))
        list[count++] = name;
    return console_request_unknown(request, list);
}

void router_answer(struct console *console, const struct console_request *request, struct console_response *response)
{
    const char *why = "", *methods;
    unsigned refused = guard_check_sender(&console->guard, request, &why);
    if (refused) {
        console_response_fail(response, refused, "%s", why);
        return;
    }
    const struct route *found = find(request);
    if (!found) {
        methods = methods_of(request->path);
        response->allow = methods[0] ? methods : NULL;
        console_response_fail(response, methods[0] ? 405 : 404, "there is no %s %s", request->method, request->path);
        return;
    }
    refused = guard_check_need(&console->guard, request, found->need, &why);
    struct slice unknown = unknown_name(found, request);
    if (refused)
        console_response_fail(response, refused, "%s", why);
    else if (unknown.len)
        console_response_fail(response, 400, "%s takes no '%.*s'", found->path, (int)unknown.len, unknown.ptr);
    else
        found->answer(console, request, response);
    if (!refused && found->need == GUARD_ORDER)
        log_order(console, request, response);
    if (!response->is_pending)
        router_leave(console, request->wait);
}
