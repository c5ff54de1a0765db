/* Hosts come in through names_push and leave through frontier_resolved:
 *
 *     names_push -+-> ready:  needs no server, or its address has expired; served first
 *                 +-> lanes:  all others, one domain after another
 *                        | names_turn
 *                        v
 *     a young look-up -- after NAMES_OVERDUE_MS --> overdue: another host may be looked up meanwhile
 *                        | answer or time-out
 *                        v
 *     frontier_resolved: an address, another try later, or the host is given up;
 *     or back to names_push, when no name server answers at all */
#include "engine/crawl/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/crawl/limits.h"
#include "engine/frontier/politeness.h"
#include "engine/outcome/fetch_outcome.h"
#include "lockfree/clock.h"

/* A host whose name is being looked up. */
struct lookup {
    struct dns_query query;
    struct names *names;
    struct host *host;
    struct lookup *next, *previous; /* in the list of young ones, the oldest first, or of free ones */
    uint64_t begun_ns;
    bool is_slow;    /* counted in names->slow: of a slow lane, or overdue */
    bool is_overdue; /* not in the list of young look-ups */
};

int names_init(struct names *names, const struct names_options *options)
{
    unsigned due_max = NAMES_DUE_PER_CONNECTION * options->visits_max;
    *names = (struct names){.frontier = options->frontier,
                            .conns = options->conns,
                            .tuning = options->tuning,
                            .troubles = options->troubles,
                            .stats = options->stats,
                            .store = options->store,
                            .due_max = due_max > NAMES_DUE_MIN ? due_max : NAMES_DUE_MIN,
                            .pool = calloc(NAMES_LOOKUPS_MAX, sizeof *names->pool)};
    if (!lanes_init(&names->lanes) || !names->pool)
        return -ENOMEM;
    for (unsigned i = NAMES_LOOKUPS_MAX; i-- > 0;) {
        names->pool[i].next = names->free;
        names->free = &names->pool[i];
    }
    return 0;
}

void names_fini(struct names *names)
{
    lanes_fini(&names->lanes);
    free(names->pool);
}

/* Without a contact URL only loopback addresses are visited; with one, only public addresses, unless the
 * tuning file allows private ones. */
static bool may_visit(const struct crawl_tuning_fixed *tuning, const struct ip *ip)
{
    if (tuning->contact_url[0] == '\0')
        return ip_is_loopback(ip);
    return tuning->private_addresses || !ip_is_private(ip);
}

static bool is_denial(enum fetch_outcome outcome)
{
    return outcome == FETCH_DNS_NO_NAME || outcome == FETCH_DNS_NO_DATA;
}

/* The host has no address, at least for now. The next try comes after `holds_ns`, until which the cache
 * holds this answer. A name that does not exist is looked up once more, because a delegation may be broken
 * for a moment. */
static void on_no_address(struct names *names, struct host *host, enum fetch_outcome outcome,
                          uint64_t holds_ns)
{
    const struct tuning *tuning = names->tuning;
    uint64_t now_ns = clock_now_ns();
    unsigned failures = lf_load(&host->failures, relaxed);
    if (failures == 0)
        host->failing_since_ns = now_ns;
    failures += fetch_outcome_class(outcome) != FETCH_OUTCOME_OURS;
    lf_store(&host->failures, (uint16_t)failures, relaxed);
    bool is_denied_again = is_denial(outcome) && is_denial((enum fetch_outcome)host->dead_why);
    host->is_dead =
        fetch_outcome_is_final(outcome) || is_denied_again || failures > tuning->live.retry.retries_max;
    host->dead_why = (uint8_t)outcome;
    uint64_t again_ns = now_ns + politeness_failure_wait(&tuning->live.retry, failures);
    struct frontier_resolved answer = {.until_ns = again_ns > holds_ns ? again_ns : holds_ns,
                                       .now_ns = now_ns};
    stats_add(&names->stats->tries_failed[outcome], 1);
    stats_add(&names->stats->hosts_given_up, host->is_dead);
    troubles_note(names->troubles, host, outcome, host->is_dead ? 0 : answer.until_ns);
    frontier_resolved(names->frontier, host, &answer);
}

