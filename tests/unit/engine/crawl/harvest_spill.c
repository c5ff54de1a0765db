/* URLs for which there is no memory wait on disk and come back in order; and what the journal is told of URLs. */
#include <unistd.h>

#include "engine/crawl/limits.h"
#include "tests/unit/engine/crawl/harvest_frame.h"
#include "tests/unit/engine/crawl/journal_records.h"

static struct spill on_disk;
static struct journal_loop book;
static char directory[32];

static void begin_with_disk(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-harvest-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    char prefix[48];
    snprintf(prefix, sizeof prefix, "%s/urls", directory);
    CHECK_INT(spill_init(&on_disk, &disk_system, prefix), 0);
    CHECK_INT(journal_loop_init(&book, 0), 0);
    kept_spill = &on_disk;
    kept_journal = &book;
    begin();
}

static void finish_with_disk(void)
{
    finish();
    spill_fini(&on_disk);
    journal_loop_fini(&book);
    kept_spill = NULL;
    kept_journal = NULL;
    CHECK_INT(rmdir(directory), 0);
}

/* One turn of the loop, and one of the housekeeper before it, which has got all there is. */
static void unspill(void)
{
    struct slice record;
    spool_front(&on_disk.spool, &record);
    CHECK_INT(spool_serve(&on_disk.spool), 0);
    pool_collect(&queues.urls);
    harvest_unspill(&harvest);
}

/* Links "http://a.it/<number>/xxx" of one kilobyte, from `from` on, until so many of them wait on disk; returns the next
 * number. */
static unsigned fill_memory(unsigned from, uint64_t spilled)
{
    char text[1100];
    for (; spill_count(&on_disk) < spilled; from++) {
        int len = snprintf(text, sizeof text, "http://a.it/%u/", from);
        memset(text + len, 'x', 1000);
        text[len + 1000] = 0;
        take(text, HOST_ITEM_LINK);
        CHECK(from < 10000);
    }
    return from;
}

/* The next URLs of a.it are those from `from` to before `to`, in order; they are fetched. */
static void check_order(unsigned from, unsigned to)
{
    struct host *host = host_of("http://a.it/");
    for (; from < to; from++) {
        struct host_item *item = host_pop(host, false);
        CHECK(item);
        CHECK_INT(strtoul(item->path + 1, NULL, 10), from);
        frontier_done(&queues, host, item);
    }
}

TEST(what_finds_no_memory_comes_back_in_order)
{
    set_up();
    begin_with_disk();
    unsigned count = fill_memory(0, 5);
    CHECK_INT(stats_get(&stats.urls_in), count);
    CHECK_INT(stats_get(&stats.urls_spilled), 5);
    CHECK_INT(stats_get(&stats.links_lost), 0);
    CHECK_INT(lf_load(&host_of("http://a.it/")->spilled, relaxed), 5);
    check_order(0, 100);
    unspill();
    CHECK_INT(spill_count(&on_disk), 5); /* less than a quarter of the memory is free */
    check_order(100, count - 5);
    CHECK(!pop("http://a.it/"));
    unspill();
    CHECK_INT(spill_count(&on_disk), 0);
    CHECK_INT(lf_load(&host_of("http://a.it/")->spilled, relaxed), 0);
    check_order(count - 5, count);
    CHECK_INT(queues.urls.bytes_in_use, 0);
    CHECK_INT(stats_get(&stats.urls_in), count); /* they were counted when they were let in */
    finish_with_disk();
}

/* There is memory again, but earlier URLs of the host are not back yet. Other hosts do not wait for them. */
TEST(later_urls_of_a_host_queue_up_behind_those_on_disk)
{
    set_up();
    begin_with_disk();
    unsigned first = fill_memory(0, 3);
    check_order(0, first - 3);
    unsigned last = fill_memory(first, 5);
    CHECK_INT(last, first + 2);
    CHECK(!pop("http://a.it/"));
    take("http://b.it/other", HOST_ITEM_LINK);
    CHECK(pop("http://b.it/") != NULL);
    unspill();
    take("http://a.it/1000000", HOST_ITEM_LINK);
    CHECK_INT(spill_count(&on_disk), 0); /* nothing is before it any more */
    check_order(first - 3, last);
    check_order(1000000, 1000001);
    finish_with_disk();
}

