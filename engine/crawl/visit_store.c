/* Hands a response as received, and the request for it, to the store. */
#include <arpa/inet.h>

#include "engine/crawl/visit.h"
#include "engine/crawl/visits.h"
#include "net/http_request.h"

void visit_digest(const struct visit_page *page, unsigned char *digest)
{
    struct fingerprint_sha1 sha1;
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, (struct slice){visit_response(page) + page->head_len, page->body_len});
    fingerprint_sha1_finish(&sha1, digest);
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

bool visit_store(struct visit *visit, const struct visit_record *what)
{
    struct visits *visits = visit->visits;
    struct visit_page *page = &visit->page;
    char request[URL_BYTES_MAX + 2048], address[INET6_ADDRSTRLEN];
    const char *cut = page->cut_by != FETCH_DONE ? fetch_outcome_truncation(page->cut_by) : NULL;
    struct store_page record = {
        .url = what->url,
        .request = write_request(visit, what->path, request, sizeof request),
        .response = visit_response(page),
        .head_len = page->head_len,
        .body_len = page->body_len,
        .address = ip_text(&visit->host->ip, address),
        .date_us = ledger_wall_us(visits->ledger, visit->conn.times.request_ns),
        .truncated = cut ? slice_of(cut) : (struct slice){NULL, 0},
        .tls_protocol = visit->tls_protocol,
        .tls_suite = visit->tls_suite,
        .payload_digest = what->payload_digest,
    };
    return store_add(visits->store, &record);
}

void visit_store_robots(struct visit *visit, struct slice path)
{
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    char text[URL_BYTES_MAX];
    struct slice url = url_join_text(host_key(visit->host), path, text, sizeof text);
    if (!visit->visits->store || !visit->visits->tuning->live.store.robots || url.len == 0)
        return;
    visit_digest(&visit->page, digest);
    struct visit_record record = {.url = url, .path = path, .payload_digest = digest};
    if (!visit_store(visit, &record))
        stats_add(&visit->visits->stats->robots_lost, 1);
}
