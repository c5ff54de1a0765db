#include "engine/crawl/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/encoding.h"
#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/visit.h"
#include "engine/frontier/errand.h"
#include "lockfree/clock.h"

/* The longest sleep: this often a loop checks the phase of the crawl and the ready rings of other loops. */
#define SLEEP_NS_MAX (50 * CLOCK_NS_PER_MS)
/* The longest sleep while URLs are on their way from the disk, or wait there for room that idle hosts leave, while seeds come
 * in, and while an order or a question of the operator is being dealt with. */
#define SLEEP_NS_LOADING CLOCK_NS_PER_MS
/* Memory for lines of crawl.log that are not written yet. */
enum { LOG_BYTES = 8 << 20 };

static void resolve(void *owner, struct host *host)
{
    struct loop *loop = owner;
    names_push(&loop->names, host);
}

/* The operator wants the host's queue to be empty. Errands stay: other hosts wait for them. */
static bool drop_urls(struct loop *loop, struct host *host)
{
    struct ledger_verdict verdict = {.outcome = FETCH_DROPPED, .size = -1};
    struct host_item *item;
    uint64_t until_ns = clock_now_ns() + LOOP_DROP_NS;
    for (unsigned i = 1; ledger_begin(&loop->ledger); i++) {
        if (i % LOOP_DROPS_PER_LOOK == 0 && clock_now_ns() >= until_ns)
            return false;
        item = host_pop_url(host, loop->tuning->fixed.priority.url_weights);
        if (!item)
            return true;
        ledger_finish(&loop->ledger, host, item, &verdict);
    }
    return false;
}

static bool abandon(void *owner, struct host *host)
{
    struct loop *loop = owner;
    if (!host->is_dead)
        return drop_urls(loop, host);
    struct host_item *item;
    struct ledger_verdict verdict = {.outcome = (enum fetch_outcome)host->dead_why,
                                     .size = -1,
                                     .annotation = SLICE("host-given-up"),
                                     .tries = host->failures};
    while (ledger_begin(&loop->ledger)) {
        errand_answer_all(&loop->frontier, host, ROBOTS_ALL_DENIED);
        item = host_pop_answer(host, false);
        if (!item)
            item = host_pop(host, false);
        if (!item)
            return true;
        ledger_finish(&loop->ledger, host, item, &verdict);
    }
    return false;
}

static void forget(void *owner, struct host *host)
{
    struct loop *loop = owner;
    troubles_forget(&loop->troubles, host);
}

static void wake(void *owner, unsigned index)
{
    struct loop *loop = owner;
    struct loop *other = &loop->crawl->loops[index];
    /* A5 pairs with R5 in loop_run. A loop that is not up yet reads its mail before it first sleeps. */
    if (lf_load(&other->is_up, acquire))
        ring_wake(&loop->ring, &other->ring);
}

static bool has_work(void *owner)
{
    struct loop *loop = owner;
    return frontier_has_mail(&loop->frontier) || desk_has_mail(&loop->desk);
}

/* One loop's share of a total; the shares of all loops add up to it. */
static uint64_t share_of(uint64_t whole, unsigned loops, unsigned index)
{
    return whole / loops + (index < whole % loops);
}

/* NULL: none is kept. */
static struct journal_loop *journal_of(struct loop *loop)
{
    return loop->tuning->fixed.state.journal ? &loop->journal : NULL;
}

/* The parts that visits and harvest use, and the visits themselves. */
static bool init_visits(struct loop *loop)
{
    struct crawl *crawl = loop->crawl;
    uint64_t max = share_of(loop->tuning->fixed.net.connections, crawl->loop_count, loop->index);
    bool has_store = loop->tuning->fixed.store.kind != TUNING_STORE_NONE;
    loop->ledger = (struct ledger){.log = &loop->log,
                                   .store = has_store ? &loop->store.outlet : NULL,
                                   .journal = journal_of(loop),
                                   .epoch = &crawl->commit.epoch,
                                   .stats = &loop->stats,
                                   .frontier = &loop->frontier,
                                   .sources = &crawl->sources,
                                   .has_extra = loop->tuning->fixed.log.extra,
                                   .loop = loop->index};
    loop->visits = (struct visits){
        .tuning = loop->tuning,
        .conns = &loop->conns,
        .frontier = &loop->frontier,
        .pages = &loop->pages,
        .stats = &loop->stats,
        .ledger = &loop->ledger,
        .troubles = &loop->troubles,
        .harvest = &loop->harvest,
        .store = has_store ? &loop->store : NULL,
        .repeats = &crawl->repeats,
        .gate = &crawl->gate,
        .bandwidth = &crawl->bandwidth,
        .decode = loop->decode,
        .rules = &loop->rules,
        .agent = crawl->agent,
        .user_agent = slice_of(crawl->user_agent),
        .sink = {.owner = crawl->options->hooks.owner, .on_page = crawl->options->hooks.on_page},
    };
    return visits_init(&loop->visits, (unsigned)max);
}

