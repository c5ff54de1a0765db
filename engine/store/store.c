#include "engine/store/store.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/store/limits.h"
#include "engine/store/warc_name.h"
#include "engine/store/warcinfo.h"
#include "lockfree/clock.h"

/* Of the skippable frame with the dictionary. */
#define STORE_DICTIONARY_MAGIC 0x184D2A5D

/* The longest URL and the other fields. */
enum { REQUEST_BYTES_MAX = URL_BYTES_MAX + 4096 };

/* A revisit record. */
enum { REVISIT_BYTES_MAX = WARC_REVISIT_BYTES_MAX + STORE_REVISIT_HEAD_BYTES_MAX + WARC_TRAILER_BYTES };

/* The longest response that is stored at once. */
static size_t whole_bytes(const struct tuning *tuning)
{
    uint64_t level = tuning->fixed.store.level;
    if (tuning->fixed.store.compress == TUNING_COMPRESS_NONE || level <= 1)
        return STORE_WHOLE_BYTES_LEVEL_1;
    if (tuning->fixed.store.compress == TUNING_COMPRESS_ZSTD)
        return level <= 4 ? STORE_WHOLE_BYTES_LEVEL_1 : STORE_WHOLE_BYTES_LEVEL_5;
    if (level <= 5)
        return STORE_WHOLE_BYTES_LEVEL_5;
    return level <= 6 ? STORE_WHOLE_BYTES_LEVEL_6 : STORE_WHOLE_BYTES_LEVEL_12;
}

/* Bytes that must be free in the outlet before a page is begun, because a page must be whole in one file. */
static size_t room_needed(size_t response_bytes, size_t request_bytes)
{
    return press_bound(response_bytes + WARC_HEADER_BYTES_MAX)  /* response */
           + press_bound(request_bytes + WARC_HEADER_BYTES_MAX) /* request */
           +
           2 * OUTLET_BLOCK_BYTES; /* a dictionary and a warcinfo, and the unused rest of a block when a file begins */
}

/* The longest record that is compressed at once. */
static size_t record_bytes_max(const struct store *store)
{
    size_t block = store->whole_bytes > REQUEST_BYTES_MAX ? store->whole_bytes : REQUEST_BYTES_MAX;
    size_t bytes = WARC_HEADER_BYTES_MAX + block + WARC_TRAILER_BYTES;
    size_t metadata_bytes = store_metadata_bytes_max(store);
    bytes = bytes > metadata_bytes ? bytes : metadata_bytes;
    return bytes > REVISIT_BYTES_MAX ? bytes : REVISIT_BYTES_MAX;
}

void store_adapt_tuning(struct tuning *tuning)
{
    struct store_tuning_fixed *store = &tuning->fixed.store;
    if (store->kind != TUNING_STORE_DIRECTORY)
        return;
    store->compress = TUNING_COMPRESS_NONE;
    store->block_digest = false;
    store->file_bytes = STORE_INCOMING_BYTES;
    store->file_age_ns = STORE_INCOMING_AGE_NS;
}

const char *store_folder(const struct tuning *tuning)
{
    static const char *const folders[] = {[TUNING_STORE_WARC] = "warc",
                                          [TUNING_STORE_NONE] = NULL,
                                          [TUNING_STORE_JSONL] = "pages",
                                          [TUNING_STORE_DIRECTORY] = "incoming"};
    return folders[tuning->fixed.store.kind];
}

/* The longest record or line. */
static size_t longest_bytes(const struct store *store)
{
    const struct net_tuning_fixed *net = &store->tuning->fixed.net;
    return store_has_lines(store) ? PAGE_LINE_BYTES_MAX : net->body_bytes_max + net->head_bytes_max;
}

/* What only some kinds of files need. */
static bool init_kind(struct store *store)
{
    const struct tuning *tuning = store->tuning;
    if (store_has_lines(store))
        return page_line_init(&store->line, tuning);
    bool learns = tuning->fixed.store.compress == TUNING_COMPRESS_ZSTD && tuning->fixed.store.dictionary;
    return !learns || dictionary_init(&store->dictionary, packer_zstd_level(tuning));
}

