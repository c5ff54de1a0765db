#include "engine/crawl/reader.h"

#include <assert.h>

#include "engine/content/limits.h"
#include "engine/content/simhash.h"
#include "engine/robots/robots_tag.h"
#include "engine/url/hash.h"
#include "lockfree/clock.h"

bool reader_init(struct reader *reader, struct buffer_pool *pages, struct harvest *harvest,
                 const struct decode_options *decode)
{
    reader->pages = pages;
    reader->harvest = harvest;
    reader->owner = NULL;
    reader->phase = READER_IDLE;
    reader->decoded = reader->converted = (struct buffer){NULL, 0};
    reader->list = (struct outlinks){.len = 0};
    reader->decode = decode_create(decode);
    return reader->decode;
}

void reader_fini(struct reader *reader)
{
    if (!reader->decode)
        return;
    buffer_release(reader->pages, &reader->decoded);
    buffer_release(reader->pages, &reader->converted);
    outlinks_release(&reader->list, reader->pages);
    decode_destroy(reader->decode);
}

static bool grow(struct unpack_room *room, size_t size, size_t used)
{
    struct reader_room *memory = (struct reader_room *)room;
    if (!buffer_reserve(memory->pages, memory->buffer, size, used))
        return false;
    room->bytes = memory->buffer->bytes;
    room->size = memory->buffer->size;
    return true;
}

struct reader_room reader_room_of(struct buffer_pool *pages, struct buffer *buffer)
{
    return (struct reader_room){{buffer->bytes, buffer->size, grow}, pages, buffer};
}

void reader_begin(struct reader *reader, const void *owner, const struct reader_page *page,
                  const struct reader_options *options)
{
    assert(reader->phase == READER_IDLE);
    reader->owner = owner;
    reader->phase = READER_UNPACKS;
    reader->page = *page;
    reader->options = *options;
    reader->outcome = FETCH_DONE;
    reader->tags = page->tags;
    reader->outlinks = 0;
    reader->body_bytes = reader->harvested = 0;
    reader->is_near = reader->has_fingerprint = false;
    outlinks_release(&reader->list, reader->pages);
    url_init(&reader->url, reader->url_text, sizeof reader->url_text);
    url_copy(&reader->url, page->source.url);
    reader->page.source.url = reader->page.source.base = &reader->url;
    reader->memory = reader_room_of(reader->pages, &reader->decoded);
    unpack_begin(&reader->unpack, &page->body, reader->decode, &reader->memory.room);
}

/* Parses the head again for its Link and Refresh fields, which few pages have. */
static void read_head(struct reader *reader, struct scan_page *out)
{
    static _Thread_local struct http_head head;
    enum http_error error;
    out->link_fields = reader->link_fields;
    out->refresh = (struct slice){"", 0};
    if (reader->page.head.len == 0 || http_head_parse(&head, reader->page.head, 0, &error) != PARSE_DONE)
        return;
    for (size_t i = 0; i < head.field_count; i++) {
        if (slice_equals_nocase(head.fields[i].name, SLICE("Refresh")))
            out->refresh = head.fields[i].value;
        else if (slice_equals_nocase(head.fields[i].name, SLICE("Link")) &&
                 out->link_field_count < READER_LINK_FIELDS_MAX)
            reader->link_fields[out->link_field_count++] = head.fields[i].value;
    }
}

static void begin_scan(struct reader *reader, struct slice document)
{
    const struct reader_options *options = &reader->options;
    struct scan_options scan = {.agent = options->agent,
                                .css = options->css,
                                .sheets = options->css,
                                .noscript = options->noscript,
                                .entries_max = options->entries_max};
    struct scan_page page = {.url = &reader->url,
                             .content_type = reader->page.body.content_type,
                             .body = document,
                             .is_sitemap = reader->page.body.is_sitemap};
    read_head(reader, &page);
    scan_begin(&reader->scan, &reader->harvest->links, &page, &scan);
    size_t room = reader->scan.room_bytes;
    if (room && !buffer_reserve(reader->pages, &reader->converted, room, 0))
        reader->outcome = FETCH_NO_MEMORY;
    reader->scan.room = reader->converted.bytes;
    reader->phase = READER_SCANS;
}

enum fetch_outcome reader_outcome(enum unpack_result result, bool is_cut)
{
    switch (result) {
    case UNPACK_CUT:
        return is_cut ? FETCH_DONE : FETCH_DECODE_CUT;
    case UNPACK_BAD:
        return FETCH_DECODE_FAILED;
    case UNPACK_TOO_LONG:
        return FETCH_DECODE_TOO_LONG;
    case UNPACK_NO_ROOM:
        return FETCH_NO_MEMORY;
    case UNPACK_MORE:
    case UNPACK_WHOLE:
    case UNPACK_RESULTS:
        break;
    }
    return FETCH_DONE;
}

static void unpack_some(struct reader *reader)
{
    enum unpack_result result = unpack_step(&reader->unpack);
    if (result == UNPACK_MORE)
        return;
    reader->outcome = reader_outcome(result, reader->page.is_cut);
    reader->body_bytes = reader->unpack.document.len;
    begin_scan(reader, reader->unpack.document);
}

/* Makes the fingerprint of the text. A page that may not be stored is none that others could repeat. UTF-16 and the like are not
 * read as bytes of letters. */
