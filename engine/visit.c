#include "engine/visit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/loop.h"
#include "engine/robots.h"
#include "engine/robots_tag.h"
#include "lockfree/clock.h"
#include "net/http_request.h"

/* URLs that robots.txt forbids are logged in passing: so many before the loop gets its turn. */
enum { DENIED_PER_REQUEST_MAX = 256 };

/* Until pages that have the memory are done with. */
#define CROWDED_WAIT_NS (100 * CLOCK_NS_PER_MS)

/* A page that takes milliseconds to decode, read and compress; a turn that has taken as long. */
enum { LONG_PAGE_BYTES = 1 << 18 };
#define LONG_TURN_NS (5 * CLOCK_NS_PER_MS)

/* A server's word is good for so much memory; beyond it, bytes have to come first. */
enum { PROMISED_BYTES_MAX = 1 << 18 };

static void on_ready(struct conn *conn);
static void on_head(struct conn *conn, const struct http_head *head);
static void on_body(struct conn *conn, struct slice bytes);
static void on_response(struct conn *conn);
static void on_closed(struct conn *conn, enum fetch_outcome outcome);

static const struct conn_events events = {on_ready, on_head, on_body, on_response, on_closed};

static struct visit *visit_of(struct conn *conn)
{
    return conn->owner;
}

static enum crawl_phase phase_of(const struct loop *loop)
{
    return (enum crawl_phase)lf_load(&loop->crawl->phase, relaxed);
}

char *visit_response(const struct visit_page *page)
{
    return page->buffer.bytes + STORE_HEADROOM;
}

static void set_address(struct visit *visit, const struct address_key *key)
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    uint16_t port = htons(visit->host->port);
    memset(&visit->address, 0, sizeof visit->address);
    if (memcmp(key->bytes, v4, sizeof v4) == 0) {
        visit->address.v4.sin_family = AF_INET;
        visit->address.v4.sin_port = port;
        memcpy(&visit->address.v4.sin_addr, key->bytes + 12, 4);
    } else {
        visit->address.v6.sin6_family = AF_INET6;
        visit->address.v6.sin6_port = port;
        memcpy(&visit->address.v6.sin6_addr, key->bytes, 16);
    }
}

static void connect_host(struct visit *visit)
{
    struct slice name = host_name(visit->host);
    if (name.ptr[0] == '[')
        name = (struct slice){name.ptr + 1, name.len - 2};
    struct conn_target target = {
        .host = name, .port = visit->host->port, .tls = visit->host->is_https, .address = &visit->address};
    visit->state = VISIT_CONNECTING;
    conn_begin(&visit->conn, &target);
}

static void release_page(struct visit *visit)
{
    buffer_release(&visit->loop->pages, &visit->page.buffer);
    visit->page = (struct visit_page){0};
}

/* The connection is gone: the token goes home. */
static void finish(struct visit *visit)
{
    struct loop *loop = visit->loop;
    assert(!visit->item);
    release_page(visit);
    /* The visit counts until its connection is closed: the server may have seen the last byte leave a little
     * later than we saw it come. */
    uint64_t end_ns = clock_now_ns();
    visit->times.spent_ns = end_ns - visit->begin_ns;
    visit->times.crawl_delay_ns = visit->host->crawl_delay_ns;
    visit->state = VISIT_FREE;
    visit->next = loop->visits_free;
    loop->visits_free = visit;
    loop->visits_open--;
    frontier_return(&loop->frontier, visit->host, &visit->times, end_ns);
}

static void end(struct visit *visit)
{
    visit->state = VISIT_ENDING;
    conn_close(&visit->conn, FETCH_ABORTED);
}

static bool has_reached_limit(const struct tuning *tuning, const struct host *host)
{
    return (tuning->pages_per_host_max && host->pages >= tuning->pages_per_host_max) ||
           (tuning->bytes_per_host_max && host->bytes >= tuning->bytes_per_host_max) ||
           (tuning->time_per_host_max_ns && host->spent_ns >= tuning->time_per_host_max_ns);
}

