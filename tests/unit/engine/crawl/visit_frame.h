/* The frame of the tests of visits: one loop's parts, without a loop or a crawl, against a peer of the test's own. */
#pragma once

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "engine/frontier/errand.h"
#include "engine/robots/limits.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tests/support/peer.h"

struct frame {
    struct tuning tuning;
    struct frontier frontier;
    struct frontier_loop queues;
    struct sieve sieve;
    struct sieve_loop sieves;
    struct scope *scope;
    struct robots_cache robots;
    struct robots_cache_loop rules;
    struct harvest harvest;
    struct ring ring;
    struct bufring buffers;
    struct conn_limits limits;
    struct conn_loop conns;
    struct buffer_pool pages;
    struct files files;
    struct outlet log;
    _Atomic(uint64_t) epoch;
    struct ledger ledger;
    struct troubles troubles;
    struct gate gate;
    struct bandwidth bandwidth;
    struct store store; /* if tuning.fixed.store.kind says so */
    struct stats stats;
    struct visits visits;
    struct repeats repeats;
    struct peer peer;
    char directory[64];
};

static struct frame frame;

/* Addresses are their own names. b.test and c.test are at the peer; two.test, too, but first it is where nobody listens.
 * No other name is found. */
static inline void frame_resolve(void *owner, struct host *host)
{
    struct frame *f = owner;
    struct slice name = host_name(host);
    struct ip ips[2];
    unsigned count = ip_parse(&ips[0], name);
    if (slice_equals(name, SLICE("two.test")))
        count = ip_parse(&ips[0], SLICE("127.0.0.2")) + ip_parse(&ips[1], SLICE("127.0.0.1"));
    else if (slice_equals(name, SLICE("b.test")) || slice_equals(name, SLICE("c.test")))
        count = ip_parse(&ips[0], SLICE("127.0.0.1"));
    struct frontier_resolved answer = {
        .addresses = ips, .count = count, .until_ns = UINT64_MAX / 2, .now_ns = clock_now_ns()};
    frontier_resolved(&f->queues, host, &answer);
}

static inline bool frame_abandon(void *owner, struct host *host)
{
    struct frame *f = owner;
    struct ledger_verdict verdict = {.outcome = (enum fetch_outcome)host->dead_why, .size = -1};
    errand_answer_all(&f->queues, host, ROBOTS_ALL_DENIED);
    for (struct host_item *item; (item = host_pop_answer(host, false)) || (item = host_pop(host, false));)
        ledger_finish(&f->ledger, host, item, &verdict);
    return true;
}

static inline void frame_wake(void *owner, unsigned index)
{
    (void)owner;
    (void)index;
}

/* The tuning of a crawl that rests for nobody and reads no robots.txt. A test may change it before frame_start. */
static inline void frame_set_up(struct frame *f)
{
    memset(f, 0, sizeof *f);
    tuning_init(&f->tuning);
    f->tuning.fixed.scope.mode = TUNING_SCOPE_ANY;
    f->tuning.fixed.store.kind = TUNING_STORE_NONE;
    f->tuning.fixed.robots.obey = false;
    f->tuning.fixed.memory.sieve_bytes = f->tuning.fixed.memory.frontier_bytes = 1 << 20;
    f->tuning.fixed.memory.hosts_max = 16;
    f->tuning.fixed.memory.page_bytes = 1 << 20;
    f->tuning.fixed.net.connections = 4;
    f->tuning.live.politeness.host_ratio = f->tuning.live.politeness.address_ratio = 1e6;
    f->tuning.live.politeness.host_min_idle_ns = f->tuning.live.politeness.address_min_idle_ns = 0;
    f->tuning.live.politeness.burst_ns = 60 * CLOCK_NS_PER_S;
    f->tuning.live.retry.wait_ns = CLOCK_NS_PER_MS;
    f->limits = conn_limits_default;
}

static inline void frame_start_net(struct frame *f)
{
    if (ring_init(&f->ring, &(struct ring_options){.slots = 16, .cpu = -1}) < 0)
        check_failed(__FILE__, __LINE__, "%s", f->ring.error);
    CHECK_INT(bufring_init(&f->buffers, &f->ring, 0, &(struct bufring_options){0}), 0);
    conn_loop_init(&f->conns, &(struct conn_loop_options){
                                  .ring = &f->ring, .buffers = &f->buffers, .limits = &f->limits});
}

