/* robots.txt in a crawl: fetched before any page, obeyed as long as it is fresh. If it redirects, be it to
 * another host or to another path of its own, an errand fetches it there. */
#include <assert.h>

#include "engine/content/location.h"
#include "engine/crawl/health.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "engine/frontier/errand.h"
#include "engine/robots/robots.h"
#include "engine/robots/robots_cache.h"
#include "lockfree/clock.h"

static struct robots_cache *cache_of(const struct visits *visits)
{
    return visits->rules->cache;
}

const struct robots *visit_acquire_rules(struct visits *visits, const struct host *host)
{
    bool is_fresh = host->robots && clock_now_ns() < host->robots_until_ns;
    return visits->tuning->fixed.robots.obey && is_fresh
               ? robots_cache_acquire(cache_of(visits), host->robots)
               : NULL;
}

void visit_release_rules(struct visits *visits, const struct host *host)
{
    robots_cache_release(cache_of(visits), host->robots);
}

/* Gives the host its rules. */
static void take_rules(struct visits *visits, struct host *host, robots_handle handle)
{
    const struct robots *rules = robots_cache_acquire(cache_of(visits), handle);
    host->awaits_robots = false;
    host->robots = rules ? handle : ROBOTS_NONE;
    host->robots_until_ns = clock_now_ns() + visits->tuning->live.robots.fresh_ns;
    if (!rules)
        return; /* they were evicted already */
    host->crawl_delay_ns = (uint64_t)rules->crawl_delay_ms * CLOCK_NS_PER_MS;
    robots_cache_release(cache_of(visits), handle);
}

/* Forbids everything until the file can be fetched. */
static void forbid(struct host *host)
{
    host->awaits_robots = false;
    host->robots = ROBOTS_NONE;
    host->crawl_delay_ns = 0;
}

/* Counts the failure; returns the wait before the next try. */
static uint64_t count_unreachable(struct visits *visits, struct host *host)
{
    uint64_t wait_ns = visits->tuning->live.robots.retry_ns;
    health_fail(host, FETCH_ROBOTS_UNREACHABLE, &visits->tuning->live, visits->stats);
    troubles_note(visits->troubles, host, FETCH_ROBOTS_UNREACHABLE,
                  host->is_dead ? 0 : clock_now_ns() + wait_ns);
    return wait_ns;
}

void visit_robots_unreachable(struct visit *visit)
{
    if (visit->times.failure_wait_ns == 0) /* a failed connection was counted already */
        visit->times.failure_wait_ns = count_unreachable(visit->visits, visit->host);
    forbid(visit->host);
}

/* The URL of a path on a host, in `text` of URL_BYTES_MAX bytes. False: it is too long. */
static bool open_url(struct url *url, char *text, const struct host *host, struct slice path)
{
    url_init(url, text, URL_BYTES_MAX);
    return url_join(url, host_key(host), path);
}

/* Queues the sitemaps that robots.txt names, and returns how many. Those that would take too long are lost; so what counts
 * is the work, and not that the thread had to wait for a processor. */
static unsigned take_sitemaps(struct visits *visits, const struct harvest_source *source,
                              const struct robots *rules)
{
    const uint64_t until_ns = clock_thread_ns() + VISIT_WORK_NS_MAX;
    const unsigned per_look = visits->harvest->links_per_look == 1 ? 1 : VISIT_SITEMAPS_PER_LOOK;
    struct slice text;
    uint32_t cursor = 0;
    unsigned taken = 0;
    while (robots_sitemap(rules, &cursor, &text)) {
        if (taken && taken % per_look == 0 && clock_thread_ns() >= until_ns) {
            stats_add(&visits->stats->links_lost, rules->sitemap_count - taken);
            break;
        }
        harvest_link(visits->harvest, source, text, HOST_ITEM_SITEMAP);
        taken++;
    }
    return taken;
}

