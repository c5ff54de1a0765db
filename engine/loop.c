#include "engine/loop.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "engine/crawl_log.h"
#include "engine/visit.h"
#include "lockfree/clock.h"

/* The longest sleep: the phase of the crawl and the tokens of other loops are looked at this often. */
#define SLEEP_NS_MAX (50 * CLOCK_NS_PER_MS)
/* A line of crawl.log is on the disk after this time at the latest. */
#define LOG_FLUSH_NS CLOCK_NS_PER_S
/* Memory of lines on their way to crawl.log. */
enum { LOG_BYTES = 8 << 20 };

/* A host whose name is being looked up. */
struct lookup {
    struct dns_query query;
    struct loop *loop;
    struct host *host;
};

static int64_t clock_offset_us(void)
{
    struct timeval wall;
    gettimeofday(&wall, NULL);
    return (int64_t)wall.tv_sec * 1000000 + wall.tv_usec - (int64_t)(clock_now_ns() / 1000);
}

static struct address_key key_of(const struct dns_address *address)
{
    struct address_key key = {{[10] = 0xff, [11] = 0xff}};
    if (address->family == AF_INET)
        memcpy(key.bytes + 12, address->bytes, 4);
    else
        memcpy(key.bytes, address->bytes, 16);
    return key;
}

/* Without a contact URL only loopback addresses are visited; with one, only public ones unless told
 * otherwise. */
static bool may_visit(const struct tuning *tuning, const struct address_key *key)
{
    if (tuning->contact_url[0] == '\0')
        return address_is_loopback(key);
    return tuning->private_addresses || !address_is_private(key);
}

/* No address for now, or none at all. */
static void on_no_address(struct loop *loop, struct host *host, enum fetch_outcome outcome)
{
    const struct tuning *tuning = loop->tuning;
    uint64_t now_ns = clock_now_ns();
    bool is_ours =
        outcome == FETCH_NO_MEMORY || outcome == FETCH_DNS_NO_MEMORY || outcome == FETCH_DNS_OVERLOADED;
    host->failures += !is_ours;
    bool is_final = outcome == FETCH_ADDRESS_FORBIDDEN || host->failures > tuning->retries_max;
    host->is_dead = is_final;
    host->dead_why = (uint8_t)outcome;
    struct frontier_resolved answer = {.until_ns = now_ns + politeness_failure_wait(tuning, host->failures),
                                       .now_ns = now_ns};
    frontier_resolved(&loop->frontier, host, &answer);
}

static bool is_denial(enum dns_error error)
{
    return error == DNS_ERROR_NO_NAME || error == DNS_ERROR_NO_DATA;
}

/* Name servers that fail say nothing against the address that the host had (RFC 8767): hosts outlive their
 * outages. */
static void keep_address(struct loop *loop, struct host *host)
{
    struct address_key key = frontier_address(&loop->crawl->frontier, host->address)->key;
    uint64_t now_ns = clock_now_ns();
    struct frontier_resolved answer = {
        .keys = &key, .count = 1, .until_ns = now_ns + DNS_FAILURE_TTL_S * CLOCK_NS_PER_S, .now_ns = now_ns};
    frontier_resolved(&loop->frontier, host, &answer);
}

static void on_answer(struct loop *loop, struct host *host, const struct dns_answer *found)
{
    if (found->error == DNS_ERROR_CANCELLED)
        return; /* the crawl is over: what waits for this host stays in the frontier */
    if (found->error != DNS_OK) {
        if (host->address && !is_denial(found->error))
            keep_address(loop, host);
        else
            on_no_address(loop, host, outcome_of_dns(found->error));
        return;
    }
    struct address_key keys[DNS_ADDRESSES_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < found->count; i++) {
        keys[count] = key_of(&found->addresses[i]);
        count += may_visit(loop->tuning, &keys[count]);
    }
    if (count == 0) {
        on_no_address(loop, host, FETCH_ADDRESS_FORBIDDEN);
        return;
    }
    struct frontier_resolved answer = {
        .keys = keys, .count = count, .until_ns = found->until_ns, .now_ns = clock_now_ns()};
    frontier_resolved(&loop->frontier, host, &answer);
}

