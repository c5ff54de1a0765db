/* From links to the frontier: resolve, canonicalise, ask the scope, hash, ask the sieve, queue. Links go
 * through in batches, so that the sieve's memory is fetched for all of them at once; nothing is allocated per
 * link but what stays in the frontier. */
#pragma once

#include <stdint.h>

#include "engine/host.h"
#include "engine/link.h"
#include "engine/links.h"
#include "engine/scope.h"
#include "engine/sieve.h"
#include "engine/url.h"

struct loop;

/* The page that links come from. */
struct harvest_source {
    const struct url *url;  /* of the page */
    const struct url *base; /* what links are resolved against */
    struct host *host;      /* NULL: a seed */
    unsigned depth;
    unsigned hops_off;
    unsigned redirects; /* the page is a redirect: how many led here, this one included; else 0 */
};

struct harvest_url {
    struct url url;
    uint64_t host_hash; /* once it is known to be new */
    uint16_t depth;
    uint8_t kind; /* enum host_item_kind */
    uint8_t hops_off;
    uint8_t redirects;
};

struct harvest {
    struct scope_loop *scope;
    struct links links; /* of the page at hand */
    char *text;         /* of the batch's URLs */
    size_t text_used;
    size_t count;
    struct harvest_url batch[SIEVE_BATCH_MAX];
    uint64_t hashes[SIEVE_BATCH_MAX];
    struct host *last; /* where the last URL went: the next often goes there, too */
};

/* False: no memory. */
bool harvest_init(struct harvest *harvest, const struct scope *scope, size_t links_max);
void harvest_fini(struct harvest *harvest);

/* One link; `kind` is the letter of its hop. */
void harvest_link(struct loop *loop, const struct harvest_source *source, struct slice text,
                  enum host_item_kind kind);
/* All links of harvest->links that may be followed, then whatever is left in the batch. */
void harvest_links(struct loop *loop, const struct harvest_source *source);
/* Asks the sieve for what is left in the batch. */
void harvest_flush(struct loop *loop);
