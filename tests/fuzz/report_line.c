/* Any bytes as lines of a crawl.log, and the page that is made of them. What a line was taken apart into lies within the line; every line
 * is counted; the page is written without markup of theirs. */
#include <stdint.h>
#include <stdlib.h>

#include "engine/report/figures.h"
#include "engine/report/report_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_within(struct slice part, struct slice whole)
{
    require(part.len == 0 || (part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len));
}

static void check_line(struct slice text)
{
    struct log_line line;
    if (!log_line_read(&line, text))
        return;
    check_within(line.url, text);
    check_within(line.hops, text);
    check_within(line.mime, text);
    check_within(line.source, text);
    check_within(line.annotation, text);
    check_within(log_line_host(line.url), line.url);
    require(log_line_depth(line.hops) <= UINT16_MAX + text.len);
}

static void check_page(const struct survey *survey)
{
    static struct figure figure;
    struct figures figures;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    require(out && figures_init(&figures, &survey, 1) == 0);
    struct report_page page = {.out = out, .figures = &figures};
    report_page_begin(&page);
    for (size_t i = 0; i < figures_count(); i++) {
        figures_make(&figures, i, &figure);
        report_page_add(&page, &figure);
    }
    fclose(out);
    figures_fini(&figures);
    require(!strstr(text, "<script"));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct survey *survey = malloc(sizeof *survey);
    char *copy = malloc(size + 1);
    struct slice rest = {memcpy(copy, data, size), size};
    uint64_t lines = 0;
    require(survey_init(survey, "crawl", size % 2 ? SURVEY_TASK_HOST : SURVEY_TASK_VISIT) == 0);
    while (rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        struct slice line = {rest.ptr, newline ? (size_t)(newline - rest.ptr) : rest.len};
        check_line(line);
        survey_take(survey, line);
        lines++;
        rest = slice_skip(rest, newline ? line.len + 1 : line.len);
    }
    survey_finish(survey);
    require(survey->lines == lines && survey->urls + survey->prerequisites + survey->bad_lines == lines);
    require(survey->pages + survey->failed == survey->urls);
    check_page(survey);
    survey_fini(survey);
    free(survey);
    free(copy);
    return 0;
}
