/* The rules, each a walk over requests or connections in the order of its key and time. */
#include "tools/websim/audit.h"

#include <stdlib.h>
#include <string.h>

#include "lockfree/clock.h"
#include "tools/websim/robots.h"

/* One of the connections that an address may have at a time, or the only one of a host. */
struct lane {
    uint64_t begin, end; /* of the visit in progress */
    uint64_t requests;
    uint32_t host, connection;
    bool used;
};

static void report(struct websim_audit *audit, enum websim_rule rule, const struct websim_audit_case *found)
{
    struct websim_audit_finding *finding = &audit->findings[rule];
    unsigned at = finding->worst_count;
    finding->violations++;
    while (at > 0 && finding->worst[at - 1].excess_ns < found->excess_ns)
        at--;
    if (at == WEBSIM_AUDIT_WORST)
        return;
    if (finding->worst_count < WEBSIM_AUDIT_WORST)
        finding->worst_count++;
    memmove(&finding->worst[at + 1], &finding->worst[at],
            (finding->worst_count - 1 - at) * sizeof finding->worst[0]);
    finding->worst[at] = *found;
}

static void report_request(struct websim_audit *audit, enum websim_rule rule,
                           const struct websim_audit_request *request, uint64_t excess_ns)
{
    report(audit, rule,
           &(struct websim_audit_case){.time_ns = request->start,
                                       .excess_ns = excess_ns,
                                       .url = request->url,
                                       .host = request->host,
                                       .address = request->address});
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_host(const void *a, const void *b)
{
    const struct websim_audit_request *left = a, *right = b;
    return left->host != right->host ? order(left->host, right->host) : order(left->start, right->start);
}

static int by_address(const void *a, const void *b)
{
    const struct websim_audit_request *left = a, *right = b;
    return left->address != right->address ? order(left->address, right->address)
                                           : order(left->start, right->start);
}

static int by_url(const void *a, const void *b)
{
    const struct websim_audit_request *left = a, *right = b;
    return left->url != right->url ? order(left->url, right->url) : order(left->start, right->start);
}

static int connection_by_host(const void *a, const void *b)
{
    const struct websim_audit_connection *left = a, *right = b;
    return left->host != right->host ? order(left->host, right->host) : order(left->open, right->open);
}

static int connection_by_address(const void *a, const void *b)
{
    const struct websim_audit_connection *left = a, *right = b;
    return left->address != right->address ? order(left->address, right->address)
                                           : order(left->open, right->open);
}

/* What the idle rule is applied with: to hosts or to addresses. */
struct idle {
    enum websim_rule rule;
    uint64_t ratio_ppm, min_ns;
    uint64_t lanes;
    bool per_address;
};

/* The rest that the lane's visit asks for. */
static uint64_t rest_of(const struct lane *lane, const struct idle *idle)
{
    uint64_t spent = lane->end - lane->begin, rest = 0;
    if (idle->ratio_ppm)
        rest = (uint64_t)((unsigned __int128)spent * WEBSIM_PPM / idle->ratio_ppm);
    return rest > idle->min_ns ? rest : idle->min_ns;
}

/* How much of the rest is missing before a request at `start`. */
static uint64_t missing(const struct websim_audit *audit, const struct lane *lane, const struct idle *idle,
                        uint64_t start)
{
    if (!lane->used || (idle->ratio_ppm == 0 && idle->min_ns == 0))
        return 0;
    uint64_t ready = lane->end + rest_of(lane, idle);
    return ready > start + audit->options.tolerance_ns ? ready - start : 0;
}

/* How late a client with more to do than processors may come to send what it has decided to send. */
#define CLIENT_LATE_NS (100 * CLOCK_NS_PER_MS)

/* A client decides to go on with a visit when it has the answer before; a busy machine may keep it from
 * sending at once. */
static bool is_in_burst(const struct websim_audit *audit, const struct lane *lane,
                        const struct websim_audit_request *request)
{
    uint64_t start = request->start;
    if (lane->connection == request->connection && start > lane->end)
        start = start - lane->end > CLIENT_LATE_NS ? start - CLIENT_LATE_NS : lane->end;
    return lane->used && lane->host == request->host &&
           start <= lane->begin + audit->options.burst_ns + audit->options.tolerance_ns;
}

/* The lane that the request goes on with or may take: its connection's, a visit's of the same host, a rested
 * one, or else the one that would have been rested first. */
static struct lane *choose_lane(const struct websim_audit *audit, struct lane *lanes, const struct idle *idle,
                                const struct websim_audit_request *request)
{
    struct lane *best = &lanes[0];
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < idle->lanes; i++)
        if (lanes[i].used && lanes[i].connection == request->connection)
            return &lanes[i];
    for (uint64_t i = 0; i < idle->lanes; i++)
        if (is_in_burst(audit, &lanes[i], request))
            return &lanes[i];
    for (uint64_t i = 0; i < idle->lanes; i++) {
        uint64_t lacks = missing(audit, &lanes[i], idle, request->start);
        if (lacks < least) {
            least = lacks;
            best = &lanes[i];
        }
    }
    return best;
}