static void on_looked_up(struct dns_query *query)
{
    struct lookup *lookup = (struct lookup *)query;
    struct loop *loop = lookup->loop;
    struct host *host = lookup->host;
    struct dns_answer answer = query->answer;
    free(lookup);
    loop->lookups--;
    on_answer(loop, host, &answer);
}

static void begin_lookup(struct loop *loop, struct host *host)
{
    struct slice name = host_name(host);
    struct lookup *lookup = malloc(sizeof *lookup);
    if (!lookup) {
        on_no_address(loop, host, FETCH_NO_MEMORY);
        return;
    }
    *lookup = (struct lookup){.query = {.on_done = on_looked_up}, .loop = loop, .host = host};
    if (name.ptr[0] == '[')
        name = (struct slice){name.ptr + 1, name.len - 2};
    loop->lookups++;
    if (conn_loop_resolve(&loop->conns, &lookup->query, name))
        on_looked_up(&lookup->query);
}

static void line_push(struct loop_line *line, struct host *host)
{
    host->message.next = NULL;
    if (line->first)
        line->last->next = &host->message;
    else
        line->first = &host->message;
    line->last = &host->message;
}

static struct host *line_pop(struct loop_line *line)
{
    struct inbox_node *node = line->first;
    line->first = node->next;
    return (struct host *)((char *)node - offsetof(struct host, message));
}

/* A million seeds are a million names: they wait. A host that had an address and is about to be visited does
 * not wait behind them. */
static void resolve(void *owner, struct host *host)
{
    struct loop *loop = owner;
    line_push(host->address ? &loop->outdated : &loop->unresolved, host);
}

/* No further ahead than visits need: while there are addresses enough to visit, one name for each visit, so
 * that every host's turn comes. Weights choose among hosts with an address, so they need them all. */
static bool wants_more_hosts(const struct loop *loop)
{
    const struct tuning *tuning = loop->tuning;
    bool has_weights = tuning->preferred_suffixes[0] || tuning->domain_weight_ns;
    unsigned due_max = LOOP_DUE_PER_CONNECTION * loop->visits_max;
    due_max = due_max > LOOP_DUE_MIN ? due_max : LOOP_DUE_MIN;
    return loop->frontier.due_count + loop->lookups < due_max || has_weights || loop->lookups_granted;
}

static bool may_look_up(const struct loop *loop)
{
    return loop->lookups < LOOP_LOOKUPS_MAX &&
           (loop->outdated.first || (loop->unresolved.first && wants_more_hosts(loop)));
}

/* Once per turn, and not from an answer: answers from the cache would nest. */
static void look_up_some(struct loop *loop)
{
    for (unsigned begun = 0; may_look_up(loop); begun++) {
        if (begun == LOOP_LOOKUPS_MAX)
            return; /* from the cache: the rings have waited long enough */
        if (loop->outdated.first) {
            begin_lookup(loop, line_pop(&loop->outdated));
        } else {
            loop->lookups_granted -= loop->lookups_granted > 0;
            begin_lookup(loop, line_pop(&loop->unresolved));
        }
    }
}

static bool abandon(void *owner, struct host *host)
{
    struct loop *loop = owner;
    struct host_item *item;
    struct loop_verdict verdict = {
        .outcome = (enum fetch_outcome)host->dead_why, .size = -1, .annotation = SLICE("host-given-up")};
    while (loop_has_log_room(loop)) {
        item = host_pop(host, false);
        if (!item)
            return true;
        if (item->kind == HOST_ITEM_ROBOTS)
            visit_robots_abandoned(loop, item);
        loop_finish_item(loop, host, item, &verdict);
    }
    return false;
}

static void wake(void *owner, unsigned index)
{
    struct loop *loop = owner;
    struct loop *other = &loop->crawl->loops[index];
    /* A1 pairs with R2 in loop_run. A loop that is not up yet reads its mail before it first sleeps. */
    if (lf_load(&other->is_up, acquire))
        ring_wake(&loop->ring, &other->ring);
}

static bool has_work(void *owner)
{
    struct loop *loop = owner;
    return frontier_has_mail(&loop->frontier);
}

