/* robots.txt in the crawl: asked for first, kept as long as it is fresh, and, where it redirects to another
 * host, asked for there in that host's own turn. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/loop.h"
#include "engine/robots.h"
#include "engine/visit.h"
#include "lockfree/clock.h"

/* How often a host looks whether the answer of the other host has come. */
#define AWAIT_NS CLOCK_NS_PER_S

static struct slice robots_path(const struct host *host)
{
    return host->robots_path ? slice_of(host->robots_path) : SLICE("/robots.txt");
}

static void take_rules(struct host *host, struct robots *rules, uint64_t fresh_ns)
{
    free(host->robots);
    free(host->robots_path);
    host->robots_path = NULL;
    host->robots = rules;
    host->robots_until_ns = clock_now_ns() + fresh_ns;
    host->robots_redirects = 0;
    host->awaits_robots = false;
    host->crawl_delay_ns = (uint64_t)rules->crawl_delay_ms * CLOCK_NS_PER_MS;
}

static struct robots *without_file(bool allow)
{
    struct robots *rules = malloc(sizeof *rules);
    if (!rules)
        abort(); /* a hundred bytes: nothing works any more */
    return robots_without_file(rules, allow);
}

/* The rules of the robots.txt that has come, in memory of their own; all forbidden if it cannot be read. */
static struct robots *compile(struct visit *visit)
{
    enum fetch_outcome outcome = FETCH_DONE;
    struct slice text = visit_decode_body(visit, &outcome);
    void *large = outcome == FETCH_DONE ? malloc(robots_size(text.len)) : NULL;
    if (!large)
        return without_file(false);
    struct robots *rules = robots_compile(large, text, visit->loop->crawl->agent);
    struct robots *small = realloc(large, rules->bytes);
    return small ? small : rules;
}

static void end_visit(struct visit *visit)
{
    visit->state = VISIT_ENDING;
    conn_close(&visit->conn, FETCH_ABORTED);
}

/* Everything is forbidden, and the file is to be asked for again. */
static void forbid(const struct tuning *tuning, struct host *host)
{
    take_rules(host, without_file(false), 0);
    if (host->failures >= tuning->host_failures_max && !host->is_dead) {
        host->is_dead = true;
        host->dead_why = FETCH_ROBOTS_UNREACHABLE;
    }
}

void visit_robots_unreachable(struct visit *visit)
{
    const struct tuning *tuning = visit->loop->tuning;
    if (visit->times.failure_wait_ns == 0) { /* a failed connection was counted already */
        visit->host->failures++;
        visit->times.failure_wait_ns = tuning->robots_retry_ns;
    }
    forbid(tuning, visit->host);
}

static void feed_sitemaps(struct loop *loop, struct host *host)
{
    struct slice text, key = host_key(host);
    char base_text[URL_BYTES_MAX];
    uint32_t cursor = 0;
    struct url base;
    memcpy(base_text, key.ptr, key.len);
    base_text[key.len] = '/';
    url_open(&base, (struct slice){base_text, key.len + 1});
    struct harvest_source source = {.url = &base, .base = &base, .host = host};
    while (robots_sitemap(host->robots, &cursor, &text))
        harvest_link(loop, &source, text, HOST_ITEM_SITEMAP);
    harvest_flush(loop);
}

/* A robots.txt has come, from the host itself or from another. */
static void obey(struct loop *loop, struct host *host, struct robots *rules)
{
    take_rules(host, rules, loop->tuning->robots_fresh_ns);
    if (loop->tuning->robots_sitemaps)
        feed_sitemaps(loop, host);
}

