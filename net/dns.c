/*
 * A name that is neither an address nor in the cache becomes a lookup: one or two questions to c-ares (A,
 * AAAA), and the queries that wait for it.
 *
 *     dns_begin -> lookup, in the table of names under way
 *         c-ares answers the last of its questions -> out of the table, into the cache, onto the list of the
 * done after c-ares returned: its queries' on_done, then it is freed
 *
 * The list of the done keeps callers out of c-ares' callbacks.
 */
#include "net/dns.h"

#include <ares.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "net/dns_hosts.h"
#include "net/dns_lookup.h"
#include "net/dns_message.h"

#define TABLE_BUCKETS   1024
#define EVENTS_PER_WAIT 16

struct dns {
    ares_channel channel;
    int epoll_fd;
    struct dns_options options;
    struct dns_cache *cache;
    struct dns_counts counts;
    uint64_t now_ns;
    unsigned server_count;
    unsigned lookup_count; /* in the table and on the list */
    struct dns_lookup *table[TABLE_BUCKETS];
    struct dns_lookup *done, **done_end;
};

static bool takes_any(uint8_t family)
{
    (void)family;
    return true;
}

static bool takes_v4(uint8_t family)
{
    return family == AF_INET;
}

static bool takes_v6(uint8_t family)
{
    return family == AF_INET6;
}

