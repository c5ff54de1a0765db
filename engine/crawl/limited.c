#include "engine/crawl/limited.h"

#include <string.h>

const char *limited_name(enum limited_by by)
{
    static const char *const names[LIMITED_COUNT] = {
#define LIMITED_NAME(name, word) [LIMITED_##name] = #word,
        LIMITED_REASONS(LIMITED_NAME)
#undef LIMITED_NAME
    };
    return names[by];
}

void limited_turn(struct limited *limited, uint64_t now_ns)
{
    if (limited->turn_ns)
        limited->turns_ns[limited->by] += now_ns - limited->turn_ns;
    limited->turn_ns = now_ns;
}

/* `idle_ns` of the time went by without work: to the reasons, by what the turns said. Where they named none, the
 * processor was busy with somebody else's work: that is the processor, too. */
static void divide(const uint64_t turns_ns[LIMITED_COUNT], uint64_t idle_ns, uint64_t shares[LIMITED_COUNT])
{
    uint64_t waited_ns = 0;
    for (int by = LIMITED_WORK + 1; by < LIMITED_COUNT; by++)
        waited_ns += turns_ns[by];
    for (int by = LIMITED_WORK + 1; by < LIMITED_COUNT && waited_ns; by++) {
        shares[by] = (uint64_t)((double)idle_ns * (double)turns_ns[by] / (double)waited_ns);
        shares[LIMITED_WORK] -= shares[by];
    }
}

bool limited_settle(struct limited *limited, uint64_t now_ns, uint64_t cpu_ns, uint64_t shares[LIMITED_COUNT])
{
    bool has_shares = limited->settled_ns != 0;
    uint64_t passed_ns = now_ns - limited->settled_ns, worked_ns = cpu_ns - limited->settled_cpu;
    memset(shares, 0, LIMITED_COUNT * sizeof shares[0]);
    if (has_shares) {
        shares[LIMITED_WORK] = passed_ns;
        divide(limited->turns_ns, passed_ns > worked_ns ? passed_ns - worked_ns : 0, shares);
    }
    memset(limited->turns_ns, 0, sizeof limited->turns_ns);
    limited->settled_ns = now_ns;
    limited->settled_cpu = cpu_ns;
    return has_shares;
}
