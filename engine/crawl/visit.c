/* A visit is a state machine driven by its connection and by the store:
 *
 *                    FREE <--------------------------.
 *                      |                             |
 *                      v                             |
 *                 CONNECTING --------------------> ENDING
 *                      |                           ^ ^ ^
 *                      v                           | | |
 *             .-> FETCHING <----.                  | | |
 *             |     |   |       |                  | | |
 *             |     |   '-------|------------------' | |
 *             |     v           |                    | |
 *             '- READING ---> WAITING ---------------' |
 *                 ^ | |                                |
 *                 | | '--------------------------------'
 *                 | v
 *               STALLED
 *
 *   FREE       -> CONNECTING  [visit_begin]
 *   CONNECTING -> FETCHING    [visit_request]       the first request
 *   CONNECTING -> ENDING      [visit_end]           no connection, or nothing to ask for
 *   FETCHING   -> READING     [deal_with_response]  complete, or cut short but worth reading
 *   FETCHING   -> ENDING      [visit_end]           the request failed: its URL is queued again, or logged
 *   READING    -> FETCHING    [visit_request]       another request is allowed
 *   READING    -> WAITING     [visit_continue]      allowed, but there is no bandwidth
 *   READING    -> STALLED     [visit_stall]         the store or the log is full, or the page is long
 *   READING    -> ENDING      [visit_end]
 *   WAITING    -> FETCHING    [visit_request]
 *   WAITING    -> ENDING      [visit_end]           the burst or the crawl is over, or the server closed
 *   STALLED    -> READING     [visit_retry]
 *   ENDING     -> FREE        [finish]              the connection is closed; the token goes home
 *
 * If the server closes the connection while a page is STALLED, the visit ends when the page is stored. A
 * visit that is not FREE holds its host's token. visit_check has the other invariants. */
#include "engine/crawl/visit_parts.h"

#include <assert.h>
#include <string.h>

#include "engine/crawl/limits.h"
#include "engine/crawl/visits.h"
#include "engine/frontier/errand.h"
#include "lockfree/clock.h"
#include "net/http_request.h"

/* A page that takes milliseconds to decode, read and compress. */
enum { LONG_PAGE_BYTES = 1 << 18 };

const char *visit_state_name(enum visit_state state)
{
    static const char *const names[VISIT_STATE_COUNT] = {
        [VISIT_FREE] = "free",       [VISIT_CONNECTING] = "connecting", [VISIT_FETCHING] = "fetching",
        [VISIT_READING] = "reading", [VISIT_WAITING] = "waiting",       [VISIT_STALLED] = "stalled",
        [VISIT_ENDING] = "ending",
    };
    return names[state];
}

#define TO(state) (1u << VISIT_##state)

static bool is_edge(enum visit_state from, enum visit_state to)
{
    static const uint8_t edges[VISIT_STATE_COUNT] = {
        [VISIT_FREE] = TO(CONNECTING),
        [VISIT_CONNECTING] = TO(FETCHING) | TO(ENDING),
        [VISIT_FETCHING] = TO(READING) | TO(ENDING),
        [VISIT_READING] = TO(FETCHING) | TO(WAITING) | TO(STALLED) | TO(ENDING),
        [VISIT_WAITING] = TO(FETCHING) | TO(ENDING),
        [VISIT_STALLED] = TO(READING),
        [VISIT_ENDING] = TO(FREE),
    };
    return edges[from] >> to & 1;
}

void visit_check(const struct visit *visit)
{
    const struct visit_page *page = &visit->page;
    const bool is_closed = visit->conn.state == CONN_IDLE;
    (void)page, (void)is_closed;
    switch ((enum visit_state)visit->state) {
    case VISIT_FREE:
        assert(!visit->host && is_closed);
        /* fall through */
    case VISIT_ENDING:
        assert(!visit->item && !visit->holds_page && !page->buffer.bytes && !visit->reserved_ns);
        break;
    case VISIT_WAITING:
        assert(!visit->item && !page->buffer.bytes && !visit->reserved_ns);
        break;
    case VISIT_CONNECTING:
        assert(!visit->item && !page->has_head && !is_closed);
        break;
    case VISIT_FETCHING:
        assert((visit->asks == VISIT_ASKS_ROBOTS) == !visit->item && !is_closed);
        break;
    case VISIT_READING:
        assert(page->has_head);
        break;
    case VISIT_STALLED:
        assert(page->has_head && (visit->asks == VISIT_ASKS_ROBOTS) == !visit->item);
        break;
    case VISIT_STATE_COUNT:
        assert(!"a state");
    }
}

/* The one function that assigns visit->state. */
static void enter(struct visit *visit, enum visit_state state)
{
    assert(is_edge((enum visit_state)visit->state, state));
    (void)is_edge;
    visit->state = (uint8_t)state;
    visit_check(visit);
}

static void on_ready(struct conn *conn);
static void on_response(struct conn *conn);
static void on_closed(struct conn *conn, enum outcome why);