int store_init(struct store *store, const struct tuning *tuning, struct files *files, unsigned loop)
{
    *store = (struct store){.tuning = tuning, .loop = loop, .whole_bytes = whole_bytes(tuning)};
    size_t bytes = tuning->fixed.store.buffer_bytes / tuning->fixed.crawl.threads;
    /* One more because of rounding, and one that a short draft leaves to the next. */
    size_t metadata_bytes = store_metadata_bytes_max(store);
    size_t needed = room_needed(longest_bytes(store), REQUEST_BYTES_MAX) +
                    (metadata_bytes ? press_bound(metadata_bytes) : 0);
    size_t blocks = needed / OUTLET_BLOCK_BYTES + 2;
    size_t least = blocks * sizeof(struct outlet_block);
    struct outlet_options options = {.files = files, .bytes = bytes > least ? bytes : least};
    int error = outlet_init(&store->outlet, &options);
    if (error)
        return error;
    store->scratch_bytes = press_bound(record_bytes_max(store));
    store->scratch = malloc(store->scratch_bytes);
    store->metadata = metadata_bytes ? malloc(metadata_bytes) : NULL;
    warc_ids_init(&store->ids);
    if (packer_init(&store->job.packer, tuning) && press_init(&store->press, tuning) && store->scratch &&
        (store->metadata || !metadata_bytes) && init_kind(store))
        return 0;
    store_fini(store);
    return -ENOMEM;
}

/* May be called twice, and after a failed store_init. */
void store_fini(struct store *store)
{
    press_fini(&store->press);
    free(store->scratch);
    free(store->metadata);
    packer_fini(&store->job.packer);
    dictionary_fini(&store->dictionary);
    page_line_fini(&store->line);
    outlet_fini(&store->outlet);
    outlet_fini(&store->notes);
    store->scratch = store->metadata = NULL;
}

void store_flush(struct store *store)
{
    outlet_flush(&store->outlet);
    store_note_end(store);
}

void store_serve(struct store *store)
{
    dictionary_serve(&store->dictionary);
}

void store_write_record(struct store *store, enum press_kind kind, struct slice record)
{
    size_t written = record.len, room;
    dictionary_add(&store->dictionary, record);
    if (store->tuning->fixed.store.compress == TUNING_COMPRESS_NONE) {
        outlet_append(&store->outlet, record);
    } else {
        char *space = outlet_space(&store->outlet, &room);
        bool fits = room >= press_bound(record.len);
        struct packer_room here = {space, room}, aside = {store->scratch, store->scratch_bytes};
        written = press_record(&store->press, kind, record, fits ? here : aside);
        if (fits)
            outlet_claim(&store->outlet, written);
        else
            outlet_append(&store->outlet, (struct slice){store->scratch, written});
    }
    store->offset += written;
}

static void name_file(struct store *store)
{
    static const char *const suffixes[] = {
        [TUNING_COMPRESS_GZIP] = ".gz", [TUNING_COMPRESS_NONE] = "", [TUNING_COMPRESS_ZSTD] = ".zst"};
    char text[FILES_NAME_BYTES - 32];
    struct warc_name name = {.format = store->tuning->fixed.store.name,
                             .prefix = store->tuning->fixed.store.prefix,
                             .date_us = clock_wall_us(),
                             .serial = store->serial,
                             .loop = store->loop};
    warc_name_write(&name, text, sizeof text);
    snprintf(store->filename, sizeof store->filename, "%s.%s%s", text,
             store_has_lines(store) ? "jsonl" : "warc", suffixes[store->tuning->fixed.store.compress]);
}

/* The dictionary is a frame that readers skip, at the start of the file. */
static void add_dictionary(struct store *store)
{
    struct dictionary *dictionary = &store->dictionary;
    uint32_t head[2] = {htole32(STORE_DICTIONARY_MAGIC), htole32((uint32_t)dictionary->bytes)};
    if (!store->uses_dictionary) {
        press_use_dictionary(&store->press, dictionary->digested);
        packer_use_dictionary(&store->job.packer, dictionary->digested);
        store->uses_dictionary = true;
    }
    outlet_append(&store->outlet, (struct slice){(const char *)head, sizeof head});
    outlet_append(&store->outlet, (struct slice){dictionary->text, dictionary->bytes});
    store->first = sizeof head + dictionary->bytes;
}

