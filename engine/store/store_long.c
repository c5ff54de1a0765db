/* Long pages, and those that become lines (store_jsonl.c), in steps that are short enough for a loop. */
#include <assert.h>

#include "engine/store/limits.h"
#include "engine/store/store.h"
#include "lockfree/clock.h"

static struct slice body_of(const struct store_page *page)
{
    return (struct slice){page->response + page->head_len, page->body_len};
}

static void begin(struct store *store, const struct store_page *page)
{
    struct store_job *job = &store->job;
    job->response = page->response;
    job->is_unwanted = page->is_unwanted;
    job->phase = STORE_DIGESTS;
    job->date_us = page->date_us;
    if (store_has_lines(store) && !page->is_unwanted) {
        store_begin_line(store, page);
        return;
    }
    job->rest = body_of(page);
    job->has_block_digest = !page->is_unwanted && store->tuning->fixed.store.block_digest;
    if (!page->is_unwanted)
        store_hide_chunks(page->response, page->head_len);
    fingerprint_sha1_init(&job->payload);
    fingerprint_sha1_init(&job->block);
    fingerprint_sha1_push(&job->block, (struct slice){page->response, page->head_len});
}

static void digest_some(struct store_job *job, const struct store_page *page)
{
    size_t len = job->rest.len < STORE_DIGEST_STEP_BYTES ? job->rest.len : STORE_DIGEST_STEP_BYTES;
    struct slice part = {job->rest.ptr, len};
    if (job->has_block_digest)
        fingerprint_sha1_push_both(&job->block, &job->payload, part);
    else
        fingerprint_sha1_push(&job->payload, part);
    job->rest = slice_skip(job->rest, len);
    if (job->rest.len)
        return;
    fingerprint_sha1_finish(&job->payload, page->payload_digest);
    job->phase = job->is_unwanted ? STORE_IDLE : STORE_OPENS;
}

/* Writes the header of the response record around it. */
static struct slice make_record(struct store *store, const struct store_page *page)
{
    struct store_job *job = &store->job;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    struct store_page dated = *page;
    fingerprint_sha1_finish(&job->block, digest);
    job->id = warc_ids_next(&store->ids);
    dated.date_us = job->date_us;
    return store_frame(store, &dated, &job->id, job->has_block_digest ? digest : NULL);
}

static void open_file(struct store *store, const struct store_page *page)
{
    struct store_job *job = &store->job;
    job->is_full = outlet_room(&store->outlet) < 2 * OUTLET_BLOCK_BYTES || !store_open(store);
    if (job->is_full)
        return;
    job->rest = store_has_lines(store) ? page_line_text(&store->line) : make_record(store, page);
    packer_begin(&job->packer, job->rest.len);
    job->phase = STORE_PACKS;
}

static void pack_some(struct store *store)
{
    struct store_job *job = &store->job;
    struct packer_room room;
    room.out = draft_space(&job->draft, &store->outlet, &room.len);
    job->is_full = !room.out;
    if (job->is_full)
        return;
    size_t before = room.len;
    bool is_done = packer_step(&job->packer, &job->rest, &room);
    draft_claim(&job->draft, before - room.len);
    if (!is_done)
        return;
    packer_seal(&job->packer, job->draft.first->bytes, job->draft.bytes);
    job->phase = STORE_PACKED;
}

/* Nothing more is to be made. */
static bool is_ready(const struct store_job *job)
{
    return job->phase == STORE_PACKED || job->phase == STORE_LINED || job->phase == STORE_IDLE;
}

enum store_progress store_prepare(struct store *store, const struct store_page *page, uint64_t until_ns)
{
    struct store_job *job = &store->job;
    if (job->phase == STORE_IDLE) {
        begin(store, page);
    } else if (!store_holds(store, page->response)) {
        job->is_awaited = true;
        return job->is_full ? STORE_FULL : STORE_MORE;
    }
    do {
        switch (job->phase) {
        case STORE_DIGESTS:
            digest_some(job, page);
            break;
        case STORE_LINES:
            store_step_line(store, page);
            break;
        case STORE_OPENS:
            open_file(store, page);
            break;
        case STORE_PACKS:
            pack_some(store);
            break;
        case STORE_PACKED:
        case STORE_LINED:
        case STORE_IDLE:
            return STORE_READY;
        }
        if (job->is_full) {
            outlet_flush(&store->outlet); /* else the block that is not full would never be written */
            return STORE_FULL;
        }
    } while (clock_now_ns() < until_ns);
    return is_ready(job) ? STORE_READY : STORE_MORE;
}

bool store_finish(struct store *store, const struct store_page *page)
{
    struct store_job *job = &store->job;
    assert(is_ready(job) && store_holds(store, page->response));
    if (job->phase == STORE_LINED)
        return store_finish_line(store);
    /* The request, the metadata, and a block because the draft may leave the rest of one unused. */
    size_t needed = press_bound(page->request.len + WARC_HEADER_BYTES_MAX) + store_metadata_room(page) +
                    OUTLET_BLOCK_BYTES;
    if (outlet_room(&store->outlet) < needed) {
        outlet_flush(&store->outlet);
        return false;
    }
    uint64_t offset = store->offset;
    store->offset += job->draft.bytes;
    draft_join(&job->draft, &store->outlet);
    job->phase = STORE_IDLE;
    if (store_has_lines(store))
        return true;
    struct store_page dated = *page;
    dated.date_us = job->date_us;
    store_note(store, NOTE_RESPONSE, &dated, offset);
    store_add_request(store, &dated, &job->id);
    store_add_metadata(store, &dated, &job->id);
    return true;
}

bool store_holds(const struct store *store, const char *response)
{
    return store->job.phase != STORE_IDLE && store->job.response == response;
}

void store_cancel(struct store *store, const char *response)
{
    if (!store_holds(store, response))
        return;
    draft_drop(&store->job.draft, &store->outlet);
    store->job.phase = STORE_IDLE;
    store->job.is_full = false;
}

void store_turn(struct store *store)
{
    store->job.is_awaited = false;
    store_close_old(store);
}

bool store_has_work(const struct store *store)
{
    const struct store_job *job = &store->job;
    if (job->phase == STORE_IDLE)
        return job->is_awaited;
    return !is_ready(job) && !job->is_full;
}
