/* Links in, items in the hosts' queues out; what is left out is counted under its reason. */
#include "engine/crawl/limits.h"
#include "lockfree/clock.h"
#include "tests/support/pace.h"
#include "tests/unit/engine/crawl/harvest_frame.h"

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
    CHECK_INT(stats_get(&stats.urls_in), 1);
    CHECK_INT(stats_get(&stats.links_known), 2);
    finish();
}

TEST(a_redirect_is_no_deeper)
{
    set_up();
    begin();
    struct harvest_source from = source();
    from.redirects = 2;
    harvest_link(&harvest, &from, SLICE("https://b.it/"), HOST_ITEM_REDIRECT);
    harvest_flush(&harvest);
    struct host_item *item = pop("https://b.it/");
    CHECK_INT(item->depth, 3);
    CHECK_INT(item->redirects, 2);
    CHECK_INT(item->kind, HOST_ITEM_REDIRECT);
    finish();
}

static void check_hops(const struct host_item *item, const char *expected)
{
    char text[HOPS_TEXT_BYTES_MAX];
    struct slice written = {text, hops_write(text, host_item_hops(item))};
    CHECK_SLICE(written, expected);
}

TEST(the_way_is_kept_and_only_links_are_deeper)
{
    set_up();
    tuning.fixed.scope.embeds = TUNING_EMBEDS_YES;
    begin();
    struct harvest_source from = source();
    from.hops = hops_add(hops_add(from.hops, 'L'), 'R');
    from.source = 7;
    static const struct {
        const char *url, *hops;
        enum host_item_kind kind;
        unsigned depth;
    } cases[] = {{"/link", "LRL", HOST_ITEM_LINK, 4},
                 {"/embed", "LRE", HOST_ITEM_EMBED, 3},
                 {"/redirect", "LRR", HOST_ITEM_REDIRECT, 3},
                 {"/map", "LRM", HOST_ITEM_SITEMAP, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        harvest_link(&harvest, &from, slice_of(cases[i].url), cases[i].kind);
        harvest_flush(&harvest);
        struct host_item *item = pop("http://a.it/");
        CHECK_INT(item->depth, cases[i].depth);
        CHECK_INT(item->source, 7);
        check_hops(item, cases[i].hops);
    }
    from.is_sitemap = true;
    harvest_link(&harvest, &from, SLICE("/entry"), HOST_ITEM_LINK);
    harvest_flush(&harvest);
    struct host_item *item = pop("http://a.it/");
    CHECK_INT(item->depth, 3);
    CHECK_INT(item->kind, HOST_ITEM_LINK);
    check_hops(item, "LRM");
    finish();
}

TEST(the_page_that_led_here_is_kept)
{
    set_up();
    begin();
    take("/same", HOST_ITEM_LINK);
    take("http://b.it/other", HOST_ITEM_LINK);
    CHECK_SLICE(host_item_via(pop("http://a.it/")), "/dir/page");
    CHECK_SLICE(host_item_via(pop("http://b.it/")), "http://a.it/dir/page");
    tuning.fixed.log.via = false;
    take("/without", HOST_ITEM_LINK);
    struct host_item *item = pop("http://a.it/");
    CHECK_SLICE(host_item_path(item), "/without");
    CHECK_INT(host_item_via(item).len, 0);
    finish();
}

TEST(requisites_of_a_page_are_fetched_anywhere_and_lead_nowhere)
{
    set_up();
    tuning.fixed.scope.mode = TUNING_SCOPE_HOSTS;
    tuning.fixed.scope.embeds = TUNING_EMBEDS_ANYWHERE;
    tuning.fixed.scope.embed_hops_max = 2;
    begin();
    take("http://cdn.it/style.css", HOST_ITEM_EMBED);
    struct host_item *item = pop("http://cdn.it/");
    CHECK(item && item->is_requisite);
    CHECK_INT(item->embed_hops, 1);
    struct harvest_source from = source();
    from.embed_hops = 1;
    from.is_requisite = true;
    struct links *links = &harvest.links;
    links->found[links->count++] = (struct link){.url = SLICE("http://a.it/page"), .kind = LINK_ANCHOR};
    links->found[links->count++] = (struct link){.url = SLICE("http://cdn.it/x.png"), .kind = LINK_IMAGE};
    harvest_links(&harvest, &from, 0, UINT64_MAX);
    CHECK_INT(stats_get(&stats.scope[SCOPE_REQUISITE]), 1);
    CHECK(!pop("http://a.it/"));
    item = pop("http://cdn.it/");
    CHECK_INT(item->embed_hops, 2);
    from.embed_hops = 2;
    harvest_link(&harvest, &from, SLICE("http://cdn.it/moved"), HOST_ITEM_REDIRECT);
    harvest_flush(&harvest);
    CHECK(!pop("http://cdn.it/"));
    finish();
}

TEST(a_frame_from_elsewhere_belongs_to_its_page)
{
    const enum tuning_embeds modes[] = {TUNING_EMBEDS_NO, TUNING_EMBEDS_YES, TUNING_EMBEDS_ANYWHERE};
    for (int i = 0; i < 3; i++) {
        set_up();
        tuning.fixed.scope.mode = TUNING_SCOPE_HOSTS;
        tuning.fixed.scope.embeds = modes[i];
        begin();
        struct harvest_source from = source();
        struct links *links = &harvest.links;
        links->found[links->count++] = (struct link){.url = SLICE("http://ads.it/frame"), .kind = LINK_FRAME};
        links->found[links->count++] = (struct link){.url = SLICE("/frame"), .kind = LINK_FRAME};
        harvest_links(&harvest, &from, 0, UINT64_MAX);
        struct host_item *item = pop("http://ads.it/");
        CHECK((modes[i] == TUNING_EMBEDS_ANYWHERE) == (item && item->is_requisite));
        item = pop("http://a.it/");
        CHECK(item && !item->is_requisite); /* its links are followed */
        finish();
    }
}

TEST(what_is_no_url_is_counted)
{
    set_up();
    begin();
    take("mailto:me@a.it", HOST_ITEM_LINK);
    take("http://[::1/", HOST_ITEM_LINK);
    take("javascript:void(0)", HOST_ITEM_LINK);
    CHECK_INT(stats_get(&stats.links_bad), 3);
    CHECK_INT(stats_get(&stats.urls_in), 0);
    finish();
}

TEST(the_scope_decides)
{
    set_up();
    tuning.fixed.scope.mode = TUNING_SCOPE_HOSTS;
    snprintf(tuning.fixed.scope.exclude, sizeof tuning.fixed.scope.exclude, "/private/");
    begin();
    take("http://b.it/", HOST_ITEM_LINK);
    take("/private/x", HOST_ITEM_LINK);
    take("/img.png", HOST_ITEM_EMBED);
    take("/public", HOST_ITEM_LINK);
    CHECK_INT(stats_get(&stats.links_out_of_scope), 3);
    CHECK_INT(stats_get(&stats.scope[SCOPE_EXCLUDE]), 1);
    CHECK_INT(stats_get(&stats.scope[SCOPE_EMBED]), 1);
    CHECK_INT(stats_get(&stats.urls_in), 1);
    CHECK(pop("http://a.it/") && !pop("http://a.it/"));
    finish();
}

/* They are told apart from those that the operator wants to be left out. */
TEST(links_that_expressions_take_too_long_for_are_counted)
{
    set_up();
    snprintf(tuning.fixed.scope.exclude, sizeof tuning.fixed.scope.exclude, "(.*/)*calendar/.*\n/private/");
    begin();
    take("/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r.html", HOST_ITEM_LINK);
    take("/private/", HOST_ITEM_LINK);
    take("/public", HOST_ITEM_LINK);
    CHECK_INT(stats_get(&stats.links_undecided), 1);
    CHECK_INT(stats_get(&stats.links_out_of_scope), 2);
    CHECK_INT(stats_get(&stats.scope[SCOPE_EXCLUDE]), 2);
    CHECK_INT(stats_get(&stats.urls_in), 1);
    finish();
}

TEST(links_of_a_page)
{
    set_up();
    begin();
    struct harvest_source from = source();
    struct links *links = &harvest.links;
    static const char *const texts[] = {"/1", "/2", "/3", "/4", "/5"};
    for (int i = 0; i < 5; i++)
        links->found[links->count++] =
            (struct link){.url = slice_of(texts[i]), .flags = i == 1 ? LINK_NOFOLLOW : 0};
    links->dropped = 2;
    for (size_t at = 0; at < harvest.links.count;)
        at = harvest_links(&harvest, &from, at, UINT64_MAX);
    CHECK_INT(stats_get(&stats.links), 7);
    CHECK_INT(stats_get(&stats.links_nofollow), 1);
    CHECK_INT(stats_get(&stats.urls_in), 4);
    CHECK_INT(stats_get(&stats.links_lost), 2); /* those that found no place */
    CHECK_INT(stats_get(&stats.links_cut), 2);
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
        harvest_link(&harvest, &from, slice_of(text), HOST_ITEM_LINK);
    }
    harvest_flush(&harvest);
    CHECK_INT(stats_get(&stats.urls_in), 3 * SIEVE_BATCH_MAX);
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
    tuning.fixed.memory.sieve_bytes = 4096;
    begin();
    for (int i = 0; i < 30; i++) {
        snprintf(text, sizeof text, "http://h%d.it/", i);
        take(text, HOST_ITEM_LINK);
    }
    CHECK_INT(stats_get(&stats.outcomes[FETCH_HOSTS_FULL]), 14); /* 16 hosts */
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "http://h0.it/%d", i);
        take(text, HOST_ITEM_LINK);
    }
    uint64_t full = stats_get(&stats.outcomes[FETCH_SIEVE_FULL]);
    CHECK(full > 400 && full < 1000);
    CHECK_INT(stats_get(&stats.links_lost), 14 + full);
    CHECK_INT(stats_get(&stats.urls_in), 30 - 14 + 1000 - full);
    finish();
}

