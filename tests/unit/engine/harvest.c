/* Links in, items in the hosts' queues out; what is left out is counted under its reason. */
#include "engine/harvest.h"

#include <stdlib.h>

#include "engine/canonical.h"
#include "engine/loop.h"
#include "tests/support/check.h"

static struct crawl crawl;
static struct loop *loop;
static char base_text[] = "http://a.it/dir/page";
static struct url base;

static void resolve(void *owner, struct host *host)
{
    (void)owner;
    (void)host;
}

static bool abandon(void *owner, struct host *host)
{
    (void)owner;
    (void)host;
    return true;
}

static void wake(void *owner, unsigned index)
{
    (void)owner;
    (void)index;
}

static void set_up(void)
{
    tuning_init(&crawl.tuning);
    crawl.tuning.scope_mode = TUNING_SCOPE_ANY;
    crawl.tuning.sieve_bytes = 1 << 20;
    crawl.tuning.frontier_bytes = 1 << 20;
    crawl.tuning.hosts_max = 16;
}

static void begin(void)
{
    struct tuning_error error;
    struct frontier_loop_options options = {.resolve = resolve, .abandon = abandon, .wake = wake};
    loop = aligned_alloc(128, sizeof *loop);
    memset(loop, 0, sizeof *loop);
    loop->crawl = &crawl;
    loop->tuning = &crawl.tuning;
    crawl.canonical = CANONICAL_FRAGMENT;
    crawl.scope = scope_create(&crawl.tuning, &error);
    CHECK(crawl.scope);
    CHECK_INT(frontier_init(&crawl.frontier, &crawl.tuning), 0);
    CHECK_INT(frontier_loop_init(&loop->frontier, &crawl.frontier, &options), 0);
    CHECK_INT(sieve_init(&crawl.sieve, &crawl.tuning), 0);
    sieve_loop_init(&loop->sieve, &crawl.sieve);
    url_open(&base, slice_of(base_text));
    scope_add_seed(crawl.scope, &base);
    CHECK(harvest_init(&loop->harvest, crawl.scope, 100));
}

static void finish(void)
{
    harvest_fini(&loop->harvest);
    sieve_loop_fini(&loop->sieve);
    sieve_fini(&crawl.sieve);
    frontier_loop_fini(&loop->frontier);
    frontier_fini(&crawl.frontier);
    scope_destroy(crawl.scope);
    free(loop);
}

static struct harvest_source source(void)
{
    return (struct harvest_source){.url = &base, .base = &base, .depth = 3};
}

static void take(const char *text, enum host_item_kind kind)
{
    struct harvest_source from = source();
    harvest_link(loop, &from, slice_of(text), kind);
    harvest_flush(loop);
}

static struct host *host_of(const char *text)
{
    char buffer[256];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK_INT(url_parse(&url, NULL, slice_of(text)), URL_OK);
    return frontier_host(&loop->frontier, &url, frontier_hash(&url));
}

static struct host_item *pop(const char *host)
{
    return host_pop(host_of(host), false);
}

TEST(a_link_reaches_its_host_once)
{
    set_up();
    begin();
    take("../x?y#z", HOST_ITEM_LINK);
    take("http://A.it:80/x?y", HOST_ITEM_LINK);
    take("/x?y#other", HOST_ITEM_REDIRECT);
    struct host_item *item = pop("http://a.it/");
    CHECK(item);
    CHECK_SLICE(host_item_path(item), "/x?y");
    CHECK_INT(item->kind, HOST_ITEM_LINK);
    CHECK_INT(item->depth, 4);
    CHECK(!pop("http://a.it/"));
    CHECK_INT(stats_get(&loop->stats.urls_in), 1);
    CHECK_INT(stats_get(&loop->stats.links_known), 2);
    finish();
}

TEST(a_redirect_is_no_deeper)
{
    set_up();
    begin();
    struct harvest_source from = source();
    from.redirects = 2;
    harvest_link(loop, &from, SLICE("https://b.it/"), HOST_ITEM_REDIRECT);
    harvest_flush(loop);
    struct host_item *item = pop("https://b.it/");
    CHECK_INT(item->depth, 3);
    CHECK_INT(item->redirects, 2);
    CHECK_INT(item->kind, HOST_ITEM_REDIRECT);
    finish();
}