/* Describes the robots.txt that a visit requests: an errand's, or the host's own, which its first waiting URL needs. */
static struct ledger_line line_of(const struct visit *visit)
{
    const struct host_item *item = visit->item, *first = host_first(visit->host);
    struct ledger_line line = {.path = SLICE("/robots.txt"), .via = {"", 0}};
    if (item)
        return (struct ledger_line){.path = errand_path(item),
                                    .via = host_item_via(item),
                                    .hops = host_item_hops(item),
                                    .source = item->source};
    if (first) {
        line.via = host_item_path(first);
        line.hops = host_item_hops(first);
        line.source = first->source;
    }
    line.hops = hops_add(line.hops, HOST_ITEM_ROBOTS);
    return line;
}

void visit_log_robots(struct visit *visit, enum fetch_outcome outcome)
{
    struct visit_page *page = &visit->page;
    struct ledger_line line = line_of(visit);
    struct ledger_verdict verdict = {
        .outcome = outcome, .size = -1, .start_ns = visit->conn.times.request_ns};
    if (!visit->visits->tuning->live.log.robots)
        return;
    if (!ledger_has_room(visit->visits->ledger)) {
        stats_add(&visit->visits->stats->robots_lost, 1);
        return;
    }
    if (page->has_head && !page->has_digest && page->body_len <= VISIT_DIGEST_BYTES_MAX)
        visit_digest(page);
    if (page->has_head) {
        verdict.digest = page->has_digest ? page->digest : NULL;
        verdict.status = page->status;
        verdict.size = (int64_t)page->body_len;
        verdict.mime = page->known[HTTP_KNOWN_CONTENT_TYPE];
    }
    ledger_log(visit->visits->ledger, visit->host, &line, &verdict);
}

/* Queues the sitemaps of `host`, which need not be the visit's; `rules` may be NULL. */
static void feed_sitemaps(struct visit *visit, struct host *host, const struct robots *rules)
{
    struct visits *visits = visit->visits;
    char base_text[URL_BYTES_MAX];
    struct url base;
    if (visits->tuning->fixed.robots.sitemaps == TUNING_SITEMAPS_NO ||
        !open_url(&base, base_text, host, SLICE("/robots.txt")))
        return;
    struct harvest_source source = {
        .url = &base, .base = &base, .host = host, .source = line_of(visit).source};
    unsigned count = rules ? take_sitemaps(visits, &source, rules) : 0;
    if (count == 0 && visits->tuning->fixed.robots.sitemaps == TUNING_SITEMAPS_GUESS)
        harvest_link(visits->harvest, &source, SLICE("/sitemap.xml"), HOST_ITEM_SITEMAP);
    harvest_flush(visits->harvest);
}

/* There is no memory to compile a file of this length: now, or never, even without other visits. */
static robots_handle run_out_of_memory(const struct visit *visit, size_t len)
{
    const struct visits *visits = visit->visits;
    size_t beside = visits->decoded.size + visit->page.buffer.size;
    return buffer_pool_could_fit(visits->pages, robots_size(len), beside) ? ROBOTS_NONE : ROBOTS_ALL_DENIED;
}

/* Compiles the body for `origin`. ROBOTS_NONE if there is no memory now, ROBOTS_ALL_DENIED if there never will
 * be. */
static robots_handle compile(struct visit *visit, struct host *origin)
{
    struct visits *visits = visit->visits;
    enum fetch_outcome outcome = FETCH_DONE;
    struct buffer memory = {NULL, 0};
    struct slice text = visit_decode_body(visit, &outcome);
    if (outcome == FETCH_NO_MEMORY || !buffer_reserve(visits->pages, &memory, robots_size(text.len), 0))
        return run_out_of_memory(visit, text.len);
    /* The readable lines of a damaged file count (RFC 9309, 2.3.1.5). */
    text = text.ptr ? text : (struct slice){"", 0};
    struct robots *rules = robots_compile(memory.bytes, text, visits->agent);
    robots_handle handle = robots_cache_add(visits->rules, rules);
    if (handle != ROBOTS_NONE)
        feed_sitemaps(visit, origin, rules);
    buffer_release(visits->pages, &memory);
    return handle;
}