/* Whether an item may be asked for; if not, that is its verdict. */
static bool may_ask(struct loop *loop, struct host *host, struct host_item *item)
{
    const struct tuning *tuning = loop->tuning;
    struct robots_rule rule = {.pattern = {NULL, 0}};
    struct loop_verdict verdict = {.size = -1};
    if (item->kind == HOST_ITEM_ROBOTS)
        return true;
    if (has_reached_limit(tuning, host)) {
        verdict.outcome = FETCH_HOST_LIMIT;
    } else if (tuning->robots_obey && !robots_allows(host->robots, host_item_path(item), &rule)) {
        verdict.outcome = FETCH_ROBOTS_DENIED;
        verdict.annotation = rule.pattern;
    } else {
        return true;
    }
    loop_finish_item(loop, host, item, &verdict);
    return false;
}

/* The next URL that may be asked for; NULL: none now. */
static struct host_item *next_item(struct loop *loop, struct host *host)
{
    bool weights = loop->tuning->url_weights;
    for (int i = 0; i < DENIED_PER_REQUEST_MAX && loop_has_log_room(loop); i++) {
        struct host_item *item = host_pop(host, weights);
        if (!item || may_ask(loop, host, item))
            return item;
    }
    return NULL;
}

/* With its rules at hand it can be told without a connection that a host has nothing to be asked for. */
static bool is_needless(struct loop *loop, struct host *host)
{
    bool has_rules = !loop->tuning->robots_obey || visit_has_fresh_rules(host);
    if (!has_rules || !loop_has_log_room(loop))
        return false;
    struct host_item *item = next_item(loop, host);
    if (item)
        host_unpop(host, item);
    return !item;
}

void visit_begin(struct loop *loop, struct host *host)
{
    if (is_needless(loop, host)) {
        frontier_return(&loop->frontier, host, &(struct politeness_visit){0}, clock_now_ns());
        return;
    }
    struct visit *visit = loop->visits_free;
    loop->visits_free = visit->next;
    loop->visits_open++;
    *visit = (struct visit){.loop = loop, .host = host, .begin_ns = clock_now_ns()};
    visit->last_byte_ns = visit->begin_ns;
    conn_init(&visit->conn, &loop->conns, &events);
    visit->conn.owner = visit;
    set_address(visit, &frontier_address(&loop->crawl->frontier, host->address)->key);
    stats_add(&loop->stats.visits, 1);
    connect_host(visit);
}

/* With max-pages, a place is taken before a page is asked for, so that the limit is kept to the page. */
static bool reserve_page(struct visit *visit)
{
    struct crawl *crawl = visit->loop->crawl;
    uint64_t pages_max = visit->loop->tuning->max_pages;
    if (pages_max == 0 || visit->holds_page)
        return true;
    if (lf_fetch_add(&crawl->pages_reserved, 1, relaxed) < pages_max)
        return visit->holds_page = true;
    lf_fetch_sub(&crawl->pages_reserved, 1, relaxed);
    return false;
}

static void give_page_back(struct visit *visit)
{
    if (visit->holds_page)
        lf_fetch_sub(&visit->loop->crawl->pages_reserved, 1, relaxed);
    visit->holds_page = false;
}

void visit_request(struct visit *visit, struct slice path)
{
    struct loop *loop = visit->loop;
    struct http_request request = {
        .method = SLICE("GET"),
        .target = path,
        .host = host_authority(visit->host),
        .user_agent = slice_of(loop->crawl->user_agent),
        .accept = VISIT_ACCEPT,
        .accept_encoding = VISIT_ACCEPT_ENCODING,
    };
    visit->state = VISIT_FETCHING;
    stats_add(&loop->stats.requests, 1);
    conn_request(&visit->conn, &request);
}