TEST(what_is_no_url_is_counted)
{
    set_up();
    begin();
    take("mailto:me@a.it", HOST_ITEM_LINK);
    take("http://[::1/", HOST_ITEM_LINK);
    take("javascript:void(0)", HOST_ITEM_LINK);
    CHECK_INT(stats_get(&loop->stats.links_bad), 3);
    CHECK_INT(stats_get(&loop->stats.urls_in), 0);
    finish();
}

TEST(the_scope_decides)
{
    set_up();
    crawl.tuning.scope_mode = TUNING_SCOPE_HOSTS;
    snprintf(crawl.tuning.scope_exclude, sizeof crawl.tuning.scope_exclude, "/private/");
    begin();
    take("http://b.it/", HOST_ITEM_LINK);
    take("/private/x", HOST_ITEM_LINK);
    take("/img.png", HOST_ITEM_EMBED);
    take("/public", HOST_ITEM_LINK);
    CHECK_INT(stats_get(&loop->stats.links_out_of_scope), 3);
    CHECK_INT(stats_get(&loop->stats.scope[SCOPE_EXCLUDE]), 1);
    CHECK_INT(stats_get(&loop->stats.scope[SCOPE_EMBED]), 1);
    CHECK_INT(stats_get(&loop->stats.urls_in), 1);
    CHECK(pop("http://a.it/") && !pop("http://a.it/"));
    finish();
}

TEST(links_of_a_page)
{
    set_up();
    begin();
    struct harvest_source from = source();
    struct links *links = &loop->harvest.links;
    static const char *const texts[] = {"/1", "/2", "/3", "/4", "/5"};
    for (int i = 0; i < 5; i++)
        links->found[links->count++] =
            (struct link){.url = slice_of(texts[i]), .flags = i == 1 ? LINK_NOFOLLOW : 0};
    links->dropped = 2;
    harvest_links(loop, &from);
    CHECK_INT(stats_get(&loop->stats.links), 7);
    CHECK_INT(stats_get(&loop->stats.links_nofollow), 1);
    CHECK_INT(stats_get(&loop->stats.urls_in), 4);
    CHECK_INT(stats_get(&loop->stats.links_lost), 2); /* those that found no place */
    finish();
}

TEST(more_than_a_batch_of_the_longest)
{
    static char text[2000];
    set_up();
    begin();
    struct harvest_source from = source();
    for (int i = 0; i < 3 * SIEVE_BATCH_MAX; i++) {
        memset(text, 'x', sizeof text - 1);
        text[0] = '/';
        snprintf(text + 1, 12, "%010d", i);
        text[11] = 'x';
        harvest_link(loop, &from, slice_of(text), HOST_ITEM_LINK);
    }
    harvest_flush(loop);
    CHECK_INT(stats_get(&loop->stats.urls_in), 3 * SIEVE_BATCH_MAX);
    for (int i = 0; i < 3 * SIEVE_BATCH_MAX; i++) {
        struct host_item *item = pop("http://a.it/");
        CHECK(item && item->len == sizeof text - 1);
        CHECK_INT(strtol(item->path + 1, NULL, 10), i);
    }
    finish();
}

TEST(no_room_is_counted_under_its_name)
{
    char text[64];
    set_up();
    crawl.tuning.sieve_bytes = 4096;
    begin();
    for (int i = 0; i < 30; i++) {
        snprintf(text, sizeof text, "http://h%d.it/", i);
        take(text, HOST_ITEM_LINK);
    }
    CHECK_INT(stats_get(&loop->stats.outcomes[FETCH_FRONTIER_FULL]), 14); /* 16 hosts */
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "http://h0.it/%d", i);
        take(text, HOST_ITEM_LINK);
    }
    uint64_t full = stats_get(&loop->stats.outcomes[FETCH_SIEVE_FULL]);
    CHECK(full > 400 && full < 1000);
    CHECK_INT(stats_get(&loop->stats.links_lost), 14 + full);
    CHECK_INT(stats_get(&loop->stats.urls_in), 30 - 14 + 1000 - full);
    finish();
}