static inline void frame_start_queues(struct frame *f)
{
    struct tuning_error error;
    struct frontier_loop_options options = {
        .resolve = frame_resolve, .abandon = frame_abandon, .wake = frame_wake, .owner = f};
    f->scope = scope_create(&f->tuning.fixed.scope, &error);
    CHECK(f->scope);
    CHECK_INT(frontier_init(&f->frontier, &f->tuning), 0);
    CHECK_INT(frontier_loop_init(&f->queues, &f->frontier, &options), 0);
    CHECK_INT(sieve_init(&f->sieve, &f->tuning), 0);
    sieve_loop_init(&f->sieves, &f->sieve);
    CHECK(harvest_init(&f->harvest, &(struct harvest_options){.frontier = &f->queues,
                                                              .sieve = &f->sieves,
                                                              .stats = &f->stats,
                                                              .tuning = &f->tuning,
                                                              .scope = f->scope}));
}

static inline void frame_open_store(struct frame *f)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->directory, store_folder(&f->tuning));
    CHECK_INT(mkdir(path, 0755), 0);
    CHECK_INT(store_init(&f->store, &f->tuning, &f->files, 0), 0);
}

/* Against a peer that runs the script over so many connections; then its thread ends. */
static inline void frame_start(struct frame *f, unsigned connections, void (*script)(struct peer *, int))
{
    snprintf(f->directory, sizeof f->directory, "/tmp/lycosa-visit-XXXXXX");
    CHECK(mkdtemp(f->directory) != NULL);
    frame_start_net(f);
    frame_start_queues(f);
    CHECK(robots_cache_init(&f->robots, ROBOTS_CACHE_BYTES_MIN));
    robots_cache_loop_init(&f->rules, &f->robots);
    buffer_pool_init(&f->pages, f->tuning.fixed.memory.page_bytes);
    files_init(&f->files, &disk_system, f->directory);
    struct outlet_options log = {
        .files = &f->files, .bytes = 4 * sizeof(struct outlet_block), .is_shared = true};
    CHECK_INT(outlet_init(&f->log, &log), 0);
    outlet_open(&f->log, "crawl.log");
    bool has_store = f->tuning.fixed.store.kind != TUNING_STORE_NONE;
    if (has_store)
        frame_open_store(f);
    f->ledger = (struct ledger){.log = &f->log,
                                .store = has_store ? &f->store.outlet : NULL,
                                .epoch = &f->epoch,
                                .stats = &f->stats,
                                .frontier = &f->queues};
    f->visits = (struct visits){
        .tuning = &f->tuning,
        .conns = &f->conns,
        .frontier = &f->queues,
        .pages = &f->pages,
        .stats = &f->stats,
        .ledger = &f->ledger,
        .harvest = &f->harvest,
        .rules = &f->rules,
        .troubles = &f->troubles,
        .store = has_store ? &f->store : NULL,
        .repeats = &f->repeats,
        .gate = &f->gate,
        .bandwidth = &f->bandwidth,
        .decode = decode_create(&(struct decode_options){.bytes_max = 1 << 20, .ratio_max = 1000}),
        .agent = SLICE("lycosa"),
        .user_agent = SLICE("lycosa"),
    };
    CHECK(visits_init(&f->visits, (unsigned)f->tuning.fixed.net.connections));
    peer_begin(&f->peer, AF_INET, connections, script);
}

/* A URL to be visited, of a host by that name at the peer. */
static inline void frame_push_at(struct frame *f, const char *host, const char *path)
{
    char text[512], buffer[512];
    struct url url;
    snprintf(text, sizeof text, "http://%s:%u%s", host, ntohs(f->peer.address.v4.sin_port), path);
    url_init(&url, buffer, sizeof buffer);
    CHECK_INT(url_parse(&url, NULL, slice_of(text)), URL_OK);
    struct harvest_source source = {.url = &url, .base = &url};
    harvest_link(&f->harvest, &source, url_text(&url), HOST_ITEM_SEED);
    harvest_flush(&f->harvest);
    peer_sync(); /* the answers are what they will be */
}