enum follow {
    FOLLOW_BEGUN,
    FOLLOW_NOWHERE, /* not to an http(s) URL */
    FOLLOW_BLOCKED, /* to a host that no crawl asks: as if it could not be reached */
    FOLLOW_NO_ROOM, /* no room for another host or URL: the rules remain unknown */
};

/* Follows the redirect of the robots.txt of host `origin`, which was requested as `path`. */
static enum follow follow(struct visit *visit, uint32_t origin, struct slice path, unsigned redirects)
{
    struct visits *visits = visit->visits;
    char base_text[URL_BYTES_MAX], text[URL_BYTES_MAX], room[URL_BYTES_MAX];
    struct slice location = location_read(visit->page.known[HTTP_KNOWN_LOCATION], room, sizeof room);
    struct url base, url;
    if (!open_url(&base, base_text, visit->host, path))
        return FOLLOW_NOWHERE;
    url_init(&url, text, sizeof text);
    if (url_parse(&url, &base, location) != URL_OK || url_has_userinfo(&url))
        return FOLLOW_NOWHERE;
    if (!scope_may_connect(&visits->tuning->fixed.scope, &url))
        return FOLLOW_BLOCKED;
    struct ledger_line line = line_of(visit);
    struct errand_order order = {.origin = origin,
                                 .to = &url,
                                 .via = url_page(&base),
                                 .hops = hops_add(line.hops, HOST_ITEM_REDIRECT),
                                 .source = line.source,
                                 .redirects = redirects};
    stats_add(&visits->stats->urls_in, 1); /* before it is sent: another loop may finish it at once */
    if (errand_send(visits->frontier, &order))
        return FOLLOW_BEGUN;
    stats_count_out(visits->stats);
    return FOLLOW_NO_ROOM;
}

/* The meaning of a response to a request for robots.txt. */
struct reading {
    enum follow follow; /* FOLLOW_BEGUN: there is no answer yet */
    robots_handle rules;
};

static struct reading read_response(struct visit *visit, struct host *origin, const struct host_item *errand)
{
    bool has_location = visit->page.known[HTTP_KNOWN_LOCATION].ptr != NULL;
    unsigned redirects = errand ? errand->redirects : 0;
    struct slice path = errand ? errand_path(errand) : SLICE("/robots.txt");
    struct robots_fetch fetch = {
        .status = visit->page.status, .redirects = redirects, .has_location = has_location};
    struct reading reading = {FOLLOW_NOWHERE, ROBOTS_ALL_DENIED};
    switch (robots_from_status(fetch)) {
    case ROBOTS_PARSE:
        reading.rules = compile(visit, origin);
        return reading;
    case ROBOTS_FOLLOW:
        reading.follow = follow(visit, origin->id, path, redirects + 1);
        if (reading.follow != FOLLOW_NOWHERE)
            return reading;
        break; /* a redirect without a usable target counts as no file */
    case ROBOTS_DISALLOW_ALL:
        return reading;
    case ROBOTS_ALLOW_ALL:
        break;
    }
    feed_sitemaps(visit, origin, NULL);
    reading.rules = ROBOTS_ALL_ALLOWED;
    return reading;
}

/* Processes the response to the request for the host's own robots.txt. */
static void read_own(struct visit *visit)
{
    visit->host->awaits_robots = true; /* set before an errand is sent, because it may be answered at once */
    struct reading reading = read_response(visit, visit->host, NULL);
    if (reading.follow == FOLLOW_BEGUN)
        return;
    visit->host->awaits_robots = false;
    if (reading.rules == ROBOTS_NONE)
        visit->times.failure_wait_ns = VISIT_CROWDED_NS;
    else if (reading.rules == ROBOTS_ALL_DENIED)
        visit_robots_unreachable(visit);
    else
        take_rules(visit->visits, visit->host, reading.rules);
}

/* Processes the response to a robots.txt that redirected here. */
static void read_errand(struct visit *visit)
{
    struct visits *visits = visit->visits;
    struct host_item *item = visit->item;
    struct host *origin = frontier_host_by_id(visits->frontier->frontier, errand_origin(item));
    struct reading reading = read_response(visit, origin, item);
    visit->item = NULL;
    if (reading.follow == FOLLOW_BEGUN)
        ledger_finish(visits->ledger, visit->host, item, &(struct ledger_verdict){.outcome = FETCH_DONE});
    else
        errand_answer(visits->frontier, visit->host, item, reading.rules);
}