static bool init_harvest(struct loop *loop)
{
    struct harvest_options options = {
        .frontier = &loop->frontier,
        .sieve = &loop->sieve,
        .journal = journal_of(loop),
        .spill = loop->tuning->fixed.state.spill ? &loop->spill : NULL,
        .later = loop->crawl->sieve.asks_later ? &loop->later : NULL,
        .ledger = &loop->ledger,
        .stats = &loop->stats,
        .tuning = loop->tuning,
        .scope = loop->crawl->scope,
        .canonical = loop->crawl->canonical,
    };
    return harvest_init(&loop->harvest, &options);
}

/* Where URLs wait on disk. */
static int init_waits(struct loop *loop)
{
    struct crawl *crawl = loop->crawl;
    char prefix[SPOOL_PATH_BYTES + 16];
    snprintf(prefix, sizeof prefix, "%s/urls-%02u", crawl->scratch, loop->index);
    int error = spill_init(&loop->spill, crawl->disk, prefix);
    if (error || !loop->harvest.later)
        return error;
    snprintf(prefix, sizeof prefix, "%s/asked-%02u", crawl->scratch, loop->index);
    return later_init(&loop->later, crawl->disk, prefix, &crawl->mill.loops[loop->index]);
}

/* crawl.log, the files of pages, the journal. */
static int init_outlets(struct loop *loop)
{
    struct crawl *crawl = loop->crawl;
    struct files *files = &crawl->commit.files;
    struct outlet_options options = {.files = files, .bytes = LOG_BYTES, .is_shared = true};
    int error = outlet_init(&loop->log, &options);
    if (!error && loop->visits.store)
        error = store_init(&loop->store, loop->tuning, files, loop->index);
    if (!error && crawl_has_indexes(crawl))
        error = store_keep_notes(&loop->store);
    loop->store.tuning_text = (struct slice){crawl->tuning_text, crawl->tuning_len};
    loop->store.is_behind = &crawl->unpacker.is_behind;
    if (!error && loop->tuning->fixed.state.spill)
        error = init_waits(loop);
    if (!error && loop->tuning->fixed.state.journal)
        error = journal_loop_init(&loop->journal, loop->index);
    if (error)
        return error;
    outlet_open(&loop->log, "crawl.log");
    commit_add_loop(
        &crawl->commit,
        &(struct commit_loop){.store = loop->ledger.store, .log = &loop->log, .journal = journal_of(loop)});
    loop_begin_epoch(loop);
    return 0;
}

void loop_begin_epoch(struct loop *loop)
{
    loop->ledger.adopted = loop->journal.epoch = lf_load(loop->ledger.epoch, relaxed); /* one thread */
}

/* Where the answers of name servers are kept: they are WARC records. NULL: nowhere. */
static struct store *answers_of(struct loop *loop)
{
    const struct store_tuning_fixed *store = &loop->tuning->fixed.store;
    return store->dns && store->kind == TUNING_STORE_WARC ? loop->visits.store : NULL;
}

