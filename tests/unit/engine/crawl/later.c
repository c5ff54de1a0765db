/* URLs wait for the sieve on disk, and are queued in the order in which they were found. */
#include "engine/crawl/later.h"

#include <unistd.h>

#include "engine/crawl/limits.h"
#include "tests/unit/engine/crawl/harvest_frame.h"
#include "tests/unit/engine/crawl/journal_records.h"

static struct spill on_disk;
static struct later asked;
static struct journal_loop book;
static struct mill mill;
static char directory[32], sieve_directory[48];

static void begin_asking(enum tuning_sieve kind)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-later-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(sieve_directory, sizeof sieve_directory, "%s/sieve", directory);
    CHECK_INT(mill_init(&mill, &(struct mill_options){.kind = SIEVE_DISK_MERCATOR,
                                                      .disk = &disk_system,
                                                      .directory = sieve_directory,
                                                      .loops = 1}),
              0);
    CHECK_INT(mill_open(&mill), 0);
    char prefix[48];
    snprintf(prefix, sizeof prefix, "%s/urls", directory);
    CHECK_INT(spill_init(&on_disk, &disk_system, prefix), 0);
    snprintf(prefix, sizeof prefix, "%s/asked", directory);
    CHECK_INT(later_init(&asked, &disk_system, prefix, &mill.loops[0]), 0);
    CHECK_INT(journal_loop_init(&book, 0), 0);
    kept_spill = &on_disk;
    kept_later = &asked;
    kept_journal = &book;
    tuning.fixed.memory.sieve_kind = kind;
    begin();
    CHECK_INT(mill_start(&mill), 0);
}

static void finish_asking(void)
{
    finish();
    mill_fini(&mill);
    later_fini(&asked);
    spill_fini(&on_disk);
    journal_loop_fini(&book);
    kept_spill = NULL;
    kept_later = NULL;
    kept_journal = NULL;
    CHECK_INT(rmdir(directory), 0);
}

/* Turns of the loop and of the housekeeper until all answers are there. */
static void await_answers(void)
{
    mill_hurry(&mill, true);
    while (later_count(&asked)) {
        CHECK_INT(lf_load(&mill.error, relaxed), 0);
        CHECK_INT(spool_serve(&asked.urls.spool), 0);
        sieve_turn(&sieves);
        harvest_answers(&harvest);
    }
}

static void check_next(const char *host, const char *path)
{
    struct host_item *item = pop(host);
    CHECK(item && slice_equals(host_item_path(item), slice_of(path)));
    frontier_done(&queues, host_of(host), item);
}

TEST(what_is_new_is_queued_when_the_answer_comes)
{
    set_up();
    begin_asking(TUNING_SIEVE_MERCATOR);
    take("http://a.it/1", HOST_ITEM_LINK);
    take("http://b.it/2", HOST_ITEM_SEED);
    take("http://a.it/3", HOST_ITEM_LINK);
    CHECK(!pop("http://a.it/"));
    CHECK_INT(stats_get(&stats.urls_in), 3); /* so that the crawl does not end */
    CHECK_INT(later_count(&asked), 3);
    await_answers();
    check_next("http://a.it/", "/1");
    check_next("http://a.it/", "/3");
    check_next("http://b.it/", "/2");
    CHECK_INT(stats_get(&stats.urls_known), 0);
    finish_asking();
}

/* The loop's own cache forgets, the sieve does not. The journal has the URL twice then, which does no harm. */
TEST(what_is_known_is_counted_and_dropped)
{
    set_up();
    begin_asking(TUNING_SIEVE_MERCATOR);
    take("http://a.it/1", HOST_ITEM_LINK);
    await_answers();
    take("http://a.it/1", HOST_ITEM_LINK);
    CHECK_INT(later_count(&asked), 0); /* the cache knows it */
    CHECK_INT(stats_get(&stats.links_known), 1);
    memset(sieves.cache, 0, sieve.cache_cells * sizeof *sieves.cache);
    take("http://a.it/1", HOST_ITEM_LINK);
    CHECK_INT(later_count(&asked), 1);
    await_answers();
    check_next("http://a.it/", "/1");
    CHECK(!pop("http://a.it/"));
    CHECK_INT(stats_get(&stats.links_known), 2);
    CHECK_INT(stats_get(&stats.urls_in), 2);
    CHECK_INT(stats_get(&stats.urls_known), 1);
    finish_asking();
}

/* All that a full table does not know goes to the disk; nothing is lost, and nothing is admitted twice. */
TEST(full_signatures_ask_the_disk)
{
    enum { COUNT = 3000 };
    static bool seen[COUNT];
    char text[64];
    set_up();
    tuning.fixed.memory.sieve_bytes = 4096;
    begin_asking(TUNING_SIEVE_SIGNATURES);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < COUNT; i++) {
            snprintf(text, sizeof text, "http://a.it/%d", (i * 7 + round) % COUNT);
            take(text, HOST_ITEM_LINK);
        }
    await_answers();
    struct host *host = host_of("http://a.it/");
    unsigned count = 0;
    for (struct host_item *item; (item = host_pop(host, false)); count++) {
        unsigned long number = strtoul(item->path + 1, NULL, 10);
        CHECK(number < COUNT && !seen[number]);
        seen[number] = true;
        frontier_done(&queues, host, item);
    }
    CHECK_INT(count, COUNT);
    CHECK_INT(stats_get(&stats.links_lost), 0);
    CHECK_INT(stats_get(&stats.urls_in), COUNT + stats_get(&stats.urls_known));
    finish_asking();
}

/* A limit that is reached between question and answer holds. */
TEST(limits_hold_for_answers)
{
    set_up();
    tuning.live.limits.urls_per_host_max = 2;
    begin_asking(TUNING_SIEVE_MERCATOR);
    take_numbered("http://a.it/", "", 5);
    CHECK_INT(later_count(&asked), 5);
    await_answers();
    check_next("http://a.it/", "/0");
    check_next("http://a.it/", "/1");
    CHECK(!pop("http://a.it/"));
    CHECK_INT(stats_get(&stats.outcomes[FETCH_HOST_FULL]), 3);
    CHECK_INT(stats_get(&stats.urls_out), 3);
    finish_asking();
}

/* Without answers there is room for so much; then pages have to wait. */
TEST(room_ends_before_anything_breaks)
{
    set_up();
    begin_asking(TUNING_SIEVE_MERCATOR);
    mill_stop(&mill);
    char text[64];
    unsigned count = 0;
    while (later_has_room(&asked)) {
        snprintf(text, sizeof text, "http://a.it/%u", count++);
        take(text, HOST_ITEM_LINK);
        CHECK_INT(spool_serve(&asked.urls.spool), 0);
        if (!journal_has_room(&book))
            journal_drain(&book);
    }
    CHECK(count >= (MILL_BLOCKS_MIN - 1) * MILL_BLOCK_SIGNATURES && !harvest_has_room(&harvest));
    finish_asking();
}
