/* What a visit does with the response to a request for a page: its links to the frontier, itself to the
 * store, a line to the log. */
#include <arpa/inet.h>
#include <assert.h>
#include <string.h>
#include <time.h>

#include "engine/css.h"
#include "engine/encoding.h"
#include "engine/feed.h"
#include "engine/link_header.h"
#include "engine/loop.h"
#include "engine/robots_tag.h"
#include "engine/sitemap.h"
#include "engine/sniff.h"
#include "engine/visit.h"
#include "lockfree/clock.h"
#include "net/http_request.h"

/* A longer Retry-After is cut, so that it fits 64 bits of nanoseconds; the tuning file's maximum is far
 * below. */
enum { RETRY_AFTER_S_MAX = 1000000000 };

/* The verdict on a page while it is being made. */
struct reading {
    struct visit *visit;
    struct loop_verdict verdict;
    struct url url;
    char url_text[URL_BYTES_MAX];
    unsigned tags; /* enum robots_tag */
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
};

static struct slice body_of(const struct visit_page *page)
{
    return (struct slice){visit_response(page) + page->head_len, page->body_len};
}

uint64_t visit_retry_after_ns(const struct visit_page *page)
{
    struct slice value = page->known[HTTP_KNOWN_RETRY_AFTER];
    char text[64];
    struct tm date = {0};
    if (value.len == 0 || value.len >= sizeof text)
        return 0;
    memcpy(text, value.ptr, value.len);
    text[value.len] = '\0';
    if (text[0] >= '0' && text[0] <= '9') {
        uint64_t seconds = 0;
        for (size_t i = 0; text[i] >= '0' && text[i] <= '9' && seconds < RETRY_AFTER_S_MAX; i++)
            seconds = seconds * 10 + (uint64_t)(text[i] - '0');
        return seconds * CLOCK_NS_PER_S;
    }
    if (!strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date))
        return 0;
    time_t wait = timegm(&date) - time(NULL);
    wait = wait < RETRY_AFTER_S_MAX ? wait : RETRY_AFTER_S_MAX;
    return wait > 0 ? (uint64_t)wait * CLOCK_NS_PER_S : 0;
}

/* 429 and 503 ask for patience: the host rests, the URL is tried again. */
static bool asks_for_patience(struct visit *visit)
{
    const struct tuning *tuning = visit->loop->tuning;
    struct visit_page *page = &visit->page;
    struct host_item *item = visit->item;
    if (page->status != 429 && page->status != 503)
        return false;
    uint64_t wait_ns = visit_retry_after_ns(page);
    visit->times.retry_after_ns = wait_ns ? wait_ns : politeness_failure_wait(tuning, item->tries + 1u);
    if (item->tries >= tuning->retries_max)
        return false; /* this answer is the last: it is kept as the page */
    item->tries++;
    stats_add(&visit->loop->stats.retries, 1);
    visit->item = NULL;
    if (visit->holds_page)
        lf_fetch_sub(&visit->loop->crawl->pages_reserved, 1, relaxed);
    visit->holds_page = false;
    host_unpop(visit->host, item);
    return true;
}

static void open_url(struct reading *reading)
{
    struct slice key = host_key(reading->visit->host), path = host_item_path(reading->visit->item);
    memcpy(reading->url_text, key.ptr, key.len);
    memcpy(reading->url_text + key.len, path.ptr, path.len);
    url_open(&reading->url, (struct slice){reading->url_text, key.len + path.len});
}

static struct harvest_source source_of(struct reading *reading)
{
    struct host_item *item = reading->visit->item;
    return (struct harvest_source){.url = &reading->url,
                                   .base = &reading->url,
                                   .host = reading->visit->host,
                                   .depth = item->depth,
                                   .hops_off = item->hops_off};
}

static void follow_redirect(struct reading *reading, struct slice location)
{
    struct loop *loop = reading->visit->loop;
    struct harvest_source source = source_of(reading);
    source.redirects = reading->visit->item->redirects + 1u;
    stats_add(&loop->stats.redirects, 1);
    if (source.redirects > loop->tuning->redirects_max) {
        reading->verdict.outcome = FETCH_REDIRECTS_TOO_MANY;
        return;
    }
    harvest_link(loop, &source, location, HOST_ITEM_REDIRECT);
    harvest_flush(loop);
}

