/* Pages as lines of JSON. Each is made in steps, as the record of a long page is; a line that is not long itself is then
 * compressed at once (press.h), behind what is in the outlet. */
#include <assert.h>

#include "engine/store/store.h"

static struct jsonl_page describe(const struct store_page *page)
{
    return (struct jsonl_page){.url = page->url,
                               .status = page->status,
                               .type = page->packed.content_type,
                               .date_us = page->date_us,
                               .bytes = page->body_len,
                               .digest = page->payload_digest,
                               .truncated = page->truncated};
}

void store_begin_line(struct store *store, const struct store_page *page)
{
    store->job.phase = STORE_LINES;
    page_line_begin(&store->line, &page->packed);
}

void store_step_line(struct store *store, const struct store_page *page)
{
    struct jsonl_page whole = describe(page);
    if (page_line_step(&store->line, &whole))
        store->job.phase = store_is_long(store, store->line.len) ? STORE_OPENS : STORE_LINED;
}

bool store_finish_line(struct store *store)
{
    struct slice line = page_line_text(&store->line);
    assert(store->job.phase == STORE_LINED);
    /* A block more, because a new file may leave the rest of one unused. */
    if (outlet_room(&store->outlet) < press_bound(line.len) + OUTLET_BLOCK_BYTES) {
        outlet_flush(&store->outlet); /* else the block that is not full would never be written */
        return false;
    }
    if (!store_open(store))
        return false;
    store_write_record(store, PRESS_RESPONSE, line);
    store->job.phase = STORE_IDLE;
    return true;
}
