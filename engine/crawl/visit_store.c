/* Hands a response as received, and the request for it, to the store. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "engine/store/limits.h"
#include "lockfree/clock.h"
#include "net/http_request.h"

void visit_digest(struct visit_page *page)
{
    struct fingerprint_sha1 sha1;
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, (struct slice){visit_response(page) + page->head_len, page->body_len});
    fingerprint_sha1_finish(&sha1, page->digest);
    page->has_digest = true;
}

uint64_t visit_date_us(struct visit *visit)
{
    if (!visit->page.date_us)
        visit->page.date_us = ledger_wall_us(visit->visits->ledger, visit->conn.times.request_ns);
    return visit->page.date_us;
}

/* Whether the store gets the block's digest from here: of long pages it makes both itself. */
static bool has_block_digest(const struct visit *visit)
{
    const struct store *store = visit->visits->store;
    return store && visit->visits->tuning->fixed.store.block_digest && !visit->page.is_unwanted &&
           !store_has_lines(store) && !visit_is_long(visit);
}

void visit_make_digests(struct visit *visit)
{
    struct visit_page *page = &visit->page;
    char *head = visit_response(page);
    if (!has_block_digest(visit)) {
        visit_digest(page);
        return;
    }
    store_hide_chunks(head, page->head_len);
    fingerprint_sha1_pair((struct slice){head, page->head_len},
                          (struct slice){head + page->head_len, page->body_len}, page->block_digest,
                          page->digest);
    page->has_digest = true;
}

/* The request as it was sent, for its record. */
static struct slice write_request(struct visit *visit, struct slice path, char *buffer, size_t size)
{
    struct http_request request = {
        .method = SLICE("GET"),
        .target = path,
        .host = host_authority(visit->host),
        .user_agent = visit->visits->user_agent,
        .accept = VISIT_ACCEPT,
        .accept_encoding = VISIT_ACCEPT_ENCODING,
    };
    size_t len = 0;
    http_request_write(&request, buffer, size, &len);
    return (struct slice){buffer, len};
}

/* The text of a record that is not in the page. */
struct texts {
    char request[URL_BYTES_MAX + 2048], address[INET6_ADDRSTRLEN], fields[STORE_METADATA_FIELDS_BYTES_MAX];
};

/* What the metadata record of a page says before its links, in Heritrix's words; empty if it has none. */
static struct slice write_fields(const struct visit *visit, char *out)
{
    const size_t size = STORE_METADATA_FIELDS_BYTES_MAX;
    const struct conn_times *times = &visit->conn.times;
    char hops[HOPS_TEXT_BYTES_MAX], text[URL_BYTES_MAX];
    size_t len = 0;
    if (visit->asks != VISIT_ASKS_PAGE || !store_outlinks_bytes_max(visit->visits->store))
        return (struct slice){out, 0};
    if (visit->item->kind == HOST_ITEM_SEED) {
        len = (size_t)snprintf(out, size, "seed:\r\n");
    } else {
        struct slice via = ledger_via(visit->host, host_item_via(visit->item), text);
        if (via.len)
            len = (size_t)snprintf(out, size, "via: %.*s\r\n", (int)via.len, via.ptr);
        len += (size_t)snprintf(out + len, size - len, "hopsFromSeed: %.*s\r\n",
                                (int)hops_write(hops, host_item_hops(visit->item)), hops);
    }
    uint64_t spent_ns = times->end_ns > times->request_ns ? times->end_ns - times->request_ns : 0;
    len += (size_t)snprintf(out + len, size - len, "fetchTimeMs: %" PRIu64 "\r\n", spent_ns / 1000000);
    if (visit->page.list.left_out)
        len += (size_t)snprintf(out + len, size - len, "outlinksLeftOut: %zu\r\n", visit->page.list.left_out);
    return (struct slice){out, len};
}

