/* The consequences of a failed request or connection for the URL and for its host. */
#include "engine/crawl/health.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "lockfree/clock.h"

static bool is_connect_failure(enum fetch_outcome outcome)
{
    return outcome == FETCH_CONNECT_REFUSED || outcome == FETCH_CONNECT_RESET ||
           outcome == FETCH_CONNECT_UNREACHABLE || outcome == FETCH_CONNECT_TIMEOUT ||
           outcome == FETCH_CONNECT_FAILED;
}

void visit_count_host_failure(struct visit *visit, enum fetch_outcome outcome)
{
    const struct tuning *tuning = visit->visits->tuning;
    if (fetch_outcome_class(outcome) != FETCH_OUTCOME_HOST)
        return;
    if (is_connect_failure(outcome) && host_leave_ip(visit->host))
        return;
    health_fail(visit->host, outcome, &tuning->live, visit->visits->stats);
    visit->times.failure_wait_ns = politeness_failure_wait(&tuning->live.retry, visit->host->failures);
    troubles_note(visit->visits->troubles, visit->host, outcome,
                  visit->host->is_dead ? 0 : clock_now_ns() + visit->times.failure_wait_ns);
}

/* Undoes the request: the URL will be the first of the next visit. */
static void put_back(struct visit *visit)
{
    struct host_item *item = visit->item;
    visit->item = NULL;
    visit_release_place(visit);
    if (item)
        host_unpop(visit->host, item);
}

/* Whether the URL may be tried again. A kept-alive connection may close just before a request arrives; that
 * is no fault of the URL and does not count as one of its tries. There is a limit, because a server may
 * close every time. */
static bool may_retry(const struct visit *visit, enum fetch_outcome outcome)
{
    uint64_t tries_max = visit->visits->tuning->live.retry.retries_max + (outcome == FETCH_REUSED_CLOSED);
    bool may_help = !fetch_outcome_is_final(outcome) || fetch_outcome_truncation(outcome);
    return may_help && visit->item->tries < tries_max;
}

static void retry(struct visit *visit, enum fetch_outcome outcome)
{
    struct host_item *item = visit->item;
    item->tries++;
    stats_add(&visit->visits->stats->retries, 1);
    visit->item = NULL;
    visit_release_place(visit);
    if (outcome == FETCH_REUSED_CLOSED)
        host_unpop(visit->host, item); /* it comes first, on a new connection */
    else
        host_push_back(visit->host, item);
}

static void drop(struct visit *visit, enum fetch_outcome outcome)
{
    struct host_item *item = visit->item;
    if (!ledger_begin(visit->visits->ledger)) {
        put_back(visit); /* a verdict that cannot be recorded is none: the URL is tried once more */
        return;
    }
    struct ledger_verdict verdict = {
        .outcome = outcome, .size = -1, .start_ns = visit->conn.times.request_ns};
    visit_tell_verdict(visit, &verdict);
    visit->item = NULL;
    visit_release_place(visit);
    ledger_finish(visit->visits->ledger, visit->host, item, &verdict);
}

bool visit_is_worth_keeping(const struct visit *visit, enum fetch_outcome outcome)
{
    const struct visit_page *page = &visit->page;
    if (page->cut_by == FETCH_TYPE_UNWANTED)
        return true; /* no body was expected */
    if (!page->has_head || !fetch_outcome_truncation(outcome))
        return false;
    if (visit->asks != VISIT_ASKS_PAGE)
        return page->body_len > 0 || page->status >= 300;
    bool is_last_try = visit->item->tries >= visit->visits->tuning->live.retry.retries_max;
    return is_last_try || (fetch_outcome_is_final(outcome) && page->body_len > 0);
}

/* The failed request was for a URL, or for another host's robots.txt. */
static void fail_item(struct visit *visit, enum fetch_outcome outcome)
{
    bool is_page = visit->asks == VISIT_ASKS_PAGE;
    if (may_retry(visit, outcome) && (is_page || outcome == FETCH_REUSED_CLOSED)) {
        retry(visit, outcome);
    } else if (is_page) {
        drop(visit, outcome);
    } else {
        visit_log_robots(visit, outcome);
        visit_fail_errand(visit);
    }
}

void visit_fail(struct visit *visit, enum fetch_outcome outcome)
{
    if (outcome == FETCH_NO_MEMORY && visit->is_crowded) {
        visit->times.failure_wait_ns =
            VISIT_CROWDED_NS * (1 + visit->host->id % 8); /* not all at the same time */
        outcome = FETCH_ABORTED;                          /* its memory is free for the others */
    }
    if (outcome == FETCH_ABORTED) {
        put_back(visit);
        return;
    }
    stats_add(&visit->visits->stats->tries_failed[outcome], 1);
    visit_count_host_failure(visit, outcome);
    if (visit->item) {
        fail_item(visit, outcome);
    } else if (visit->state == VISIT_FETCHING && outcome != FETCH_REUSED_CLOSED) {
        visit_log_robots(visit, outcome);
        visit_robots_unreachable(visit);
    }
}