static void note_visit(struct websim_audit *audit, const struct lane *lane, uint64_t start)
{
    audit->visits_ns[audit->visit_count] = lane->end - lane->begin;
    audit->visit_requests[audit->visit_count++] = lane->requests;
    if (start > lane->end)
        audit->rests_ns[audit->rest_count++] = start - lane->end;
}

static void check_request_idle(struct websim_audit *audit, struct lane *lanes, const struct idle *idle,
                               const struct websim_audit_request *request)
{
    struct lane *lane = choose_lane(audit, lanes, idle, request);
    uint64_t lacks = missing(audit, lane, idle, request->start);
    bool goes_on = lacks && is_in_burst(audit, lane, request);
    audit->findings[idle->rule].checked += idle->ratio_ppm != 0;
    audit->findings[WEBSIM_RULE_MIN_IDLE].checked += idle->min_ns != 0;
    if (lacks && !goes_on) {
        struct idle ratio_alone = *idle;
        ratio_alone.min_ns = 0;
        bool by_ratio = idle->ratio_ppm && missing(audit, lane, &ratio_alone, request->start);
        report_request(audit, by_ratio ? idle->rule : WEBSIM_RULE_MIN_IDLE, request, lacks);
    }
    if (!goes_on) {
        if (lane->used && !idle->per_address)
            note_visit(audit, lane, request->start);
        *lane = (struct lane){.begin = request->start, .used = true};
    }
    lane->host = request->host;
    lane->connection = request->connection;
    lane->requests++;
    if (request->end > lane->end)
        lane->end = request->end;
}

/* Requests in the order of host or address, then time. */
static void check_idle(struct websim_audit *audit, const struct idle *idle)
{
    struct lane *lanes = calloc(idle->lanes, sizeof *lanes);
    uint64_t key = UINT64_MAX;
    for (size_t i = 0; lanes && i < audit->request_count; i++) {
        const struct websim_audit_request *request = &audit->requests[i];
        uint32_t its = idle->per_address ? request->address : request->host;
        if (its != key) {
            if (lanes[0].used && !idle->per_address)
                note_visit(audit, &lanes[0], 0);
            memset(lanes, 0, idle->lanes * sizeof *lanes);
        }
        key = its;
        check_request_idle(audit, lanes, idle, request);
    }
    if (lanes && lanes[0].used && !idle->per_address)
        note_visit(audit, &lanes[0], 0);
    free(lanes);
}

/* Whether the crawler was killed between two requests. */
static bool is_between(const struct websim_audit_kill *kill, const struct websim_audit_request *before,
                       const struct websim_audit_request *request)
{
    return before->start < kill->at_ns && kill->at_ns <= request->start;
}

/* How long a page that was answered may wait for its verdict: for a processor, or for room in the store. */
#define VERDICT_LATE_NS (5 * CLOCK_NS_PER_S)

/* Likewise, and too early for it to commit what became of the first. */
static bool is_undone(const struct websim_audit *audit, const struct websim_audit_request *before,
                      const struct websim_audit_request *request)
{
    for (size_t i = 0; i < audit->options.killed_count; i++) {
        const struct websim_audit_kill *kill = &audit->options.killed[i];
        if (is_between(kill, before, request) && before->end + VERDICT_LATE_NS >= kill->heard_ns)
            return true;
    }
    return false;
}

/* Likewise, and too early for it to know what the first was answered with. A busy crawler may have read the answer a
 * little later than it was sent. */
