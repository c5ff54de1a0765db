/* The way of a URL into the frontier: check for room, then push it to its host. */
#include <assert.h>

#include "engine/frontier/frontier_parts.h"

/* With fewer free chunks, one batch of URLs might exhaust the memory. */
enum { CHUNKS_AMPLE = 64 };

/* The first URLs of each host are not counted against its domain, so that a crawl of many hosts with few URLs
 * each does not touch a domain's counters for every URL. The limit on hosts bounds what is not counted. */
enum { URLS_UNCOUNTED = 64 };

uint64_t frontier_hash(const struct frontier_loop *loop, const struct url *url)
{
    return hosts_hash(&loop->frontier->hosts, url);
}

void frontier_prefetch(const struct frontier_loop *loop, uint64_t hash)
{
    map_prefetch(&loop->frontier->hosts.map, hash);
}

struct host *frontier_host(struct frontier_loop *loop, const struct url *url, uint64_t hash)
{
    bool is_new = false;
    struct host *host = hosts_find(&loop->frontier->hosts, url, hash);
    if (!host)
        host = hosts_make(&loop->hosts, url, hash, &is_new);
    if (is_new) {
        frontier_gauge(loop, HOST_IDLE, 1);
        frontier_greet(loop, host);
        if (!inbox_park(&host->incoming))
            frontier_send_home(loop, host, HOST_ARRIVING); /* another loop pushed to it in the meantime */
    }
    return host;
}

static struct domain_counts *counts_at(const struct frontier_loop *loop, uint32_t domain)
{
    return &loop->frontier->hosts.domains.counts[domain];
}

static bool is_over(uint64_t count, uint64_t max)
{
    return max && count >= max;
}

/* Room for a URL of a host that is known. */
static enum fetch_outcome room_at(const struct frontier_loop *loop, const struct host *host)
{
    const struct limits_tuning_live *limits = &loop->tuning->live.limits;
    uint32_t queued = lf_load(&host->queued, relaxed);
    if (is_over((uint64_t)queued + lf_load(&host->spilled, relaxed), limits->urls_per_host_max))
        return FETCH_HOST_FULL;
    if (queued < URLS_UNCOUNTED)
        return FETCH_DONE;
    bool is_full =
        is_over(lf_load(&counts_at(loop, host->domain)->urls, relaxed), limits->urls_per_domain_max);
    return is_full ? FETCH_DOMAIN_FULL : FETCH_DONE;
}

/* Room for another host. */
static enum fetch_outcome room_for_host(struct frontier_loop *loop, const struct url *url, unsigned ahead)
{
    const struct limits_tuning_live *limits = &loop->tuning->live.limits;
    const struct hosts *hosts = &loop->frontier->hosts;
    if (!hosts_reserve(&loop->hosts, ahead + 1))
        return FETCH_HOSTS_FULL;
    if (!limits->hosts_per_domain_max && !limits->urls_per_domain_max)
        return FETCH_DONE;
    uint32_t domain = domains_place(&hosts->domains, &hosts->hash_key, url_host(url));
    const struct domain_counts *counts = counts_at(loop, domain);
    bool is_full = is_over(lf_load(&counts->hosts, relaxed) + ahead, limits->hosts_per_domain_max) ||
                   is_over(lf_load(&counts->urls, relaxed), limits->urls_per_domain_max);
    return is_full ? FETCH_DOMAIN_FULL : FETCH_DONE;
}

enum fetch_outcome frontier_room(struct frontier_loop *loop, struct frontier_place *place, unsigned ahead)
{
    if (!place->host)
        place->host = hosts_find(&loop->frontier->hosts, place->url, place->hash);
    return place->host ? room_at(loop, place->host) : room_for_host(loop, place->url, ahead);
}

bool frontier_is_roomy(const struct frontier_loop *loop)
{
    return pool_has_chunks(&loop->urls, loop->frontier->urls.chunk_count / 4);
}

bool frontier_is_ample(const struct frontier_loop *loop)
{
    return pool_has_chunks(&loop->urls, CHUNKS_AMPLE);
}

/* fetch_add gives every change of `queued` a distinct value, so the domain is counted up and down equally
 * often. */
static uint32_t count_in(struct frontier_loop *loop, struct host *host)
{
    uint32_t queued = lf_fetch_add(&host->queued, 1, relaxed);
    if (queued >= URLS_UNCOUNTED)
        lf_fetch_add(&counts_at(loop, host->domain)->urls, 1, relaxed);
    return queued;
}

static void count_out(struct frontier_loop *loop, struct host *host)
{
    if (lf_fetch_sub(&host->queued, 1, relaxed) > URLS_UNCOUNTED)
        lf_fetch_sub(&counts_at(loop, host->domain)->urls, 1, relaxed);
}

bool frontier_push(struct frontier_loop *loop, struct frontier_place *place, struct host_item *item)
{
    for (;; place->host = NULL) {
        if (!place->host)
            place->host = frontier_host(loop, place->url, place->hash);
        struct host *host = place->host;
        bool was_parked;
        if (!host)
            return false;
        uint32_t queued = count_in(loop, host); /* before the push: another loop may finish the URL at once */
        /* Hand-over of the item; of the host too, if nobody had it. */
        if (inbox_try_push(&host->incoming, &item->node, &was_parked, &loop->host_inbox_losses)) {
            if (was_parked)
                frontier_send_home(loop, host, HOST_ARRIVING);
            else if (queued >= lf_load(&loop->frontier->share, relaxed))
                frontier_nudge(loop, host, queued);
            return true;
        }
        count_out(loop, host); /* retired since it was found: it must be created again */
    }
}

void frontier_forward(struct frontier_loop *loop, struct host *from, struct host *to, struct host_item *item)
{
    bool was_parked;
    count_in(loop, to);
    count_out(loop, from);
    /* Hand-over of the item; of the host too, if nobody had it. */
    bool pushed = inbox_try_push(&to->incoming, &item->node, &was_parked, &loop->host_inbox_losses);
    assert(pushed);
    if (pushed && was_parked)
        frontier_send_home(loop, to, HOST_ARRIVING);
}

void frontier_done(struct frontier_loop *loop, struct host *host, struct host_item *item)
{
    count_out(loop, host);
    host_item_release(&loop->urls, item);
}