static inline void frame_push(struct frame *f, const char *path)
{
    frame_push_at(f, "127.0.0.1", path);
}

static inline struct host *frame_host(struct frame *f)
{
    return frontier_host_by_id(&f->frontier, 1);
}

static inline void frame_turn(struct frame *f)
{
    uint64_t now_ns = clock_now_ns();
    frontier_turn(&f->queues, now_ns);
    visits_turn(&f->visits, now_ns);
    for (unsigned i = 0; i < f->visits.max; i++)
        visit_check(&f->visits.all[i]);
    CHECK_INT(ring_turn(&f->ring, CLOCK_NS_PER_MS), 0);
    peer_sync();
}

/* Until every URL that was let in has its verdict, and no visit is open. */
static inline void frame_run(struct frame *f)
{
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (stats_get(&f->stats.urls_out) < stats_get(&f->stats.urls_in) || f->visits.open) {
        frame_turn(f);
        if (clock_now_ns() > deadline)
            check_failed(__FILE__, __LINE__, "stuck: %llu of %llu URLs, %u visits, the first is %s",
                         (unsigned long long)stats_get(&f->stats.urls_out),
                         (unsigned long long)stats_get(&f->stats.urls_in), f->visits.open,
                         visit_state_name((enum visit_state)f->visits.all[0].state));
    }
}

static inline void frame_remove_store(struct frame *f)
{
    char path[512];
    outlet_flush(&f->store.outlet);
    CHECK_INT(outlet_finish(&f->store.outlet), 0);
    snprintf(path, sizeof path, "%s/%s/%s.open", f->directory, store_folder(&f->tuning), f->store.filename);
    store_fini(&f->store);
    CHECK(unlink(path) == 0 || !f->store.serial);
    snprintf(path, sizeof path, "%s/%s", f->directory, store_folder(&f->tuning));
    CHECK_INT(rmdir(path), 0);
}

/* What the store has written so far, its file still open. Freed by the caller. */
static inline char *frame_warc(struct frame *f)
{
    char path[512];
    size_t len;
    outlet_flush(&f->store.outlet);
    CHECK_INT(outlet_drain(&f->store.outlet), 0);
    snprintf(path, sizeof path, "%s/%s/%s.open", f->directory, store_folder(&f->tuning), f->store.filename);
    return check_read_file(path, &len);
}

static inline void frame_stop(struct frame *f)
{
    char path[128];
    unsigned free_count = 0;
    for (const struct visit *visit = f->visits.free; visit; visit = visit->next)
        free_count++;
    CHECK_INT(free_count, f->visits.max);
    peer_finish(&f->peer);
    conn_loop_close(&f->conns);
    CHECK(ring_finish(&f->ring));
    CHECK_INT(ring_inflight(&f->ring), 0);
    CHECK_INT(f->ring.slots_free, f->ring.slot_count);
    CHECK_INT(f->conns.stats.open, 0);
    bufring_fini(&f->buffers);
    ring_fini(&f->ring);
    decode_destroy(f->visits.decode);
    visits_fini(&f->visits);
    robots_cache_fini(&f->robots);
    buffer_pool_fini(&f->pages); /* asserts that all came back */
    harvest_fini(&f->harvest);
    outlet_flush(&f->log);
    CHECK_INT(outlet_finish(&f->log), 0);
    outlet_fini(&f->log);
    if (f->visits.store)
        frame_remove_store(f);
    files_fini(&f->files);
    sieve_loop_fini(&f->sieves);
    sieve_fini(&f->sieve);
    frontier_loop_fini(&f->queues);
    frontier_fini(&f->frontier);
    scope_destroy(f->scope);
    snprintf(path, sizeof path, "%s/crawl.log", f->directory);
    unlink(path);
    CHECK_INT(rmdir(f->directory), 0);
}

/* The lines of crawl.log so far. Freed by the caller. */
static inline char *frame_log(struct frame *f)
{
    char path[128];
    size_t len;
    outlet_flush(&f->log);
    CHECK_INT(outlet_drain(&f->log), 0);
    snprintf(path, sizeof path, "%s/crawl.log", f->directory);
    return check_read_file(path, &len);
}
