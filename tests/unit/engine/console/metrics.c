#include "engine/console/metrics.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/crawl/loop.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

/* A resumed crawl is behind what was scraped before it was killed. */
TEST(counters_begin_with_the_process)
{
    static struct crawl crawl = {.directory = "/nowhere", .loop_count = 2, .sieve.kind = TUNING_SIEVE_BLOOM};
    static struct status status;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    crawl.loops = aligned_alloc(128, 2 * sizeof *crawl.loops);
    memset(crawl.loops, 0, 2 * sizeof *crawl.loops);
    crawl.begin_ns = clock_now_ns();
    crawl.ran_before_ns = 1000000 * CLOCK_NS_PER_S;
    stats_set(&crawl.before.pages, 1000000);
    stats_set(&crawl.before.urls_in, 9000000);
    stats_set(&crawl.loops[0].stats.pages, 5);
    stats_set(&crawl.loops[1].stats.pages, 2);
    stats_set(&crawl.loops[1].stats.urls_in, 30);
    stats_set(&crawl.loops[0].stats.limited_ns[LIMITED_WORK], 1500 * CLOCK_NS_PER_MS);
    stats_set(&crawl.loops[1].stats.turns, 41);
    status_update(&status, &crawl);
    metrics_write(&status, &crawl, out);
    fclose(out);
    CHECK(strstr(text, "\nlycosa_pages_total 7\n"));
    CHECK(strstr(text, "\nlycosa_urls_found_total 30\n"));
    CHECK(strstr(text, "\nlycosa_urls_queued 9000030\n")); /* a gauge tells how it is */
    CHECK(strstr(text, "\nlycosa_loop_busy_seconds_total{loop=\"0\"} 1.500\n"));
    CHECK(strstr(text, "\nlycosa_loop_busy_seconds_total{loop=\"1\"} 0.000\n"));
    CHECK(strstr(text, "\nlycosa_loop_turns_total{loop=\"0\"} 0\n"));
    CHECK(strstr(text, "\nlycosa_loop_turns_total{loop=\"1\"} 41\n"));
    /* What has not happened yet is 0, so that Prometheus sees the first time, too. */
    CHECK(strstr(text, "\nlycosa_fetches_total{outcome=\"robots-denied\"} 0\n"));
    CHECK(strstr(text, "\nlycosa_scope_refused_total{rule=\"exclude\"} 0\n"));
    CHECK(strstr(text, "\nlycosa_responses_total{code=\"404\"} 0\n"));
    CHECK(strstr(text, "\nlycosa_dns_lookups_total{result=\"no-name\"} 0\n"));
    const char *ran = strstr(text, "\nlycosa_running_seconds_total ");
    CHECK(ran && strtod(strchr(ran + 1, ' '), NULL) < 600);
    free(text);
    free(crawl.loops);
}

static const char *number_of(const char *text, const char *series)
{
    static char number[32];
    char line[128];
    snprintf(line, sizeof line, "\n%s ", series);
    const char *at = strstr(text, line);
    if (!at)
        check_failed(__FILE__, __LINE__, "no %s", series);
    snprintf(number, sizeof number, "%.*s", (int)strcspn(at + strlen(line), "\n"), at + strlen(line));
    return number;
}

static struct crawl full = {.directory = "/nowhere", .loop_count = 1, .sieve.kind = TUNING_SIEVE_BLOOM};

