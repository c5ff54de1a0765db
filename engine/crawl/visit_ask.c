/* Chooses the next request of a visit: a robots.txt that another host redirected here, the host's own
 * robots.txt, or the next URL that rules and limits allow. */
#include <assert.h>

#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "engine/frontier/errand.h"
#include "engine/robots/robots.h"
#include "lockfree/clock.h"

static bool has_reached_limit(const struct limits_tuning_live *limits, const struct host *host)
{
    return (limits->pages_per_host_max && host->pages >= limits->pages_per_host_max) ||
           (limits->bytes_per_host_max && host->bytes >= limits->bytes_per_host_max) ||
           (limits->time_per_host_max_ns && host->spent_ns >= limits->time_per_host_max_ns);
}

/* A host, and the rules for its URLs. */
struct candidate {
    struct host *host;
    const struct robots *rules; /* NULL: they are not obeyed */
};

/* Whether an item may be requested; if not, the verdict says why. */
static bool may_ask(const struct limits_tuning_live *limits, const struct candidate *candidate,
                    const struct host_item *item, struct ledger_verdict *verdict)
{
    struct robots_rule rule = {.pattern = {NULL, 0}};
    *verdict = (struct ledger_verdict){.outcome = FETCH_DONE, .size = -1};
    if (item->kind == HOST_ITEM_ROBOTS)
        return true;
    if (has_reached_limit(limits, candidate->host)) {
        verdict->outcome = FETCH_HOST_LIMIT;
        return false;
    }
    if (!candidate->rules || robots_allows(candidate->rules, host_item_path(item), &rule))
        return true;
    verdict->outcome = FETCH_ROBOTS_DENIED;
    verdict->annotation = rule.gave_up ? SLICE("too-many-rules") : rule.pattern;
    return false;
}

/* Pops the next URL that may be requested; those before it get their verdict. NULL if there is none, or if
 * the loop has spent VISIT_WORK_NS_MAX on this host. */
static struct host_item *pop_allowed(struct visits *visits, const struct candidate *candidate)
{
    struct host *host = candidate->host;
    bool weights = visits->tuning->fixed.priority.url_weights;
    uint64_t end_ns = 0;
    struct ledger_verdict verdict;
    while (ledger_begin(visits->ledger)) {
        struct host_item *item = host_pop(host, weights);
        if (!item || may_ask(&visits->tuning->live.limits, candidate, item, &verdict))
            return item;
        ledger_finish(visits->ledger, host, item, &verdict);
        uint64_t now_ns = clock_now_ns();
        end_ns = end_ns ? end_ns : now_ns + VISIT_WORK_NS_MAX;
        if (now_ns >= end_ns)
            break;
    }
    return NULL;
}

bool visit_drop_denied(struct visits *visits, struct host *host)
{
    struct candidate candidate = {host, visit_acquire_rules(visits, host)};
    bool is_known = candidate.rules || !visits->tuning->fixed.robots.obey;
    struct host_item *item =
        is_known && ledger_has_room(visits->ledger) ? pop_allowed(visits, &candidate) : NULL;
    bool may_be_left = item || !is_known || !ledger_has_room(visits->ledger);
    if (item)
        host_unpop(host, item);
    if (candidate.rules)
        visit_release_rules(visits, host);
    return may_be_left;
}

static bool reserve_place(struct visit *visit)
{
    uint64_t pages_max = visit->visits->tuning->live.crawl.max_pages;
    assert(!visit->holds_page);
    if (pages_max == 0)
        return true;
    return visit->holds_page = gate_reserve_page(visit->visits->gate, pages_max);
}

void visit_release_place(struct visit *visit)
{
    if (visit->holds_page)
        gate_release_page(visit->visits->gate);
    visit->holds_page = false;
}

static void request_item(struct visit *visit, struct host_item *item)
{
    struct slice path = host_item_path(item);
    visit->item = item;
    visit->asks = VISIT_ASKS_PAGE;
    if (item->kind == HOST_ITEM_ROBOTS) {
        visit_release_place(visit); /* it came between visit_ask and ask_page */
        visit->asks = VISIT_ASKS_ERRAND;
        path = errand_path(item);
    }
    visit_request(visit, path);
}

/* Requests the next page, or the robots.txt that it needs first. False if there is nothing to request now. */
static bool ask_page(struct visit *visit)
{
    struct visits *visits = visit->visits;
    if (!host_has_items(visit->host))
        return false; /* only an errand brought us here: its robots.txt is of no use */
    struct candidate candidate = {visit->host, visit_acquire_rules(visits, visit->host)};
    if (visits->tuning->fixed.robots.obey && !candidate.rules) {
        visit_ask_robots(visit);
        return true;
    }
    struct host_item *item = reserve_place(visit) ? pop_allowed(visits, &candidate) : NULL;
    if (candidate.rules)
        visit_release_rules(visits, visit->host);
    if (item)
        request_item(visit, item);
    return item;
}

void visit_ask(struct visit *visit)
{
    struct host *host = visit->host;
    frontier_stow(visit->visits->frontier, host);
    bool goes_on = visit_takes_answers(visit);
    /* Errands first: other hosts wait for them. Even a host that awaits its own rules runs errands, or two
     * hosts whose robots.txt redirect to each other would wait forever. */
    struct host_item *errand =
        goes_on ? host_pop_errand(host, visit->visits->tuning->fixed.priority.url_weights) : NULL;
    if (errand)
        request_item(visit, errand);
    else if (!goes_on || host->awaits_robots || !ask_page(visit)) {
        visit_release_place(visit);
        visit_end(visit);
    }
}
