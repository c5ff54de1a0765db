#include "engine/crawl/visits.h"

#include <stdlib.h>

#include "engine/crawl/limits.h"
#include "engine/crawl/visit.h"
#include "lockfree/clock.h"

bool visits_init(struct visits *visits, unsigned max)
{
    struct decode_options decode = {.bytes_max = visits->tuning->fixed.net.decoded_bytes_max,
                                    .ratio_max = visits->tuning->fixed.net.decoded_ratio_max};
    if (!reader_init(&visits->reader, visits->pages, visits->harvest, &decode))
        return false;
    visits->all = calloc(max ? max : 1, sizeof *visits->all); /* calloc(0) may be NULL */
    if (!visits->all)
        return false;
    visits->max = max;
    visits->bytes_usual = VISIT_USUAL_BYTES;
    for (unsigned i = max; i-- > 0;) {
        visits->all[i].visits = visits;
        visits->all[i].next = visits->free;
        visits->free = &visits->all[i];
    }
    return true;
}

void visits_fini(struct visits *visits)
{
    reader_fini(&visits->reader);
    buffer_release(visits->pages, &visits->decoded);
    for (unsigned i = 0; i < visits->max; i++) { /* still open if the ring failed */
        buffer_release(visits->pages, &visits->all[i].page.buffer);
        outlinks_release(&visits->all[i].page.list, visits->pages);
    }
    free(visits->all);
}

bool visits_have_bandwidth(const struct visits *visits, uint64_t now_ns)
{
    return bandwidth_allows(visits->bandwidth, visits->tuning->live.net.bandwidth_bytes, now_ns);
}

uint64_t visits_bandwidth_wait_ns(const struct visits *visits, uint64_t now_ns)
{
    uint64_t next_ns = bandwidth_next_ns(visits->bandwidth, visits->tuning->live.net.bandwidth_bytes);
    return next_ns > now_ns ? next_ns - now_ns : 0;
}

void visits_charge(struct visits *visits, uint64_t now_ns)
{
    uint64_t received = visits->conns->stats.bytes_received;
    bandwidth_charge(visits->bandwidth, visits->tuning->live.net.bandwidth_bytes,
                     received - visits->bytes_charged, now_ns);
    visits->bytes_charged = received;
}

static bool has_room(const struct visits *visits, uint64_t now_ns)
{
    return visits->open < visits->max && buffer_pool_has_room(visits->pages) &&
           gate_has_pages(visits->gate, visits->tuning->live.crawl.max_pages) &&
           visits_have_bandwidth(visits, now_ns) && ledger_has_room(visits->ledger);
}

/* Releases buffers that are unused at this moment: they may be all that is taken from the budget. */
static void release_decoded(struct visits *visits)
{
    buffer_release(visits->pages, &visits->decoded);
    if (visits->reader.phase == READER_IDLE)
        buffer_release(visits->pages, &visits->reader.decoded);
}

static unsigned begin_some(struct visits *visits, uint64_t now_ns)
{
    unsigned taken = 0;
    if (!buffer_pool_has_room(visits->pages))
        release_decoded(visits);
    if (visits->stalled || visits->waiting.first || !has_room(visits, now_ns)) {
        stats_add(&visits->stats->stalls, visits->open < visits->max);
        return 0;
    }
    for (; has_room(visits, now_ns); taken++) {
        struct host *host = frontier_take(visits->frontier, now_ns);
        if (!host)
            break;
        if (host_has_orders(host)) /* of the operator: its home carries them out */
            frontier_give_back(visits->frontier, host, 0, now_ns);
        else if (!visit_put_off(visits, host, now_ns))
            visit_begin(visits, host);
    }
    return taken;
}

static void retry_stalled(struct visits *visits)
{
    struct visit *visit = visits->stalled;
    visits->stalled = NULL;
    if (visits->store)
        store_turn(visits->store);
    while (visit) {
        struct visit *next = visit->next;
        visit_retry(visit);
        visit = next;
    }
}

