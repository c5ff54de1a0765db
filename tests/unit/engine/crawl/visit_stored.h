/* Visits whose pages go to a store, without compression, and what is in its file afterwards. */
#pragma once

#include "tests/unit/engine/crawl/visit_routes.h"

static inline void stored_set_up(const struct route *table, enum tuning_store kind)
{
    routes_set_up(table);
    frame.tuning.fixed.store.kind = kind;
    frame.tuning.fixed.store.compress = TUNING_COMPRESS_NONE;
    frame.tuning.fixed.store.buffer_bytes = 4 << 20;
    frame.tuning.fixed.net.body_bytes_max = 1 << 20;
}

/* Visits "/1". Returns the text of the store's file, for the caller to free; NULL: there is none. */
static inline char *stored_run(void)
{
    routes_start();
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK(!store_has_work(&frame.store));
    return frame.store.serial ? frame_warc(&frame) : NULL;
}

/* How often the text has the word. */
static inline unsigned stored_count(const char *text, const char *word)
{
    unsigned times = 0;
    for (const char *at = text; at && (at = strstr(at, word)); at++)
        times++;
    return times;
}
