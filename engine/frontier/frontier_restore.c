/* What was known of hosts and addresses when the crawl was stopped. Before the loops run. No records are made: there may be
 * more hosts than records, and most of what is restored has no URL that waits. Whoever makes a record later finds it. */
#include "engine/frontier/frontier_parts.h"

bool frontier_restore_host(struct frontier_loop *loop, const struct url *url,
                           const struct frontier_past *past)
{
    uint64_t hash = frontier_hash(loop, url);
    struct hosts_past used = {
        .pages = past->pages, .bytes = past->bytes, .spent_ns = past->spent_ns, .dead_why = past->dead_why};
    hosts_remember(&loop->hosts, hash, &used);
    if (past->dead_why || (!past->next_ns && !past->failures))
        return true;
    return rests_put(&loop->frontier->hosts.rests, hash,
                     (struct rest){.next_ns = past->next_ns, .failures = past->failures});
}

bool frontier_restore_address(struct frontier_loop *loop, const struct ip *ip, uint64_t next_ns)
{
    struct ip unit = address_unit(ip);
    return addresses_owe(&loop->frontier->addresses, &unit, next_ns);
}
