#include "engine/crawl/ledger.h"

#include <assert.h>

#include "engine/store/crawl_log.h"
#include "engine/url/hash.h"
#include "lockfree/clock.h"

void ledger_set_clock(struct ledger *ledger, uint64_t now_ns)
{
    ledger->clock_offset_us = (int64_t)clock_wall_us() - (int64_t)(now_ns / 1000);
}

uint64_t ledger_number_visit(struct ledger *ledger)
{
    assert(ledger->loop < TUNING_THREADS_MAX);
    return ++ledger->visits * TUNING_THREADS_MAX + ledger->loop;
}

void ledger_adopt(struct ledger *ledger)
{
    uint64_t epoch = lf_load(ledger->epoch, acquire); /* A1 pairs with R1 in commit_turn */
    if (epoch == ledger->adopted)
        return;
    ledger->stored = stats_get(&ledger->stats->stored);
    if (ledger->store)
        outlet_seal(ledger->store);
    if (ledger->journal)
        journal_seal(ledger->journal, epoch);
    outlet_seal(ledger->log);
    ledger->adopted = epoch;
}

bool ledger_has_room(struct ledger *ledger)
{
    _Static_assert((int)CRAWL_LOG_LINE_BYTES_MAX <= (int)OUTLET_BLOCK_BYTES, "a line is in one block");
    return outlet_room(ledger->log) >= OUTLET_BLOCK_BYTES && /* a whole block is free, so a line fits */
           (!ledger->journal || journal_has_room(ledger->journal));
}

bool ledger_begin(struct ledger *ledger)
{
    ledger_adopt(ledger);
    return ledger_has_room(ledger);
}

struct slice ledger_via(const struct host *host, struct slice via, char *buffer)
{
    bool is_path = via.len && via.ptr[0] == '/';
    return is_path ? url_join_text(host_key(host), via, buffer, URL_BYTES_MAX) : via;
}

void ledger_log(struct ledger *ledger, const struct host *host, const struct ledger_line *line,
                const struct ledger_verdict *verdict)
{
    char hops[HOPS_TEXT_BYTES_MAX], via[URL_BYTES_MAX];
    struct crawl_log_entry entry = {
        .end_us = ledger_wall_us(ledger, verdict->end_ns ? verdict->end_ns : clock_now_ns()),
        .start_us = verdict->start_ns ? ledger_wall_us(ledger, verdict->start_ns) : 0,
        .outcome = verdict->outcome,
        .status = verdict->status,
        .size = verdict->size,
        .url_host = host_key(host),
        .url_path = line->path,
        .hops = {hops, hops_write(hops, line->hops)},
        .via = ledger_via(host, line->via, via),
        .source = sources_url(ledger->sources, line->source),
        .mime = verdict->mime,
        .loop = ledger->loop,
        .digest = verdict->digest,
        .tries = verdict->tries,
        .annotation = verdict->annotation,
        .has_extra = ledger->has_extra,
        .extra = {.visit = verdict->visit,
                  .outlinks = verdict->visit ? verdict->outlinks : -1,
                  .first_byte_ms = verdict->visit ? verdict->first_byte_ms : -1},
    };
    char text[CRAWL_LOG_LINE_BYTES_MAX];
    size_t len = crawl_log_write(text, &entry);
    outlet_append_whole(ledger->log, (struct slice){text, len});
}

static void record_done(struct ledger *ledger, const struct host *host, struct slice path,
                        const struct ledger_verdict *verdict)
{
    char text[URL_BYTES_MAX];
    struct slice url = url_join_text(host_key(host), path, text, sizeof text);
    uint64_t size = verdict->size > 0 ? (uint64_t)verdict->size : 0;
    assert(url.len);
    struct record_done done = {.signature = hash_slice(url),
                               .host = record_host_signature(host_key(host)),
                               .body_bytes = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
                               .status = (uint16_t)verdict->status,
                               .outcome = (uint8_t)verdict->outcome,
                               .is_page = verdict->is_page,
                               .is_stored = verdict->is_stored};
    journal_add_done(ledger->journal, &done);
}

static void log_item(struct ledger *ledger, const struct host *host, const struct host_item *item,
                     const struct ledger_verdict *verdict)
{
    struct ledger_verdict told = *verdict;
    struct ledger_line line = {.path = host_item_path(item),
                               .via = host_item_via(item),
                               .hops = host_item_hops(item),
                               .source = item->source};
    if (!told.tries && told.start_ns)
        told.tries = item->tries + 1u;
    ledger_log(ledger, host, &line, &told);
}

void ledger_finish(struct ledger *ledger, struct host *host, struct host_item *item,
                   const struct ledger_verdict *verdict)
{
    /* Errands are no URLs of the crawl: after a restart they are made again. */
    if (item->kind != HOST_ITEM_ROBOTS && item->kind != HOST_ITEM_ANSWER) {
        assert(ledger_has_room(ledger));
        log_item(ledger, host, item, verdict);
        if (ledger->journal)
            record_done(ledger, host, host_item_path(item), verdict);
        stats_add(&ledger->stats->outcomes[verdict->outcome], 1);
    }
    frontier_done(ledger->frontier, host, item);
    stats_count_out(ledger->stats);
}

void ledger_finish_record(struct ledger *ledger, const struct record_url *record, struct slice via,
                          const struct ledger_verdict *verdict)
{
    struct url url;
    assert(ledger_has_room(ledger));
    url_open(&url, record->text);
    struct slice key = url_host_key(&url);
    struct host host = {.key = key.ptr, .key_len = (uint16_t)key.len}; /* it may have no record */
    struct ledger_line line = {.path = url_path_query(&url),
                               .via = via,
                               .hops = {.recent = record->recent_hops, .count = record->hop_count},
                               .source = record->source};
    ledger_log(ledger, &host, &line, verdict);
    if (ledger->journal)
        record_done(ledger, &host, line.path, verdict);
    stats_add(&ledger->stats->outcomes[verdict->outcome], 1);
    stats_count_out(ledger->stats);
}
