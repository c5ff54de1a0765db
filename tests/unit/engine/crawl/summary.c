#include "engine/crawl/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/loop.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tests/support/json.h"

static struct crawl crawl;
static struct status status;
static char directory[64];

/* Two loops that have done something. */
static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-status-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    crawl = (struct crawl){.directory = directory, .loop_count = 2, .seeds.out_of_scope = 2};
    status = (struct status){0};
    crawl.begin_ns = clock_now_ns() - 2 * CLOCK_NS_PER_S;
    crawl.setup_cpu_ns = CLOCK_NS_PER_MS;
    tuning_init(&crawl.tuning);
    crawl.tuning.fixed.memory.sieve_bytes = 65536;
    CHECK_INT(sieve_init(&crawl.sieve, &crawl.tuning), 0);
    crawl.loops = aligned_alloc(128, 2 * sizeof *crawl.loops);
    memset(crawl.loops, 0, 2 * sizeof *crawl.loops);
    for (unsigned i = 0; i < 2; i++) {
        struct stats *stats = &crawl.loops[i].stats;
        stats_add(&stats->pages, 100 + i);
        stats_add(&stats->urls_in, 300);
        stats_add(&stats->urls_out, 120);
        stats_set(&stats->asked, 30 + i);
        stats_add(&stats->bytes_received, 1000000);
        stats_add(&stats->outcomes[FETCH_DONE], 100 + i);
        stats_add(&stats->outcomes[FETCH_CONNECT_REFUSED], i * 7);
        stats_add(&stats->lost_races.ready_rings, 2);
        stats_add(&stats->lost_races.host_inboxes, i * 5);
        stats_add(&stats->statuses[4], 3);
        stats_add(&stats->codes[404], 2);
        stats_add(&stats->codes[477], 1);
        struct visits *visits = &crawl.loops[i].visits;
        census_count(&visits->types, census_find(&visits->types, SLICE("text/html"), 64), 10);
        census_count(&visits->domains, census_find(&visits->domains, i ? SLICE("org") : SLICE("net"), 64), 10);
        lf_store(&crawl.loops[i].store.outlet.taken, 1000, relaxed);
        stats_add(&stats->scope[SCOPE_EXCLUDE], 5);
        stats_record(&stats->fetch_us, 1000 * (i + 1));
        lf_store(&crawl.loops[i].troubles.hosts[FETCH_CONNECT_REFUSED], i ? 4 : -1, relaxed);
        lf_store(&crawl.loops[i].frontier.states[HOST_RESTING], i ? 12 : -2, relaxed);
    }
}

static void finish(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/summary.json", directory);
    unlink(path);
    CHECK_INT(rmdir(directory), 0);
    sieve_fini(&crawl.sieve);
    free(crawl.loops);
}

static struct json *read_summary(void)
{
    char path[128];
    size_t len;
    snprintf(path, sizeof path, "%s/summary.json", directory);
    char *text = check_read_file(path, &len);
    struct json *tree = json_parse(text, len);
    free(text);
    CHECK(tree && tree->kind == JSON_OBJECT);
    return tree;
}

static double number(const struct json *object, const char *key)
{
    const struct json *member = json_get(object, key);
    CHECK(member && member->kind == JSON_NUMBER);
    return strtod(member->text, NULL);
}

TEST(the_summary_is_json_and_sums_the_loops)
{
    begin();
    status_update(&status, &crawl);
    CHECK(summary_write(&status, &crawl, CRAWL_END_TIME));
    struct json *tree = read_summary();
    CHECK_STR(json_text(tree, "end"), "time");
    CHECK_INT(number(tree, "pages"), 201);
    CHECK_INT(number(tree, "queued"), 360);
    CHECK_INT(number(tree, "asked"), 61);
    CHECK_INT(number(tree, "threads"), 2);
    CHECK(number(tree, "seconds") >= 2 && number(tree, "pages_per_s") <= 101);
    CHECK(number(tree, "cpu_seconds") >= number(tree, "setup_cpu_seconds") && number(tree, "setup_cpu_seconds") == 0.001);
    CHECK_INT(number(tree, "lost_races"), 9);
    CHECK_INT(number(json_get(tree, "lost_races_by"), "ready_rings"), 4);
    CHECK_INT(number(json_get(tree, "lost_races_by"), "host_inboxes"), 5);
    CHECK_INT(number(json_get(tree, "lost_races_by"), "sieve"), 0);
    CHECK_INT(number(json_get(tree, "outcomes"), "done"), 201);
    CHECK_INT(number(json_get(tree, "outcomes"), "connect-refused"), 7);
    CHECK(!json_get(json_get(tree, "outcomes"), "aborted"));
    CHECK_INT(number(json_get(tree, "status"), "4xx"), 6);
    CHECK_INT(number(json_get(tree, "codes"), "404"), 4);
    CHECK_INT(number(json_get(tree, "codes"), "4xx"), 2);
    CHECK(!json_get(json_get(tree, "codes"), "200"));
    CHECK_INT(number(json_get(json_get(tree, "types"), "text/html"), "pages"), 2);
    CHECK_INT(number(json_get(json_get(tree, "types"), "text/html"), "bytes"), 20);
    CHECK_INT(number(json_get(json_get(tree, "domains"), "org"), "pages"), 1);
    CHECK_INT(number(json_get(tree, "written"), "store"), 2000);
    CHECK(!json_get(tree, "synced_ago_seconds"));
    CHECK_INT(number(json_get(tree, "scope"), scope_rule_name(SCOPE_EXCLUDE)), 10);
    CHECK_INT(number(tree, "failed"), 7);
    CHECK_INT(number(json_get(tree, "hosts_failing"), "connect-refused"), 3);
    CHECK_INT(number(json_get(tree, "seeds"), "out_of_scope"), 2);
    CHECK(number(json_get(tree, "fetch_us"), "max") >= 2000);
    CHECK_STR(json_text(json_get(tree, "sieve"), "kind"), "signatures");
    CHECK(number(tree, "peak_memory_bytes") > 100000);
    json_free(tree);
    finish();
}