static bool is_forgotten(const struct websim_audit *audit, const struct websim_audit_request *before,
                         const struct websim_audit_request *request)
{
    for (size_t i = 0; i < audit->options.killed_count; i++) {
        const struct websim_audit_kill *kill = &audit->options.killed[i];
        uint64_t ago_ns = kill->at_ns - kill->heard_ns;
        if (ago_ns > WEBSIM_FORGOTTEN_NS_MAX)
            ago_ns = WEBSIM_FORGOTTEN_NS_MAX;
        if (is_between(kill, before, request) && before->end + CLIENT_LATE_NS >= kill->at_ns - ago_ns)
            return true;
    }
    return false;
}

static bool is_robots(uint64_t url)
{
    return websim_url_unpack(url).kind == WEBSIM_KIND_ROBOTS;
}

/* What is said about a request and the one before it to the same host. */
static void check_pair(struct websim_audit *audit, const struct websim_audit_request *before,
                       const struct websim_audit_request *request)
{
    const struct websim_audit_options *options = &audit->options;
    uint64_t at = request->start + options->tolerance_ns;
    if (options->delay_ns) {
        audit->findings[WEBSIM_RULE_DELAY].checked++;
        if (at < before->end + options->delay_ns)
            report_request(audit, WEBSIM_RULE_DELAY, request,
                           before->end + options->delay_ns - request->start);
    }
    if (before->retry_after_s) {
        uint64_t ready = before->end + before->retry_after_s * CLOCK_NS_PER_S;
        audit->findings[WEBSIM_RULE_RETRY_AFTER].checked++;
        if (at < ready && !is_forgotten(audit, before, request))
            report_request(audit, WEBSIM_RULE_RETRY_AFTER, request, ready - request->start);
    }
    uint64_t crawl_delay = websim_robots_delay_ms(&audit->web, request->host) * CLOCK_NS_PER_MS;
    if (crawl_delay && !is_robots(before->url)) {
        audit->findings[WEBSIM_RULE_CRAWL_DELAY].checked++;
        if (at < before->start + crawl_delay)
            report_request(audit, WEBSIM_RULE_CRAWL_DELAY, request,
                           before->start + crawl_delay - request->start);
    }
}

static void check_forbidden(struct websim_audit *audit, const struct websim_audit_request *request)
{
    char path[WEBSIM_PATH_BYTES];
    struct websim_url url = websim_url_unpack(request->url);
    struct websim_site site = websim_site(&audit->web, url.host);
    if (url.kind == WEBSIM_KIND_OTHER || url.kind == WEBSIM_KIND_ROBOTS)
        return;
    audit->findings[WEBSIM_RULE_FORBIDDEN].checked++;
    struct slice text = {path, websim_path_write(&site, url, path)};
    if (!websim_robots_allows(&audit->web, url.host, audit->options.agent, text))
        report_request(audit, WEBSIM_RULE_FORBIDDEN, request, 0);
}

/* Requests in the order of host, then time. */
static void check_hosts(struct websim_audit *audit)
{
    bool has_robots = false;
    for (size_t i = 0; i < audit->request_count; i++) {
        const struct websim_audit_request *request = &audit->requests[i];
        bool same = i > 0 && request[-1].host == request->host;
        if (same)
            check_pair(audit, request - 1, request);
        else
            has_robots = false;
        if (is_robots(request->url)) {
            has_robots |= request->complete;
            continue;
        }
        audit->findings[WEBSIM_RULE_ROBOTS_FIRST].checked += !audit->options.robots_known;
        if (!has_robots && !audit->options.robots_known)
            report_request(audit, WEBSIM_RULE_ROBOTS_FIRST, request, 0);
        check_forbidden(audit, request);
    }
}

/* A second request is in order if the first was not answered, or with "later" or "server's fault"; or if the crawler was
 * killed between the two, before it could make the answer permanent. */
static void check_repeats(struct websim_audit *audit)
{
    uint64_t repeats = 0;
    for (size_t i = 0; i < audit->request_count; i++) {
        const struct websim_audit_request *request = &audit->requests[i];
        if (is_robots(request->url))
            continue;
        audit->findings[WEBSIM_RULE_REPEATED].checked++;
        if (i == 0 || request[-1].url != request->url) {
            repeats = 0;
            continue;
        }
        const struct websim_audit_request *before = request - 1;
        if (before->complete && before->status != 429 && before->status < 500 &&
            !is_undone(audit, before, request) && ++repeats > audit->options.kills)
            report_request(audit, WEBSIM_RULE_REPEATED, request, 0);
    }
}