void visit_fail_errand(struct visit *visit)
{
    struct host_item *item = visit->item;
    visit->item = NULL;
    stats_add(&visit->visits->stats->robots_files, 1);
    errand_answer(visit->visits->frontier, visit->host, item, ROBOTS_ALL_DENIED);
}

/* Applies the answer of an errand; its effect on the host's next visit is added to `wait`. */
static void take_answer(struct visits *visits, struct host *host, robots_handle rules,
                        struct politeness_visit *wait)
{
    if (rules == ROBOTS_NONE) {
        host->awaits_robots = false; /* as if it had never been requested */
        wait->failure_wait_ns = VISIT_CROWDED_NS;
    } else if (rules == ROBOTS_ALL_DENIED) {
        wait->failure_wait_ns = count_unreachable(visits, host);
        forbid(host);
    } else {
        take_rules(visits, host, rules);
        wait->crawl_delay_ns = host->crawl_delay_ns;
    }
}

/* False: no answer has come. */
static bool take_answers(struct visits *visits, struct host *host, struct politeness_visit *wait)
{
    struct host_item *item;
    bool has_come = false;
    while ((item = host_pop_answer(host, visits->tuning->fixed.priority.url_weights))) {
        if (host->awaits_robots)
            take_answer(visits, host, errand_rules(item), wait);
        ledger_finish(visits->ledger, host, item, &(struct ledger_verdict){.outcome = FETCH_DONE});
        has_come = true;
    }
    return has_come;
}

bool visit_put_off(struct visits *visits, struct host *host, uint64_t now_ns)
{
    struct politeness_visit wait = {0};
    if (!host->awaits_robots)
        return false;
    bool has_come = take_answers(visits, host, &wait);
    bool must_wait = wait.failure_wait_ns || wait.crawl_delay_ns;
    bool has_errand = host_has_errand(host, visits->tuning->fixed.priority.url_weights);
    if (has_errand || (has_come && !must_wait && !host->awaits_robots))
        return false;
    /* The time of the request for the host's own robots.txt is not known any more: the delay begins here. */
    uint64_t rest_ns = must_wait ? politeness_host_rest(&visits->tuning->live.politeness, &wait) : 0;
    frontier_give_back(visits->frontier, host, rest_ns, now_ns);
    return true;
}

void visit_ask_robots(struct visit *visit)
{
    visit->asks = VISIT_ASKS_ROBOTS;
    visit_request(visit, SLICE("/robots.txt"));
}

bool visit_takes_answers(struct visit *visit)
{
    struct host *host = visit->host;
    struct politeness_visit wait = {0};
    if (!take_answers(visit->visits, host, &wait))
        return true;
    visit->times.failure_wait_ns = wait.failure_wait_ns;
    visit->times.crawl_delay_ns = wait.crawl_delay_ns;
    return !host->is_dead && !wait.failure_wait_ns && !wait.crawl_delay_ns;
}

void visit_read_robots(struct visit *visit)
{
    int status = visit->page.status;
    if (!visit_store_robots(visit, line_of(visit).path)) {
        visit_stall(visit);
        return;
    }
    stats_add(&visit->visits->stats->robots_files, 1);
    visit_log_robots(visit, visit->page.cut_by);
    if (status == 429 || status == 503)
        visit->times.retry_after_ns = visit_retry_after_ns(&visit->page);
    if (status == 429 && !visit->times.retry_after_ns) /* 429 means no rules, but also to slow down */
        visit->times.retry_after_ns = politeness_failure_wait(&visit->visits->tuning->live.retry, 1);
    if (visit->asks == VISIT_ASKS_ERRAND)
        read_errand(visit);
    else
        read_own(visit);
    if (visit->host->is_dead || visit->times.failure_wait_ns)
        visit_end(visit);
    else
        visit_continue(visit);
}