bool visit_put_off(struct loop *loop, struct host *host, uint64_t now_ns)
{
    const struct tuning *tuning = loop->tuning;
    struct politeness_visit wait = {.failure_wait_ns = AWAIT_NS};
    if (!host->awaits_robots || host_has_errand(host, tuning->url_weights))
        return false;
    /* A1 pairs with R1 in send_rules. */
    struct robots *rules = lf_exchange(&host->robots_mail, NULL, acquire);
    if (rules && !rules->disallow_all) {
        obey(loop, host, rules);
        if (!host->crawl_delay_ns)
            return false;
        /* When the host's own robots.txt was asked for is not known any more: the delay begins here. */
        wait = (struct politeness_visit){.crawl_delay_ns = host->crawl_delay_ns};
    } else if (rules) {
        free(rules);
        host->failures++;
        wait.failure_wait_ns = tuning->robots_retry_ns;
        forbid(tuning, host);
    }
    frontier_return(&loop->frontier, host, &wait, now_ns);
    return true;
}

bool visit_has_fresh_rules(const struct host *host)
{
    return host->robots && clock_now_ns() < host->robots_until_ns;
}

bool visit_has_robots(struct visit *visit)
{
    struct host *host = visit->host;
    if (host->awaits_robots) { /* it came for an errand */
        end_visit(visit);
        return false;
    }
    if (visit_has_fresh_rules(host))
        return true;
    visit->asks = VISIT_ASKS_ROBOTS;
    visit_request(visit, robots_path(host));
    return false;
}

/* The robots.txt of host `id` is asked for at `url`, in the turn of that URL's host. */
static bool ask_elsewhere(struct loop *loop, uint32_t id, const struct url *url, unsigned redirects)
{
    struct host *other = frontier_host(&loop->frontier, url, frontier_hash(url));
    char text[sizeof id + URL_BYTES_MAX];
    struct slice path = url_path_query(url);
    memcpy(text, &id, sizeof id);
    memcpy(text + sizeof id, path.ptr, path.len);
    struct host_item *item =
        other ? host_item_acquire(&loop->frontier.urls, (struct slice){text, sizeof id + path.len}) : NULL;
    if (!item)
        return false;
    item->kind = HOST_ITEM_ROBOTS;
    item->redirects = (uint8_t)redirects;
    stats_add(&loop->stats.urls_in, 1);
    frontier_push(&loop->frontier, other, item);
    return true;
}

enum follow {
    FOLLOW_BEGUN,
    FOLLOW_NOWHERE, /* to no URL that could be asked for */
    FOLLOW_NO_ROOM, /* for another host or URL: what the rules are remains unknown */
};

/* Follows a redirect of the robots.txt of `origin`. */
static enum follow follow(struct visit *visit, struct host *origin, struct slice base_path)
{
    struct loop *loop = visit->loop;
    char base_text[URL_BYTES_MAX], text[URL_BYTES_MAX];
    struct slice key = host_key(visit->host);
    struct url base, url;
    if (key.len + base_path.len > sizeof base_text)
        return FOLLOW_NOWHERE;
    memcpy(base_text, key.ptr, key.len);
    memcpy(base_text + key.len, base_path.ptr, base_path.len);
    url_open(&base, (struct slice){base_text, key.len + base_path.len});
    url_init(&url, text, sizeof text);
    if (url_parse(&url, &base, visit->page.known[HTTP_KNOWN_LOCATION]) != URL_OK || url_has_userinfo(&url))
        return FOLLOW_NOWHERE;
    bool is_errand = visit->asks == VISIT_ASKS_OTHER_ROBOTS; /* it may lead back to the host it is for */
    if (!is_errand && slice_equals(url_host_key(&url), key)) {
        struct slice path = url_path_query(&url);
        char *next = strndup(path.ptr, path.len);
        free(origin->robots_path);
        origin->robots_path = next;
        return next ? FOLLOW_BEGUN : FOLLOW_NO_ROOM;
    }
    unsigned redirects = is_errand ? visit->item->redirects + 1u : origin->robots_redirects;
    if (!ask_elsewhere(loop, origin->id, &url, redirects))
        return FOLLOW_NO_ROOM;
    if (!is_errand) /* else it does so already, and is not ours to write to */
        origin->awaits_robots = true;
    return FOLLOW_BEGUN;
}

