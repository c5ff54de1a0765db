/* For tests of the harvest: a frontier and a sieve of their own, and a page that links are on. */
#pragma once

#include "engine/crawl/harvest.h"

#include <stdlib.h>

#include "engine/url/canonical.h"
#include "tests/support/check.h"

static struct tuning tuning;
static struct frontier frontier;
static struct frontier_loop queues;
static struct sieve sieve;
static struct sieve_loop sieves;
static struct scope *scope;
static struct stats stats;
static struct harvest harvest;
static struct journal_loop *kept_journal; /* NULL: none is kept */
static struct spill *kept_spill;          /* NULL: what finds no room is lost */
static struct later *kept_later;          /* NULL: there is no sieve on disk */
static void (*on_wake)(void);             /* a host goes to another loop; NULL: nobody asks */
static char base_text[] = "http://a.it/dir/page";
static struct url base;

static inline void resolve(void *owner, struct host *host)
{
    (void)owner;
    (void)host;
}

static inline bool abandon(void *owner, struct host *host)
{
    (void)owner;
    (void)host;
    return true;
}

static inline void wake(void *owner, unsigned index)
{
    (void)owner;
    (void)index;
    if (on_wake)
        on_wake();
}

static inline void set_up(void)
{
    tuning_init(&tuning);
    tuning.fixed.scope.mode = TUNING_SCOPE_ANY;
    tuning.fixed.memory.sieve_bytes = 1 << 20;
    tuning.fixed.memory.frontier_bytes = 1 << 20;
    tuning.fixed.memory.hosts_max = 16;
}

static inline void begin(void)
{
    struct tuning_error error;
    struct frontier_loop_options options = {.resolve = resolve, .abandon = abandon, .wake = wake};
    stats = (struct stats){0};
    tuning.fixed.state.spill = kept_later != NULL; /* the sieve asks the disk if there is one */
    scope = scope_create(&tuning.fixed.scope, &error);
    CHECK(scope);
    CHECK_INT(frontier_init(&frontier, &tuning), 0);
    CHECK_INT(frontier_loop_init(&queues, &frontier, &options), 0);
    CHECK_INT(sieve_init(&sieve, &tuning), 0);
    sieve_loop_init(&sieves, &sieve);
    url_open(&base, slice_of(base_text));
    scope_add_seed(scope, &base);
    CHECK(harvest_init(&harvest, &(struct harvest_options){.frontier = &queues,
                                                           .sieve = &sieves,
                                                           .journal = kept_journal,
                                                           .spill = kept_spill,
                                                           .later = kept_later,
                                                           .stats = &stats,
                                                           .tuning = &tuning,
                                                           .scope = scope,
                                                           .canonical = CANONICAL_FRAGMENT}));
}

static inline void finish(void)
{
    harvest_fini(&harvest);
    sieve_loop_fini(&sieves);
    sieve_fini(&sieve);
    frontier_loop_fini(&queues);
    frontier_fini(&frontier);
    scope_destroy(scope);
}

static inline struct harvest_source source(void)
{
    return (struct harvest_source){.url = &base, .base = &base, .depth = 3};
}

static inline void take(const char *text, enum host_item_kind kind)
{
    struct harvest_source from = source();
    harvest_link(&harvest, &from, slice_of(text), kind);
    harvest_flush(&harvest);
}

static inline struct host *host_of(const char *text)
{
    char buffer[256];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK_INT(url_parse(&url, NULL, slice_of(text)), URL_OK);
    return frontier_host(&queues, &url, frontier_hash(&queues, &url));
}

static inline struct host_item *pop(const char *host)
{
    return host_pop(host_of(host), false);
}

static inline void fetch_all_of(const char *name)
{
    struct host *host = host_of(name);
    struct host_item *item;
    while ((item = host_pop(host, false)))
        frontier_done(&queues, host, item);
}

/* `count` URLs with a number between the two parts. */
static inline void take_numbered(const char *before, const char *after, int count)
{
    char text[256];
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%s%d%s", before, i, after);
        take(text, HOST_ITEM_LINK);
    }
}