TEST(the_summary_tells_how_far_it_is_and_what_is_in_use)
{
    begin();
    crawl.pages_max = 804;
    crawl.tuning.fixed.net.connections = 50;
    stats_add(&crawl.loops[0].stats.connections, 3);
    stats_add(&crawl.loops[1].stats.limited_ns[LIMITED_WORK], 3000);
    stats_add(&crawl.loops[1].stats.limited_ns[LIMITED_NAMES], 1000);
    crawl_watch_disk(&crawl, 0);
    status_update(&status, &crawl);
    CHECK(summary_write(&status, &crawl, CRAWL_END_NONE));
    struct json *tree = read_summary();
    CHECK_STR(json_text(json_get(tree, "outlook"), "by"), "max-pages");
    CHECK(number(json_get(tree, "outlook"), "share") == 0.25);
    CHECK(!json_get(json_get(tree, "outlook"), "left_seconds"));
    const struct json *connections = json_get(json_get(tree, "budgets"), "net.connections");
    CHECK_INT(number(connections, "used"), 3);
    CHECK_INT(number(connections, "limit"), 50);
    CHECK(number(json_get(tree, "disk"), "free") > 0);
    CHECK(status.loop_count == 2 && status.loops[0].busy == 0 && status.loops[1].busy == 0.75);
    json_free(tree);
    finish();
}

TEST(the_summary_tells_of_the_journal)
{
    begin();
    for (int i = 0; i < 3; i++) {
        static const char *const states[] = {"sound", "to be tried again", "given up"};
        lf_store(&crawl.commit.age_max_ns, 400 * CLOCK_NS_PER_MS, relaxed); /* no other thread runs */
        lf_store(&crawl.commit.folding_age_max_ns, 200 * CLOCK_NS_PER_MS, relaxed);
        lf_store(&crawl.commit.fold.folds_told, 7, relaxed);
        lf_store(&crawl.commit.fold.trouble, i ? -ENOSPC : 0, relaxed);
        lf_store(&crawl.commit.fold.trouble_stays, i == 2, relaxed);
        status_update(&status, &crawl);
        CHECK(summary_write(&status, &crawl, CRAWL_END_NONE));
        struct json *tree = read_summary();
        const struct json *fold = json_get(tree, "fold");
        CHECK_INT(number(tree, "commit_age_max_ms"), 400);
        CHECK_INT(number(tree, "commit_age_max_while_folding_ms"), 200);
        CHECK_INT(number(fold, "count"), 7);
        CHECK_STR(json_text(fold, "state"), states[i]);
        CHECK_STR(json_text(fold, "error"), i ? "No space left on device" : "");
        json_free(tree);
    }
    finish();
}

TEST(the_summary_is_replaced)
{
    begin();
    status_update(&status, &crawl);
    CHECK(summary_write(&status, &crawl, CRAWL_END_TIME));
    stats_add(&crawl.loops[0].stats.pages, 50);
    status_update(&status, &crawl);
    CHECK(summary_write(&status, &crawl, CRAWL_END_TIME));
    struct json *tree = read_summary();
    CHECK_INT(number(tree, "pages"), 251);
    json_free(tree);
    char path[128];
    snprintf(path, sizeof path, "%s/summary.json.open", directory);
    CHECK(access(path, F_OK) != 0);
    finish();
}

TEST(a_directory_that_is_gone_is_an_answer)
{
    begin();
    crawl.directory = "/nonexistent/crawl";
    status_update(&status, &crawl);
    CHECK(!summary_write(&status, &crawl, CRAWL_END_TIME));
    crawl.directory = directory;
    finish();
}