/* Connections in the order of host or address, then opening: never more than `most` at a time. */
static void check_connections(struct websim_audit *audit, enum websim_rule rule, bool per_address,
                              uint64_t most)
{
    uint64_t *closes = malloc((audit->connection_count + 1) * sizeof *closes), key = UINT64_MAX;
    size_t active = 0;
    for (size_t i = 0; closes && i < audit->connection_count; i++) {
        const struct websim_audit_connection *connection = &audit->connections[i];
        uint64_t its = per_address ? connection->address : connection->host, longest = 0;
        size_t kept = 0;
        if (its != key)
            active = 0;
        key = its;
        for (size_t k = 0; k < active; k++)
            if (closes[k] > connection->open + audit->options.tolerance_ns) {
                closes[kept++] = closes[k];
                longest = closes[k] > longest ? closes[k] : longest;
            }
        active = kept;
        audit->findings[rule].checked++;
        if (active >= most)
            report(audit, rule,
                   &(struct websim_audit_case){.time_ns = connection->open,
                                               .excess_ns = longest - connection->open,
                                               .url = UINT64_MAX,
                                               .host = connection->host,
                                               .address = connection->address});
        closes[active++] = connection->close;
    }
    free(closes);
}

/* The moment, or that at which a crawler that was alive at `begin_ns` was killed, if that was before. */
static uint64_t end_with_crawler(const struct websim_audit_options *options, uint64_t begin_ns,
                                 uint64_t end_ns)
{
    for (size_t i = 0; i < options->killed_count; i++) {
        uint64_t at_ns = options->killed[i].at_ns;
        if (at_ns >= begin_ns && at_ns < end_ns)
            end_ns = at_ns;
    }
    return end_ns;
}

/* Requests and connections end with their crawler: a server that has much to do, or lets an answer wait, hears later of its
 * death. */
static void end_with_crawlers(struct websim_audit *audit)
{
    for (size_t i = 0; i < audit->request_count; i++) {
        struct websim_audit_request *request = &audit->requests[i];
        request->end = end_with_crawler(&audit->options, request->start, request->end);
    }
    for (size_t i = 0; i < audit->connection_count; i++) {
        struct websim_audit_connection *connection = &audit->connections[i];
        connection->close = end_with_crawler(&audit->options, connection->open, connection->close);
    }
}

uint64_t websim_audit_judge(struct websim_audit *audit)
{
    const struct websim_audit_options *options = &audit->options;
    struct idle hosts = {.rule = WEBSIM_RULE_HOST_IDLE,
                         .ratio_ppm = options->ratio_ppm,
                         .min_ns = options->min_idle_ns,
                         .lanes = 1};
    struct idle addresses = {.rule = WEBSIM_RULE_ADDRESS_IDLE,
                             .ratio_ppm = options->address_ratio_ppm,
                             .min_ns = options->address_min_idle_ns,
                             .lanes = options->connections_per_address,
                             .per_address = true};
    uint64_t violations = 0;
    end_with_crawlers(audit);
    qsort(audit->requests, audit->request_count, sizeof *audit->requests, by_url);
    check_repeats(audit);
    qsort(audit->requests, audit->request_count, sizeof *audit->requests, by_host);
    check_hosts(audit);
    check_idle(audit, &hosts);
    qsort(audit->requests, audit->request_count, sizeof *audit->requests, by_address);
    if (addresses.ratio_ppm || addresses.min_ns)
        check_idle(audit, &addresses);
    qsort(audit->connections, audit->connection_count, sizeof *audit->connections, connection_by_host);
    check_connections(audit, WEBSIM_RULE_HOST_CONNECTIONS, false, 1);
    qsort(audit->connections, audit->connection_count, sizeof *audit->connections, connection_by_address);
    check_connections(audit, WEBSIM_RULE_ADDRESS_CONNECTIONS, true, options->connections_per_address);
    for (unsigned i = 0; i < WEBSIM_RULE_COUNT; i++)
        violations += audit->findings[i].violations;
    return violations;
}
