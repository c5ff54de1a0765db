/* A name that is neither an address nor in the cache becomes a lookup: one or two questions to c-ares (A, AAAA), and the
 * queries that wait for it.
 *
 *     dns_begin -> lookup, in the table of names under way
 *         c-ares answers the last of its questions -> out of the table, into the cache, onto the list of the done
 *             after c-ares returned -> its queries' on_done, then it is free
 *
 * The list of the done keeps callers out of c-ares' callbacks. A look-up that had no answer while no server
 * said anything at all first waits for the probe, which tells a dead name from an outage. */
#include "net/dns.h"

#include <ares.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "net/dns_channel.h"
#include "net/dns_hosts.h"
#include "net/dns_lookup.h"
#include "net/dns_message.h"

#define TABLE_BUCKETS   1024
#define EVENTS_PER_WAIT 16

enum { UDP, TCP, PROBE, CHANNELS };

struct dns {
    struct dns_channel channels[CHANNELS];
    int epoll_fd;
    struct dns_options options;
    struct dns_cache *cache;
    struct dns_counts counts;
    uint64_t now_ns;
    unsigned server_count;
    unsigned lookup_count; /* in the table and on the list */
    struct dns_lookup *table[TABLE_BUCKETS];
    struct dns_lookup *lookups; /* DNS_IN_FLIGHT_MAX of them; memory that was never used is never touched */
    unsigned lookups_used;      /* those from here on never were */
    struct dns_lookup *free;
    struct dns_list done;    /* to be delivered */
    struct dns_list doubted; /* nobody answered since they were asked: the probe tells whether anybody does */
    uint64_t heard_ns;       /* the last answer of any server */
    bool is_probing;
    bool is_out; /* the last probe had no answer, and nothing was heard since */
};

/* Questions go out by UDP. One whose answer does not fit is asked again by TCP, over a channel of its own:
 * when a TCP connection fails, c-ares gives up every question of that channel to the same server. */
static const char *open_channels(struct dns *dns)
{
    static const int flags[CHANNELS] = {
        [UDP] = ARES_FLAG_IGNTC, [TCP] = ARES_FLAG_USEVC, [PROBE] = ARES_FLAG_IGNTC};
    for (uint32_t i = 0; i < CHANNELS; i++) {
        struct dns_channel_options options = {.epoll_fd = dns->epoll_fd,
                                              .index = i,
                                              .servers = dns->options.servers,
                                              .flags = flags[i],
                                              .timeout_ms = dns->options.timeout_ms,
                                              .tries = i == UDP ? dns->options.tries : 1};
        const char *problem = dns_channel_open(&dns->channels[i], &options);
        if (problem)
            return problem;
    }
    dns->server_count = dns_channel_server_count(&dns->channels[UDP]);
    return dns->server_count ? NULL : "there is none";
}

static void read_hosts(struct dns *dns)
{
    const char *path = dns->options.hosts_path ? dns->options.hosts_path : "/etc/hosts";
    size_t names_max = dns->options.cache.entries_max / 2;
    if (*path)
        dns_hosts_read(dns->cache, path, names_max < DNS_HOSTS_MAX ? names_max : DNS_HOSTS_MAX,
                       dns->options.families);
}

struct dns *dns_create(const struct dns_options *options, char *message, size_t message_bytes)
{
    struct dns *dns = calloc(1, sizeof *dns);
    if (!dns) {
        snprintf(message, message_bytes, "no memory for the resolver");
        return NULL;
    }
    dns->options = *options;
    dns->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    dns->cache = dns_cache_create(&options->cache);
    dns->lookups = calloc(DNS_IN_FLIGHT_MAX, sizeof *dns->lookups);
    if (dns->epoll_fd < 0 || !dns->cache || !dns->lookups) {
        snprintf(message, message_bytes, "cannot set up the resolver: %s", strerror(errno));
        dns_destroy(dns);
        return NULL;
    }
    const char *problem = open_channels(dns);
    if (problem) {
        snprintf(message, message_bytes,
                 "cannot use the DNS servers \"%s\": %s; write them as ADDRESS[:PORT],...",
                 options->servers ? options->servers : "of /etc/resolv.conf", problem);
        dns_destroy(dns);
        return NULL;
    }
    read_hosts(dns);
    return dns;
}

static unsigned bucket_of(struct slice name)
{
    uint32_t hash = 2166136261;
    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619;
    return (hash ^ hash >> 16) % TABLE_BUCKETS;
}

static struct dns_lookup **place_of(struct dns *dns, struct slice name)
{
    struct dns_lookup **place = &dns->table[bucket_of(name)];
    while (*place && !slice_equals((struct slice){(*place)->name, (*place)->name_len}, name))
        place = &(*place)->next;
    return place;
}