/* If the name servers fail, the host keeps its last address (RFC 8767, serving stale data). */
static void keep_address(struct names *names, struct host *host)
{
    struct ip ip = host->ip;
    uint64_t now_ns = clock_now_ns();
    struct frontier_resolved answer = {.addresses = &ip,
                                       .count = 1,
                                       .until_ns = now_ns + DNS_FAILURE_TTL_MS * CLOCK_NS_PER_MS,
                                       .now_ns = now_ns};
    frontier_resolved(names->frontier, host, &answer);
}

static void on_addresses(struct names *names, struct host *host, const struct dns_answer *found)
{
    struct ip ips[DNS_ADDRESSES_MAX];
    unsigned count = 0;
    for (unsigned i = 0; i < found->count; i++) {
        ips[count] = found->addresses[i];
        count += may_visit(&names->tuning->fixed.crawl, &ips[count]);
    }
    if (count == 0) {
        on_no_address(names, host, FETCH_ADDRESS_FORBIDDEN, 0);
        return;
    }
    host->dead_why = FETCH_DONE; /* an earlier denial was temporary */
    struct frontier_resolved answer = {
        .addresses = ips, .count = count, .until_ns = found->until_ns, .now_ns = clock_now_ns()};
    frontier_resolved(names->frontier, host, &answer);
}

static void on_outage(struct names *names)
{
    if (names->outage_since_ns)
        return;
    names->outage_since_ns = clock_now_ns();
    names->outages++;
}

/* Keeps what a server has just said. */
static void store_answer(struct names *names, const struct host *host, const struct dns_answer *found)
{
    uint64_t now_ns = clock_now_ns();
    struct store_answer answer = {
        .name = host_name(host),
        .addresses = found->addresses,
        .count = found->count,
        .ttl_s = found->until_ns > now_ns ? (found->until_ns - now_ns) / CLOCK_NS_PER_S : 0,
        .date_us = clock_wall_us()};
    if (names->store && found->was_fresh)
        store_add_answer(names->store, &answer);
}

static void on_answer(struct names *names, struct host *host, const struct dns_answer *found)
{
    if (found->error == DNS_ERROR_CANCELLED)
        return; /* the crawl is over: the host's URLs stay in the frontier */
    if (found->error == DNS_OK) {
        store_answer(names, host, found);
        on_addresses(names, host, found);
    } else if (found->is_outage) {
        on_outage(names);
        names_push(names, host);
    } else {
        enum fetch_outcome outcome = fetch_outcome_of(outcome_of_dns(found->error));
        if (host->address && !is_denial(outcome))
            keep_address(names, host);
        else
            on_no_address(names, host, outcome, found->until_ns);
    }
}

/* Removes the look-up from the list of young ones. */
static void unlink_young(struct names *names, struct lookup *lookup)
{
    *(lookup->previous ? &lookup->previous->next : &names->young) = lookup->next;
    *(lookup->next ? &lookup->next->previous : &names->youngest) = lookup->previous;
}

static void link_young(struct names *names, struct lookup *lookup)
{
    lookup->next = NULL;
    lookup->previous = names->youngest;
    *(names->youngest ? &names->youngest->next : &names->young) = lookup;
    names->youngest = lookup;
}

/* Literal addresses are no look-ups. */
static void count_lookup(const struct lookup *lookup, const struct dns_answer *answer)
{
    struct stats *stats = lookup->names->stats;
    bool is_literal_address = answer->error == DNS_OK && answer->until_ns == UINT64_MAX;
    if (is_literal_address)
        return;
    stats_add(&stats->lookups[answer->error == DNS_OK && !answer->was_fresh ? STATS_LOOKUP_REMEMBERED : (int)answer->error], 1);
    if (answer->was_fresh)
        stats_record(&stats->dns_us, (clock_now_ns() - lookup->begun_ns) / 1000);
}