/* While hosts wait and all connections or all memory for pages are in use, slow transfers may keep only some
 * connections: the others are cut off now, before net.min-rate would do so. */
static void shed_slow(struct visits *visits, uint64_t now_ns)
{
    unsigned slow = 0, kept = visits->open / VISITS_SLOW_DIVISOR;
    bool is_full = visits->open == visits->max || !buffer_pool_has_room(visits->pages);
    if (!is_full || visits->frontier->due_count == 0 || now_ns < visits->shed_at_ns)
        return;
    visits->shed_at_ns = now_ns + VISITS_SHED_NS;
    for (unsigned i = 0; i < visits->max; i++) {
        struct visit *visit = &visits->all[i];
        if (visit->state == VISIT_FETCHING && conn_is_slow(&visit->conn, now_ns) && ++slow > kept)
            conn_close(&visit->conn, OUTCOME_SLOW_TRANSFER);
    }
}

/* After a pause of our own, what waits to be read is not held against those who sent it. */
static void note_turn(struct visits *visits, uint64_t now_ns)
{
    if (visits->turn_ns && now_ns - visits->turn_ns > VISITS_HELD_UP_NS)
        visits->shed_at_ns = now_ns + VISITS_HELD_UP_NS;
    visits->turn_ns = now_ns;
}

unsigned visits_turn(struct visits *visits, uint64_t now_ns)
{
    bool is_open = gate_is_open(visits->gate, now_ns) && now_ns >= visits->gate->opens_ns;
    visits->conns->may_hold = visits->tuning->live.net.bandwidth_bytes > 0;
    note_turn(visits, now_ns);
    visits_charge(visits, now_ns);
    /* One body at a time: how much comes of it is known only when it has come. */
    if (visits->on_hold.first && visits_have_bandwidth(visits, now_ns))
        visit_receive_on(visits->on_hold.first);
    retry_stalled(visits);
    while (visits->waiting.first && (!is_open || visits_have_bandwidth(visits, now_ns)))
        visit_resume(visits->waiting.first);
    shed_slow(visits, now_ns);
    return is_open ? begin_some(visits, now_ns) : 0;
}

uint64_t visits_next_ns(const struct visits *visits, uint64_t now_ns)
{
    if (visits->reader.owner && harvest_has_room(visits->harvest))
        return now_ns; /* a page has more to read */
    if (visits->store && store_has_work(visits->store))
        return now_ns; /* a long page has more to store */
    if (visits_have_bandwidth(visits, now_ns))
        return visits->on_hold.first ? now_ns : UINT64_MAX;
    return now_ns + visits_bandwidth_wait_ns(visits, now_ns);
}

static enum limited_by shut_by(const struct visits *visits, uint64_t now_ns)
{
    if (gate_phase(visits->gate) != CRAWL_RUNNING)
        return LIMITED_PAUSED;
    if (!gate_is_open(visits->gate, now_ns))
        return LIMITED_STORE; /* the disk is too far behind */
    return now_ns < visits->gate->opens_ns ? LIMITED_POLITENESS : LIMITED_EMPTY;
}

enum limited_by visits_limited_by(const struct visits *visits, uint64_t now_ns)
{
    enum limited_by shut = shut_by(visits, now_ns);
    if (shut != LIMITED_EMPTY)
        return shut;
    if (visits->waiting.first || visits->on_hold.first || !visits_have_bandwidth(visits, now_ns))
        return LIMITED_BANDWIDTH;
    if (visits->starved || !buffer_pool_has_room(visits->pages))
        return LIMITED_MEMORY;
    if (visits->stalled || !ledger_has_room(visits->ledger))
        return LIMITED_STORE;
    if (!gate_has_pages(visits->gate, visits->tuning->live.crawl.max_pages))
        return LIMITED_PAGES;
    return visits->open < visits->max ? LIMITED_EMPTY : LIMITED_CONNECTIONS;
}

void visits_abort(struct visits *visits)
{
    for (unsigned i = 0; i < visits->max; i++)
        visit_abort(&visits->all[i]);
}
