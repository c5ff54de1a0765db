#include "engine/crawl/past.h"

#include <stdlib.h>
#include <string.h>

#include "engine/crawl/limits.h"
#include "engine/frontier/politeness.h"
#include "engine/outcome/fetch_outcome.h"
#include "lockfree/clock.h"

enum { ROOM_MIN = 1024, NS_PER_US = 1000 };

void past_init(struct past *past, const struct past_options *options)
{
    const struct limits_tuning_live *limits = options->limits;
    *past = (struct past){.options = *options};
    past->has_limits =
        limits->pages_per_host_max || limits->bytes_per_host_max || limits->time_per_host_max_ns;
}

void past_fini(struct past *past)
{
    for (size_t i = 0; i < past->room; i++)
        free(past->hosts[i].key);
    free(past->hosts);
    past->hosts = NULL;
    past->room = past->count = 0;
}

/* The place of a host, or the free one where it would be. There is always one free. */
static struct past_host *find(const struct past *past, uint64_t signature)
{
    size_t i = signature & (past->room - 1);
    while (past->hosts[i].signature && past->hosts[i].signature != signature)
        i = (i + 1) & (past->room - 1);
    return &past->hosts[i];
}

/* Whether anything about the host matters beyond what holds for all. */
static bool is_worth_keeping(const struct past *past, const struct past_host *host)
{
    return past->has_limits || host->is_open || host->dead_why || host->failures ||
           past_host_us(past, host) > past_everybody_us(past) ||
           past_address_us(past, host) > past_everybody_us(past);
}

/* Room for one more; hosts of which nothing matters any more make room for others. */
static bool grow(struct past *past)
{
    struct past old = *past;
    if (past->room && past->count < past->room / 2)
        return true;
    size_t kept = 0;
    for (size_t i = 0; i < old.room; i++)
        kept += old.hosts[i].signature && is_worth_keeping(past, &old.hosts[i]);
    size_t room = old.room ? old.room : ROOM_MIN;
    while (kept >= room / 4)
        room *= 2;
    past->hosts = calloc(room, sizeof *past->hosts);
    if (!past->hosts) {
        *past = old;
        return false;
    }
    past->room = room;
    past->count = kept;
    for (size_t i = 0; i < old.room; i++) {
        if (old.hosts[i].signature && is_worth_keeping(past, &old.hosts[i]))
            *find(past, old.hosts[i].signature) = old.hosts[i];
        else
            free(old.hosts[i].key);
    }
    free(old.hosts);
    return true;
}

void past_note_visit(struct past *past, const struct record_visit *visit)
{
    uint64_t signature = record_host_signature(visit->key) | 1; /* 0 is a free place */
    if (!grow(past)) {
        past->is_short_of_memory = true;
        return;
    }
    struct past_host *host = find(past, signature);
    if (!host->signature) {
        char *key = malloc(visit->key.len);
        if (!key) {
            past->is_short_of_memory = true;
            return;
        }
        memcpy(key, visit->key.ptr, visit->key.len);
        *host = (struct past_host){.signature = signature, .key = key, .key_len = (uint16_t)visit->key.len};
        past->count++;
    }
    host->is_open = !visit->is_end;
    host->address = visit->address;
    host->crawl_delay_ms = visit->crawl_delay_ms;
    if (!visit->is_end) {
        host->begin_us = visit->host_us;
        return;
    }
    host->host_us = visit->host_us;
    host->address_us = visit->address_us;
    host->dead_why = visit->dead_why;
    host->failures = visit->failures;
    host->pages = visit->pages;
    host->bytes = visit->bytes;
    host->spent_ns = visit->spent_ns;
}

void past_note_session(struct past *past, const struct record_session *session)
{
    uint64_t latest_us = session->last_us + session->last_lag_max_us;
    struct past then = {.options = past->options};
    then.options.commit_us = session->last_us;
    then.options.end_us = PAST_TEARDOWN_US + (latest_us < session->begin_us ? latest_us : session->begin_us);
    for (size_t i = 0; i < past->room; i++) {
        struct past_host *host = &past->hosts[i];
        if (!host->signature || !host->is_open)
            continue;
        host->host_us = past_host_us(&then, host);
        host->address_us = past_address_us(&then, host);
        host->is_open = false;
    }
}

void past_note_done(struct past *past, const struct record_done *done)
{
    if (!past->has_limits || !past->room || !done->is_page)
        return;
    struct past_host *host = find(past, done->host | 1);
    if (!host->signature)
        return;
    /* The end of the visit tells the sums, and overrides this. */
    host->pages++;
    host->bytes += done->body_bytes;
}

/* A visit from then on until the end. */
static struct politeness_visit visit_from(const struct past_options *options, uint64_t from_us, uint32_t crawl_delay_ms)
{
    uint64_t spent_us = options->end_us >= from_us ? options->end_us - from_us : options->longest_us;
    return (struct politeness_visit){.spent_ns = spent_us * NS_PER_US,
                                     .crawl_delay_ns = crawl_delay_ms * CLOCK_NS_PER_MS};
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t past_everybody_us(const struct past *past)
{
    const struct past_options *options = &past->options;
    struct politeness_visit visit = visit_from(options, options->commit_us, 0);
    uint64_t rest_ns = later(politeness_host_rest(options->politeness, &visit),
                             politeness_address_rest(options->politeness, &visit));
    return later(options->end_us + rest_ns / NS_PER_US + 1, options->opens_us);
}

uint64_t past_host_us(const struct past *past, const struct past_host *host)
{
    const struct past_options *options = &past->options;
    uint64_t from_us = host->is_open ? host->begin_us : later(host->host_us, options->commit_us);
    struct politeness_visit visit = visit_from(options, from_us, host->crawl_delay_ms);
    if (!host->is_open && host->host_us > options->end_us)
        return host->host_us;
    return options->end_us + politeness_host_rest(options->politeness, &visit) / NS_PER_US + 1;
}

uint64_t past_address_us(const struct past *past, const struct past_host *host)
{
    const struct past_options *options = &past->options;
    uint64_t from_us = host->is_open ? host->begin_us : later(host->address_us, options->commit_us);
    struct politeness_visit visit = visit_from(options, from_us, 0);
    if (!host->is_open && host->address_us > options->end_us)
        return host->address_us;
    return options->end_us + politeness_address_rest(options->politeness, &visit) / NS_PER_US + 1;
}

const struct past_host *past_next(const struct past *past, size_t *cursor)
{
    while (*cursor < past->room) {
        const struct past_host *host = &past->hosts[(*cursor)++];
        if (host->signature && is_worth_keeping(past, host))
            return host;
    }
    return NULL;
}