static void wait_for(struct dns_lookup *lookup, struct dns_query *query)
{
    query->next = lookup->waiting;
    query->link = &lookup->waiting;
    if (query->next)
        query->next->link = &query->next;
    lookup->waiting = query;
}

void dns_cancel(struct dns_query *query)
{
    if (!query->link)
        return;
    *query->link = query->next;
    if (query->next)
        query->next->link = query->link;
    query->link = NULL;
}

/* What it ended in is certain. */
static void settle(struct dns *dns, struct dns_lookup *lookup)
{
    struct slice name = {lookup->name, lookup->name_len};
    dns->counts.outcomes[lookup->answer.error]++;
    if (dns_error_is_memorable(lookup->answer.error) && !lookup->answer.is_outage)
        dns_cache_insert(dns->cache, name, &lookup->answer,
                         (struct dns_cache_life){.now_ns = dns->now_ns, .ttl_s = lookup->ttl_s});
    dns_list_push(&dns->done, lookup);
}

static void on_heard(struct dns *dns)
{
    dns->heard_ns = dns->now_ns;
    dns->is_out = false;
}

/* The callback of c-ares for the probe. */
static void on_probed(void *context, int status, int timeouts, unsigned char *bytes, int len)
{
    struct dns *dns = context;
    struct dns_lookup *lookup;
    (void)timeouts, (void)len;
    bool is_over = status == ARES_EDESTRUCTION;
    dns->is_probing = false;
    if (bytes)
        on_heard(dns);
    else if (status == ARES_ETIMEOUT || status == ARES_ECONNREFUSED)
        dns->is_out = true;
    while ((lookup = dns_list_pop(&dns->doubted))) {
        lookup->answer.error = is_over ? DNS_ERROR_CANCELLED : lookup->answer.error;
        lookup->answer.is_outage = dns->is_out && !is_over;
        settle(dns, lookup);
    }
}

/* Asks for the root's name servers: any server has something to say to that. */
static void probe(struct dns *dns)
{
    if (dns->is_probing)
        return;
    dns->is_probing = true;
    ares_query(dns->channels[PROBE].ares, ".", DNS_CLASS_IN, DNS_TYPE_NS, on_probed, dns);
}

void dns_probe(struct dns *dns, uint64_t now_ns)
{
    dns->now_ns = now_ns;
    probe(dns);
}

bool dns_is_out(const struct dns *dns)
{
    return dns->is_out;
}

/* A name without an answer is to blame itself only if servers have answered for others, and of late: when they fall
 * silent, names that were asked for shortly before stay without an answer, too. */
static bool is_certain(const struct dns *dns, const struct dns_lookup *lookup)
{
    enum dns_error error = lookup->answer.error;
    uint64_t recent_ns = dns->options.timeout_ms * CLOCK_NS_PER_MS / 2;
    bool was_heard = dns->heard_ns >= lookup->begun_ns && dns->heard_ns + recent_ns >= dns->now_ns;
    return error != DNS_ERROR_UNREACHABLE && (error != DNS_ERROR_TIMEOUT || was_heard);
}

/* All questions are answered. */
static void finish(struct dns_lookup *lookup)
{
    struct dns *dns = lookup->dns;
    struct dns_lookup **place = place_of(dns, (struct slice){lookup->name, lookup->name_len});
    assert(*place == lookup);
    *place = lookup->next;
    dns_lookup_conclude(lookup);
    if (is_certain(dns, lookup)) {
        settle(dns, lookup);
        return;
    }
    dns_list_push(&dns->doubted, lookup);
    probe(dns);
}

static void ask(struct dns_lookup *lookup, struct dns_question *question);

/* The answer did not fit. What there is of it counts if nothing better comes by TCP. */
static bool is_truncated(struct slice message)
{
    return message.len > 2 && message.ptr[2] & 0x02;
}

/* The callback of c-ares. */
static void on_answer(void *context, int status, int timeouts, unsigned char *bytes, int len)
{
    (void)timeouts;
    struct dns_question *question = context;
    struct dns_lookup *lookup = question->lookup;
    struct slice message = {(const char *)bytes, bytes ? (size_t)len : 0};
    if (bytes)
        on_heard(lookup->dns);
    dns_lookup_read(question, status, message);
    bool wants_tcp = !question->is_by_tcp && is_truncated(message);
    question->is_by_tcp |= wants_tcp;
    /* Rotation sends it to another server, unless others were asked in between. */
    if (wants_tcp || (dns_lookup_wants_retry(question) && question->tries < lookup->dns->server_count)) {
        ask(lookup, question);
        return;
    }
    question->is_open = false;
    if (!lookup->questions[0].is_open && !lookup->questions[1].is_open)
        finish(lookup);
}

