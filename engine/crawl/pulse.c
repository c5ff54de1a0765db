#include "engine/crawl/pulse.h"

#include <stdio.h>

#include "engine/crawl/crawl.h"

static bool is_loop_alive(struct pulse *pulse, const struct crawl *crawl, unsigned index, uint64_t now_ns)
{
    uint64_t turns = status_turns(crawl, index);
    if (turns != pulse->loops[index].turns || !pulse->loops[index].seen_ns) {
        pulse->loops[index].turns = turns;
        pulse->loops[index].seen_ns = now_ns;
    }
    return now_ns - pulse->loops[index].seen_ns < PULSE_LOOP_NS;
}

bool pulse_has_begun(const struct crawl *crawl)
{
    for (unsigned i = 0; crawl->begin_ns && i < crawl->loop_count; i++)
        if (status_turns(crawl, i) == 0)
            return false;
    return crawl->begin_ns != 0;
}

bool pulse_look(struct pulse *pulse, const struct crawl *crawl, uint64_t now_ns, char why[PULSE_WHY_BYTES])
{
    bool is_alive = true;
    if (gate_phase(&crawl->gate) == CRAWL_ENDING)
        return true;
    for (unsigned i = 0; i < crawl->loop_count; i++)
        if (!is_loop_alive(pulse, crawl, i, now_ns)) {
            snprintf(why, PULSE_WHY_BYTES, "loop %u has not turned for 5 s", i);
            is_alive = false;
        }
    uint64_t kept_ns = lf_load(&crawl->kept_ns, relaxed);
    if (now_ns > kept_ns && now_ns - kept_ns >= PULSE_HOUSEKEEPER_NS) {
        snprintf(why, PULSE_WHY_BYTES, "the housekeeper has waited for the disk for %.0f s",
                 (double)(now_ns - kept_ns) / 1e9);
        is_alive = false;
    }
    return is_alive;
}
