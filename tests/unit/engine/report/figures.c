#include "engine/report/figures.h"

#include <stdlib.h>

#include "engine/report/report_page.h"
#include "engine/report/tables.h"
#include "tests/support/check.h"

static struct survey *read_lines(const char *const *lines, size_t count)
{
    struct survey *survey = malloc(sizeof *survey);
    CHECK(survey && survey_init(survey, "<b>\xe2\x80\xae", SURVEY_TASK_VISIT) == 0);
    for (size_t i = 0; i < count; i++)
        survey_take(survey, slice_of(lines[i]));
    survey_finish(survey);
    return survey;
}

/* Page and SVG files as one string; freed by the caller. */
static char *page_of(const struct survey *const *surveys, size_t count)
{
    struct figures figures;
    struct figure *figure = malloc(sizeof *figure);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    CHECK_INT(figures_init(&figures, surveys, count), 0);
    struct report_page page = {.out = out, .figures = &figures};
    report_page_begin(&page);
    for (size_t i = 0; i < figures_count(); i++) {
        figures_make(&figures, i, figure);
        CHECK(figure->caption[0] && figure->title[0]);
        report_page_add(&page, figure);
        if (!figure->is_missing)
            chart_write_svg(&figure->chart, out, figure->id, true);
    }
    report_page_end(&page);
    CHECK(!ferror(out));
    fclose(out);
    free(figure);
    figures_fini(&figures);
    return text;
}

static void check_page(const char *const *lines, size_t count)
{
    struct survey *survey = read_lines(lines, count);
    for (size_t crawls = 1; crawls <= 2; crawls++) {
        char *text = page_of((const struct survey *const[]){survey, survey}, crawls);
        CHECK(strstr(text, "</html>"));
        CHECK(!strstr(text, "<b>\\u") && !strstr(text, "<script") && !strstr(text, "\xe2\x80\xae"));
        CHECK(!strstr(text, "nan") && !strstr(text, "inf\"") && !strstr(text, "inf "));
        free(text);
    }
    survey_fini(survey);
    free(survey);
}

TEST(an_empty_crawl_has_a_page)
{
    check_page(NULL, 0);
}

TEST(a_crawl_of_one_page_has_a_page)
{
    static const char *const lines[] = {
        "2026-11-18T00:00:00.000Z 200 0 http://a.it/ - - text/html #000 20261118000000000+0 - - -"};
    check_page(lines, 1);
}

TEST(a_crawl_that_failed_has_a_page)
{
    static const char *const lines[] = {
        "2026-11-18T00:00:00.000Z -2 - http://a.it/ - - - #000 - - - connect-refused {}",
        "2026-11-18T00:00:09.000Z -1 - http://b.it/ - - - #000 - - - - {}"};
    check_page(lines, 2);
}

TEST(hostile_names_are_inert)
{
    static const char *const lines[] = {
        "2026-11-18T00:00:00.000Z 200 1 http://<script>alert(1)</script>\xe2\x80\xae/ - - <script>x #000 "
        "20261118000000000+5 - \"><script> - {\"v\":1,\"o\":99999999999999999,\"f\":1}",
        "9999-12-31T23:59:59.999Z 99999 999999999999999999 http://[::1]:1/ 65535+LLL - \x1b[31m #000 "
        "20261118000000000+999999999999999 - \t\x01 3t,near-duplicate:3:00 {\"v\":1}",
        "1970-01-01T00:00:00.000Z -99999 - dns: - - - #000 - - - -"};
    check_page(lines, 3);
}

TEST(tables_are_those_of_heritrix)
{
    static const char *const lines[] = {
        "2026-11-18T00:00:00.000Z 200 9 http://a.it/ - - text/html #000 20261118000000000+0 - http://s/ -",
        "2026-11-18T00:00:00.000Z -2 - http://a.it/b - - - #000 - - http://s/ connect-refused"};
    static const char *const texts[] = {
        "host\turls\tpages\tbytes\tfailed\nhttp://a.it\t2\t1\t9\t1\n",
        "code\turls\tbytes\n200\t1\t9\n-2\t1\t0\n",
        "mime_type\turls\tpages\tbytes\tfailed\ntext/html\t1\t1\t9\t0\n",
        "seed\turls\tpages\tbytes\tfailed\nhttp://s/\t2\t1\t9\t1\n",
    };
    struct survey *survey = read_lines(lines, 2);
    CHECK_INT(tables_count(), 4);
    for (size_t i = 0; i < tables_count(); i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        tables_list[i].write(survey, out);
        fclose(out);
        CHECK_STR(text, texts[i]);
        free(text);
    }
    survey_fini(survey);
    free(survey);
}