static void on_looked_up(struct dns_query *query)
{
    struct lookup *lookup = (struct lookup *)query;
    struct names *names = lookup->names;
    struct host *host = lookup->host;
    struct dns_answer answer = query->answer;
    count_lookup(lookup, &answer);
    *(lookup->is_slow ? &names->slow : &names->quick) -= 1;
    if (!lookup->is_overdue)
        unlink_young(names, lookup);
    lanes_end(&names->lanes, host,
              (struct lanes_end){.was_overdue = lookup->is_overdue,
                                 .is_silent = answer.error == DNS_ERROR_TIMEOUT && !answer.is_outage});
    lookup->next = names->free;
    names->free = lookup;
    on_answer(names, host, &answer);
}

static void begin_lookup(struct names *names, struct host *host, bool is_slow)
{
    struct slice name = host_name(host);
    struct lookup *lookup = names->free;
    names->free = lookup->next;
    *lookup = (struct lookup){.query = {.on_done = on_looked_up},
                              .names = names,
                              .host = host,
                              .begun_ns = clock_now_ns(),
                              .is_slow = is_slow};
    if (name.ptr[0] == '[')
        name = (struct slice){name.ptr + 1, name.len - 2};
    *(is_slow ? &names->slow : &names->quick) += 1;
    link_young(names, lookup);
    lanes_begin(&names->lanes, host);
    if (conn_loop_resolve(names->conns, &lookup->query, name))
        on_looked_up(&lookup->query);
}

/* Whether the host is an IP address: only those end in a digit or a bracket. */
static bool is_literal(const struct host *host)
{
    struct slice name = host_name(host);
    char last = name.ptr[name.len - 1];
    return last == ']' || (last >= '0' && last <= '9');
}

/* A million seeds are a million names, which wait in their lanes. A host that had an address and is about to
 * be visited must not wait behind them. */
void names_push(struct names *names, struct host *host)
{
    if (host->address || is_literal(host))
        lanes_line_push(&names->ready, host);
    else
        lanes_push(&names->lanes, host);
}

void names_grant(struct names *names)
{
    names->granted += names->granted < NAMES_QUICK_MAX;
}

/* Names are not looked up further ahead than visits need: while enough addresses are ready, one name per
 * visit, so that every host gets its turn. With weights, all names are looked up, because only hosts with an
 * address can be compared. */
static bool wants_more_hosts(const struct names *names)
{
    const struct priority_tuning_fixed *priority = &names->tuning->fixed.priority;
    bool has_weights = priority->preferred_suffixes[0] || priority->domain_weight_ns;
    return names->frontier->due_count + names->quick < names->due_max || has_weights || names->granted;
}

static bool has_quick_work(const struct names *names)
{
    return names->lanes.quick.first && names->quick < NAMES_QUICK_MAX && wants_more_hosts(names);
}

static bool has_slow_work(const struct names *names)
{
    return names->lanes.slow.first && names->slow < NAMES_SLOW_MAX && wants_more_hosts(names);
}

bool names_has_work(const struct names *names)
{
    if (names->outage_since_ns)
        return names->ready.first;
    return names->free && ((names->ready.first && names->quick < NAMES_QUICK_MAX) || has_quick_work(names) ||
                           has_slow_work(names));
}

bool names_is_busy(const struct names *names)
{
    return names->quick + names->slow > 0;
}

/* During an outage the host keeps its old address. */
static void look_up_ready(struct names *names)
{
    struct host *host = lanes_line_pop(&names->ready);
    bool is_asked = !names->outage_since_ns && !lanes_is_slow(&names->lanes, host);
    if (host->address && !is_asked && !is_literal(host))
        keep_address(names, host);
    else if (names->free)
        begin_lookup(names, host, false);
    else
        on_no_address(names, host, FETCH_DNS_OVERLOADED, 0);
}

