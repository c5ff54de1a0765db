#include "engine/crawl/housekeeper.h"

#include <assert.h>

void housekeeper_init(struct housekeeper *housekeeper, void *owner)
{
    *housekeeper = (struct housekeeper){.owner = owner};
}

void housekeeper_add(struct housekeeper *housekeeper, housekeeper_job *run)
{
    assert(housekeeper->count < HOUSEKEEPER_JOBS_MAX);
    housekeeper->jobs[housekeeper->count++].run = run;
}

uint64_t housekeeper_turn(struct housekeeper *housekeeper, uint64_t now_ns)
{
    uint64_t next_ns = UINT64_MAX;
    for (unsigned i = 0; i < housekeeper->count; i++) {
        if (housekeeper->jobs[i].due_ns <= now_ns) {
            uint64_t wait_ns = housekeeper->jobs[i].run(housekeeper->owner, now_ns);
            housekeeper->jobs[i].due_ns = wait_ns < UINT64_MAX - now_ns ? now_ns + wait_ns : UINT64_MAX;
        }
        if (housekeeper->jobs[i].due_ns < next_ns)
            next_ns = housekeeper->jobs[i].due_ns;
    }
    return next_ns > now_ns ? next_ns - now_ns : 0;
}