/* All numbers are different. */
static void fill(struct loop *loop)
{
    struct stats *stats = &loop->stats;
    full.tuning.fixed.memory.page_bytes = 1001;
    full.tuning.fixed.memory.robots_bytes = 1002;
    full.tuning.fixed.store.buffer_bytes = 1003;
    full.tuning.fixed.duplicates.bytes = 1004;
    full.tuning.fixed.memory.hosts_max = 1005;
    lf_store(&full.rules.bytes_used, 902, relaxed);
    lf_store(&loop->store.outlet.appended, 1903, relaxed);
    lf_store(&loop->store.outlet.taken, 1000, relaxed);
    lf_store(&loop->log.taken, 1010, relaxed);
    lf_store(&loop->journal.outlet.taken, 1020, relaxed);
    lf_store(&full.commit.synced_ns, clock_now_ns(), relaxed);
    lf_store(&full.commit.sync_took_ns, CLOCK_NS_PER_S / 4, relaxed);
    stats_set(&stats->page_bytes, 901);
    stats_set(&stats->urls_in, 31);
    stats_set(&stats->links_lost, 32);
    stats_set(&stats->codes[404], 41);
    stats_set(&stats->codes[477], 42);
    stats_set(&stats->lookups[DNS_OK], 51);
    stats_set(&stats->lookups[DNS_ERROR_NO_NAME], 52);
    stats_set(&stats->lookups[STATS_LOOKUP_REMEMBERED], 53);
    stats_set(&stats->lost_races.sieve, 61);
    stats_record(&stats->rest_us, 2000000);
    stats_record(&stats->dns_us, 3000);
    stats_record(&stats->dns_us, 3000);
}

static const char *const wanted[][2] = {
    {"lycosa_memory_used_bytes{budget=\"pages\"}", "901"},
    {"lycosa_memory_limit_bytes{budget=\"pages\"}", "1001"},
    {"lycosa_memory_used_bytes{budget=\"robots\"}", "902"},
    {"lycosa_memory_limit_bytes{budget=\"robots\"}", "1002"},
    {"lycosa_memory_used_bytes{budget=\"store\"}", "903"},
    {"lycosa_memory_limit_bytes{budget=\"store\"}", "1003"},
    {"lycosa_memory_limit_bytes{budget=\"duplicates\"}", "1004"},
    {"lycosa_hosts_max", "1005"},
    {"lycosa_written_bytes_total{file=\"store\"}", "1000"},
    {"lycosa_written_bytes_total{file=\"log\"}", "1010"},
    {"lycosa_written_bytes_total{file=\"journal\"}", "1020"},
    {"lycosa_checkpoint_duration_seconds", "0.25"},
    {"lycosa_links_total{fate=\"new\"}", "31"},
    {"lycosa_links_total{fate=\"lost\"}", "32"},
    {"lycosa_responses_total{code=\"404\"}", "41"},
    {"lycosa_responses_total{code=\"4xx\"}", "42"},
    {"lycosa_dns_lookups_total{result=\"found\"}", "51"},
    {"lycosa_dns_lookups_total{result=\"no-name\"}", "52"},
    {"lycosa_dns_lookups_total{result=\"remembered\"}", "53"},
    {"lycosa_lost_races_total{structure=\"sieve\"}", "61"},
    {"lycosa_rest_duration_seconds_sum", "2"},
    {"lycosa_rest_duration_seconds_count", "1"},
    {"lycosa_dns_duration_seconds_count", "2"},
};

TEST(series_have_the_numbers_that_they_name)
{
    static struct status status;
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    full.loops = aligned_alloc(128, sizeof *full.loops);
    memset(full.loops, 0, sizeof *full.loops);
    full.begin_ns = clock_now_ns();
    fill(&full.loops[0]);
    status_update(&status, &full);
    metrics_write(&status, &full, out);
    fclose(out);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        CHECK_STR(number_of(text, wanted[i][0]), wanted[i][1]);
    double synced_s = strtod(number_of(text, "lycosa_checkpoint_timestamp_seconds"), NULL), now_s = (double)clock_wall_us() / 1e6;
    CHECK(synced_s <= now_s && synced_s > now_s - 600);
    free(text);
    free(full.loops);
}

TEST(a_journal_that_is_not_folded_is_counted)
{
    static struct crawl crawl = {.directory = "/nowhere", .sieve.kind = TUNING_SIEVE_BLOOM};
    static struct status status;
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&text, &len);
        lf_store(&crawl.commit.fold.trouble, i ? -ENOSPC : 0, relaxed); /* no other thread runs */
        lf_store(&crawl.commit.fold.folds_told, 3, relaxed);
        status_update(&status, &crawl);
        metrics_write(&status, &crawl, out);
        fclose(out);
        CHECK(strstr(text, "\nlycosa_folds_total 3\n"));
        CHECK(strstr(text, i ? "\nlycosa_fold_failing 1\n" : "\nlycosa_fold_failing 0\n"));
        free(text);
    }
}
