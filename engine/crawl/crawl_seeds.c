/* The seeds of a crawl. They are read twice: first for the scope, then for the frontier. */
#include <stdio.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/loop.h"
#include "engine/url/canonical.h"
#include "net/ip.h"

struct taking {
    struct crawl *crawl;
    uint64_t private_count; /* seeds known to be on this machine or in a private network */
    char public_host[256];  /* the first seed known to be in neither; empty: none */
};

/* Reading a long list takes minutes, so the tick hook is called meanwhile. False if it stopped the crawl. */
static bool count_seed(struct taking *taking)
{
    if (++taking->crawl->seeds.count % CRAWL_SEEDS_PER_TICK == 0)
        crawl_tick(taking->crawl);
    return lf_load(&taking->crawl->stops, relaxed) == 0;
}

/* The address that a host is, without the brackets of IPv6. */
static bool read_address(struct slice *host, struct ip *ip)
{
    if (host->len > 2 && host->ptr[0] == '[')
        *host = (struct slice){host->ptr + 1, host->len - 2};
    return ip_parse(ip, *host);
}

bool crawl_seeds_are_strange(const struct crawl *crawl, struct slice host)
{
    struct ip ip;
    return !crawl->tuning.fixed.crawl.contact_url[0] && read_address(&host, &ip) && !ip_is_loopback(&ip);
}

/* Before its look-up a name tells nothing, except for the special names of RFC 6761. */
static void judge_host(struct taking *taking, struct slice host)
{
    struct ip ip;
    struct slice local = SLICE("localhost");
    bool ends_local = host.len >= local.len && slice_equals(slice_skip(host, host.len - local.len), local);
    bool is_local_name = ends_local && (host.len == local.len || host.ptr[host.len - local.len - 1] == '.');
    bool is_address = read_address(&host, &ip);
    taking->private_count += is_local_name || (is_address && ip_is_private(&ip));
    if (is_address && !ip_is_loopback(&ip) && !taking->public_host[0])
        snprintf(taking->public_host, sizeof taking->public_host, "%.*s", (int)host.len, host.ptr);
}

static bool scope_seed(void *owner, const struct url *url)
{
    struct taking *taking = owner;
    judge_host(taking, url_host(url));
    return count_seed(taking) && scope_add_seed(taking->crawl->scope, url);
}

bool crawl_name_source(struct crawl *crawl, const struct url *url, uint32_t *number)
{
    char text[URL_BYTES_MAX];
    struct url seed;
    *number = SOURCES_NONE;
    if (!crawl->tuning.fixed.log.source)
        return true;
    url_init(&seed, text, sizeof text);
    if (url_parse(&seed, NULL, url_text(url)) != URL_OK)
        return true;
    canonical_apply(&seed, crawl->canonical);
    *number = sources_add(&crawl->sources, url_page(&seed));
    return *number != SOURCES_NONE;
}

/* The seeds of a resumed crawl are queued or done: only their numbers are needed. */
static bool name_seed(void *owner, const struct url *url)
{
    struct taking *taking = owner;
    uint32_t number;
    return crawl_name_source(taking->crawl, url, &number) && count_seed(taking);
}

/* Seeds take the same way as links: through the harvest of loop 0, before that loop runs. */
static bool queue_seed(void *owner, const struct url *url)
{
    struct taking *taking = owner;
    struct harvest_source source = {.url = url, .base = url};
    struct harvest *harvest = &taking->crawl->loops[0].harvest;
    if (!crawl_name_source(taking->crawl, url, &source.source))
        return false;
    if (!crawl_make_room(taking->crawl))
        return false;
    harvest_link(harvest, &source, url_text(url), HOST_ITEM_SEED);
    return count_seed(taking);
}

static bool each_seed(struct taking *taking, bool (*take)(void *owner, const struct url *url),
                      struct tuning_error *error)
{
    struct crawl *crawl = taking->crawl;
    struct seeds_sink sink = {.take = take, .owner = taking};
    crawl->seeds.count = 0;
    for (unsigned i = 0; i < crawl->options->seed_count; i++)
        if (!seeds_take_argument(&sink, crawl->options->seeds[i], error))
            return lf_load(&crawl->stops, relaxed) ? crawl_refuse(error, "stopped while the seeds were read")
                                                   : false;
    return sink.count || crawl_refuse(error, "no seeds: nothing to start from");
}

/* Refuses seeds that the crawl may not visit before it begins, as far as that is known by then. */
static bool check_hosts(struct crawl *crawl, const struct taking *taking, struct tuning_error *error)
{
    const struct crawl_tuning_fixed *tuning = &crawl->tuning.fixed.crawl;
    bool good = true;
    if (tuning->contact_url[0] == '\0' && taking->public_host[0])
        good = crawl_refuse(
            error,
            "crawl.contact-url is not set, and without it only this machine is visited, not %s: put "
            "the URL of a page that tells who crawls into a tuning file, '[crawl]' and below it "
            "'contact-url = https://...'",
            taking->public_host);
    else if (tuning->contact_url[0] && !tuning->private_addresses &&
             taking->private_count == crawl->seeds.count)
        good = crawl_refuse(
            error, "all seeds are on this machine or in a private network, which a crawl with a "
                   "crawl.contact-url leaves alone: set crawl.private-addresses = yes to visit them");
    if (!good)
        crawl->end.why = CRAWL_END_BAD_TUNING;
    return good;
}

bool crawl_scope_seeds(struct crawl *crawl, struct tuning_error *error)
{
    struct taking taking = {.crawl = crawl};
    return each_seed(&taking, scope_seed, error) && check_hosts(crawl, &taking, error);
}

/* Nothing else has been counted yet. */
static void count_queued(struct crawl *crawl)
{
    const struct stats *stats = &crawl->loops[0].stats;
    crawl->seeds.queued = stats_get(&stats->urls_in);
    crawl->seeds.out_of_scope = stats_get(&stats->links_out_of_scope);
    crawl->seeds.lost = stats_get(&stats->links_lost);
    for (int rule = 0; rule < SCOPE_RULES; rule++)
        crawl->seeds.scope[rule] = stats_get(&stats->scope[rule]);
}

bool crawl_queue_seeds(struct crawl *crawl, struct tuning_error *error)
{
    struct taking taking = {.crawl = crawl};
    if (!each_seed(&taking, queue_seed, error))
        return false;
    harvest_flush(&crawl->loops[0].harvest);
    count_queued(crawl);
    return true;
}

bool crawl_name_seeds(struct crawl *crawl, struct tuning_error *error)
{
    struct taking taking = {.crawl = crawl};
    return each_seed(&taking, name_seed, error);
}
