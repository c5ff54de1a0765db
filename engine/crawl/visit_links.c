/* The links of a page: its redirect, or the links in its head and body. */
#include <string.h>

#include "engine/content/limits.h"
#include "engine/content/location.h"
#include "engine/content/unpack.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "engine/robots/limits.h"
#include "lockfree/clock.h"

static struct harvest_source source_of(struct visit *visit, const struct url *url)
{
    return (struct harvest_source){.url = url,
                                   .base = url,
                                   .host = visit->host,
                                   .hops = host_item_hops(visit->item),
                                   .source = visit->item->source,
                                   .depth = visit->item->depth,
                                   .hops_off = visit->item->hops_off,
                                   .embed_hops = visit->item->embed_hops,
                                   .is_requisite = visit->item->is_requisite,
                                   .is_sitemap = visit->item->kind == HOST_ITEM_SITEMAP};
}

/* The most bytes of the list of a page's links; 0: none is made. */
static size_t outlinks_bytes_max(const struct visits *visits)
{
    return visits->store ? store_outlinks_bytes_max(visits->store) : 0;
}

/* A redirect is a link, too. */
static void list_redirect(struct visit *visit, const struct url *url, struct slice location)
{
    struct outlink link = {
        .base = url, .text = location, .hop = HOST_ITEM_REDIRECT, .context = SLICE("Location:")};
    size_t bytes_max = outlinks_bytes_max(visit->visits);
    if (bytes_max)
        outlinks_add(&visit->page.list, visit->visits->pages, bytes_max, &link);
}

static void follow_redirect(struct visit *visit, const struct url *url, struct slice location)
{
    struct visits *visits = visit->visits;
    struct harvest_source source = source_of(visit, url);
    char room[URL_BYTES_MAX];
    struct slice target = location_read(location, room, sizeof room);
    source.redirects = visit->item->redirects + 1u;
    stats_add(&visits->stats->redirects, 1);
    list_redirect(visit, url, target);
    if (source.redirects > visits->tuning->live.limits.redirects_max) {
        visit->page.outcome = FETCH_REDIRECTS_TOO_MANY;
        return;
    }
    /* A sitemap stays a sitemap when it has moved. */
    bool is_sitemap = visit->item->kind == HOST_ITEM_SITEMAP;
    harvest_link(visits->harvest, &source, target, is_sitemap ? HOST_ITEM_SITEMAP : HOST_ITEM_REDIRECT);
    harvest_flush(visits->harvest);
}

static struct slice known(const struct visit_page *page, enum http_known field)
{
    return page->known[field].ptr ? page->known[field] : (struct slice){"", 0};
}

/* Valid until the next call. A head with several such fields is rare, and parsed again. */
static struct slice codings_of(const struct visit_page *page)
{
    static _Thread_local struct http_head head;
    static _Thread_local char joined[UNPACK_CODINGS_BYTES];
    enum http_error error;
    if (!page->has_codings ||
        http_head_parse(&head, (struct slice){visit_response(page), page->head_len}, 0, &error) != PARSE_DONE)
        return known(page, HTTP_KNOWN_CONTENT_ENCODING);
    return http_head_join(&head, SLICE("Content-Encoding"), joined, sizeof joined);
}

struct unpack_body visit_packed_body(const struct visit *visit)
{
    const struct visit_page *page = &visit->page;
    /* One byte more than is read tells that the file goes on. */
    const size_t robots_bytes_max = ROBOTS_BYTES_MAX + 1;
    bool is_page = visit->asks == VISIT_ASKS_PAGE;
    return (struct unpack_body){.codings = codings_of(page),
                                .content_type = known(page, HTTP_KNOWN_CONTENT_TYPE),
                                .bytes = {visit_response(page) + page->head_len, page->body_len},
                                .bytes_max = is_page ? 0 : robots_bytes_max,
                                .is_sitemap = is_page && visit->item->kind == HOST_ITEM_SITEMAP};
}

