#include "engine/frontier/domains.h"

#include "engine/url/domain.h"
#include "lockfree/power.h"

/* A minimum, so that in small crawls hardly any domains share counters. */
enum { DOMAINS_MIN = 4096 };

static size_t count_for(uint32_t hosts_max)
{
    return power_of_two(hosts_max > DOMAINS_MIN ? hosts_max : DOMAINS_MIN);
}

size_t domains_bytes(uint32_t hosts_max)
{
    return count_for(hosts_max) * sizeof(struct domain_counts);
}

void domains_init(struct domains *domains, struct arena *arena, uint32_t hosts_max)
{
    domains->counts = arena_take(arena, domains_bytes(hosts_max), LF_CACHE_LINE);
    domains->mask = (uint32_t)count_for(hosts_max) - 1;
}

uint32_t domains_place(const struct domains *domains, const struct hash_key *key, struct slice host_name)
{
    struct slice domain = domain_registrable(host_name);
    return (uint32_t)hash_keyed(key, domain.ptr, domain.len) & domains->mask;
}