static struct store_page describe(struct visit *visit, const struct visit_record *what, struct texts *texts)
{
    struct visit_page *page = &visit->page;
    const char *cut = page->cut_by != FETCH_DONE ? fetch_outcome_truncation(page->cut_by) : NULL;
    return (struct store_page){
        .url = what->url,
        .request = write_request(visit, what->path, texts->request, sizeof texts->request),
        .response = visit_response(page),
        .head_len = page->head_len,
        .body_len = page->body_len,
        .status = page->status,
        .address = ip_text(&visit->host->ip, texts->address),
        .date_us = visit_date_us(visit),
        .truncated = cut ? slice_of(cut) : (struct slice){NULL, 0},
        .tls_protocol = visit->tls_protocol,
        .tls_suite = visit->tls_suite,
        .payload_digest = page->digest,
        .block_digest = has_block_digest(visit) ? page->block_digest : NULL,
        .fields = write_fields(visit, texts->fields),
        .outlinks = {page->list.buffer.bytes, page->list.len},
        .is_unwanted = page->is_unwanted,
        .packed = visit_packed_body(visit),
        .repeats = what->repeats,
    };
}

bool visit_is_long(const struct visit *visit)
{
    const struct store *store = visit->visits->store;
    return store && store_is_long(store, visit->page.head_len + visit->page.body_len + visit->page.list.len);
}

bool visit_takes_steps(const struct visit *visit)
{
    const struct store *store = visit->visits->store;
    return store && (store_has_lines(store) || visit_is_long(visit));
}

enum store_progress visit_prepare_digest(struct visit *visit, const struct visit_record *what,
                                         uint64_t until_ns)
{
    struct texts texts;
    struct store_page record = describe(visit, what, &texts);
    record.is_unwanted = true;
    enum store_progress progress = store_prepare(visit->visits->store, &record, until_ns);
    visit->page.has_digest = progress == STORE_READY;
    return progress;
}

enum store_progress visit_prepare(struct visit *visit, const struct visit_record *what, uint64_t until_ns)
{
    struct texts texts;
    if (visit->page.is_prepared)
        return STORE_READY;
    struct store_page record = describe(visit, what, &texts);
    enum store_progress progress = store_prepare(visit->visits->store, &record, until_ns);
    visit->page.is_prepared = progress == STORE_READY;
    visit->page.has_digest |= visit->page.is_prepared;
    return progress;
}

bool visit_store(struct visit *visit, const struct visit_record *what)
{
    struct texts texts;
    struct store_page record = describe(visit, what, &texts);
    return visit->page.is_prepared ? store_finish(visit->visits->store, &record)
                                   : store_add(visit->visits->store, &record);
}

/* False if it takes more steps. Counts a file that is lost for want of room. */
static bool store_robots(struct visit *visit, const struct visit_record *record)
{
    struct visits *visits = visit->visits;
    enum store_progress progress = STORE_READY;
    if (visit_is_long(visit))
        progress = visit_prepare(visit, record, clock_now_ns() + VISIT_STORE_NS_MAX);
    else
        visit_make_digests(visit);
    if (progress == STORE_MORE)
        return false;
    if (visit->page.is_unwanted || (progress == STORE_READY && visit_store(visit, record)))
        return true;
    store_cancel(visits->store, visit_response(&visit->page));
    stats_add(&visits->stats->robots_lost, 1);
    return true;
}

bool visit_store_robots(struct visit *visit, struct slice path)
{
    struct visit_page *page = &visit->page;
    const struct store *store = visit->visits->store;
    char text[URL_BYTES_MAX];
    struct slice url = url_join_text(host_key(visit->host), path, text, sizeof text);
    if (!page->is_read) /* decided once: the tuning file may change while it is stored */
        page->is_unwanted = !visit->visits->tuning->live.store.robots;
    page->is_read = true;
    if (!store || !store_has_records(store) || (page->is_unwanted && !visit_is_long(visit)) || url.len == 0)
        return true;
    struct visit_record record = {.url = url, .path = path};
    return store_robots(visit, &record);
}
