#include "engine/report/survey.h"

#include <stdlib.h>

#include "tests/support/check.h"

static struct survey *survey;

static void begin(enum survey_task task)
{
    survey = malloc(sizeof *survey);
    CHECK(survey && survey_init(survey, "test", task) == 0);
}

static void finish(void)
{
    survey_fini(survey);
    free(survey);
}

/* Status, size, URL, hops, MIME type, then annotations and extra info. */
static void take(const char *head, const char *tail)
{
    char line[512];
    int len = snprintf(line, sizeof line,
                       "2026-11-18T00:00:01.000Z %s #000 20261118000000000+10 - http://a.it/ %s", head, tail);
    survey_take(survey, (struct slice){line, (size_t)len});
}

static void take_some(void)
{
    take("200 100 http://a.it/ - - text/html", "- {\"v\":64,\"o\":2,\"f\":1}");
    take("200 300 http://a.it/x/y.html L - text/html", "2t,duplicate:00 {\"v\":64,\"o\":4}");
    take("301 0 http://b.org/ L - -", "- {\"v\":128}");
    take("-9998 - http://b.org/z LR - -", "robots-denied,/ {}");
    take("200 50 http://a.it/robots.txt P - text/plain", "- {}");
    survey_take(survey, SLICE("garbage"));
}

TEST(everything_is_counted_once)
{
    begin(SURVEY_TASK_VISIT);
    take_some();
    survey_finish(survey);
    CHECK_INT(survey->lines, 6);
    CHECK_INT(survey->bad_lines, 1);
    CHECK_INT(survey->prerequisites, 1);
    CHECK_INT(survey->urls, 4);
    CHECK_INT(survey->pages, 3);
    CHECK_INT(survey->bytes, 400);
    CHECK_INT(survey->failed, 1);
    CHECK_INT(survey->redirects, 1);
    CHECK_INT(survey->duplicates, 1);
    CHECK_INT(survey->outlinks, 6);
    CHECK_INT(survey->codes[200 - SURVEY_CODE_MIN].urls, 2);
    CHECK_INT(survey->codes[-9998 - SURVEY_CODE_MIN].urls, 1);
    CHECK_INT(survey->depths[1], 2);
    CHECK_INT(survey->hosts.count, 2);
    CHECK_INT(survey->hosts.entries[0].bytes, 400);
    CHECK_INT(survey->outcomes.count, 2);
    CHECK(slice_equals(roster_name(&survey->outcomes.entries[0]), SLICE("done")));
    CHECK_INT(survey->outcomes.entries[0].pages, 3);
    CHECK(slice_equals(roster_name(&survey->outcomes.entries[1]), SLICE("robots-denied")));
    CHECK_INT(survey->week_bytes[2 * 24], 400); /* a Wednesday */
    finish();
}

TEST(a_task_is_a_visit_or_a_host)
{
    begin(SURVEY_TASK_VISIT);
    take_some();
    survey_finish(survey);
    CHECK(survey_has_visits(survey));
    CHECK_INT(survey->tasks.later_pages.count, 2);
    CHECK_INT(survey->size[0].sum, 100);
    CHECK_INT(survey->size[1].sum, 300);
    CHECK_INT(survey->weights[2], 2); /* one dot and one slash */
    finish();
    begin(SURVEY_TASK_HOST);
    take_some();
    take("200 7 http://b.org/2 L - -", "- {\"v\":192}");
    survey_finish(survey);
    CHECK(!survey_has_visits(survey));
    CHECK_INT(survey->tasks.later_pages.count, 2);
    CHECK_INT(survey->size[1].sum, 307);
    finish();
}

TEST(the_summary_tells_the_end_and_what_waits)
{
    begin(SURVEY_TASK_VISIT);
    survey_take_summary(survey,
                        SLICE("{\n  \"end\": \"complete\",\n  \"seconds\": 12.500,\n  \"queued\": 17,\n}"));
    CHECK_STR(survey->end, "complete");
    CHECK_INT(survey->queued, 17);
    survey_take_summary(survey, SLICE("not json"));
    CHECK_STR(survey->end, "");
    finish();
}
