#include "engine/state/record.h"

#include <string.h>

#include "engine/url/hash.h"

/* The fixed parts as they lie in the file. */

struct raw_text {
    uint8_t type;
    uint8_t zero;
    uint16_t len;
    uint32_t zeros;
};

/* KNOWN and TOTALS: the text may be longer, and is made of 64-bit numbers. */
struct raw_numbers {
    uint8_t type;
    uint8_t zero;
    uint16_t zeros;
    uint32_t count;
};

struct raw_url {
    uint8_t type;
    uint8_t kind;
    uint16_t len;
    uint32_t recent_hops;
    uint64_t signature;
    uint16_t depth;
    uint16_t hop_count;
    uint8_t redirects;
    uint8_t hops_off;
    uint8_t embed_hops;
    uint8_t is_requisite;
    uint32_t source;
} __attribute__((packed));

enum { DONE_IS_PAGE = 1, DONE_IS_STORED = 2 };

struct raw_done {
    uint8_t type;
    uint8_t outcome;
    uint16_t status_flags; /* status times four, and the flags */
    uint32_t body_bytes;
    uint64_t signature;
    uint64_t host;
};

struct raw_visit {
    uint8_t type;
    uint8_t is_end;
    uint16_t len;
    uint8_t dead_why;
    uint8_t zero;
    uint16_t failures;
    uint8_t address[16];
    uint32_t crawl_delay_ms;
    uint32_t zeros;
    uint64_t host_us, address_us;
    uint64_t pages, bytes, spent_ns;
};

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the journal is little endian");
_Static_assert(sizeof(struct raw_text) == 8 && sizeof(struct raw_numbers) == 8 &&
                   sizeof(struct raw_url) == 28 && sizeof(struct raw_done) == 24 &&
                   sizeof(struct raw_visit) == 72,
               "records have no gaps");

static size_t put(char *buffer, const void *fixed, size_t bytes, struct slice text)
{
    memcpy(buffer, fixed, bytes);
    if (text.len)
        memcpy(buffer + bytes, text.ptr, text.len);
    return bytes + text.len;
}

size_t record_write_url(char *buffer, const struct record_url *url)
{
    struct raw_url raw = {.type = RECORD_URL,
                          .kind = url->kind,
                          .len = (uint16_t)url->text.len,
                          .recent_hops = url->recent_hops,
                          .signature = url->signature,
                          .depth = url->depth,
                          .hop_count = url->hop_count,
                          .redirects = url->redirects,
                          .hops_off = url->hops_off,
                          .embed_hops = url->embed_hops,
                          .is_requisite = url->is_requisite,
                          .source = url->source};
    return put(buffer, &raw, sizeof raw, url->text);
}

size_t record_write_via(char *buffer, struct slice via)
{
    struct raw_text raw = {.type = RECORD_VIA, .len = (uint16_t)via.len};
    return put(buffer, &raw, sizeof raw, via);
}

size_t record_write_done(char *buffer, const struct record_done *done)
{
    unsigned flags = (done->is_page ? DONE_IS_PAGE : 0u) | (done->is_stored ? DONE_IS_STORED : 0u);
    struct raw_done raw = {.type = RECORD_DONE,
                           .outcome = done->outcome,
                           .status_flags = (uint16_t)(done->status * 4u + flags),
                           .body_bytes = done->body_bytes,
                           .signature = done->signature,
                           .host = done->host};
    return put(buffer, &raw, sizeof raw, (struct slice){NULL, 0});
}

size_t record_write_visit(char *buffer, const struct record_visit *visit)
{
    struct raw_visit raw = {.type = RECORD_VISIT,
                            .is_end = visit->is_end,
                            .len = (uint16_t)visit->key.len,
                            .dead_why = visit->dead_why,
                            .failures = visit->failures,
                            .crawl_delay_ms = visit->crawl_delay_ms,
                            .host_us = visit->host_us,
                            .address_us = visit->address_us,
                            .pages = visit->pages,
                            .bytes = visit->bytes,
                            .spent_ns = visit->spent_ns};
    memcpy(raw.address, visit->address.bytes, sizeof raw.address);
    return put(buffer, &raw, sizeof raw, visit->key);
}

static size_t put_numbers(char *buffer, enum record_type type, const uint64_t *numbers, size_t count)
{
    struct raw_numbers raw = {.type = (uint8_t)type, .count = (uint32_t)count};
    return put(buffer, &raw, sizeof raw, (struct slice){(const char *)numbers, count * sizeof *numbers});
}

size_t record_write_known(char *buffer, const uint64_t *signatures, size_t count)
{
    return put_numbers(buffer, RECORD_KNOWN, signatures, count);
}

size_t record_write_totals(char *buffer, const struct record_totals *totals)
{
    return put_numbers(buffer, RECORD_TOTALS, (const uint64_t *)totals, sizeof *totals / sizeof(uint64_t));
}

