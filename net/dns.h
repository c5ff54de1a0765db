/* Names to addresses: literal addresses, /etc/hosts (read once), the cache, then the servers through c-ares.
 *
 * One resolver per loop, used by that loop's thread alone. It never blocks. All of c-ares' sockets hang in
 * one epoll descriptor, so that the loop has a single, never changing descriptor to poll and no poll can
 * outlive the socket it was meant for:
 *
 *     poll dns_fd() for POLLIN through the ring; on readiness: dns_on_ready(), and poll again;
 *     at least every DNS_TICK_MS while dns_is_busy(): dns_on_tick(), for retransmissions and time-outs.
 *
 * The same name asked for several times at once goes to the servers once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dns_answer.h"
#include "net/dns_cache.h"
#include "net/slice.h"

struct dns_options {
    const char *servers;    /* "192.0.2.1,192.0.2.2:5353,[2001:db8::1]:53"; NULL: /etc/resolv.conf */
    const char *hosts_path; /* NULL: /etc/hosts; "" for none */
    enum dns_families families;
    uint32_t timeout_ms; /* of the first try; doubles with each further one */
    uint32_t tries;      /* per server */
    struct dns_cache_options cache;
};

#define DNS_OPTIONS_DEFAULT                                                                                  \
    ((struct dns_options){.families = DNS_BOTH,                                                              \
                          .timeout_ms = DNS_TIMEOUT_MS,                                                      \
                          .tries = DNS_TRIES,                                                                \
                          .cache = {.entries_max = DNS_CACHE_ENTRIES,                                        \
                                    .ttl_s_min = DNS_TTL_S_MIN,                                              \
                                    .ttl_s_max = DNS_TTL_S_MAX,                                              \
                                    .negative_ttl_ms_max = DNS_NEGATIVE_TTL_MS_MAX,                          \
                                    .failure_ttl_ms = DNS_FAILURE_TTL_MS}})

struct dns;

/* A request for the addresses of a name. Its memory is the caller's, and must not move from dns_begin until on_done
 * or dns_cancel. */
struct dns_query {
    void (*on_done)(struct dns_query *query); /* set by the caller; may begin and cancel queries */
    struct dns_answer answer;
    struct dns_query *next,
        **link; /* dns.c's: the others who wait for the same name; link NULL: not waiting */
};

struct dns_counts {
    uint64_t asked;     /* questions sent to servers, A and AAAA apart, without retransmissions */
    uint64_t coalesced; /* queries that joined one under way */
    uint64_t outcomes[DNS_ERROR_COUNT]; /* of the names asked for over the network */
    struct dns_cache_counts cache;
};

/* NULL: `message` is one line that says what is wrong and what to do. */
struct dns *dns_create(const struct dns_options *options, char *message, size_t message_bytes);
/* Queries still waiting are done with DNS_ERROR_CANCELLED. Not from within an on_done. */
void dns_destroy(struct dns *dns);

/* True: query->answer is set, on_done is not called. False: on_done will be called, from dns_on_ready,
 * dns_on_tick or dns_destroy. `host` without brackets; a trailing dot and the case of letters do not
 * matter. */
bool dns_begin(struct dns *dns, struct dns_query *query, struct slice host, uint64_t now_ns);
/* The query's on_done will not be called; the question itself goes on and fills the cache. No-op when not
 * waiting. */
void dns_cancel(struct dns_query *query);

/* Whether no server answered anything when last asked: an outage, which says nothing about names. */
bool dns_is_out(const struct dns *dns);
/* Asks whether any server is there again. Keeps the resolver busy until that is known. */
void dns_probe(struct dns *dns, uint64_t now_ns);

int dns_fd(const struct dns *dns);
void dns_on_ready(struct dns *dns, uint64_t now_ns);
void dns_on_tick(struct dns *dns, uint64_t now_ns);
bool dns_is_busy(const struct dns *dns);
void dns_counts(const struct dns *dns, struct dns_counts *counts);