struct slice visit_decode_body(struct visit *visit, enum fetch_outcome *outcome)
{
    struct loop *loop = visit->loop;
    const struct visit_page *page = &visit->page;
    struct slice body = body_of(page), codings = page->known[HTTP_KNOWN_CONTENT_ENCODING];
    if (codings.len == 0 || slice_equals_nocase(codings, SLICE("identity")) || body.len == 0)
        return body;
    size_t room = body.len * 8 < 65536 ? 65536 : body.len * 8;
    for (;;) {
        struct decode_output output;
        size_t bytes_max = loop->tuning->decoded_bytes_max;
        room = room < bytes_max ? room : bytes_max;
        if (!buffer_reserve(&loop->pages, &loop->decoded, room, 0)) {
            *outcome = FETCH_NO_MEMORY;
            return (struct slice){NULL, 0};
        }
        output = (struct decode_output){.ptr = loop->decoded.bytes, .room = room};
        enum decode_result result = decode_whole(loop->decode, codings, body, &output);
        if (result == DECODE_FULL && room < bytes_max) {
            room *= 4;
            continue;
        }
        if (result == DECODE_BOMB || result == DECODE_TOO_LONG || result == DECODE_FULL)
            *outcome = FETCH_DECODE_TOO_LONG;
        else if (result != DECODE_DONE && !(result == DECODE_TRUNCATED && page->is_truncated))
            *outcome = FETCH_DECODE_FAILED;
        else
            return (struct slice){output.ptr, output.written};
        return (struct slice){NULL, 0};
    }
}

static void harvest_html(struct reading *reading, struct slice body)
{
    struct loop *loop = reading->visit->loop;
    struct links *links = &loop->harvest.links;
    struct harvest_source source = source_of(reading);
    struct links_options options = {
        .encoding = encoding_detect(reading->visit->page.known[HTTP_KNOWN_CONTENT_TYPE], body),
        .agent = loop->crawl->agent,
        .css = loop->tuning->scope_embeds,
    };
    char base_text[URL_BYTES_MAX];
    struct url base;
    links_scan(links, body, &options);
    if (loop->tuning->robots_meta)
        reading->tags |= links->robots;
    if (reading->tags & ROBOTS_TAG_NOFOLLOW) {
        stats_add(&loop->stats.links_nofollow, links->count);
        return;
    }
    if (links->base.ptr) {
        url_init(&base, base_text, sizeof base_text);
        if (url_parse(&base, &reading->url, links->base) == URL_OK)
            source.base = &base;
    }
    harvest_links(loop, &source);
}

static void harvest_sitemap(struct reading *reading, enum sitemap_form form, struct slice body)
{
    static _Thread_local struct sitemap map; /* holds the longest URL */
    struct loop *loop = reading->visit->loop;
    struct harvest_source source = source_of(reading);
    struct sitemap_entry entry;
    sitemap_init(&map, form, body);
    while (sitemap_next(&map, &entry) == PARSE_DONE) {
        stats_add(&loop->stats.links, 1);
        harvest_link(loop, &source, entry.url, entry.is_sitemap ? HOST_ITEM_SITEMAP : HOST_ITEM_LINK);
    }
    harvest_flush(loop);
}

static void harvest_others(struct reading *reading, struct slice body,
                           void (*scan)(struct links *, struct slice))
{
    struct loop *loop = reading->visit->loop;
    struct harvest_source source = source_of(reading);
    scan(&loop->harvest.links, body);
    harvest_links(loop, &source);
}

/* The links of a page by what it is. */
static void harvest_body(struct reading *reading, struct slice body)
{
    struct slice first = {body.ptr, body.len < SNIFF_BYTES_MAX ? body.len : SNIFF_BYTES_MAX};
    enum sniff_type type = sniff_body(reading->visit->page.known[HTTP_KNOWN_CONTENT_TYPE], first);
    links_reset(&reading->visit->loop->harvest.links);
    if (type == SNIFF_HTML)
        harvest_html(reading, body);
    else if (reading->tags & ROBOTS_TAG_NOFOLLOW)
        return;
    else if (type == SNIFF_SITEMAP)
        harvest_sitemap(reading, SITEMAP_XML, body);
    else if (type == SNIFF_TEXT && reading->visit->item->kind == HOST_ITEM_SITEMAP)
        harvest_sitemap(reading, SITEMAP_TEXT, body);
    else if (type == SNIFF_FEED)
        harvest_others(reading, body, feed_scan);
    else if (type == SNIFF_CSS && reading->visit->loop->tuning->scope_embeds)
        harvest_others(reading, body, css_scan);
}

static void read_links(struct reading *reading)
{
    struct visit_page *page = &reading->visit->page;
    struct slice location = page->known[HTTP_KNOWN_LOCATION];
    if (reading->visit->loop->tuning->robots_meta)
        reading->tags = page->robots_tags;
    if (page->status >= 300 && page->status < 400 && location.ptr) {
        follow_redirect(reading, location);
        return;
    }
    if (page->status < 200 || page->status >= 300 ||
        reading->visit->loop->crawl->tuning.links_per_page_max == 0)
        return;
    struct slice body = visit_decode_body(reading->visit, &reading->verdict.outcome);
    stats_add(&reading->visit->loop->stats.bytes_decoded, body.len);
    if (body.len)
        harvest_body(reading, body);
}