TEST(all_that_is_known_of_a_url_comes_back)
{
    set_up();
    tuning.fixed.scope.embeds = TUNING_EMBEDS_ANYWHERE;
    begin_with_disk();
    unsigned count = fill_memory(0, 1);
    struct harvest_source from = source();
    from.hops = hops_add(from.hops, 'L');
    from.source = 7;
    from.embed_hops = 1;
    from.is_requisite = true;
    from.redirects = 2;
    harvest_link(&harvest, &from, SLICE("/moved"), HOST_ITEM_REDIRECT);
    harvest_flush(&harvest);
    CHECK_INT(spill_count(&on_disk), 2);
    check_order(0, count - 1);
    unspill();
    check_order(count - 1, count);
    struct host_item *item = pop("http://a.it/");
    CHECK(item);
    CHECK_SLICE(host_item_path(item), "/moved");
    CHECK_SLICE(host_item_via(item), "/dir/page");
    CHECK(item->kind == HOST_ITEM_REDIRECT && item->redirects == 2 && item->embed_hops == 2);
    CHECK_INT(item->source, 7);
    CHECK_INT(item->depth, 3);
    CHECK_INT(item->hop_count, 2);
    CHECK_INT(item->is_requisite, false); /* a.it is in the scope by itself */
    finish_with_disk();
}

/* Idle hosts have the whole table. They are retired one after the other, as the home does it. */
TEST(hosts_without_a_record_wait_on_disk)
{
    set_up();
    tuning.fixed.memory.hosts_max = 2;
    begin_with_disk();
    struct host *idle[] = {host_of("http://idle1.it/"), host_of("http://idle2.it/")};
    take("http://b.it/1", HOST_ITEM_LINK);
    take("http://c.it/1", HOST_ITEM_SEED);
    take("http://b.it/2", HOST_ITEM_LINK);
    CHECK_INT(spill_count(&on_disk), 3);
    CHECK_INT(stats_get(&stats.outcomes[FETCH_HOSTS_FULL]), 0);
    unspill();
    CHECK_INT(spill_count(&on_disk), 3);
    CHECK_INT(queues.urls.bytes_in_use, 0); /* what could not be pushed was released */
    for (unsigned i = 0; i < 2; i++) {
        CHECK(inbox_unpark(&idle[i]->incoming));
        CHECK(hosts_retire(&queues.hosts, idle[i]));
        for (unsigned turns = 0; turns < 8; turns++)
            hosts_quiescent(&queues.hosts);
        unspill();
        CHECK_INT(spill_count(&on_disk), i ? 0 : 2); /* c.it is next, and b.it/2 stays behind it */
    }
    CHECK_SLICE(host_item_path(pop("http://b.it/")), "/1");
    CHECK_SLICE(host_item_path(pop("http://b.it/")), "/2");
    CHECK_SLICE(host_item_path(pop("http://c.it/")), "/1");
    CHECK_INT(lf_load(&host_of("http://b.it/")->spilled, relaxed), 0); /* never counted, and not below 0 */
    finish_with_disk();
}

TEST(a_turn_brings_back_no_more_than_it_has_time_for)
{
    set_up();
    begin_with_disk();
    lf_store(&host_of("http://a.it/")->spilled, 1, relaxed); /* so that all of them queue up */
    take_numbered("http://a.it/", "", HARVEST_UNSPILL_MAX + 10);
    CHECK_INT(spill_count(&on_disk), HARVEST_UNSPILL_MAX + 10);
    unspill();
    CHECK_INT(spill_count(&on_disk), 10);
    unspill();
    CHECK_INT(spill_count(&on_disk), 0);
    check_order(0, HARVEST_UNSPILL_MAX + 10);
    finish_with_disk();
}

TEST(limits_hold_for_what_waits_on_disk)
{
    set_up();
    tuning.live.limits.urls_per_host_max = 100;
    begin_with_disk();
    lf_store(&host_of("http://a.it/")->spilled, 90, relaxed);
    take_numbered("http://a.it/", "", 20);
    CHECK_INT(spill_count(&on_disk), 10);
    CHECK_INT(stats_get(&stats.outcomes[FETCH_HOST_FULL]), 10);
    finish_with_disk();
}

