#include "engine/crawl/spill.h"

#include <assert.h>

#include "engine/crawl/limits.h"
#include "engine/url/limits.h"

int spill_init(struct spill *spill, const struct disk *disk, const char *prefix)
{
    return spool_init(&spill->spool, disk, prefix);
}

void spill_fini(struct spill *spill)
{
    spool_fini(&spill->spool);
}

bool spill_has_room(struct spill *spill)
{
    /* a step of the harvest: all URLs, and the pages that led to them, of the longest kind */
    return spool_has_room(&spill->spool,
                          HARVEST_LINKS_PER_STEP * (2 * (size_t)URL_BYTES_MAX + 2 * RECORD_BYTES_MAX));
}

void spill_push(struct spill *spill, const struct record_url *url, struct slice via)
{
    char buffer[2 * (RECORD_BYTES_MAX + URL_BYTES_MAX)];
    _Static_assert(sizeof buffer <= SPOOL_RECORD_BYTES_MAX - 8, "a URL and its page are one record");
    size_t len = record_write_via(buffer, via);
    len += record_write_url(buffer + len, url);
    spool_push(&spill->spool, (struct slice){buffer, len});
}

bool spill_front(struct spill *spill, struct record_url *url, struct slice *via)
{
    struct record record;
    struct slice rest;
    if (!spool_front(&spill->spool, &rest))
        return false;
    bool has_via = record_read(&rest, &record) && record.type == RECORD_VIA;
    *via = record.via;
    bool has_url = record_read(&rest, &record) && record.type == RECORD_URL;
    *url = record.url;
    assert(has_via && has_url);
    return has_via && has_url;
}

void spill_pop(struct spill *spill)
{
    spool_pop(&spill->spool);
}