int loop_init(struct loop *loop, struct crawl *crawl, unsigned index)
{
    const struct tuning *tuning = &crawl->tuning;
    loop->crawl = crawl;
    loop->tuning = tuning;
    loop->index = index;
    struct frontier_loop_options options = {.index = index,
                                            .resolve = resolve,
                                            .abandon = abandon,
                                            .wake = wake,
                                            .forget = forget,
                                            .owner = loop};
    int error = frontier_loop_init(&loop->frontier, &crawl->frontier, &options);
    if (error)
        return error;
    desk_init(&loop->desk, &loop->frontier, crawl->desks);
    crawl->desks[index] = &loop->desk;
    sieve_loop_init(&loop->sieve, &crawl->sieve);
    robots_cache_loop_init(&loop->rules, &crawl->rules);
    buffer_pool_init(&loop->pages, tuning->fixed.memory.page_bytes / crawl->loop_count);
    loop->decode = decode_create(&(struct decode_options){.bytes_max = tuning->fixed.net.decoded_bytes_max,
                                                          .ratio_max = tuning->fixed.net.decoded_ratio_max});
    if (!loop->decode || !init_harvest(loop) || !init_visits(loop))
        return -ENOMEM;
    error = names_init(&loop->names, &(struct names_options){.frontier = &loop->frontier,
                                                             .conns = &loop->conns,
                                                             .tuning = tuning,
                                                             .troubles = &loop->troubles,
                                                             .stats = &loop->stats,
                                                             .store = answers_of(loop),
                                                             .visits_max = loop->visits.max});
    return error ? error : init_outlets(loop);
}

void loop_fini(struct loop *loop)
{
    if (loop->has_ring)
        ring_fini(&loop->ring);
    if (loop->visits.store)
        store_fini(&loop->store);
    outlet_fini(&loop->log);
    journal_loop_fini(&loop->journal);
    spill_fini(&loop->spill);
    later_fini(&loop->later);
    names_fini(&loop->names);
    if (loop->visits.pages)
        visits_fini(&loop->visits);
    harvest_fini(&loop->harvest);
    if (loop->decode)
        decode_destroy(loop->decode);
    buffer_pool_fini(&loop->pages);
    if (loop->sieve.sieve)
        sieve_loop_fini(&loop->sieve);
    frontier_loop_fini(&loop->frontier);
}

/* Descriptors: one per connection, and some more because the next opens while the last is still closing. */
static unsigned slots_for(const struct loop *loop)
{
    return loop->visits.max + 64;
}

static int fail(struct loop *loop, int error, const char *message)
{
    snprintf(loop->message, sizeof loop->message, "%s", message);
    return error;
}

static int begin_net(struct loop *loop)
{
    const struct tuning *tuning = loop->tuning;
    char message[256] = "";
    struct ring_options options = {.slots = slots_for(loop),
                                   .cpu = tuning->fixed.crawl.pin ? (int)loop->index : -1,
                                   .has_work = has_work,
                                   .owner = loop};
    int error = ring_init(&loop->ring, &options);
    if (error)
        return fail(loop, error, loop->ring.error);
    loop->has_ring = true;
    error = bufring_init(&loop->buffers, &loop->ring, 1, &(struct bufring_options){0});
    if (error)
        return fail(loop, error, "cannot register receive buffers");
    struct dns *dns = names_create_dns(tuning, message, sizeof message);
    if (!dns)
        return fail(loop, -EINVAL, message);
    struct tls_options tls = {
        .trust = loop->crawl->trust, .insecure = !tuning->fixed.net.tls_verify, .spare_max = 64};
    loop->tls = tls_pool_create(&tls);
    if (!loop->tls || !tls_sessions_init(&loop->tls_sessions, tuning->fixed.net.tls_sessions)) {
        dns_destroy(dns);
        if (loop->tls)
            tls_pool_destroy(loop->tls);
        return fail(loop, -ENOMEM, "no memory for TLS");
    }
    struct conn_limits limits = conn_limits_default;
    limits.connect_ms = (uint32_t)(tuning->fixed.net.connect_timeout_ns / CLOCK_NS_PER_MS);
    limits.handshake_ms = limits.connect_ms;
    limits.first_byte_ms = (uint32_t)(tuning->fixed.net.first_byte_timeout_ns / CLOCK_NS_PER_MS);
    limits.silence_ms = limits.first_byte_ms;
    limits.exchange_ms = (uint32_t)(tuning->fixed.net.fetch_timeout_ns / CLOCK_NS_PER_MS);
    limits.rate_min = (uint32_t)tuning->fixed.net.rate_min;
    limits.http.head_bytes_max = (uint32_t)tuning->fixed.net.head_bytes_max;
    limits.http.body_bytes_max = tuning->fixed.net.body_bytes_max;
    struct conn_loop_options conns = {.ring = &loop->ring,
                                      .buffers = &loop->buffers,
                                      .dns = dns,
                                      .tls = loop->tls,
                                      .sessions = &loop->tls_sessions,
                                      .limits = &limits};
    conn_loop_init(&loop->conns, &conns);
    return 0;
}