TEST(a_page_waits_while_spill_or_journal_are_full)
{
    struct record_url url = {.kind = HOST_ITEM_LINK, .text = SLICE("http://a.it/")};
    set_up();
    begin();
    CHECK(harvest_has_room(&harvest)); /* with neither */
    finish();
    begin_with_disk();
    CHECK(harvest_has_room(&harvest));
    journal_fill(&book);
    CHECK(!harvest_has_room(&harvest));
    journal_drain(&book);
    CHECK(harvest_has_room(&harvest));
    while (spill_has_room(&on_disk))
        spill_push(&on_disk, &url, SLICE(""));
    CHECK(!harvest_has_room(&harvest));
    CHECK_INT(spool_serve(&on_disk.spool), 0);
    CHECK(harvest_has_room(&harvest));
    finish_with_disk();
}

TEST(the_journal_is_told_of_new_urls_only)
{
    struct journal_frame frame;
    struct record record;
    set_up();
    begin_with_disk();
    book.epoch = 5;
    take("/x?y", HOST_ITEM_LINK);
    take("/x?y", HOST_ITEM_LINK);       /* known */
    take("mailto:a@b", HOST_ITEM_LINK); /* no URL */
    take("http://b.it/", HOST_ITEM_SEED);
    struct slice rest = journal_records(&book, &frame);
    CHECK_INT(frame.epoch, 5);
    CHECK(record_read(&rest, &record) && record.type == RECORD_VIA);
    CHECK_SLICE(record.via, "http://a.it/dir/page");
    CHECK(record_read(&rest, &record) && record.type == RECORD_URL);
    CHECK_SLICE(record.url.text, "http://a.it/x?y");
    CHECK(record.url.signature == hash_slice(record.url.text));
    CHECK_INT(record.url.kind, HOST_ITEM_LINK);
    CHECK_INT(record.url.depth, 4);
    CHECK(record_read(&rest, &record) && record.type == RECORD_VIA && record.via.len == 0);
    CHECK(record_read(&rest, &record) && record.type == RECORD_URL);
    CHECK_SLICE(record.url.text, "http://b.it/");
    CHECK_INT(rest.len, 0);
    finish_with_disk();
}

static uint64_t told_before, in_before;
static unsigned wakes;

/* Another loop may have the URL now, and give its verdict. */
static void look_at_journal(void)
{
    wakes++;
    CHECK(lf_load(&book.outlet.appended, relaxed) > told_before);
    CHECK_INT(stats_get(&stats.urls_in), in_before + 1);
}

TEST(the_journal_is_told_before_another_loop_has_the_url)
{
    static struct frontier_loop other;
    struct frontier_loop_options options = {.index = 1, .resolve = resolve, .abandon = abandon, .wake = wake};
    set_up();
    tuning.fixed.crawl.threads = 2;
    tuning.fixed.memory.hosts_max = 64;
    begin_with_disk();
    CHECK_INT(frontier_loop_init(&other, &frontier, &options), 0);
    wakes = 0;
    on_wake = look_at_journal;
    for (unsigned i = 0; i < 64; i++) {
        char text[32];
        snprintf(text, sizeof text, "http://h%u.it/", i);
        told_before = lf_load(&book.outlet.appended, relaxed);
        in_before = stats_get(&stats.urls_in);
        take(text, HOST_ITEM_LINK);
    }
    on_wake = NULL;
    CHECK(wakes > 0); /* a host is at home at either loop by chance */
    frontier_loop_fini(&other);
    finish_with_disk();
}

static void restore(const char *text, const char *via)
{
    struct record_url record = {.signature = 1,
                                .kind = HOST_ITEM_EMBED,
                                .redirects = 1,
                                .hops_off = 2,
                                .embed_hops = 3,
                                .is_requisite = true,
                                .depth = 9,
                                .hop_count = 10,
                                .recent_hops = 11,
                                .source = 12,
                                .text = slice_of(text)};
    harvest_restore(&harvest, &record, slice_of(via));
}