static void ask(struct visit *visit)
{
    /* Two hosts whose robots.txt redirect to each other: neither waits for its own rules to ask for the
     * other's. */
    struct host_item *item = visit->host->awaits_robots ? host_pop_errand(visit->host) : NULL;
    if (!item && visit->loop->tuning->robots_obey && !visit_has_robots(visit))
        return;
    if (!item && reserve_page(visit))
        item = next_item(visit->loop, visit->host);
    if (!item) {
        give_page_back(visit);
        end(visit);
        return;
    }
    struct slice path = host_item_path(item);
    visit->item = item;
    visit->asks = VISIT_ASKS_PAGE;
    if (item->kind == HOST_ITEM_ROBOTS) {
        give_page_back(visit);
        visit->asks = VISIT_ASKS_OTHER_ROBOTS;
        path = slice_skip(path, sizeof(uint32_t));
    }
    visit_request(visit, path);
}

static void on_ready(struct conn *conn)
{
    struct visit *visit = visit_of(conn);
    enum tls_error error = conn->tls ? tls_certificate_error(conn->tls) : TLS_OK;
    visit->certificate = error == TLS_OK ? FETCH_DONE : outcome_of_tls(error);
    if (phase_of(visit->loop) != CRAWL_RUNNING)
        end(visit);
    else
        ask(visit);
}

void visit_continue(struct visit *visit)
{
    struct loop *loop = visit->loop;
    visit->times.spent_ns = clock_now_ns() - visit->begin_ns;
    visit->times.crawl_delay_ns = visit->host->crawl_delay_ns;
    release_page(visit);
    bool may = politeness_may_request(loop->tuning, &visit->times) && loop->debt_ns <= visit->last_byte_ns;
    if (may && conn_is_ready(&visit->conn) && phase_of(loop) == CRAWL_RUNNING)
        ask(visit);
    else
        end(visit);
}

/* A slice of the head, moved to where the head was copied to. */
static struct slice moved(struct slice text, struct slice raw, const char *copy)
{
    return text.ptr ? (struct slice){copy + (text.ptr - raw.ptr), text.len} : text;
}

/* No memory for the page: either other visits have it, or the page is too large for all of it. */
static void run_out_of_memory(struct visit *visit, size_t size)
{
    visit->is_crowded = buffer_pool_could_fit(&visit->loop->pages, size + visit->loop->decoded.size);
    conn_close(&visit->conn, FETCH_NO_MEMORY);
}

static void on_head(struct conn *conn, const struct http_head *head)
{
    struct visit *visit = visit_of(conn);
    struct visit_page *page = &visit->page;
    size_t body = head->content_length > 0 ? (size_t)head->content_length : 0;
    uint64_t body_max = visit->loop->conns.http.limits.body_bytes_max;
    body = body < body_max ? body : body_max;
    body = body < PROMISED_BYTES_MAX ? body : PROMISED_BYTES_MAX;
    size_t size = STORE_HEADROOM + head->raw.len + body + STORE_TAILROOM;
    if (!buffer_reserve(&visit->loop->pages, &page->buffer, size, 0)) {
        run_out_of_memory(visit, size);
        return;
    }
    char *copy = visit_response(page);
    memcpy(copy, head->raw.ptr, head->raw.len);
    page->has_head = true;
    page->head_len = head->raw.len;
    page->status = head->status;
    for (int i = 0; i < HTTP_KNOWN_COUNT; i++)
        page->known[i] = moved(head->known[i], head->raw, copy);
    for (size_t i = 0; i < head->field_count; i++)
        if (slice_equals_nocase(head->fields[i].name, SLICE("X-Robots-Tag")))
            page->robots_tags |= robots_tag_parse(head->fields[i].value, visit->loop->crawl->agent);
}

/* The buffer moved: so do the slices into it. */
static void follow(struct visit_page *page, const char *old, size_t head_len)
{
    const char *now = visit_response(page);
    for (int i = 0; i < HTTP_KNOWN_COUNT; i++)
        page->known[i] = moved(page->known[i], (struct slice){old, head_len}, now);
}

