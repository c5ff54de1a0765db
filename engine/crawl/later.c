#include "engine/crawl/later.h"

#include "engine/crawl/limits.h"

int later_init(struct later *later, const struct disk *disk, const char *prefix, struct mill_loop *mill)
{
    later->mill = mill;
    return spill_init(&later->urls, disk, prefix);
}

void later_fini(struct later *later)
{
    spill_fini(&later->urls);
}

bool later_has_room(struct later *later)
{
    return spill_has_room(&later->urls) && mill_has_room(later->mill, HARVEST_LINKS_PER_STEP);
}

void later_push(struct later *later, const struct record_url *url, struct slice via)
{
    spill_push(&later->urls, url, via);
    mill_push(later->mill, url->signature);
}

bool later_next(struct later *later, struct later_answer *answer)
{
    return later_count(later) && spill_front(&later->urls, &answer->url, &answer->via) &&
           mill_next(later->mill, &answer->is_new);
}

void later_pop(struct later *later)
{
    spill_pop(&later->urls);
}