static uint64_t lost(enum fetch_outcome outcome)
{
    return stats_get(&stats.outcomes[outcome]);
}

TEST(one_domain_cannot_take_the_table_of_hosts)
{
    set_up();
    tuning.fixed.memory.hosts_max = 1000;
    tuning.live.limits.hosts_per_domain_max = 10;
    begin();
    take_numbered("http://h", ".evil.it/", 100);
    take_numbered("http://evil.it:30", "/", 1000);
    CHECK_INT(stats_get(&stats.urls_in), 10);
    CHECK_INT(lost(FETCH_DOMAIN_FULL), 1090);
    take("http://h3.evil.it/another", HOST_ITEM_LINK); /* a host that is known */
    take("http://good.it/", HOST_ITEM_LINK);
    take("http://h99.evil.it/", HOST_ITEM_SEED); /* the operator's own choice */
    CHECK_INT(stats_get(&stats.urls_in), 13);
    finish();
}

/* All links are in one batch: those that are promised room are counted against the domain, too. */
TEST(one_page_cannot_take_the_table_of_hosts)
{
    char text[64];
    set_up();
    tuning.fixed.memory.hosts_max = 1000;
    tuning.live.limits.hosts_per_domain_max = 10;
    begin();
    struct harvest_source from = source();
    for (int i = 0; i < 60; i++) {
        snprintf(text, sizeof text, "http://h%d.evil.it/", i);
        harvest_link(&harvest, &from, slice_of(text), HOST_ITEM_LINK);
    }
    harvest_flush(&harvest);
    CHECK_INT(stats_get(&stats.urls_in), 10);
    finish();
}