static void look_up_one(struct names *names)
{
    bool from_slow = has_slow_work(names) &&
                     (!has_quick_work(names) || names->begun % NAMES_SLOW_TURN == NAMES_SLOW_TURN - 1);
    struct host *host = lanes_pop(&names->lanes, from_slow);
    names->begun++;
    if (!host)
        return; /* its lane has changed queues */
    names->granted -= names->granted > 0;
    begin_lookup(names, host, from_slow);
}

/* Look-ups become overdue, so that others can begin. */
static void grow_old(struct names *names, uint64_t now_ns)
{
    struct lookup *lookup;
    while ((lookup = names->young) && lookup->begun_ns + NAMES_OVERDUE_MS * CLOCK_NS_PER_MS <= now_ns) {
        unlink_young(names, lookup);
        lookup->is_overdue = true;
        lanes_overdue(&names->lanes, lookup->host);
        names->quick -= !lookup->is_slow;
        names->slow += !lookup->is_slow;
        lookup->is_slow = true;
    }
}

/* During an outage nothing is looked up, except for a probe of the servers from time to time. */
static void sit_out(struct names *names, uint64_t now_ns)
{
    if (!dns_is_out(names->conns->dns)) {
        names->outage_since_ns = 0;
    } else if (now_ns >= names->probe_ns) {
        names->probe_ns = now_ns + NAMES_PROBE_MS * CLOCK_NS_PER_MS;
        conn_loop_probe(names->conns);
    }
}

/* Called once per turn, not from an answer: answers from the cache come at once and would nest. */
void names_turn(struct names *names, uint64_t now_ns)
{
    grow_old(names, now_ns);
    if (names->outage_since_ns)
        sit_out(names, now_ns);
    /* Answers from the cache end at once. The limit keeps the ring from waiting too long. */
    for (unsigned i = 0; i < NAMES_QUICK_MAX && names_has_work(names); i++) {
        if (names->ready.first)
            look_up_ready(names);
        else
            look_up_one(names);
    }
}

static uint32_t shorter_ms(uint64_t ns, uint32_t ms)
{
    return ns / CLOCK_NS_PER_MS < ms ? (uint32_t)(ns / CLOCK_NS_PER_MS) : ms;
}

static struct dns *create_dns(const struct tuning *tuning, uint64_t cache_entries, char *message,
                              size_t message_bytes)
{
    struct dns_options names = DNS_OPTIONS_DEFAULT;
    char servers[TUNING_LIST_BYTES];
    snprintf(servers, sizeof servers, "%s", tuning->fixed.net.dns_servers);
    for (char *at = servers; (at = strchr(at, '\n'));)
        *at = ',';
    names.servers = servers[0] ? servers : NULL;
    names.families = tuning->fixed.net.ipv6 ? DNS_BOTH : DNS_IPV4;
    names.timeout_ms = (uint32_t)(tuning->fixed.net.dns_timeout_ns / CLOCK_NS_PER_MS);
    names.cache.entries_max = (uint32_t)cache_entries;
    /* The cache must have forgotten a failure before the next try. */
    names.cache.failure_ttl_ms = shorter_ms(tuning->live.retry.wait_ns, names.cache.failure_ttl_ms);
    names.cache.negative_ttl_ms_max = (uint32_t)(tuning->fixed.net.dns_denial_max_ns / CLOCK_NS_PER_MS);
    return dns_create(&names, message, message_bytes);
}

struct dns *names_create_dns(const struct tuning *tuning, char *message, size_t message_bytes)
{
    return create_dns(tuning, tuning->fixed.net.dns_cache_entries, message, message_bytes);
}

bool names_check(const struct tuning *tuning, char *message, size_t message_bytes)
{
    struct dns *dns = create_dns(tuning, 16, message, message_bytes); /* its cache is not used */
    if (dns)
        dns_destroy(dns);
    return dns;
}