/* c-ares wants to know of a socket's readiness, or no more of it at all. */
static void on_socket(void *context, ares_socket_t fd, int readable, int writable)
{
    struct dns *dns = context;
    struct epoll_event event = {
        .data.fd = fd, .events = (readable ? (uint32_t)EPOLLIN : 0) | (writable ? (uint32_t)EPOLLOUT : 0)};
    if (!event.events) {
        epoll_ctl(dns->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return;
    }
    /* A socket that cannot be watched is found out by its questions' time-outs. */
    if (epoll_ctl(dns->epoll_fd, EPOLL_CTL_MOD, fd, &event) != 0 && errno == ENOENT)
        epoll_ctl(dns->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static const char *open_channel(struct dns *dns)
{
    char lookups[] = "b"; /* without "f", which would read /etc/hosts anew for every question */
    struct ares_options options = {
        /* NOCHECKRESP: answers such as SERVFAIL come through, where c-ares would call them "connection
           refused". */
        .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_NOCHECKRESP | ARES_FLAG_EDNS,
        .timeout = (int)dns->options.timeout_ms,
        .tries = (int)dns->options.tries,
        .ednspsz = DNS_EDNS_BYTES,
        .socket_receive_buffer_size = DNS_RECEIVE_BUFFER_BYTES,
        .lookups = lookups,
        .sock_state_cb = on_socket,
        .sock_state_cb_data = dns,
    };
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
               ARES_OPT_SOCK_RCVBUF | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_ROTATE;
    int status = ares_init_options(&dns->channel, &options, mask);
    if (status != ARES_SUCCESS) {
        dns->channel = NULL;
        return ares_strerror(status);
    }
    if (dns->options.servers) {
        status = ares_set_servers_ports_csv(dns->channel, dns->options.servers);
        if (status != ARES_SUCCESS)
            return ares_strerror(status);
    }
    struct ares_addr_port_node *servers = NULL;
    if (ares_get_servers_ports(dns->channel, &servers) == ARES_SUCCESS)
        for (const struct ares_addr_port_node *server = servers; server; server = server->next)
            dns->server_count++;
    ares_free_data(servers);
    return dns->server_count ? NULL : "there is none";
}

static void read_hosts(struct dns *dns)
{
    static bool (*const takes[])(uint8_t) = {
        [DNS_IPV4] = takes_v4, [DNS_IPV6] = takes_v6, [DNS_BOTH] = takes_any};
    const char *path = dns->options.hosts_path ? dns->options.hosts_path : "/etc/hosts";
    size_t names_max = dns->options.cache.entries_max / 2;
    if (*path)
        dns_hosts_read(dns->cache, path, names_max < DNS_HOSTS_MAX ? names_max : DNS_HOSTS_MAX,
                       takes[dns->options.families]);
}

struct dns *dns_create(const struct dns_options *options, char *message, size_t message_bytes)
{
    struct dns *dns = calloc(1, sizeof *dns);
    if (!dns) {
        snprintf(message, message_bytes, "no memory for the resolver");
        return NULL;
    }
    dns->options = *options;
    dns->done_end = &dns->done;
    dns->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    dns->cache = dns_cache_create(&options->cache);
    if (dns->epoll_fd < 0 || !dns->cache) {
        snprintf(message, message_bytes, "cannot set up the resolver: %s", strerror(errno));
        dns_destroy(dns);
        return NULL;
    }
    const char *problem = open_channel(dns);
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

/* What the servers say may be remembered; what happened on this side may not. */
static bool is_memorable(enum dns_error error)
{
    return error != DNS_ERROR_CANCELLED && error != DNS_ERROR_NO_MEMORY && error != DNS_ERROR_OVERLOADED &&
           error != DNS_ERROR_NAME_BAD;
}

/* All questions are answered. */
static void finish(struct dns_lookup *lookup)
{
    struct dns *dns = lookup->dns;
    struct slice name = {lookup->name, lookup->name_len};
    struct dns_lookup **place = place_of(dns, name);
    assert(*place == lookup);
    *place = lookup->next;
    dns_lookup_conclude(lookup);
    dns->counts.outcomes[lookup->answer.error]++;
    if (is_memorable(lookup->answer.error))
        dns_cache_insert(dns->cache, name, &lookup->answer,
                         (struct dns_cache_life){.now_ns = dns->now_ns, .ttl_s = lookup->ttl_s});
    lookup->next = NULL;
    *dns->done_end = lookup;
    dns->done_end = &lookup->next;
}

static void ask(struct dns_lookup *lookup, struct dns_question *question);

/* The callback of c-ares. */
static void on_answer(void *context, int status, int timeouts, unsigned char *bytes, int len)
{
    (void)timeouts;
    struct dns_question *question = context;
    struct dns_lookup *lookup = question->lookup;
    dns_lookup_read(question, status, (struct slice){(const char *)bytes, bytes ? (size_t)len : 0});
    /* Rotation sends it to another server, unless others were asked in between. */
    if (dns_lookup_wants_retry(question) && question->tries < lookup->dns->server_count) {
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
    ares_query(lookup->dns->channel, name, DNS_CLASS_IN, question->type, on_answer, question);
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
    if (dns_address_parse(&answer->addresses[0], name)) {
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
    lookup = dns_lookup_create(dns, name);
    if (!lookup)
        return refuse(query, DNS_ERROR_NO_MEMORY);
    *place = lookup;
    dns->lookup_count++;
    wait_for(lookup, query);
    ask_all(lookup);
    return false;
}

/* Tells those who wait. They may begin and cancel, which changes the lists but not what is popped here. */
static void deliver(struct dns *dns)
{
    while (dns->done) {
        struct dns_lookup *lookup = dns->done;
        dns->done = lookup->next;
        if (!dns->done)
            dns->done_end = &dns->done;
        dns->lookup_count--;
        while (lookup->waiting) {
            struct dns_query *query = lookup->waiting;
            dns_cancel(query);
            query->answer = lookup->answer;
            query->on_done(query);
        }
        free(lookup);
    }
}

void dns_destroy(struct dns *dns)
{
    if (dns->channel)
        ares_destroy(dns->channel);
    deliver(dns);
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
        bool failed = events[i].events & (EPOLLERR | EPOLLHUP);
        bool readable = failed || events[i].events & EPOLLIN,
             writable = failed || events[i].events & EPOLLOUT;
        ares_process_fd(dns->channel, readable ? events[i].data.fd : ARES_SOCKET_BAD,
                        writable ? events[i].data.fd : ARES_SOCKET_BAD);
    }
    deliver(dns);
}

void dns_on_tick(struct dns *dns, uint64_t now_ns)
{
    dns->now_ns = now_ns;
    ares_process_fd(dns->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    deliver(dns);
}

bool dns_is_busy(const struct dns *dns)
{
    return dns->lookup_count > 0;
}

void dns_counts(const struct dns *dns, struct dns_counts *counts)
{
    *counts = dns->counts;
    dns_cache_counts(dns->cache, &counts->cache);
}