static void follow_own(struct visit *visit)
{
    switch (follow(visit, visit->host, robots_path(visit->host))) {
    case FOLLOW_BEGUN:
        break;
    case FOLLOW_NOWHERE:
        take_rules(visit->host, without_file(true), visit->loop->tuning->robots_fresh_ns);
        break;
    case FOLLOW_NO_ROOM:
        visit_robots_unreachable(visit);
        break;
    }
}

static void read_rules(struct visit *visit)
{
    struct robots *rules = compile(visit);
    if (!rules->disallow_all) {
        obey(visit->loop, visit->host, rules);
        return;
    }
    free(rules);
    visit_robots_unreachable(visit);
}

/* The answer to the host's own robots.txt. */
static void read_own(struct visit *visit, int status)
{
    struct host *host = visit->host;
    const struct tuning *tuning = visit->loop->tuning;
    bool has_location = visit->page.known[HTTP_KNOWN_LOCATION].ptr != NULL;
    struct robots_fetch fetch = {
        .status = status, .redirects = host->robots_redirects, .has_location = has_location};
    switch (robots_from_status(fetch)) {
    case ROBOTS_PARSE:
        read_rules(visit);
        break;
    case ROBOTS_FOLLOW:
        host->robots_redirects++;
        follow_own(visit);
        break;
    case ROBOTS_ALLOW_ALL:
        take_rules(host, without_file(true), tuning->robots_fresh_ns);
        break;
    case ROBOTS_DISALLOW_ALL:
        visit_robots_unreachable(visit);
        break;
    }
}

/* The rules go to the host that they are for; whatever waits there is out of date. */
static void send_rules(struct host *origin, struct robots *rules)
{
    free(lf_exchange(&origin->robots_mail, rules, acq_rel)); /* R1 pairs with A1 in visit_put_off */
}

void visit_robots_abandoned(struct loop *loop, const struct host_item *item)
{
    uint32_t id;
    memcpy(&id, item->path, sizeof id);
    send_rules(frontier_host_by_id(&loop->crawl->frontier, id), without_file(false));
}

/* The answer to the robots.txt of another host that redirected to here. */
static void read_other(struct visit *visit, int status)
{
    struct loop *loop = visit->loop;
    struct host_item *item = visit->item;
    uint32_t id;
    memcpy(&id, item->path, sizeof id);
    struct host *origin = frontier_host_by_id(&loop->crawl->frontier, id);
    struct robots_fetch fetch = {.status = status,
                                 .redirects = item->redirects,
                                 .has_location = visit->page.known[HTTP_KNOWN_LOCATION].ptr != NULL};
    enum robots_action action = robots_from_status(fetch);
    struct slice path = slice_skip(host_item_path(item), sizeof id);
    enum follow followed = action == ROBOTS_FOLLOW ? follow(visit, origin, path) : FOLLOW_NOWHERE;
    if (action == ROBOTS_PARSE)
        send_rules(origin, compile(visit));
    else if (followed != FOLLOW_BEGUN)
        send_rules(origin, without_file(action != ROBOTS_DISALLOW_ALL && followed == FOLLOW_NOWHERE));
    visit->item = NULL;
    loop_finish_item(loop, visit->host, item, &(struct loop_verdict){.outcome = FETCH_DONE});
}

void visit_read_robots(struct visit *visit, int status)
{
    stats_add(&visit->loop->stats.robots_files, 1);
    if (status == 429 || status == 503)
        visit->times.retry_after_ns = visit_retry_after_ns(&visit->page);
    if (status == 429 && !visit->times.retry_after_ns) /* there are no rules, and yet it is too much */
        visit->times.retry_after_ns = politeness_failure_wait(visit->loop->tuning, 1);
    if (visit->asks == VISIT_ASKS_OTHER_ROBOTS)
        read_other(visit, status);
    else
        read_own(visit, status);
    if (status == 0)
        return; /* the connection is over, and with it the visit */
    if (visit->host->awaits_robots)
        visit->times.failure_wait_ns = AWAIT_NS;
    if (visit->host->is_dead || visit->host->awaits_robots || visit->times.failure_wait_ns)
        end_visit(visit);
    else
        visit_continue(visit);
}