TEST(a_url_that_found_no_room_is_not_known)
{
    set_up();
    tuning.live.limits.urls_per_host_max = 100;
    tuning.live.limits.urls_per_domain_max = 50; /* beyond the first 64 of each host */
    begin();
    take_numbered("http://a.it/", "", 110);
    CHECK_INT(lost(FETCH_HOST_FULL), 10);
    take_numbered("http://b.a.it/", "", 90);
    CHECK_INT(lost(FETCH_DOMAIN_FULL), 90 - 64 - (50 - 36));
    uint64_t before = stats_get(&stats.urls_in);
    fetch_all_of("http://a.it/");
    take_numbered("http://a.it/", "", 110);
    take_numbered("http://b.a.it/", "", 90);
    CHECK_INT(stats_get(&stats.urls_in), before + 10 + 12);
    fetch_all_of("http://a.it/");
    fetch_all_of("http://b.a.it/");
    for (uint32_t i = 0; i <= frontier.hosts.domains.mask; i++)
        CHECK_INT(lf_load(&frontier.hosts.domains.counts[i].urls, relaxed), 0);
    finish();
}

/* Only what is new needs room. */
TEST(a_known_url_of_a_full_host_is_known_and_not_lost)
{
    set_up();
    tuning.live.limits.urls_per_host_max = 10;
    begin();
    take_numbered("http://a.it/", "", 10);
    take_numbered("http://a.it/", "", 11);
    CHECK_INT(stats_get(&stats.links_known), 10);
    CHECK_INT(lost(FETCH_HOST_FULL), 1);
    finish();
}