static const struct conn_events events = {on_ready, visit_on_head, visit_on_body, on_response, on_closed};

static struct visit *visit_of(struct conn *conn)
{
    return conn->owner;
}

static void connect_host(struct visit *visit)
{
    struct slice name = host_name(visit->host);
    if (name.ptr[0] == '[')
        name = (struct slice){name.ptr + 1, name.len - 2};
    struct conn_target target = {
        .host = name, .port = visit->host->port, .tls = visit->host->is_https, .address = &visit->address};
    conn_begin(&visit->conn, &target);
}

void visit_begin(struct visits *visits, struct host *host)
{
    if (!visit_drop_denied(visits, host)) {
        /* No request was made, so no rest is due. If more URLs wait, other hosts only get their turn
         * first. */
        uint64_t wait_ns =
            host_has_items(host) ? VISIT_WORK_NS_MAX : visits->tuning->live.politeness.host_min_idle_ns;
        frontier_give_back(visits->frontier, host, wait_ns, clock_now_ns());
        return;
    }
    struct visit *visit = visits->free;
    visits->free = visit->next;
    visits->open++;
    *visit = (struct visit){.visits = visits, .host = host, .begin_ns = clock_now_ns()};
    visit_reserve(visit);
    conn_init(&visit->conn, visits->conns, &events);
    visit->conn.owner = visit;
    ip_to_socket(&host->ip, host->port, &visit->address);
    stats_add(&visits->stats->visits, 1);
    visit_record_begin(visit);
    connect_host(visit);
    enter(visit, VISIT_CONNECTING);
}

static void release_page(struct visit *visit)
{
    assert(!visit->visits->store || !visit->page.buffer.bytes ||
           !store_holds(visit->visits->store, visit_response(&visit->page)));
    buffer_release(visit->visits->pages, &visit->page.buffer);
    outlinks_release(&visit->page.list, visit->visits->pages);
    visit->page = (struct visit_page){0};
}

static void take_times(struct visit *visit, uint64_t now_ns)
{
    visit->times.spent_ns = now_ns - visit->begin_ns;
    visit->times.crawl_delay_ns = visit->host->crawl_delay_ns;
}

/* The connection is closed: returns the token. */
static void finish(struct visit *visit)
{
    struct visits *visits = visit->visits;
    struct host *host = visit->host;
    /* The visit lasts until its connection is closed, because the server may see its end later than we do. */
    uint64_t end_ns = clock_now_ns();
    take_times(visit, end_ns);
    if (visit->times.failure_wait_ns || visit->times.retry_after_ns > visits->tuning->live.robots.retry_ns)
        errand_answer_all(visits->frontier, host,
                          ROBOTS_ALL_DENIED); /* else they would wait as long as the host */
    visit_record_end(visit, end_ns);
    struct frontier_rests rests = frontier_rests(visits->frontier, host, &visit->times, end_ns);
    stats_record(&visits->stats->rest_us, (rests.host_ns - end_ns) / 1000);
    visit->host = NULL;
    enter(visit, VISIT_FREE);
    visit->next = visits->free;
    visits->free = visit;
    visits->open--;
    frontier_return(visits->frontier, host, &visit->times, end_ns);
}

void visit_end(struct visit *visit)
{
    release_page(visit);
    visit_settle(visit);
    enter(visit, VISIT_ENDING);
    if (visit->conn.state == CONN_IDLE)
        finish(visit);
    else
        conn_close(&visit->conn, OUTCOME_ABORTED);
}

void visit_abort(struct visit *visit)
{
    if (visit->state != VISIT_FREE && visit->state != VISIT_STALLED)
        conn_close(&visit->conn, OUTCOME_ABORTED);
}

void visit_request(struct visit *visit, struct slice path)
{
    struct visits *visits = visit->visits;
    struct http_request request = {
        .method = SLICE("GET"),
        .target = path,
        .host = host_authority(visit->host),
        .user_agent = visits->user_agent,
        .accept = VISIT_ACCEPT,
        .accept_encoding = VISIT_ACCEPT_ENCODING,
    };
    enter(visit, VISIT_FETCHING);
    visit_reserve(visit);
    stats_add(&visits->stats->requests, 1);
    conn_request(&visit->conn, &request);
}

static void on_ready(struct conn *conn)
{
    struct visit *visit = visit_of(conn);
    enum tls_error error = conn->tls ? tls_certificate_error(conn->tls) : TLS_OK;
    host_keep_ip(visit->host);
    visit->certificate = error == TLS_OK ? FETCH_DONE : fetch_outcome_of(outcome_of_tls(error));
    if (conn->tls) {
        visit->tls_protocol = slice_of(tls_protocol_text(conn->tls));
        visit->tls_suite = slice_of(tls_suite_text(conn->tls));
    }
    if (gate_is_open(visit->visits->gate, visit->visits->conns->ring->now_ns) && !host_has_orders(visit->host))
        visit_ask(visit);
    else
        visit_end(visit);
}