bool loop_has_log_room(struct loop *loop)
{
    _Static_assert((int)CRAWL_LOG_LINE_BYTES_MAX <= (int)OUTLET_BLOCK_BYTES, "a line is in one block");
    return outlet_room(&loop->log) >= OUTLET_BLOCK_BYTES; /* this one is empty, or there is another */
}

/* A line of crawl.log. */
static void log_item(struct loop *loop, struct host *host, struct host_item *item,
                     const struct loop_verdict *verdict)
{
    if (!loop_has_log_room(loop)) {
        stats_add(&loop->stats.log_lost, 1);
        return;
    }
    struct crawl_log_entry entry = {
        .end_us = loop_wall_us(loop, clock_now_ns()),
        .start_us = verdict->start_ns ? loop_wall_us(loop, verdict->start_ns) : 0,
        .outcome = verdict->outcome,
        .status = verdict->status,
        .size = verdict->size,
        .url_host = host_key(host),
        .url_path = host_item_path(item),
        .depth = item->depth,
        .kind = (char)item->kind,
        .mime = verdict->mime,
        .loop = loop->index,
        .digest = verdict->digest,
        .annotation = verdict->annotation,
    };
    char line[CRAWL_LOG_LINE_BYTES_MAX];
    size_t len = crawl_log_write(line, &entry);
    outlet_append_whole(&loop->log, (struct slice){line, len});
    outlet_mark(&loop->log);
}

void loop_finish_item(struct loop *loop, struct host *host, struct host_item *item,
                      const struct loop_verdict *verdict)
{
    if (item->kind != HOST_ITEM_ROBOTS) {
        log_item(loop, host, item, verdict);
        stats_add(&loop->stats.outcomes[verdict->outcome], 1);
    }
    host_item_release(&loop->frontier.urls, item);
    /* R1 pairs with A1 in the housekeeper's sums: what this URL led to is counted. */
    lf_store(&loop->stats.urls_out, lf_load(&loop->stats.urls_out, relaxed) + 1, release);
}

int loop_init(struct loop *loop, struct crawl *crawl, unsigned index)
{
    const struct tuning *tuning = &crawl->tuning;
    loop->crawl = crawl;
    loop->tuning = tuning;
    loop->index = index;
    loop->visits_max = (unsigned)((tuning->connections + crawl->loop_count - 1) / crawl->loop_count);
    loop->clock_offset_us = clock_offset_us();
    struct frontier_loop_options options = {
        .index = index, .resolve = resolve, .abandon = abandon, .wake = wake, .owner = loop};
    int error = frontier_loop_init(&loop->frontier, &crawl->frontier, &options);
    if (error)
        return error;
    sieve_loop_init(&loop->sieve, &crawl->sieve);
    buffer_pool_init(&loop->pages, tuning->page_bytes / crawl->loop_count);
    loop->decode = decode_create(&(struct decode_options){.bytes_max = tuning->decoded_bytes_max,
                                                          .ratio_max = tuning->decoded_ratio_max});
    loop->visits = calloc(loop->visits_max, sizeof *loop->visits);
    if (!loop->decode || !loop->visits ||
        !harvest_init(&loop->harvest, crawl->scope, tuning->links_per_page_max))
        return -ENOMEM;
    for (unsigned i = loop->visits_max; i-- > 0;) {
        loop->visits[i].next = loop->visits_free;
        loop->visits_free = &loop->visits[i];
    }
    error = outlet_init(&loop->log, crawl->directory, LOG_BYTES);
    if (error)
        return error;
    loop->log.appends = true;
    outlet_open(&loop->log, "crawl.log");
    return tuning->store_kind == TUNING_STORE_WARC
               ? store_init(&loop->store, tuning, crawl->warc_directory, index)
               : 0;
}

void loop_fini(struct loop *loop)
{
    if (loop->has_ring)
        ring_fini(&loop->ring);
    if (loop->tuning->store_kind == TUNING_STORE_WARC)
        store_fini(&loop->store);
    outlet_fini(&loop->log);
    harvest_fini(&loop->harvest);
    if (loop->decode)
        decode_destroy(loop->decode);
    buffer_release(&loop->pages, &loop->decoded);
    buffer_pool_fini(&loop->pages);
    if (loop->sieve.sieve)
        sieve_loop_fini(&loop->sieve);
    frontier_loop_fini(&loop->frontier);
    free(loop->visits);
}

