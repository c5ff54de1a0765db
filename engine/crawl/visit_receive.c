/* Receives a response: head and body go to one buffer, with room before and after for the store. */
#include <string.h>

#include "engine/content/sniff.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "engine/robots/robots_tag.h"
#include "lockfree/clock.h"

char *visit_response(const struct visit_page *page)
{
    return page->buffer.bytes + STORE_HEADROOM;
}

/* The same slice in the copy of the head. */
static struct slice moved(struct slice text, struct slice raw, const char *copy)
{
    return text.ptr ? (struct slice){copy + (text.ptr - raw.ptr), text.len} : text;
}

/* No memory for the page: either other visits use it, or the page is larger than the whole budget. */
static void run_out_of_memory(struct visit *visit, size_t size)
{
    const struct visits *visits = visit->visits;
    size_t decoded = visits->decoded.size + visits->reader.decoded.size;
    visit->is_crowded = buffer_pool_could_fit(visits->pages, size, decoded);
    conn_close(&visit->conn, OUTCOME_NO_MEMORY);
}

/* A body that is neither stored nor read is not kept. If it is short, it is skipped and the connection is
 * kept. A sitemap is read whatever its type says. */
static void judge_type(struct visit *visit, const struct http_head *head)
{
    struct slice type = head->known[HTTP_KNOWN_CONTENT_TYPE];
    if (visit->asks != VISIT_ASKS_PAGE || head->status / 100 != 2 ||
        scope_wants_mime(&visit->visits->tuning->fixed.scope, type) || sniff_may_link(type) ||
        visit->item->kind == HOST_ITEM_SITEMAP)
        return;
    visit->page.cut_by = FETCH_TYPE_UNWANTED;
    if (head->content_length < 0 || head->content_length > VISIT_SKIPPED_BYTES_MAX)
        conn_close(&visit->conn, OUTCOME_ABORTED); /* cut_by says why */
}

void visit_on_head(struct conn *conn, const struct http_head *head)
{
    struct visit *visit = conn->owner;
    struct visit_page *page = &visit->page;
    /* Content-Length is hardly trusted with memory: the buffer doubles as bytes arrive. */
    size_t promised = head->content_length > 0 ? (size_t)head->content_length : 0;
    size_t size =
        STORE_HEADROOM + head->raw.len + buffer_pool_trusts(visit->visits->pages, promised) + STORE_TAILROOM;
    if (!buffer_reserve(visit->visits->pages, &page->buffer, size, 0)) {
        run_out_of_memory(visit, size);
        return;
    }
    host_prefetch(visit->host, visit->item); /* wanted when the body is here */
    char *copy = visit_response(page);
    memcpy(copy, head->raw.ptr, head->raw.len);
    page->has_head = true;
    page->head_len = head->raw.len;
    page->status = head->status;
    for (int i = 0; i < HTTP_KNOWN_COUNT; i++)
        page->known[i] = moved(head->known[i], head->raw, copy);
    page->has_codings = head->repeated >> HTTP_KNOWN_CONTENT_ENCODING & 1;
    for (size_t i = 0; i < head->field_count; i++) {
        struct slice name = head->fields[i].name;
        if (slice_equals_nocase(name, SLICE("X-Robots-Tag")))
            page->robots_tags |= robots_tag_parse(head->fields[i].value, visit->visits->agent);
        page->has_links |=
            slice_equals_nocase(name, SLICE("Link")) || slice_equals_nocase(name, SLICE("Refresh"));
    }
    judge_type(visit, head);
}

/* The buffer has moved: moves the slices that point into it. */
static void follow(struct visit_page *page, const char *old, size_t head_len)
{
    const char *now = visit_response(page);
    for (int i = 0; i < HTTP_KNOWN_COUNT; i++)
        page->known[i] = moved(page->known[i], (struct slice){old, head_len}, now);
}

void visit_on_body(struct conn *conn, struct slice bytes)
{
    struct visit *visit = conn->owner;
    struct visit_page *page = &visit->page;
    if (visit->visits->tuning->live.net.bandwidth_bytes)
        visit_hold(visit);
    if (!page->has_head || page->cut_by != FETCH_DONE)
        return; /* closing for lack of memory, or unwanted */
    size_t used = STORE_HEADROOM + page->head_len + page->body_len;
    size_t size = used + bytes.len + STORE_TAILROOM;
    const char *old = visit_response(page);
    if (size > page->buffer.size) {
        if (!buffer_reserve(visit->visits->pages, &page->buffer, size, used)) {
            run_out_of_memory(visit, size);
            return;
        }
        follow(page, old, page->head_len);
    }
    memcpy(page->buffer.bytes + used, bytes.ptr, bytes.len);
    page->body_len += bytes.len;
}