/* The fixed part, and the text behind it. False: there is not enough. */
static bool take(struct slice *rest, void *fixed, size_t bytes, struct slice *text)
{
    uint16_t len = 0;
    if (rest->len < bytes)
        return false;
    memcpy(fixed, rest->ptr, bytes);
    if (text)
        memcpy(&len, rest->ptr + offsetof(struct raw_text, len), sizeof len);
    if (rest->len - bytes < len)
        return false;
    if (text)
        *text = (struct slice){rest->ptr + bytes, len};
    *rest = slice_skip(*rest, bytes + len);
    return true;
}

static bool read_url(struct slice *rest, struct record_url *url)
{
    struct raw_url raw;
    struct slice text;
    if (!take(rest, &raw, sizeof raw, &text))
        return false;
    *url = (struct record_url){.signature = raw.signature,
                               .kind = raw.kind,
                               .redirects = raw.redirects,
                               .hops_off = raw.hops_off,
                               .embed_hops = raw.embed_hops,
                               .is_requisite = raw.is_requisite,
                               .depth = raw.depth,
                               .hop_count = raw.hop_count,
                               .recent_hops = raw.recent_hops,
                               .source = raw.source,
                               .text = text};
    return true;
}

static bool read_done(struct slice *rest, struct record_done *done)
{
    struct raw_done raw;
    if (!take(rest, &raw, sizeof raw, NULL))
        return false;
    *done = (struct record_done){.signature = raw.signature,
                                 .host = raw.host,
                                 .body_bytes = raw.body_bytes,
                                 .status = raw.status_flags / 4,
                                 .outcome = raw.outcome,
                                 .is_page = raw.status_flags & DONE_IS_PAGE,
                                 .is_stored = raw.status_flags & DONE_IS_STORED};
    return true;
}

static bool read_visit(struct slice *rest, struct record_visit *visit)
{
    struct raw_visit raw;
    struct slice key;
    if (!take(rest, &raw, sizeof raw, &key))
        return false;
    *visit = (struct record_visit){.is_end = raw.is_end,
                                   .dead_why = raw.dead_why,
                                   .failures = raw.failures,
                                   .crawl_delay_ms = raw.crawl_delay_ms,
                                   .host_us = raw.host_us,
                                   .address_us = raw.address_us,
                                   .pages = raw.pages,
                                   .bytes = raw.bytes,
                                   .spent_ns = raw.spent_ns,
                                   .key = key};
    memcpy(visit->address.bytes, raw.address, sizeof raw.address);
    return true;
}

static bool read_numbers(struct slice *rest, struct slice *numbers)
{
    struct raw_numbers raw;
    if (rest->len < sizeof raw)
        return false;
    memcpy(&raw, rest->ptr, sizeof raw);
    size_t bytes = raw.count * sizeof(uint64_t);
    if (rest->len - sizeof raw < bytes)
        return false;
    *numbers = (struct slice){rest->ptr + sizeof raw, bytes};
    *rest = slice_skip(*rest, sizeof raw + bytes);
    return true;
}

static bool read_known(struct slice *rest, struct record_known *known)
{
    struct slice numbers;
    if (!read_numbers(rest, &numbers))
        return false;
    *known = (struct record_known){numbers.ptr, numbers.len / sizeof(uint64_t)};
    return true;
}

static bool read_totals(struct slice *rest, struct slice *totals)
{
    struct slice before = *rest;
    if (read_numbers(rest, totals) && totals->len == sizeof(struct record_totals))
        return true;
    *rest = before;
    return false;
}

bool record_read(struct slice *rest, struct record *record)
{
    struct raw_text raw;
    if (rest->len == 0)
        return false;
    record->type = (enum record_type)rest->ptr[0];
    switch (record->type) {
    case RECORD_URL:
        return read_url(rest, &record->url);
    case RECORD_VIA:
        return take(rest, &raw, sizeof raw, &record->via);
    case RECORD_DONE:
        return read_done(rest, &record->done);
    case RECORD_VISIT:
        return read_visit(rest, &record->visit);
    case RECORD_KNOWN:
        return read_known(rest, &record->known);
    case RECORD_TOTALS:
        return read_totals(rest, &record->totals);
    case RECORD_SESSION:
        break;
    }
    return false;
}

void record_add_done(struct record_totals *totals, const struct record_done *done)
{
    totals->done++;
    totals->stored += done->is_stored;
    totals->outcomes[done->outcome]++;
    if (!done->is_page)
        return;
    totals->pages++;
    totals->bytes += done->body_bytes;
    totals->statuses[done->status / 100 % RECORD_STATUSES]++;
    totals->sizes[log_linear_bucket(done->body_bytes)]++;
}

void record_add_totals(struct record_totals *totals, struct slice more)
{
    uint64_t *sums = (uint64_t *)totals, number;
    for (size_t i = 0; i < sizeof *totals / sizeof number; i++) {
        memcpy(&number, more.ptr + i * sizeof number, sizeof number);
        sums[i] += number;
    }
}

uint64_t record_host_signature(struct slice key)
{
    return hash_bytes(key.ptr, key.len);
}