static void add_warcinfo(struct store *store)
{
    char record[WARC_HEADER_BYTES_MAX + WARCINFO_BYTES_MAX + WARC_TRAILER_BYTES],
        header[WARC_HEADER_BYTES_MAX];
    const struct tuning *tuning = store->tuning;
    char *block = record + WARC_HEADER_BYTES_MAX;
    size_t len = warcinfo_write(block, tuning, store->tuning_text);
    store->warcinfo = warc_ids_next(&store->ids);
    struct warc_record info = {.type = WARC_INFO,
                               .is_1_0 = tuning->fixed.store.warc == TUNING_WARC_1_0,
                               .id = store->warcinfo,
                               .date_us = clock_wall_us(),
                               .filename = slice_of(store->filename),
                               .block = {block, len},
                               .omits_block_digest = !tuning->fixed.store.block_digest};
    size_t header_len = warc_write_header(header, &info);
    char *start = block - header_len;
    memcpy(start, header, header_len);
    memcpy(block + len, "\r\n\r\n", WARC_TRAILER_BYTES);
    store_write_record(store, PRESS_REQUEST, slice_between(start, block + len + WARC_TRAILER_BYTES));
}

/* Opens a file and, unless it is one of lines, writes its first record. False: no room now. */
static bool begin_file(struct store *store)
{
    char path[FILES_NAME_BYTES + 8];
    name_file(store);
    snprintf(path, sizeof path, "%s/%s", store_folder(store->tuning), store->filename);
    if (outlet_free_blocks(&store->outlet) == 0)
        return false;
    store_note_begin(store); /* first: once the file before is closed, its notes are complete */
    bool opened = outlet_open(&store->outlet, path);
    assert(opened);
    (void)opened;
    store->serial++;
    store->is_open = true;
    store->first = store->offset = 0;
    store->opened_ns = clock_now_ns();
    if (dictionary_ready(&store->dictionary))
        add_dictionary(store);
    if (!store_has_lines(store))
        add_warcinfo(store);
    return true;
}

static bool is_old(const struct store *store)
{
    uint64_t age_ns = store->tuning->fixed.store.file_age_ns;
    return age_ns && clock_now_ns() - store->opened_ns >= age_ns;
}

/* A crawl whose hosts all rest closes its files, too. A long page that is being packed keeps its file open. */
void store_close_old(struct store *store)
{
    if (!store->is_open || !is_old(store) || store->job.phase >= STORE_PACKS)
        return;
    store_note_end(store); /* first: as in begin_file */
    store->is_open = !outlet_close(&store->outlet);
}

/* A long page that is being packed names the warcinfo of the present file, so that file stays open for it. */
bool store_open(struct store *store)
{
    bool is_due = !store->is_open || store->offset >= store->tuning->fixed.store.file_bytes ||
                  is_old(store) || (!store->uses_dictionary && dictionary_ready(&store->dictionary));
    if (!is_due || store->job.phase >= STORE_PACKS)
        return true;
    bool waits = store->is_behind && lf_load(store->is_behind, relaxed); /* a fact that slows the loop down */
    return !waits && begin_file(store);
}

void store_hide_chunks(char *head, size_t len)
{
    static const char from[] = "\ntransfer-encoding", to[] = "\nX-Transfer-Coding";
    const char *end = head + len;
    for (char *line = head; (line = memchr(line, '\n', (size_t)(end - line))); line++)
        if ((size_t)(end - line) >= sizeof from - 1 && strncasecmp(line, from, sizeof from - 1) == 0)
            memcpy(line, to, sizeof to - 1);
}

struct warc_record store_record(const struct store *store, enum warc_type type, const struct store_page *page)
{
    return (struct warc_record){.type = type,
                                .is_1_0 = store->tuning->fixed.store.warc == TUNING_WARC_1_0,
                                .date_us = page->date_us,
                                .target_uri = page->url,
                                .warcinfo = &store->warcinfo,
                                .tls_protocol = page->tls_protocol,
                                .tls_suite = page->tls_suite,
                                .omits_block_digest = !store->tuning->fixed.store.block_digest};
}