static void on_body(struct conn *conn, struct slice bytes)
{
    struct visit *visit = visit_of(conn);
    struct visit_page *page = &visit->page;
    if (!page->has_head)
        return; /* closing for want of memory */
    size_t used = STORE_HEADROOM + page->head_len + page->body_len;
    size_t size = used + bytes.len + STORE_TAILROOM;
    const char *old = visit_response(page);
    if (size > page->buffer.size) {
        if (!buffer_reserve(&visit->loop->pages, &page->buffer, size, used)) {
            run_out_of_memory(visit, size);
            return;
        }
        follow(page, old, page->head_len);
    }
    memcpy(page->buffer.bytes + used, bytes.ptr, bytes.len);
    page->body_len += bytes.len;
}

/* Bandwidth: what was received has to be paid for with time before the next request. */
static void pay_for(struct visit *visit)
{
    struct loop *loop = visit->loop;
    size_t bytes = visit->page.head_len + visit->page.body_len;
    uint64_t rate = loop->tuning->bandwidth_bytes / loop->crawl->loop_count;
    visit->host->bytes += bytes;
    stats_add(&loop->stats.bytes_body, visit->page.body_len);
    if (rate == 0)
        return;
    uint64_t from = loop->debt_ns > visit->last_byte_ns ? loop->debt_ns : visit->last_byte_ns;
    loop->debt_ns = from + bytes * CLOCK_NS_PER_S / rate;
}

/* Requests that others have queued in this turn must not wait for a long page, nor for a long row of short
 * ones: what counts is when the server sees them. */
static void let_others_go(struct visit *visit)
{
    struct loop *loop = visit->loop;
    uint64_t now_ns = clock_now_ns();
    uint64_t since_ns = loop->ring.now_ns > loop->submitted_ns ? loop->ring.now_ns : loop->submitted_ns;
    if (visit->page.body_len < LONG_PAGE_BYTES && now_ns - since_ns < LONG_TURN_NS)
        return;
    ring_submit(&loop->ring);
    loop->submitted_ns = now_ns;
}

/* A response has come, whole or cut at the limit. */
static void deal_with_response(struct visit *visit)
{
    let_others_go(visit);
    pay_for(visit);
    switch ((enum visit_asks)visit->asks) {
    case VISIT_ASKS_PAGE:
        if (visit_read_page(visit))
            visit_continue(visit);
        break;
    case VISIT_ASKS_ROBOTS:
    case VISIT_ASKS_OTHER_ROBOTS:
        visit_read_robots(visit, visit->page.status);
        break;
    }
}

static void on_response(struct conn *conn)
{
    struct visit *visit = visit_of(conn);
    visit->last_byte_ns = conn->times.end_ns;
    stats_record(&visit->loop->stats.fetch_us, (conn->times.end_ns - conn->times.request_ns) / 1000);
    stats_record(&visit->loop->stats.first_byte_us,
                 (conn->times.first_byte_ns - conn->times.request_ns) / 1000);
    deal_with_response(visit);
}

/* Whether a failure says something about the host rather than about one of its pages. */
static bool is_host_failure(enum fetch_outcome outcome)
{
    bool is_ours =
        outcome == FETCH_NO_MEMORY || outcome == FETCH_NO_DESCRIPTOR || outcome == FETCH_CONNECT_NO_PORT;
    if (is_ours)
        return false;
    return outcome < FETCH_REQUEST_TOO_LONG || outcome == FETCH_FIRST_BYTE_TIMEOUT;
}

static void give_up_host(struct visit *visit, enum fetch_outcome outcome)
{
    visit->host->is_dead = true;
    visit->host->dead_why = (uint8_t)outcome;
}