/* Tears down all but the ring, which another loop may be about to wake; loop_fini does that. */
static void end_net(struct loop *loop)
{
    struct dns *dns = loop->conns.dns;
    if (!loop->ring.failed) {
        conn_loop_close(&loop->conns);
        ring_finish(&loop->ring);
    }
    dns_destroy(dns);
    bufring_fini(&loop->buffers);
    tls_pool_destroy(loop->tls);
    tls_sessions_fini(&loop->tls_sessions);
}

static void publish_races(struct stats_races *races, const struct loop *loop)
{
    const struct frontier_loop *frontier = &loop->frontier;
    stats_set(&races->ready_rings, backoff_losses(&frontier->backoff));
    stats_set(&races->host_inboxes, frontier->host_inbox_losses);
    stats_set(&races->loop_inboxes, frontier->loop_inbox_losses);
    stats_set(&races->host_map, backoff_losses(&frontier->hosts.map.backoff));
    stats_set(&races->address_map, backoff_losses(&frontier->addresses.map.backoff));
    stats_set(&races->sieve, loop->sieve.writer.losses);
    stats_set(&races->pools, pool_losses(&frontier->urls) + pool_losses(&frontier->hosts.names));
}

/* Publishes counters that only this thread can read to all others. */
static void publish(struct loop *loop)
{
    stats_set(&loop->stats.connections, loop->visits.open);
    stats_set(&loop->stats.looking_up, loop->names.quick + loop->names.slow);
    stats_set(&loop->stats.asked, later_count(&loop->later));
    stats_set(&loop->stats.page_bytes, loop->pages.bytes_used);
    stats_set(&loop->stats.frontier_bytes, loop->frontier.urls.bytes_in_use);
    stats_set(&loop->stats.urls_stowed, loop->frontier.stock.stowed);
    stats_set(&loop->stats.ring_enters, loop->ring.stats.enters);
    stats_set(&loop->stats.bytes_received, loop->conns.stats.bytes_received);
    stats_set(&loop->stats.buffers_exhausted, loop->buffers.exhausted);
    stats_set(&loop->stats.tls_handshakes, loop->conns.stats.handshakes);
    stats_set(&loop->stats.tls_resumed, loop->conns.stats.handshakes_resumed);
    stats_set(&loop->stats.names_outages, loop->names.outages);
    stats_set(&loop->stats.names_out_since_ns, loop->names.outage_since_ns);
    publish_races(&loop->stats.lost_races, loop);
    stats_add(&loop->stats.turns, 1);
}

static void adopt_tuning(struct loop *loop)
{
    const struct tuning *live = lf_load(&loop->crawl->live, acquire); /* A2 pairs with R2 in crawl_reload.c */
    if (live == loop->tuning)
        return;
    loop->tuning = loop->names.tuning = loop->frontier.tuning = live;
    loop->visits.tuning = loop->harvest.tuning = live;
    lf_store(&loop->adopted, live,
             release); /* R3 pairs with A3 in crawl_reload.c: the old one may be freed */
}

/* The ring cannot be used any more: open connections are left as they are, and the crawl ends. */
static void on_ring_failed(struct loop *loop)
{
    loop->error = loop->ring.failed;
    snprintf(loop->message, sizeof loop->message, "loop %u: io_uring_enter: %s", loop->index,
             strerror(-loop->error));
    lf_store(&loop->has_failed, true, relaxed);
}

/* How long the loop may sleep if nothing arrives. */
static uint64_t sleep_of(struct loop *loop, uint64_t now_ns)
{
    uint64_t next_ns = frontier_next_ns(&loop->frontier), visits_ns = visits_next_ns(&loop->visits, now_ns);
    if (frontier_has_mail(&loop->frontier) || names_has_work(&loop->names))
        return 0;
    next_ns = next_ns < visits_ns ? next_ns : visits_ns;
    uint64_t sleep_ns = next_ns <= now_ns ? 0 : next_ns - now_ns;
    bool awaits_room = loop->harvest.spill && spill_count(loop->harvest.spill) > 0;
    bool is_asked = frontier_is_obeying(&loop->frontier) || desk_is_busy(&loop->desk) || loop->takes_seeds;
    uint64_t max_ns =
        frontier_is_loading(&loop->frontier) || awaits_room || is_asked ? SLEEP_NS_LOADING : SLEEP_NS_MAX;
    return sleep_ns < max_ns ? sleep_ns : max_ns;
}