/* The sieve and the journal know it already: they are not asked, and not told again. */
TEST(a_restored_url_is_as_it_was)
{
    set_up();
    begin_with_disk();
    take("http://b.it/x", HOST_ITEM_LINK);
    fetch_all_of("http://b.it/");
    told_before = lf_load(&book.outlet.appended, relaxed);
    restore("http://b.it/x", "http://a.it/page");
    restore("http://b.it/y", "http://b.it/page");
    CHECK_INT(stats_get(&stats.urls_in), 3);
    CHECK_INT(stats_get(&stats.links_known), 0);
    CHECK_INT(lf_load(&book.outlet.appended, relaxed), told_before);
    struct host_item *item = pop("http://b.it/");
    CHECK(item);
    CHECK_SLICE(host_item_path(item), "/x");
    CHECK_SLICE(host_item_via(item), "http://a.it/page");
    CHECK(item->kind == HOST_ITEM_EMBED && item->redirects == 1 && item->hops_off == 2);
    CHECK(item->embed_hops == 3 && item->is_requisite && item->depth == 9);
    CHECK(item->hop_count == 10 && item->recent_hops == 11 && item->source == 12);
    CHECK_SLICE(host_item_via(pop("http://b.it/")), "/page");
    finish_with_disk();
}

TEST(a_restored_url_queues_up_behind_those_on_disk)
{
    set_up();
    begin_with_disk();
    unsigned count = fill_memory(0, 2);
    check_order(0, count - 2);
    char text[64];
    snprintf(text, sizeof text, "http://a.it/%u", count);
    restore(text, "");
    CHECK_INT(spill_count(&on_disk), 3);
    unspill();
    check_order(count - 2, count + 1);
    finish_with_disk();
}

/* As always, every URL that was let in is counted out in the end. */
TEST(without_a_disk_a_restored_url_that_finds_no_room_is_lost)
{
    set_up();
    tuning.fixed.memory.hosts_max = 1;
    begin();
    host_of("http://idle.it/");
    restore("http://b.it/x", "");
    CHECK_INT(stats_get(&stats.urls_in), 1);
    CHECK_INT(stats_get(&stats.urls_out), 1);
    CHECK_INT(stats_get(&stats.links_lost), 1);
    CHECK_INT(stats_get(&stats.outcomes[FETCH_HOSTS_FULL]), 1);
    CHECK_INT(queues.urls.bytes_in_use, 0);
    finish();
}

static struct holds *order(struct holds *last, enum holds_verb verb, const char *key)
{
    struct holds_order wanted = {.verb = verb};
    struct holds *next = NULL;
    CHECK(!holds_parse_host(&wanted.target, slice_of(key)));
    CHECK_INT(holds_follow(last, &wanted, &next), HOLDS_DONE);
    return next;
}

/* The operator drops what waits for a host: what came to the disk before that, and nothing that came later. */
TEST(what_is_dropped_while_it_waits_on_disk_gets_its_verdict)
{
    static struct outlet lines;
    static _Atomic(uint64_t) epoch;
    set_up();
    begin_with_disk();
    CHECK_INT(outlet_init(&lines, &(struct outlet_options){.bytes = 4 << 20}), 0);
    struct ledger ledger = {.log = &lines, .epoch = &epoch, .stats = &stats, .frontier = &queues};
    harvest.ledger = &ledger;
    unsigned first = fill_memory(0, 1) - 1, last = fill_memory(first + 1, 10);
    struct holds *one = order(NULL, HOLDS_DROP, "http://b.it"), *two = order(one, HOLDS_DROP, "http://a.it");
    queues.holds.list = two;
    take("http://a.it/later", HOST_ITEM_LINK); /* behind them */
    check_order(0, first);
    while (spill_count(&on_disk))
        unspill();
    CHECK_INT(stats_get(&stats.outcomes[FETCH_DROPPED]), last - first);
    struct host *host = host_of("http://a.it/");
    struct host_item *item = host_pop(host, false);
    CHECK_SLICE(host_item_path(item), "/later");
    frontier_done(&queues, host, item);
    CHECK(host_pop(host, false) == NULL && lf_load(&host->spilled, relaxed) == 0);
    queues.holds.list = NULL;
    free(one);
    free(two);
    outlet_fini(&lines);
    finish_with_disk();
}