static void digest_body(struct reading *reading)
{
    struct fingerprint_sha1 sha1;
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, body_of(&reading->visit->page));
    fingerprint_sha1_finish(&sha1, reading->digest);
    reading->verdict.digest = reading->digest;
}

/* The request as it was sent, for its record. */
static struct slice write_request(struct visit *visit, char *buffer, size_t size)
{
    struct http_request request = {
        .method = SLICE("GET"),
        .target = host_item_path(visit->item),
        .host = host_authority(visit->host),
        .user_agent = slice_of(visit->loop->crawl->user_agent),
        .accept = VISIT_ACCEPT,
        .accept_encoding = VISIT_ACCEPT_ENCODING,
    };
    size_t len = 0;
    http_request_write(&request, buffer, size, &len);
    return (struct slice){buffer, len};
}

/* False: the store or the log has no room at this moment. */
static bool store_page(struct reading *reading)
{
    struct visit *visit = reading->visit;
    struct loop *loop = visit->loop;
    struct visit_page *page = &visit->page;
    char request[URL_BYTES_MAX + 2048], address[INET6_ADDRSTRLEN];
    if (!loop_has_log_room(loop))
        return false;
    if (loop->tuning->store_kind == TUNING_STORE_NONE ||
        reading->tags & (ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOARCHIVE) ||
        !scope_wants_mime(loop->tuning, page->known[HTTP_KNOWN_CONTENT_TYPE]))
        return true;
    struct store_page record = {
        .url = url_page(&reading->url),
        .request = write_request(visit, request, sizeof request),
        .response = visit_response(page),
        .head_len = page->head_len,
        .body_len = page->body_len,
        .address =
            address_text(address, &frontier_address(&loop->crawl->frontier, visit->host->address)->key),
        .date_us = loop_wall_us(loop, visit->conn.times.request_ns),
        .truncated = page->is_truncated ? SLICE("length") : (struct slice){NULL, 0},
        .is_tls = visit->host->is_https,
        .payload_digest = reading->digest,
    };
    if (!store_add(&loop->store, &record))
        return false;
    stats_add(&loop->stats.stored, 1);
    return true;
}

static void stall(struct visit *visit)
{
    visit->state = VISIT_STALLED;
    visit->next = visit->loop->stalled;
    visit->loop->stalled = visit;
}

/* The page is done with: counted and logged. */
static void conclude(struct reading *reading)
{
    struct visit *visit = reading->visit;
    struct visit_page *page = &visit->page;
    struct host_item *item = visit->item;
    struct loop_verdict *verdict = &reading->verdict;
    verdict->status = page->status;
    verdict->size = (int64_t)page->body_len;
    verdict->start_ns = visit->conn.times.request_ns;
    verdict->mime = page->known[HTTP_KNOWN_CONTENT_TYPE];
    if (visit->certificate != FETCH_DONE)
        verdict->annotation = slice_of(outcome_name(visit->certificate));
    if (page->is_truncated) {
        verdict->outcome = FETCH_BODY_TOO_LONG;
        stats_add(&visit->loop->stats.truncated, 1);
    }
    visit->item = NULL;
    visit->holds_page = false;
    visit->host->failures = 0;
    visit->host->pages++;
    frontier_count_page(&visit->loop->crawl->frontier, visit->host);
    stats_add(&visit->loop->stats.pages, 1);
    stats_add(&visit->loop->stats.statuses[page->status / 100 % 6], 1);
    stats_record(&visit->loop->stats.body_bytes, page->body_len);
    loop_finish_item(visit->loop, visit->host, item, verdict);
}

bool visit_read_page(struct visit *visit)
{
    struct reading reading; /* not cleared as a whole: url_text is long */
    reading.visit = visit;
    reading.verdict = (struct loop_verdict){.outcome = FETCH_DONE};
    reading.tags = 0;
    bool is_again = visit->state == VISIT_STALLED;
    if (!is_again && asks_for_patience(visit))
        return true;
    open_url(&reading);
    if (visit->loop->tuning->store_kind == TUNING_STORE_WARC)
        digest_body(&reading);
    if (!is_again)
        read_links(&reading);
    visit->page.tags = is_again ? visit->page.tags : reading.tags;
    visit->page.outcome = is_again ? visit->page.outcome : reading.verdict.outcome;
    reading.tags = visit->page.tags;
    reading.verdict.outcome = visit->page.outcome;
    if (!store_page(&reading)) {
        stall(visit);
        return false;
    }
    conclude(&reading);
    return true;
}