struct slice store_frame(struct store *store, const struct store_page *page, const struct warc_id *id,
                         const unsigned char *block_digest)
{
    struct slice block = {page->response, page->head_len + page->body_len};
    struct warc_record record = store_record(store, WARC_RESPONSE, page);
    record.id = *id;
    record.address = page->address;
    record.payload_digest = page->payload_digest;
    record.truncated = page->truncated;
    record.block = block;
    record.payload = (struct slice){page->response + page->head_len, page->body_len};
    record.block_digest = block_digest;
    char header[WARC_HEADER_BYTES_MAX];
    size_t len = warc_write_header(header, &record);
    char *start = page->response - len, *end = page->response + block.len;
    memcpy(start, header, len);
    memcpy(end, "\r\n\r\n", WARC_TRAILER_BYTES);
    return slice_between(start, end + WARC_TRAILER_BYTES);
}

void store_add_request(struct store *store, const struct store_page *page, const struct warc_id *response)
{
    char record[2 * WARC_HEADER_BYTES_MAX + 4096];
    if (!store_has_records(store))
        return;
    struct warc_record request = store_record(store, WARC_REQUEST, page);
    request.id = warc_ids_next(&store->ids);
    request.concurrent_to = response;
    request.block = page->request;
    size_t len = warc_write_header(record, &request);
    assert(len + page->request.len + WARC_TRAILER_BYTES <= sizeof record);
    memcpy(record + len, page->request.ptr, page->request.len);
    len += page->request.len;
    memcpy(record + len, "\r\n\r\n", WARC_TRAILER_BYTES);
    store_write_record(store, PRESS_REQUEST, (struct slice){record, len + WARC_TRAILER_BYTES});
}

/* In place of a body that is in the archive already, or that the server did not send because it has not changed: the
 * head, and where the body is. */
static void add_revisit(struct store *store, const struct store_page *page, const struct warc_id *id)
{
    struct slice head = {page->response, page->head_len};
    struct warc_record record = store_record(store, page->repeats ? WARC_REVISIT : WARC_NOT_MODIFIED, page);
    record.id = *id;
    record.address = page->address;
    record.block = head;
    if (page->repeats) {
        record.refers_to_uri = (struct slice){page->repeats->url, page->repeats->url_len};
        record.refers_to_date_us = page->repeats->date_us;
        record.payload_digest = page->payload_digest;
    }
    char text[REVISIT_BYTES_MAX];
    size_t len = warc_write_header(text, &record);
    memcpy(text + len, head.ptr, head.len);
    len += head.len;
    memcpy(text + len, "\r\n\r\n", WARC_TRAILER_BYTES);
    store_write_record(store, PRESS_REQUEST, (struct slice){text, len + WARC_TRAILER_BYTES});
}

bool store_is_revisit(const struct store_page *page)
{
    return page->head_len <= STORE_REVISIT_HEAD_BYTES_MAX && (page->repeats || page->status == 304);
}

bool store_add(struct store *store, const struct store_page *page)
{
    bool is_revisit = store_is_revisit(page);
    size_t bytes = is_revisit ? REVISIT_BYTES_MAX : page->head_len + page->body_len;
    assert(!store_has_lines(store) && (is_revisit || !store_is_long(store, bytes)));
    if (outlet_room(&store->outlet) < room_needed(bytes, page->request.len) + store_metadata_room(page)) {
        outlet_flush(&store->outlet); /* else the block that is not full would never be written */
        return false;
    }
    if (!store_open(store))
        return false;
    struct warc_id response = warc_ids_next(&store->ids);
    uint64_t offset = store->offset;
    if (!page->block_digest)
        store_hide_chunks(page->response, page->head_len);
    if (is_revisit)
        add_revisit(store, page, &response);
    else
        store_write_record(store, PRESS_RESPONSE, store_frame(store, page, &response, page->block_digest));
    store_note(store, is_revisit ? NOTE_REVISIT : NOTE_RESPONSE, page, offset);
    store_add_request(store, page, &response);
    store_add_metadata(store, page, &response);
    return true;
}
