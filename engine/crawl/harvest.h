/* From links to the frontier: resolve, canonicalise, ask the scope, hash, look for room, ask the sieve,
 * queue. Links are processed in batches, so that the sieve can prefetch memory for a whole batch. Nothing is
 * allocated per link, except for the item that stays in the frontier. */
#pragma once

#include <stdint.h>

#include "engine/content/link.h"
#include "engine/content/links.h"
#include "engine/crawl/later.h"
#include "engine/crawl/ledger.h"
#include "engine/crawl/spill.h"
#include "engine/crawl/stats.h"
#include "engine/frontier/frontier.h"
#include "engine/frontier/host.h"
#include "engine/frontier/scope.h"
#include "engine/frontier/sieve.h"
#include "engine/state/journal.h"
#include "engine/url/url.h"

/* The page that links come from. */
struct harvest_source {
    const struct url *url;  /* of the page */
    const struct url *base; /* what links are resolved against */
    struct host *host;      /* NULL: a seed */
    struct hops hops;       /* the way to it */
    uint32_t source;        /* the seed at its beginning: as in struct host_item */
    unsigned depth;
    unsigned hops_off;
    unsigned embed_hops; /* as in struct host_item */
    bool is_requisite;   /* likewise */
    bool is_sitemap;
    unsigned redirects; /* redirects in a row, if the page is one, itself included; else 0 */
};

struct harvest_url {
    struct url url;
    struct frontier_place place;
    struct host_item *item; /* acquired before the sieve is asked if memory is scarce; else NULL */
    bool is_like_last;      /* same host as the URL before it in the batch */
    const struct url *via;  /* valid until the batch is flushed; NULL: not logged */
    struct hops hops;
    uint32_t source;
    uint16_t depth;
    uint8_t kind; /* enum host_item_kind */
    uint8_t hops_off;
    uint8_t redirects;
    uint8_t embed_hops;
    bool is_requisite;
};

struct harvest {
    struct frontier_loop *frontier;
    struct sieve_loop *sieve;
    struct journal_loop *journal; /* NULL: none is kept */
    struct spill *spill;          /* NULL: what finds no room is lost */
    struct later *later;          /* NULL: the sieve answers everything at once */
    struct ledger *ledger;        /* with a spill: for URLs that the operator drops while they wait there */
    struct stats *stats;
    const struct tuning *tuning; /* the owner may replace it */
    unsigned canonical;          /* enum canonical_rule */
    struct scope_loop *scope;
    unsigned links_per_look; /* HARVEST_LINKS_PER_LOOK, or 1 if the scope has expressions, which may take long */
    struct links links; /* of the page at hand */
    char *text;         /* of the batch's URLs */
    size_t text_used;
    size_t count;
    struct harvest_url batch[SIEVE_BATCH_MAX];
    uint64_t hashes[SIEVE_BATCH_MAX];
};

struct harvest_options {
    struct frontier_loop *frontier;
    struct sieve_loop *sieve;
    struct journal_loop *journal; /* NULL: none is kept */
    struct spill *spill;          /* NULL: what finds no room is lost */
    struct later *later;          /* NULL: the sieve answers everything at once */
    struct ledger *ledger;        /* with a spill: for URLs that the operator drops while they wait there */
    struct stats *stats;
    const struct tuning *tuning;
    const struct scope *scope;
    unsigned canonical; /* enum canonical_rule */
};

/* False: no memory. */
bool harvest_init(struct harvest *harvest, const struct harvest_options *options);
void harvest_fini(struct harvest *harvest);

/* Adds one link to the batch. The source and its URL must stay valid until the next flush. */
void harvest_link(struct harvest *harvest, const struct harvest_source *source, struct slice text,
                  enum host_item_kind kind);
/* Takes up to HARVEST_LINKS_PER_STEP links of harvest->links, beginning at index `from`, and queues those
 * that may be followed. Looks at the clock every links_per_look links, and ends the step after `until_ns`. Returns the
 * index to continue at. */
size_t harvest_links(struct harvest *harvest, const struct harvest_source *source, size_t from,
                     uint64_t until_ns);
/* The letter under which crawl.log would show a URL that this link of the page leads to. */
char harvest_hop(const struct harvest *harvest, const struct harvest_source *source, const struct link *link);
/* Runs the batch through the sieve and queues what is new. */
void harvest_flush(struct harvest *harvest);
/* Whether journal and spill have room for what a step of harvest_links may find. If not, the page has to wait. */
bool harvest_has_room(const struct harvest *harvest);
/* Takes the answers of the sieve on disk: queues the URLs that are new. Once per turn. */
void harvest_answers(struct harvest *harvest);
/* Queues URLs that waited on disk, as far as there is room for them. Once per turn. */
void harvest_unspill(struct harvest *harvest);
/* Queues a URL that was admitted before the crawl was resumed; with is_asked, only if the sieve on disk does not know
 * it either. After harvest_has_room. */
void harvest_restore_asked(struct harvest *harvest, const struct record_url *record, struct slice via);
void harvest_restore(struct harvest *harvest, const struct record_url *record, struct slice via);
