/* Names and their addresses for as long as the answers hold. No I/O and no clock: the time is an argument.
 *
 * A fixed number of entries, sized at creation; when all are taken the one that was not used for longest
 * goes. A name that was not found is kept as well, with its error. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dns_answer.h"
#include "net/slice.h"

struct dns_cache;

struct dns_cache_options {
    uint32_t entries_max;
    /* Answers hold for the server's time to live, within these. */
    uint32_t ttl_s_min;
    uint32_t ttl_s_max;
    /* NO_NAME and NO_DATA hold for the server's word, at most this. */
    uint32_t negative_ttl_ms_max;
    /* Any other failure holds this long, so that a dead server is not asked for every URL. */
    uint32_t failure_ttl_ms;
};

struct dns_cache_life {
    uint64_t now_ns;
    uint32_t ttl_s; /* the server's word */
};

struct dns_cache_counts {
    uint64_t hits, misses, expiries, evictions;
    uint32_t entries;
};

struct dns_cache *dns_cache_create(const struct dns_cache_options *options);
void dns_cache_destroy(struct dns_cache *cache);

/* `name` in lower case, at most DNS_NAME_BYTES_MAX. True: *answer is set. */
bool dns_cache_find(struct dns_cache *cache, struct slice name, uint64_t now_ns, struct dns_answer *answer);
/* Sets answer->until_ns and keeps a copy, in place of an older answer for the name. */
void dns_cache_insert(struct dns_cache *cache, struct slice name, struct dns_answer *answer,
                      struct dns_cache_life life);
/* Never expires and is never evicted: /etc/hosts. False: the cache is full of pinned names. */
bool dns_cache_pin(struct dns_cache *cache, struct slice name, const struct dns_answer *answer);
void dns_cache_counts(const struct dns_cache *cache, struct dns_cache_counts *counts);