static void ask(struct dns_lookup *lookup, struct dns_question *question)
{
    char name[DNS_NAME_BYTES_MAX + 1];
    memcpy(name, lookup->name, lookup->name_len);
    name[lookup->name_len] = '\0';
    question->tries++;
    lookup->dns->counts.asked++;
    ares_query(lookup->dns->channels[question->is_by_tcp ? TCP : UDP].ares, name, DNS_CLASS_IN,
               question->type, on_answer, question);
}

/* Both questions are open before the first is asked: c-ares may answer at once. */
static void ask_all(struct dns_lookup *lookup)
{
    enum dns_families families = lookup->dns->options.families;
    lookup->questions[0].is_open = families != DNS_IPV6;
    lookup->questions[1].is_open = families != DNS_IPV4;
    if (families == DNS_BOTH) {
        ask(lookup, &lookup->questions[0]);
        ask(lookup, &lookup->questions[1]);
    } else {
        ask(lookup, &lookup->questions[families == DNS_IPV6]);
    }
}

/* Answered without asking: by the text itself, or from memory. */
static bool answer_at_once(struct dns *dns, struct slice name, struct dns_answer *answer)
{
    if (ip_parse(&answer->addresses[0], name)) {
        answer->count = 1;
        answer->until_ns = UINT64_MAX;
        return true;
    }
    return dns_cache_find(dns->cache, name, dns->now_ns, answer);
}

static bool refuse(struct dns_query *query, enum dns_error error)
{
    query->answer.error = error;
    return true;
}

/* One of those that lookup_count says are free. */
static struct dns_lookup *take_lookup(struct dns *dns)
{
    struct dns_lookup *lookup = dns->free;
    if (!lookup)
        return &dns->lookups[dns->lookups_used++];
    dns->free = lookup->next;
    return lookup;
}

bool dns_begin(struct dns *dns, struct dns_query *query, struct slice host, uint64_t now_ns)
{
    char normal[DNS_NAME_BYTES_MAX];
    dns->now_ns = now_ns;
    query->link = NULL;
    query->answer = (struct dns_answer){.error = DNS_OK};
    struct slice name = {normal, dns_hosts_normalise(host, normal)};
    if (answer_at_once(dns, name.len ? name : host, &query->answer))
        return true;
    if (name.len == 0)
        return refuse(query, DNS_ERROR_NAME_BAD);
    struct dns_lookup **place = place_of(dns, name), *lookup = *place;
    if (lookup) {
        dns->counts.coalesced++;
        wait_for(lookup, query);
        return false;
    }
    if (dns->lookup_count >= DNS_IN_FLIGHT_MAX)
        return refuse(query, DNS_ERROR_OVERLOADED);
    lookup = take_lookup(dns);
    dns_lookup_init(lookup, dns, name);
    lookup->begun_ns = now_ns;
    *place = lookup;
    dns->lookup_count++;
    wait_for(lookup, query);
    ask_all(lookup);
    return false;
}

/* Tells those who wait. They may begin and cancel, which changes the lists but not what is popped here. */
static void deliver(struct dns *dns)
{
    struct dns_lookup *lookup;
    while ((lookup = dns_list_pop(&dns->done))) {
        dns->lookup_count--;
        while (lookup->waiting) {
            struct dns_query *query = lookup->waiting;
            dns_cancel(query);
            query->answer = lookup->answer;
            query->on_done(query);
        }
        lookup->next = dns->free;
        dns->free = lookup;
    }
}

void dns_destroy(struct dns *dns)
{
    for (unsigned i = 0; i < CHANNELS; i++)
        dns_channel_close(&dns->channels[i]);
    deliver(dns);
    free(dns->lookups);
    if (dns->cache)
        dns_cache_destroy(dns->cache);
    if (dns->epoll_fd >= 0)
        close(dns->epoll_fd);
    free(dns);
}

int dns_fd(const struct dns *dns)
{
    return dns->epoll_fd;
}

void dns_on_ready(struct dns *dns, uint64_t now_ns)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    dns->now_ns = now_ns;
    int count = epoll_wait(dns->epoll_fd, events, EVENTS_PER_WAIT, 0);
    for (int i = 0; i < count; i++) {
        uint64_t data = events[i].data.u64;
        dns_channel_on_event(&dns->channels[dns_channel_index(data)], data, events[i].events);
    }
    deliver(dns);
}

void dns_on_tick(struct dns *dns, uint64_t now_ns)
{
    dns->now_ns = now_ns;
    for (unsigned i = 0; i < CHANNELS; i++)
        dns_channel_on_tick(&dns->channels[i]);
    deliver(dns);
}

bool dns_is_busy(const struct dns *dns)
{
    return dns->lookup_count > 0 || dns->is_probing;
}

void dns_counts(const struct dns *dns, struct dns_counts *counts)
{
    *counts = dns->counts;
    dns_cache_counts(dns->cache, &counts->cache);
}
