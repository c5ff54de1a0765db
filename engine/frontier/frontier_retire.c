/* Retires idle hosts and addresses without hosts to make room for others. Each loop checks a few records per
 * turn and retires those of its own that owe no rest. No record is checked while the tables have room. */
#include "engine/frontier/frontier_parts.h"
#include "lockfree/clock.h"

/* One cache miss each, a few microseconds together. A loop checks 64,000 records per second. */
enum { RECORDS_PER_LOOK = 64 };
#define LOOK_EVERY_NS CLOCK_NS_PER_MS

static bool is_worth_keeping(const struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    bool is_owed_rest = !host->is_dead && host->next_ns > now_ns;
    bool has_rules = host->robots && host->robots_until_ns > now_ns;
    /* An errand refers to a host that awaits its robots.txt by id. */
    return is_owed_rest || host->awaits_robots ||
           (has_rules && !host->is_dead && !hosts_is_cramped(&loop->frontier->hosts));
}

/* Called when the host is retired and its record not yet released. */
static void leave_address(struct frontier_loop *loop, struct host *host)
{
    frontier_gauge(loop, HOST_IDLE, -1);
    if (host->counted)
        frontier_discount_host(loop, host);
    if (host->address)
        addresses_release(&loop->frontier->addresses, host->address);
}

static void retire_if_idle(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    if (lf_load(&host->home, relaxed) != loop->index || !inbox_unpark(&host->incoming))
        return;
    /* The host is idle and ours now; check again that this loop is its home, which may have changed
     * before. */
    if (lf_load(&host->home, relaxed) != loop->index)
        frontier_send_home(loop, host, HOST_ARRIVING);
    else if (is_worth_keeping(loop, host, now_ns) || !hosts_retire(&loop->hosts, host))
        frontier_place_host(loop, host, now_ns);
    else
        leave_address(loop, host);
}

static void retire_addresses(struct frontier_loop *loop, uint64_t now_ns)
{
    for (unsigned i = 0; i < RECORDS_PER_LOOK; i++) {
        struct address *address = addresses_next_unused(&loop->addresses, loop->index);
        if (address && address_is_at_rest(address, now_ns))
            addresses_retire(&loop->addresses, address);
    }
}

void frontier_retire_some(struct frontier_loop *loop, uint64_t now_ns)
{
    const struct hosts *hosts = &loop->frontier->hosts;
    if (now_ns < loop->retire_next_ns)
        return;
    loop->retire_next_ns = now_ns + LOOK_EVERY_NS;
    for (unsigned i = 0; i < RECORDS_PER_LOOK && hosts_is_crowded(hosts); i++)
        retire_if_idle(loop, hosts_next(&loop->hosts), now_ns);
    if (addresses_is_crowded(&loop->frontier->addresses))
        retire_addresses(loop, now_ns);
}
