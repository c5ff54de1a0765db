/* The metadata record of a page, in the form of Heritrix's: fields, then a line for each link. It is compressed at once,
 * so its links take no more than a page that is stored at once. */
#include <assert.h>
#include <string.h>

#include "engine/store/limits.h"
#include "engine/store/store.h"

/* Header and end of the record, and the empty line behind the fields. */
enum { FRAME_BYTES_MAX = WARC_HEADER_BYTES_MAX + 2 + WARC_TRAILER_BYTES };

size_t store_outlinks_bytes_max(const struct store *store)
{
    const struct store_tuning_fixed *tuning = &store->tuning->fixed.store;
    return tuning->kind == TUNING_STORE_WARC && tuning->metadata ? store->whole_bytes : 0;
}

size_t store_metadata_bytes_max(const struct store *store)
{
    size_t links = store_outlinks_bytes_max(store);
    return links ? FRAME_BYTES_MAX + STORE_METADATA_FIELDS_BYTES_MAX + links : 0;
}

size_t store_metadata_room(const struct store_page *page)
{
    return page->fields.len ? press_bound(FRAME_BYTES_MAX + page->fields.len + page->outlinks.len) : 0;
}

static char *put(char *at, struct slice text)
{
    if (text.len)
        memcpy(at, text.ptr, text.len);
    return at + text.len;
}

void store_add_metadata(struct store *store, const struct store_page *page, const struct warc_id *response)
{
    if (!page->fields.len)
        return;
    assert(store->metadata && page->fields.len <= STORE_METADATA_FIELDS_BYTES_MAX &&
           page->outlinks.len <= store_outlinks_bytes_max(store));
    char header[WARC_HEADER_BYTES_MAX], *block = store->metadata + WARC_HEADER_BYTES_MAX;
    char *end = put(put(put(block, page->fields), page->outlinks), SLICE("\r\n"));
    struct warc_record record = store_record(store, WARC_METADATA, page);
    record.id = warc_ids_next(&store->ids);
    record.concurrent_to = response;
    record.block = slice_between(block, end);
    size_t len = warc_write_header(header, &record);
    memcpy(block - len, header, len);
    end = put(end, SLICE("\r\n\r\n"));
    store_write_record(store, PRESS_METADATA, slice_between(block - len, end));
}
