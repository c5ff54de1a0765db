/* What was known of hosts and addresses when the crawl was stopped. Before the loops run. */
#include "engine/frontier/frontier_parts.h"

void frontier_restore_host(struct frontier_loop *loop, const struct url *url,
                           const struct frontier_past *past)
{
    uint64_t hash = frontier_hash(loop, url);
    struct hosts_past used = {
        .pages = past->pages, .bytes = past->bytes, .spent_ns = past->spent_ns, .dead_why = past->dead_why};
    hosts_remember(&loop->hosts, hash, &used);
    /* It is made from what is remembered. Where there is no room for it, its rest is over before there is. */
    struct host *host = past->dead_why ? NULL : frontier_host(loop, url, hash);
    if (!host)
        return;
    host->next_ns = past->next_ns;
    host->failures = past->failures;
}

void frontier_restore_address(struct frontier_loop *loop, const struct ip *ip, uint64_t next_ns)
{
    struct ip unit = address_unit(ip);
    struct address *address = addresses_acquire(&loop->addresses, &unit);
    if (!address)
        return;
    for (unsigned i = 0; i < address->tokens; i++)
        if (address->token_next_ns[i] < next_ns)
            address->token_next_ns[i] = next_ns;
    addresses_release(&loop->frontier->addresses, address->id);
}
