#include "engine/harvest.h"

#include <stdlib.h>
#include <string.h>

#include "engine/canonical.h"
#include "engine/loop.h"

/* Two of the longest URLs, or a batch of ordinary ones. */
enum { BATCH_TEXT_BYTES = 4 * URL_BYTES_MAX };

bool harvest_init(struct harvest *harvest, const struct scope *scope, size_t links_max)
{
    *harvest = (struct harvest){0};
    links_max = links_max ? links_max : 1; /* malloc(0) may be NULL */
    struct link *found = malloc(links_max * sizeof *found);
    char *decoded = malloc(links_max * LINKS_TEXT_PER_LINK);
    harvest->text = malloc(BATCH_TEXT_BYTES);
    harvest->scope = scope_loop_create(scope);
    links_init(&harvest->links, found, links_max);
    links_set_text(&harvest->links, decoded, links_max * LINKS_TEXT_PER_LINK);
    return found && decoded && harvest->text;
}

void harvest_fini(struct harvest *harvest)
{
    free(harvest->links.found);
    free(harvest->links.text);
    free(harvest->text);
    if (harvest->scope)
        scope_loop_destroy(harvest->scope);
}

static struct host *host_of(struct loop *loop, const struct harvest_url *found)
{
    struct host *last = loop->harvest.last;
    if (last && slice_equals(host_key(last), url_host_key(&found->url)))
        return last;
    return loop->harvest.last = frontier_host(&loop->frontier, &found->url, found->host_hash);
}

static void lose(struct loop *loop, enum fetch_outcome outcome)
{
    stats_add(&loop->stats.links_lost, 1);
    stats_add(&loop->stats.outcomes[outcome], 1);
}

static void queue_url(struct loop *loop, const struct harvest_url *found)
{
    struct host *host = host_of(loop, found);
    struct host_item *item =
        host ? host_item_acquire(&loop->frontier.urls, url_path_query(&found->url)) : NULL;
    if (!item) {
        lose(loop, FETCH_FRONTIER_FULL);
        return;
    }
    item->depth = found->depth;
    item->kind = found->kind;
    item->hops_off = found->hops_off;
    item->redirects = found->redirects;
    /* Before the push: whoever counts it as done must not be ahead of us. */
    stats_add(&loop->stats.urls_in, 1);
    frontier_push(&loop->frontier, host, item);
}

void harvest_flush(struct loop *loop)
{
    struct harvest *harvest = &loop->harvest;
    enum sieve_answer answers[SIEVE_BATCH_MAX];
    sieve_add(&loop->sieve, harvest->hashes, harvest->count, answers);
    for (size_t i = 0; i < harvest->count; i++)
        if (answers[i] == SIEVE_NEW) {
            harvest->batch[i].host_hash = frontier_hash(&harvest->batch[i].url);
            frontier_prefetch(&loop->frontier, harvest->batch[i].host_hash);
        }
    for (size_t i = 0; i < harvest->count; i++)
        switch (answers[i]) {
        case SIEVE_NEW:
            queue_url(loop, &harvest->batch[i]);
            break;
        case SIEVE_KNOWN:
            stats_add(&loop->stats.links_known, 1);
            break;
        case SIEVE_FULL:
            lose(loop, FETCH_SIEVE_FULL);
            break;
        }
    harvest->count = harvest->text_used = 0;
}

void harvest_link(struct loop *loop, const struct harvest_source *source, struct slice text,
                  enum host_item_kind kind)
{
    struct harvest *harvest = &loop->harvest;
    if (harvest->count == SIEVE_BATCH_MAX || harvest->text_used + URL_BYTES_MAX > BATCH_TEXT_BYTES)
        harvest_flush(loop);
    struct harvest_url *found = &harvest->batch[harvest->count];
    url_init(&found->url, harvest->text + harvest->text_used, URL_BYTES_MAX);
    if (url_parse(&found->url, source->base, text) != URL_OK) {
        stats_add(&loop->stats.links_bad, 1);
        return;
    }
    canonical_apply(&found->url, loop->crawl->canonical);
    bool is_hop = kind == HOST_ITEM_LINK || kind == HOST_ITEM_EMBED || kind == HOST_ITEM_SITEMAP;
    struct scope_context context = {
        .depth = source->depth + is_hop, .hops_off = source->hops_off, .is_embed = kind == HOST_ITEM_EMBED};
    struct scope_answer answer = scope_ask(harvest->scope, &found->url, &context);
    if (!answer.is_in) {
        stats_add(&loop->stats.links_out_of_scope, 1);
        stats_add(&loop->stats.scope[answer.rule], 1);
        return;
    }
    found->depth = (uint16_t)(context.depth < UINT16_MAX ? context.depth : UINT16_MAX);
    found->kind = (uint8_t)kind;
    found->hops_off = (uint8_t)(answer.is_off ? source->hops_off + 1 : 0);
    found->redirects = (uint8_t)source->redirects;
    harvest->text_used += found->url.len;
    harvest->hashes[harvest->count++] = url_hash(&found->url);
}

static enum host_item_kind kind_of(enum link_kind kind)
{
    if (kind == LINK_SITEMAP)
        return HOST_ITEM_SITEMAP;
    return link_is_embed(kind) ? HOST_ITEM_EMBED : HOST_ITEM_LINK;
}

void harvest_links(struct loop *loop, const struct harvest_source *source)
{
    struct links *links = &loop->harvest.links;
    stats_add(&loop->stats.links, links->count + links->dropped);
    stats_add(&loop->stats.links_lost, links->dropped);
    for (size_t i = 0; i < links->count; i++) {
        const struct link *link = &links->found[i];
        if (link->flags & LINK_NOFOLLOW && loop->tuning->robots_nofollow) {
            stats_add(&loop->stats.links_nofollow, 1);
            continue;
        }
        enum host_item_kind kind = kind_of((enum link_kind)link->kind);
        if (kind == HOST_ITEM_EMBED && !loop->crawl->tuning.scope_embeds) {
            /* The scope would say so, too, but after the URL was parsed. */
            stats_add(&loop->stats.links_out_of_scope, 1);
            stats_add(&loop->stats.scope[SCOPE_EMBED], 1);
            continue;
        }
        harvest_link(loop, source, link->url, kind);
    }
    harvest_flush(loop);
}