/* Descriptors: one per connection, and some that are being closed while the next is opened. */
static unsigned slots_for(const struct loop *loop)
{
    return loop->visits_max + 64;
}

static int fail(struct loop *loop, int error, const char *message)
{
    snprintf(loop->message, sizeof loop->message, "%s", message);
    return error;
}

static struct dns *create_dns(const struct tuning *tuning, uint64_t cache_entries, char *message,
                              size_t message_bytes)
{
    struct dns_options names = DNS_OPTIONS_DEFAULT;
    char servers[TUNING_LIST_BYTES];
    snprintf(servers, sizeof servers, "%s", tuning->dns_servers);
    for (char *at = servers; (at = strchr(at, '\n'));)
        *at = ',';
    names.servers = servers[0] ? servers : NULL;
    names.families = tuning->ipv6 ? DNS_BOTH : DNS_IPV4;
    names.timeout_ms = (uint32_t)(tuning->dns_timeout_ns / CLOCK_NS_PER_MS);
    names.cache.entries_max = (uint32_t)cache_entries;
    return dns_create(&names, message, message_bytes);
}

bool loop_check_names(const struct tuning *tuning, char *message, size_t message_bytes)
{
    struct dns *dns = create_dns(tuning, 16, message, message_bytes); /* the cache is not what is checked */
    if (dns)
        dns_destroy(dns);
    return dns;
}

static int begin_net(struct loop *loop)
{
    const struct tuning *tuning = loop->tuning;
    char message[256] = "";
    struct ring_options options = {
        .slots = slots_for(loop), .cpu = (int)loop->index, .has_work = has_work, .owner = loop};
    int error = ring_init(&loop->ring, &options);
    if (error)
        return fail(loop, error, loop->ring.error);
    loop->has_ring = true;
    error = bufring_init(&loop->buffers, &loop->ring, 1, &(struct bufring_options){0});
    if (error)
        return fail(loop, error, "cannot register receive buffers");
    struct dns *dns = create_dns(tuning, tuning->dns_cache_entries, message, sizeof message);
    if (!dns)
        return fail(loop, -EINVAL, message);
    struct tls_options tls = {.trust = loop->crawl->trust, .insecure = !tuning->tls_verify, .spare_max = 64};
    loop->tls = tls_pool_create(&tls);
    if (!loop->tls) {
        dns_destroy(dns);
        return fail(loop, -ENOMEM, "no memory for TLS");
    }
    struct conn_limits limits = conn_limits_default;
    limits.connect_ms = (uint32_t)(tuning->connect_timeout_ns / CLOCK_NS_PER_MS);
    limits.handshake_ms = limits.connect_ms;
    limits.first_byte_ms = (uint32_t)(tuning->first_byte_timeout_ns / CLOCK_NS_PER_MS);
    limits.silence_ms = limits.first_byte_ms;
    limits.exchange_ms = (uint32_t)(tuning->fetch_timeout_ns / CLOCK_NS_PER_MS);
    limits.http.head_bytes_max = (uint32_t)tuning->head_bytes_max;
    limits.http.body_bytes_max = tuning->body_bytes_max;
    struct conn_loop_options conns = {
        .ring = &loop->ring, .buffers = &loop->buffers, .dns = dns, .tls = loop->tls, .limits = &limits};
    conn_loop_init(&loop->conns, &conns);
    return 0;
}

/* All but the ring itself: others may be about to wake it. It goes with loop_fini. */
static void end_net(struct loop *loop)
{
    struct dns *dns = loop->conns.dns;
    conn_loop_close(&loop->conns);
    ring_finish(&loop->ring);
    dns_destroy(dns);
    bufring_fini(&loop->buffers);
    tls_pool_destroy(loop->tls);
}

/* A visit that may ask for no page would knock for nothing. */
static bool has_pages_left(const struct loop *loop)
{
    uint64_t pages_max = loop->tuning->max_pages;
    return pages_max == 0 || lf_load(&loop->crawl->pages_reserved, relaxed) < pages_max;
}

