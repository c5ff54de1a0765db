#include "engine/console/metrics.h"

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
    const char *ran = strstr(text, "\nlycosa_running_seconds_total ");
    CHECK(ran && strtod(strchr(ran + 1, ' '), NULL) < 600);
    free(text);
    free(crawl.loops);
}