/* Whether another request may be made wait_ns from now_ns on. */
static bool may_request(struct visit *visit, uint64_t now_ns, uint64_t wait_ns)
{
    struct visits *visits = visit->visits;
    take_times(visit, now_ns + wait_ns);
    return politeness_may_request(&visits->tuning->live.politeness, &visit->times) &&
           conn_is_ready(&visit->conn) && gate_is_open(visits->gate, now_ns) && !host_has_orders(visit->host);
}

static void wait_for_bandwidth(struct visit *visit)
{
    visit_join_line(&visit->visits->waiting, visit);
    enter(visit, VISIT_WAITING);
}

void visit_continue(struct visit *visit)
{
    struct visits *visits = visit->visits;
    uint64_t now_ns = clock_now_ns();
    release_page(visit);
    if (!may_request(visit, now_ns, 0)) {
        visit_end(visit);
    } else if (visits_have_bandwidth(visits, now_ns)) {
        visit_ask(visit);
    } else if (may_request(visit, now_ns, visits_bandwidth_wait_ns(visits, now_ns))) {
        wait_for_bandwidth(visit);
    } else {
        visit_end(visit);
    }
}

void visit_resume(struct visit *visit)
{
    visit_leave_line(&visit->visits->waiting, visit);
    if (may_request(visit, clock_now_ns(), 0))
        visit_ask(visit);
    else
        visit_end(visit);
}

static void count_bytes(struct visit *visit)
{
    struct visits *visits = visit->visits;
    size_t bytes = visit->page.head_len + visit->page.body_len;
    host_count(&visit->host->bytes, bytes);
    visits->bytes_usual = (15 * visits->bytes_usual + bytes) / 16;
    stats_add(&visits->stats->bytes_body, visit->page.body_len);
}

/* Submits the requests that other visits have queued in this turn before a long page, or a long series of
 * short ones, is read: politeness counts from when the server sees a request. */
static void let_others_go(struct visit *visit)
{
    struct visits *visits = visit->visits;
    struct ring *ring = visits->conns->ring;
    uint64_t now_ns = clock_now_ns();
    visits->reads_since_ns = now_ns;
    uint64_t since_ns = ring->now_ns > visits->submitted_ns ? ring->now_ns : visits->submitted_ns;
    if (visit->page.body_len < LONG_PAGE_BYTES && now_ns - since_ns < VISIT_WORK_NS_MAX)
        return;
    ring_submit(ring);
    visits->submitted_ns = now_ns;
}

static void read_response(struct visit *visit)
{
    switch ((enum visit_asks)visit->asks) {
    case VISIT_ASKS_PAGE:
        if (visit_read_page(visit))
            visit_continue(visit);
        break;
    case VISIT_ASKS_ROBOTS:
    case VISIT_ASKS_ERRAND:
        visit_read_robots(visit);
        break;
    }
}

/* A response has arrived, complete or cut short. */
static void deal_with_response(struct visit *visit)
{
    enter(visit, VISIT_READING);
    let_others_go(visit);
    count_bytes(visit);
    host_prefetch_newest(visit->host); /* for visit_read_page */
    visit_settle(visit);
    read_response(visit);
}

static void on_response(struct conn *conn)
{
    struct visit *visit = visit_of(conn);
    stats_record(&visit->visits->stats->fetch_us, (conn->times.end_ns - conn->times.request_ns) / 1000);
    stats_record(&visit->visits->stats->first_byte_us,
                 (conn->times.first_byte_ns - conn->times.request_ns) / 1000);
    visit_end_hold(visit);
    deal_with_response(visit);
}

static void on_closed(struct conn *conn, enum outcome why)
{
    struct visit *visit = visit_of(conn);
    enum fetch_outcome outcome = fetch_outcome_of(why);
    visit_end_hold(visit);
    switch ((enum visit_state)visit->state) {
    case VISIT_CONNECTING:
        break;
    case VISIT_FETCHING:
        if (!visit_is_worth_keeping(visit, outcome))
            break;
        if (visit->page.cut_by == FETCH_DONE)
            visit->page.cut_by = outcome;
        visit_count_host_failure(visit, outcome);
        deal_with_response(visit);
        return;
    case VISIT_WAITING:
        visit_leave_line(&visit->visits->waiting, visit);
        visit_end(visit);
        return;
    case VISIT_STALLED:
        return; /* the page is complete; the visit ends when it is read and stored */
    case VISIT_ENDING:
        finish(visit);
        return;
    case VISIT_FREE:
    case VISIT_READING:
    case VISIT_STATE_COUNT:
        assert(!"a state with a connection");
        return;
    }
    visit_fail(visit, outcome);
    visit_end(visit);
}

void visit_stall(struct visit *visit)
{
    enter(visit, VISIT_STALLED);
    visit->next = visit->visits->stalled;
    visit->visits->stalled = visit;
}

void visit_retry(struct visit *visit)
{
    visit->visits->reads_since_ns = clock_now_ns();
    enter(visit, VISIT_READING);
    read_response(visit);
}