static void begin_visits(struct loop *loop, uint64_t now_ns)
{
    if (!buffer_pool_has_room(&loop->pages))
        buffer_release(&loop->pages, &loop->decoded); /* nobody reads it now, and it may be all that is out */
    bool may = loop->visits_open < loop->visits_max && !loop->stalled && buffer_pool_has_room(&loop->pages) &&
               loop->debt_ns <= now_ns && has_pages_left(loop);
    if (!may) {
        stats_add(&loop->stats.stalls, loop->visits_open < loop->visits_max);
        return;
    }
    while (loop->visits_open < loop->visits_max && buffer_pool_has_room(&loop->pages) &&
           has_pages_left(loop)) {
        struct host *host = frontier_take(&loop->frontier, now_ns);
        if (!host)
            return;
        loop->lookups_granted += loop->lookups_granted < LOOP_LOOKUPS_MAX;
        if (!visit_put_off(loop, host, now_ns))
            visit_begin(loop, host);
    }
}

static void publish_races(struct stats_races *races, const struct loop *loop)
{
    const struct frontier_loop *frontier = &loop->frontier;
    stats_set(&races->ready_rings, backoff_losses(&frontier->backoff));
    stats_set(&races->host_inboxes, frontier->host_inbox_losses);
    stats_set(&races->loop_inboxes, frontier->loop_inbox_losses);
    stats_set(&races->host_map, backoff_losses(&frontier->host_map.backoff));
    stats_set(&races->address_map, backoff_losses(&frontier->address_map.backoff));
    stats_set(&races->sieve, loop->sieve.writer.losses);
    stats_set(&races->pools, frontier->urls.losses + frontier->keys.losses);
}

/* What others read and only this thread can tell. */
static void publish(struct loop *loop)
{
    stats_set(&loop->stats.connections, loop->visits_open);
    stats_set(&loop->stats.ring_enters, loop->ring.stats.enters);
    stats_set(&loop->stats.bytes_received, loop->conns.stats.bytes_received);
    stats_set(&loop->stats.buffers_exhausted, loop->buffers.exhausted);
    publish_races(&loop->stats.lost_races, loop);
    stats_add(&loop->stats.turns, 1);
}

static void turn(struct loop *loop, enum crawl_phase phase)
{
    uint64_t now_ns = clock_now_ns();
    /* A2 pairs with R1 in the housekeeper's reload. */
    loop->tuning = loop->frontier.tuning = lf_load(&loop->crawl->live, acquire);
    frontier_turn(&loop->frontier, now_ns);
    look_up_some(loop);
    if (loop->stalled)
        visit_retry_stalled(loop);
    if (phase == CRAWL_RUNNING)
        begin_visits(loop, now_ns);
    if (now_ns - loop->log_flushed_ns >= LOG_FLUSH_NS) {
        outlet_flush(&loop->log);
        if (loop->tuning->store_kind == TUNING_STORE_WARC)
            outlet_flush(&loop->store.outlet);
        loop->log_flushed_ns = now_ns;
    }
    publish(loop);
    uint64_t next_ns = frontier_next_ns(&loop->frontier);
    uint64_t sleep_ns = next_ns <= now_ns ? 0 : next_ns - now_ns;
    if (frontier_has_mail(&loop->frontier) || may_look_up(loop))
        sleep_ns = 0;
    ring_turn(&loop->ring, sleep_ns < SLEEP_NS_MAX ? sleep_ns : SLEEP_NS_MAX);
}

void *loop_run(void *argument)
{
    struct loop *loop = argument;
    loop->error = begin_net(loop);
    if (loop->error) {
        lf_store(&loop->crawl->phase, CRAWL_ENDING, relaxed);
        return NULL;
    }
    lf_store(&loop->is_up, true, release); /* R2 pairs with A1 in wake */
    for (bool aborted = false;;) {
        enum crawl_phase phase = (enum crawl_phase)lf_load(&loop->crawl->phase, relaxed);
        if (phase == CRAWL_ENDING && !aborted) {
            visit_abort_all(loop);
            aborted = true;
        }
        if (aborted && loop->visits_open == 0)
            break;
        turn(loop, phase);
    }
    end_net(loop);
    outlet_flush(&loop->log);
    if (loop->tuning->store_kind == TUNING_STORE_WARC)
        outlet_flush(&loop->store.outlet);
    publish(loop);
    return NULL;
}