enum limited_by loop_limited_by(const struct loop *loop, uint64_t sleep_ns, uint64_t now_ns)
{
    if (!sleep_ns)
        return LIMITED_WORK;
    enum limited_by by = visits_limited_by(&loop->visits, now_ns);
    if (by != LIMITED_EMPTY)
        return by;
    if (loop->names.outage_since_ns)
        return LIMITED_NAMES;
    if (frontier_next_ns(&loop->frontier) != WHEEL_NEVER)
        return LIMITED_POLITENESS;
    if (names_is_busy(&loop->names))
        return LIMITED_NAMES;
    return loop->visits.open ? LIMITED_SERVERS : LIMITED_EMPTY;
}

/* Now and then: divides the time that has passed by what limited the loop. */
static void settle_limits(struct loop *loop, uint64_t now_ns)
{
    uint64_t shares[LIMITED_COUNT];
    if (!limited_is_due(&loop->limited, now_ns, LOOP_SETTLE_NS) ||
        !limited_settle(&loop->limited, now_ns, clock_thread_ns(), shares))
        return;
    for (int by = 0; by < LIMITED_COUNT; by++)
        stats_add(&loop->stats.limited_ns[by], shares[by]);
    stats_set(&loop->stats.next_due_ns, frontier_next_ns(&loop->frontier));
}

/* 0, or the negative errno with which the ring failed. */
static int turn(struct loop *loop)
{
    uint64_t now_ns = clock_now_ns();
    limited_turn(&loop->limited, now_ns);
    settle_limits(loop, now_ns);
    adopt_tuning(loop);
    ledger_set_clock(&loop->ledger, now_ns);
    ledger_adopt(&loop->ledger);
    frontier_turn(&loop->frontier, now_ns);
    desk_turn(&loop->desk, now_ns);
    sieve_turn(&loop->sieve);
    if (loop->harvest.spill)
        harvest_unspill(&loop->harvest);
    if (loop->harvest.later)
        harvest_answers(&loop->harvest);
    crawl_answer_question(loop);
    if (loop->index == 0)
        loop->takes_seeds = crawl_take_added(loop);
    names_turn(&loop->names, now_ns);
    for (unsigned taken = visits_turn(&loop->visits, now_ns); taken > 0; taken--)
        names_grant(&loop->names);
    frontier_offer(&loop->frontier, now_ns);
    troubles_turn(&loop->troubles);
    publish(loop);
    uint64_t sleep_ns = sleep_of(loop, now_ns);
    loop->limited.by = loop_limited_by(loop, sleep_ns, now_ns);
    return ring_turn(&loop->ring, sleep_ns);
}

/* The disk is too far behind: what is in flight goes back to its hosts. */
static void cut_if_lagging(struct loop *loop)
{
    bool is_cut = gate_lag(&loop->crawl->gate, loop->ring.now_ns) == GATE_LAG_CUT;
    if (is_cut && !loop->is_cut)
        visits_abort(&loop->visits);
    loop->is_cut = is_cut;
}

void *loop_run(void *argument)
{
    struct loop *loop = argument;
    loop->ledger.visits = stats_get(&loop->crawl->before.urls_out); /* what was done before it was resumed */
    loop->error = begin_net(loop);
    if (loop->error) {
        lf_store(&loop->has_failed, true, relaxed);
        return NULL;
    }
    lf_store(&loop->is_up, true, release); /* R5 pairs with A5 in wake */
    for (bool aborted = false;;) {
        if (!aborted && gate_phase(&loop->crawl->gate) == CRAWL_ENDING) {
            visits_abort(&loop->visits);
            aborted = true;
        }
        cut_if_lagging(loop);
        if (aborted && loop->visits.open == 0)
            break;
        if (turn(loop) < 0) {
            on_ring_failed(loop);
            break;
        }
    }
    end_net(loop);
    encoding_fini();
    outlet_flush(&loop->log);
    if (loop->visits.store)
        store_flush(&loop->store);
    if (loop->ledger.journal)
        outlet_flush(&loop->journal.outlet);
    publish(loop);
    return NULL;
}