static void count_host_failure(struct visit *visit, enum fetch_outcome outcome)
{
    const struct tuning *tuning = visit->loop->tuning;
    visit->host->failures++;
    visit->times.failure_wait_ns = politeness_failure_wait(tuning, visit->host->failures);
    if (visit->host->failures >= tuning->host_failures_max)
        give_up_host(visit, outcome);
}

static void retry_or_drop(struct visit *visit, enum fetch_outcome outcome)
{
    struct loop *loop = visit->loop;
    struct host_item *item = visit->item;
    visit->item = NULL;
    give_page_back(visit);
    /* The crawl ends and the URL stays in the frontier; or a kept-alive connection was over before the
     * request got there: it is the first of the next visit, after the rest that this one owes. */
    if (outcome == FETCH_ABORTED || outcome == FETCH_REUSED_CLOSED) {
        host_unpop(visit->host, item);
        return;
    }
    if (item->tries < loop->tuning->retries_max) {
        item->tries++;
        stats_add(&loop->stats.retries, 1);
        host_push_back(visit->host, item);
        return;
    }
    struct loop_verdict verdict = {.outcome = outcome, .size = -1, .start_ns = visit->conn.times.request_ns};
    loop_finish_item(loop, visit->host, item, &verdict);
}

static void on_failure(struct visit *visit, enum fetch_outcome outcome)
{
    if (outcome == FETCH_NO_MEMORY && visit->is_crowded) {
        visit->times.failure_wait_ns = CROWDED_WAIT_NS * (1 + visit->host->id % 8); /* not all at once */
        outcome = FETCH_ABORTED; /* as if not begun; what it held is there for the others */
    }
    if (outcome != FETCH_ABORTED && is_host_failure(outcome))
        count_host_failure(visit, outcome);
    if (visit->asks == VISIT_ASKS_PAGE && visit->item)
        retry_or_drop(visit, outcome);
    else if ((outcome == FETCH_ABORTED || outcome == FETCH_REUSED_CLOSED) && visit->item)
        retry_or_drop(visit, outcome);
    else if (outcome == FETCH_ABORTED || outcome == FETCH_REUSED_CLOSED)
        return;
    else if (visit->asks == VISIT_ASKS_ROBOTS && visit->state == VISIT_FETCHING)
        visit_robots_unreachable(visit);
    else if (visit->asks == VISIT_ASKS_OTHER_ROBOTS)
        visit_read_robots(visit, 0);
}

static void on_closed(struct conn *conn, enum fetch_outcome outcome)
{
    struct visit *visit = visit_of(conn);
    uint64_t now_ns = clock_now_ns();
    if (visit->state == VISIT_STALLED)
        return; /* the page is whole and waits; it ends the visit when it is stored */
    if (visit->state != VISIT_ENDING) {
        visit->last_byte_ns = now_ns;
        if (outcome == FETCH_BODY_TOO_LONG && visit->page.has_head) {
            visit->page.is_truncated = true;
            visit->state = VISIT_ENDING;
            deal_with_response(visit);
            if (visit->state == VISIT_STALLED || visit->state == VISIT_FREE)
                return;
        } else {
            on_failure(visit, outcome);
        }
    }
    finish(visit);
}

void visit_retry_stalled(struct loop *loop)
{
    struct visit *visit = loop->stalled;
    loop->stalled = NULL;
    while (visit) {
        struct visit *next = visit->next;
        if (visit_read_page(visit)) {
            bool is_over = visit->conn.state == CONN_IDLE;
            visit->state = VISIT_FETCHING;
            if (is_over)
                finish(visit);
            else
                visit_continue(visit);
        }
        visit = next;
    }
}

void visit_abort_all(struct loop *loop)
{
    for (unsigned i = 0; i < loop->visits_max; i++) {
        struct visit *visit = &loop->visits[i];
        if (visit->state != VISIT_FREE && visit->state != VISIT_STALLED && visit->conn.state != CONN_IDLE)
            conn_close(&visit->conn, FETCH_ABORTED);
    }
}