static void read_text(struct reader *reader)
{
    const struct repeats *repeats = reader->options.repeats;
    if (!repeats->has_near || reader->options.is_copy || reader->scan.type != SNIFF_HTML || reader->scan.room_bytes ||
        reader->tags & (ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOARCHIVE) ||
        !simhash_html(reader->unpack.document, &reader->fingerprint))
        return;
    reader->has_fingerprint = true;
    near_prefetch(&repeats->near, reader->fingerprint); /* it is there once the links are harvested */
}

/* Looks for an earlier page with nearly the same text. */
static void judge_text(struct reader *reader)
{
    if (!reader->has_fingerprint)
        return;
    uint64_t url = hash_slice(url_page(&reader->url));
    reader->has_fingerprint = false;
    /* A page that is read again, for want of memory, meets itself. */
    reader->is_near = near_add(&reader->options.repeats->near, reader->fingerprint, url, &reader->near) &&
                      reader->near.url != url;
}

/* The page has been read: buffers that grew for a long page go back to the pool. */
static void finish(struct reader *reader)
{
    judge_text(reader);
    reader->phase = READER_IDLE;
    reader->owner = NULL;
    buffer_release(reader->pages, &reader->converted);
    if (reader->decoded.size > UNPACK_WHOLE_BYTES)
        buffer_release(reader->pages, &reader->decoded);
}

/* Begins to hand the links over, unless the page forbids to follow them or repeats another. */
static void begin_harvest(struct reader *reader)
{
    const struct links *links = &reader->harvest->links;
    reader->tags |= reader->options.obeys_meta ? links->robots : 0;
    reader->phase = reader->options.outlinks_bytes_max ? READER_LISTS : READER_HARVESTS;
    reader->harvested = reader->listed = 0;
    reader->outlinks += links->count + links->dropped;
    if (reader->tags & ROBOTS_TAG_NOFOLLOW) {
        stats_add(&reader->harvest->stats->links_nofollow, links->count);
        reader->harvested = links->count;
    }
    read_text(reader);
    if (!reader->options.repeats->follows)
        judge_text(reader);
    if (reader->is_near && !reader->options.repeats->follows)
        reader->harvested = links->count;
    url_init(&reader->base, reader->base_text, sizeof reader->base_text);
    if (links->base.ptr && url_parse(&reader->base, &reader->url, links->base) == URL_OK)
        reader->page.source.base = &reader->base;
}

static void scan_some(struct reader *reader)
{
    reader->progress = scan_next(&reader->scan, SCAN_STEP_BYTES);
    if (reader->progress != SCAN_MORE)
        begin_harvest(reader);
}

/* Each takes as long as a link that is harvested. Links that are not followed are listed, too. */
static void list_some(struct reader *reader)
{
    const struct links *links = &reader->harvest->links;
    const struct harvest_source *source = &reader->page.source;
    size_t left = links->count - reader->listed;
    size_t to = reader->listed + (left < HARVEST_LINKS_PER_LOOK ? left : HARVEST_LINKS_PER_LOOK);
    while (reader->listed < to) {
        const struct link *link = &links->found[reader->listed++];
        struct outlink outlink = {.base = link->flags & LINK_OF_HEAD ? source->url : source->base,
                                  .text = link->url,
                                  .hop = harvest_hop(reader->harvest, source, link),
                                  .context = outlinks_context(link)};
        outlinks_add(&reader->list, reader->pages, reader->options.outlinks_bytes_max, &outlink);
    }
    if (reader->listed == links->count)
        reader->phase = READER_HARVESTS;
}

static void harvest_some(struct reader *reader, uint64_t until_ns)
{
    const struct links *links = &reader->harvest->links;
    if (reader->harvested < links->count || (reader->harvested == 0 && links->dropped))
        reader->harvested = harvest_links(reader->harvest, &reader->page.source, reader->harvested, until_ns);
    if (reader->harvested < links->count)
        return;
    if (reader->progress == SCAN_DONE)
        finish(reader);
    else
        reader->phase = READER_SCANS;
}

/* Whether what was done since the last look at the clock cannot have taken long. */
static bool was_short(const struct reader *reader)
{
    const struct slice document = reader->unpack.document;
    return reader->phase != READER_UNPACKS && reader->harvested == 0 && reader->phase != READER_LISTS &&
           document.ptr == reader->page.body.bytes.ptr && document.len <= READER_SHORT_BYTES;
}

bool reader_run(struct reader *reader, uint64_t until_ns)
{
    while (reader->phase != READER_IDLE) {
        bool has_room = true; /* the caller has asked, and only what is harvested takes room */
        switch (reader->phase) {
        case READER_UNPACKS:
            unpack_some(reader);
            break;
        case READER_SCANS:
            scan_some(reader);
            break;
        case READER_LISTS:
            list_some(reader);
            break;
        case READER_HARVESTS:
            harvest_some(reader, until_ns);
            has_room = reader->phase == READER_IDLE || harvest_has_room(reader->harvest);
            break;
        case READER_IDLE:
            break;
        }
        if (reader->phase != READER_IDLE && (!has_room || (!was_short(reader) && clock_now_ns() >= until_ns)))
            return false;
    }
    return true;
}