struct slice visit_decode_body(struct visit *visit, enum fetch_outcome *outcome)
{
    struct visits *visits = visit->visits;
    struct unpack_body body = visit_packed_body(visit);
    struct reader_room memory = reader_room_of(visits->pages, &visits->decoded);
    struct unpack unpack;
    enum unpack_result result;
    unpack_begin(&unpack, &body, visits->decode, &memory.room);
    while ((result = unpack_step(&unpack)) == UNPACK_MORE)
        ;
    if (result != UNPACK_WHOLE)
        *outcome = reader_outcome(result, visit->page.cut_by != FETCH_DONE);
    return unpack.document;
}

static void begin_reading(struct visit *visit, const struct url *url)
{
    const struct visits *visits = visit->visits;
    const struct tuning *tuning = visits->tuning;
    struct visit_page *page = &visit->page;
    struct slice head = {visit_response(page), page->has_links ? page->head_len : 0};
    struct reader_page document = {.source = source_of(visit, url),
                                   .head = head,
                                   .body = visit_packed_body(visit),
                                   .tags = page->tags,
                                   .is_cut = page->cut_by != FETCH_DONE};
    struct reader_options options = {.agent = visits->agent,
                                     .css = tuning->fixed.scope.embeds,
                                     .noscript = tuning->live.scope.noscript,
                                     .entries_max = tuning->fixed.limits.links_per_sitemap_max,
                                     .obeys_meta = tuning->live.robots.meta,
                                     .repeats = visits->repeats,
                                     .is_copy = page->is_repeat,
                                     .outlinks_bytes_max = outlinks_bytes_max(visits)};
    reader_begin(&visit->visits->reader, visit, &document, &options);
}

/* Whether the page is to be read for links. A redirect is not: it is followed here. */
static bool is_readable(struct visit *visit, const struct url *url)
{
    struct visit_page *page = &visit->page;
    struct slice location = page->known[HTTP_KNOWN_LOCATION];
    page->outcome = FETCH_DONE;
    page->tags = visit->visits->tuning->live.robots.meta ? page->robots_tags : 0;
    if (page->status >= 300 && page->status < 400 && location.ptr) {
        follow_redirect(visit, url, location);
        return false;
    }
    return page->status >= 200 && page->status < 300 &&
           visit->visits->tuning->fixed.limits.links_per_page_max > 0 && (page->body_len || page->has_links);
}

/* Whether other visits will release memory. If all of them wait for memory, none will. */
static bool may_wait_for_memory(const struct visits *visits)
{
    return visits->starved < visits->open;
}

/* There was too little memory to read the page, and none was released since. */
static bool is_starved(const struct visit *visit)
{
    const struct visits *visits = visit->visits;
    return visit->page.starved_bytes && visits->pages->bytes_used >= visit->page.starved_bytes &&
           may_wait_for_memory(visits);
}

/* True if the page is to be read again when other visits have released memory. */
static bool starve(struct visit *visit)
{
    struct visits *visits = visit->visits;
    if (!visit->page.starved_bytes)
        visits->starved++;
    visit->page.starved_bytes = visits->pages->bytes_used;
    return may_wait_for_memory(visits);
}

static void end_starving(struct visit *visit)
{
    if (visit->page.starved_bytes)
        visit->visits->starved--;
    visit->page.starved_bytes = 0;
}

bool visit_read_links(struct visit *visit, const struct url *url)
{
    struct reader *reader = &visit->visits->reader;
    if (!harvest_has_room(visit->visits->harvest))
        return false;
    if (reader->owner != visit) {
        if (!is_readable(visit, url))
            return true;
        if (reader->owner || is_starved(visit))
            return false;
        begin_reading(visit, url);
    }
    if (!reader_run(reader, visit->visits->reads_since_ns + READER_WORK_NS_MAX))
        return false;
    if (reader->outcome == FETCH_NO_MEMORY && starve(visit))
        return false;
    end_starving(visit);
    visit->page.outcome = reader->outcome;
    visit->page.tags = reader->tags;
    visit->page.has_outlinks = true;
    visit->page.outlinks = reader->outlinks;
    visit->page.is_near = reader->is_near;
    visit->page.near = reader->near;
    visit->page.list = reader->list; /* with its memory */
    reader->list = (struct outlinks){.len = 0};
    stats_add(&visit->visits->stats->bytes_decoded, reader->body_bytes);
    return true;
}
