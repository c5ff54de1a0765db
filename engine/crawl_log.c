#include "engine/crawl_log.h"

#include <stdio.h>
#include <string.h>

#include "engine/fingerprint.h"
#include "engine/warc.h"

/* Heritrix keeps the last 50 hops. */
enum { HOPS_SHOWN = 50 };

int crawl_log_code(enum fetch_outcome outcome)
{
    if (outcome == FETCH_ROBOTS_DENIED)
        return -9998;
    if (outcome == FETCH_ROBOTS_UNREACHABLE)
        return -61;
    if (outcome == FETCH_HOST_LIMIT || outcome == FETCH_ADDRESS_FULL)
        return -5003;
    if (outcome == FETCH_ADDRESS_FORBIDDEN)
        return -5001;
    if (outcome == FETCH_REDIRECTS_TOO_MANY)
        return -4001;
    if (outcome == FETCH_FRONTIER_FULL || outcome == FETCH_SIEVE_FULL)
        return -60;
    if (outcome < FETCH_NO_DESCRIPTOR)
        return -1; /* DNS */
    if (outcome < FETCH_REQUEST_TOO_LONG)
        return -2; /* connection and TLS */
    if (strstr(outcome_name(outcome), "timeout"))
        return -4;
    return -3; /* the connection was lost, or what came over it was no HTTP */
}

/* "LLLR": the depth in hops, of which only the last is known by kind. */
static size_t write_hops(char *out, const struct crawl_log_entry *entry)
{
    size_t len = 0;
    if (entry->depth == 0 && (entry->kind == '-' || entry->kind == 0)) {
        out[0] = '-';
        return 1;
    }
    if (entry->depth > HOPS_SHOWN)
        len = (size_t)snprintf(out, 16, "%u+", entry->depth - HOPS_SHOWN);
    unsigned shown = entry->depth > HOPS_SHOWN ? HOPS_SHOWN : entry->depth;
    memset(out + len, 'L', shown);
    if (shown == 0)
        shown = 1;
    out[len + shown - 1] = entry->kind;
    return len + shown;
}

static size_t write_start(char *out, const struct crawl_log_entry *entry)
{
    char date[WARC_DATE_CHARS];
    size_t len = 0;
    if (!entry->start_us) {
        out[0] = '-';
        return 1;
    }
    warc_write_date(date, entry->start_us);
    for (size_t i = 0; i < sizeof date && len < 17; i++)
        if (date[i] >= '0' && date[i] <= '9')
            out[len++] = date[i];
    return len + (size_t)snprintf(out + len, 24, "+%llu",
                                  (unsigned long long)(entry->end_us - entry->start_us) / 1000);
}

/* A MIME type without parameters and without what would break the columns. */
static struct slice plain_mime(struct slice mime)
{
    size_t len = 0;
    while (len < mime.len && len < 100 && mime.ptr[len] > ' ' && mime.ptr[len] < 127 && mime.ptr[len] != ';')
        len++;
    return len ? (struct slice){mime.ptr, len} : SLICE("-");
}

size_t crawl_log_write(char *buffer, const struct crawl_log_entry *entry)
{
    char date[WARC_DATE_CHARS], hops[HOPS_SHOWN + 16], start[64], size[24] = "-",
                                                                  digest[5 + FINGERPRINT_BASE32_CHARS] = "-";
    warc_write_date(date, entry->end_us);
    size_t hops_len = write_hops(hops, entry), start_len = write_start(start, entry), digest_len = 1;
    if (entry->size >= 0)
        snprintf(size, sizeof size, "%lld", (long long)entry->size);
    if (entry->digest) {
        memcpy(digest, "sha1:", 5);
        fingerprint_base32(entry->digest, digest + 5);
        digest_len = sizeof digest;
    }
    struct slice mime = plain_mime(entry->mime);
    int status = entry->status ? entry->status : crawl_log_code(entry->outcome);
    int len = snprintf(buffer, CRAWL_LOG_LINE_BYTES_MAX,
                       "%.23sZ %5d %10s %.*s%.*s %.*s - %.*s #%03u %.*s %.*s - %s%s%.*s\n", date, status,
                       size, (int)entry->url_host.len, entry->url_host.ptr, (int)entry->url_path.len,
                       entry->url_path.ptr, (int)hops_len, hops, (int)mime.len, mime.ptr, entry->loop,
                       (int)start_len, start, (int)digest_len, digest, outcome_name(entry->outcome),
                       entry->annotation.len ? "," : "", (int)entry->annotation.len, entry->annotation.ptr);
    return len < CRAWL_LOG_LINE_BYTES_MAX ? (size_t)len : CRAWL_LOG_LINE_BYTES_MAX - 1;
}