TEST(a_url_that_found_no_memory_is_not_known)
{
    char text[1100];
    int refused = -1;
    set_up();
    begin();
    for (int i = 0; refused < 0; i++) {
        int len = snprintf(text, sizeof text, "http://a.it/%d/", i);
        memset(text + len, 'x', 1000);
        text[len + 1000] = 0;
        take(text, HOST_ITEM_LINK);
        if (lost(FETCH_FRONTIER_FULL))
            refused = i;
    }
    uint64_t before = stats_get(&stats.urls_in);
    fetch_all_of("http://a.it/");
    take(text, HOST_ITEM_LINK);
    CHECK_INT(stats_get(&stats.urls_in), before + 1);
    CHECK_INT(stats_get(&stats.links_known), 0);
    finish();
}

/* Each takes fifty microseconds or more. If their time is up, the loop does something else before 64 of them are done. */
TEST(links_that_are_hard_to_parse_are_handed_over_in_smaller_steps)
{
    enum { COUNT = 64 };
    char text[512] = "http://";
    set_up();
    begin();
    struct harvest_source from = source();
    for (unsigned i = 0; i < 160; i++) {
        unsigned c = 0xac00 + i * 7919 % 11000;
        const char syllable[] = {(char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 63)),
                                 (char)(0x80 | (c & 63))};
        memcpy(text + 7 + sizeof syllable * i, syllable, sizeof syllable);
    }
    for (int i = 0; i < COUNT; i++)
        links_add(&harvest.links, (struct link){.url = slice_of(text), .kind = LINK_ANCHOR});
    size_t at = harvest_links(&harvest, &from, 0, 0);
    CHECK_INT(at, HARVEST_LINKS_PER_LOOK);
    while (at < COUNT)
        at = harvest_links(&harvest, &from, at, 0);
    CHECK_INT(stats_get(&stats.links_bad) + stats_get(&stats.links_out_of_scope), COUNT);
    finish();
}

/* Each takes a millisecond, whatever the expression. */
TEST(links_that_expressions_take_long_for_are_handed_over_one_by_one)
{
    enum { COUNT = 64 };
    set_up();
    snprintf(tuning.fixed.scope.exclude, sizeof tuning.fixed.scope.exclude, "(.*/)*calendar/.*");
    begin();
    struct harvest_source from = source();
    for (int i = 0; i < COUNT; i++)
        links_add(&harvest.links,
                  (struct link){.url = SLICE("/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r.html"), .kind = LINK_ANCHOR});
    CHECK_INT(harvest_links(&harvest, &from, 0, 0), 1);
    uint64_t longest_ns = 0;
    for (size_t at = 1; at < COUNT;) {
        uint64_t begin_ns = pace_thread_ns();
        at = harvest_links(&harvest, &from, at, clock_now_ns() + 3 * CLOCK_NS_PER_MS);
        uint64_t spent_ns = pace_thread_ns() - begin_ns;
        longest_ns = spent_ns > longest_ns ? spent_ns : longest_ns;
    }
    CHECK_INT(stats_get(&stats.links_undecided), COUNT);
    CHECK(longest_ns < pace_bound_ns(5));
    finish();
}
