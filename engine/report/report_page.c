#include "engine/report/report_page.h"

#include <time.h>

#include "engine/report/markup.h"

static const char style[] =
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:1560px;padding:24px 20px 40px;background:var(--paper);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
    "h1{font-size:26px;line-height:1.2;margin:0 0 4px;font-weight:600;overflow-wrap:anywhere}\n"
    "h2{font-size:19px;margin:36px 0 12px;padding-bottom:6px;border-bottom:1px solid "
    "var(--rule);font-weight:600}\n"
    "h3{font-size:15px;margin:0 0 8px;font-weight:600}\n"
    ".lead{color:var(--soft);margin:0 0 20px}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(118px,1fr));gap:10px;margin:0 0 12px}\n"
    ".tiles div{border:1px solid var(--rule);border-radius:8px;padding:10px 12px}\n"
    ".tiles "
    "b{display:block;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    ".tiles span{color:var(--soft);font-size:13px}\n"
    ".tiles i{font-style:normal;color:var(--c1);font-size:13px;display:block}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:20px}\n"
    "figure{margin:0;border:1px solid var(--rule);border-radius:8px;padding:14px 14px "
    "10px;min-width:0;break-inside:avoid}\n"
    "figure svg{display:block;width:100%;max-width:620px;height:auto;margin:0 auto}\n"
    "figcaption{color:var(--soft);font-size:13px;line-height:1.45;margin-top:8px}\n"
    "details{font-size:12px;margin-top:6px;color:var(--soft)}summary{cursor:pointer}\n"
    "details div{max-height:300px;overflow:auto;margin-top:6px}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "td,th{padding:2px 10px 2px 0;text-align:left;border-bottom:1px solid "
    "var(--rule);overflow-wrap:anywhere}\n"
    "footer{color:var(--soft);font-size:13px;margin-top:36px}\n"
    "@media(max-width:600px){body{padding:16px 10px 28px}figure{padding:12px 8px "
    "8px}svg{font-size:15px}h1{font-size:22px}}\n"
    "@media print{body{max-width:none;padding:0;font-size:11pt}.figures{grid-template-columns:1fr "
    "1fr}details{display:none}"
    ":root{--paper:#fff;--ink:#111;--soft:#444;--rule:#bbb}h2{break-after:avoid}}\n";

static void write_text(FILE *out, const char *text)
{
    markup_text(out, slice_of(text), 200);
}

/* "18 November 2026, 00:49 UTC". */
static void write_date(FILE *out, uint64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm date;
    char text[64] = "";
    if (gmtime_r(&seconds, &date))
        strftime(text, sizeof text, "%-d %B %Y, %H:%M UTC", &date);
    fputs(text, out);
}

struct tile {
    const char *label;
    char text[FIGURES_CRAWLS_MAX][AXIS_TEXT_BYTES];
};

static void write_tile(const struct report_page *page, const struct tile *tile)
{
    fprintf(page->out, "<div><b>%s</b>", tile->text[0]);
    if (page->figures->count > 1)
        fprintf(page->out, "<i>%s</i>", tile->text[1]);
    fprintf(page->out, "<span>%s</span></div>\n", tile->label);
}

static double seconds_of(const struct survey *survey)
{
    const struct samples *samples = &survey->samples;
    if (samples_have(samples, SAMPLES_pages))
        return (double)samples->values[samples->count - 1][SAMPLES_running_ms] / 1000;
    return (double)(survey->last_ms - survey->first_ms) / 1000;
}

static void write_tiles(const struct report_page *page)
{
    struct tile tiles[] = {{.label = "pages"},       {.label = "bodies"},
                           {.label = "hosts"},       {.label = "pages per second"},
                           {.label = "time"},        {.label = "URLs without a response"},
                           {.label = "URLs waiting"}};
    for (size_t i = 0; i < page->figures->count; i++) {
        const struct survey *survey = page->figures->crawls[i];
        double seconds = seconds_of(survey);
        axis_number((double)survey->pages, 0, tiles[0].text[i]);
        axis_value(AXIS_BYTES, (double)survey->bytes, tiles[1].text[i]);
        axis_number((double)survey->hosts.count, 0, tiles[2].text[i]);
        axis_value(AXIS_COUNT, seconds > 0 ? (double)survey->pages / seconds : 0, tiles[3].text[i]);
        axis_value(AXIS_SECONDS, seconds, tiles[4].text[i]);
        axis_number((double)survey->failed, 0, tiles[5].text[i]);
        if (survey->queued >= 0)
            axis_number((double)survey->queued, 0, tiles[6].text[i]);
        else
            snprintf(tiles[6].text[i], AXIS_TEXT_BYTES, "not known");
    }
    fprintf(page->out, "<div class=\"tiles\">\n");
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        write_tile(page, &tiles[i]);
    fprintf(page->out, "</div>\n");
}

/* How the crawl stands: "ended: complete", or that it is running. */
static void write_state(FILE *out, const struct survey *survey)
{
    if (!survey->end[0])
        fprintf(out, "there is no summary.json to tell whether it has ended");
    else if (strcmp(survey->end, "running") == 0)
        fprintf(out, "it was running when this was written");
    else {
        fprintf(out, "it ended: ");
        write_text(out, survey->end);
    }
}

static void write_lead(const struct report_page *page, const struct survey *survey)
{
    FILE *out = page->out;
    char text[AXIS_TEXT_BYTES];
    fprintf(out, "<p class=\"lead\">");
    if (page->figures->count > 1) {
        fprintf(out, "<b>");
        write_text(out, survey->name);
        fprintf(out, "</b>: ");
    }
    if (survey->urls) {
        fprintf(out, "from ");
        write_date(out, survey->first_ms);
        fprintf(out, " to ");
        write_date(out, survey->last_ms);
        fprintf(out, "; ");
    } else {
        fprintf(out, "No URL is in its log; ");
    }
    write_state(out, survey);
    fprintf(out, ".");
    if (survey->prerequisites)
        fprintf(out, " %s lines of robots.txt and of names are left out.",
                axis_number((double)survey->prerequisites, 0, text));
    if (survey->bad_lines)
        fprintf(out, " <b>%s lines could not be read.</b>", axis_number((double)survey->bad_lines, 0, text));
    fprintf(out, "</p>\n");
}

void report_page_begin(const struct report_page *page)
{
    FILE *out = page->out;
    const char *name = page->figures->crawls[0]->name;
    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                 "'unsafe-inline'\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Crawl report: ");
    write_text(out, name);
    fprintf(out, "</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<h1>Crawl report: ", chart_style(),
            style);
    write_text(out, name);
    if (page->figures->count > 1) {
        fprintf(out, ", compared with ");
        write_text(out, page->figures->crawls[1]->name);
    }
    fprintf(out, "</h1>\n");
    for (size_t i = 0; i < page->figures->count; i++)
        write_lead(page, page->figures->crawls[i]);
    write_tiles(page);
}

void report_page_add(struct report_page *page, const struct figure *figure)
{
    FILE *out = page->out;
    if (figure->section)
        fprintf(out, "%s<h2>%s</h2>\n<div class=\"figures\">\n", page->has_figures ? "</div>\n" : "",
                figure->section);
    page->has_figures = true;
    fprintf(out, "<figure id=\"%s\">\n<h3>%s</h3>\n", figure->id, figure->title);
    if (!figure->is_missing)
        chart_write_svg(&figure->chart, out, figure->id, false);
    fprintf(out, "<figcaption>%s</figcaption>\n", figure->caption);
    if (!figure->is_missing) {
        fprintf(out, "<details><summary>Numbers</summary><div>\n");
        chart_write_table(&figure->chart, out);
        fprintf(out, "</div></details>\n");
    }
    fprintf(out, "</figure>\n");
}

void report_page_end(const struct report_page *page)
{
    fprintf(
        page->out,
        "%s<footer>Written by <code>lycosa report</code> %s from crawl.log, progress.tsv and summary.json. "
        "Times are UTC, K, M and G powers of 1,000; deviations are standard deviations of all values. "
        "<code>--data DIR</code> writes each figure as SVG and TSV.</footer>\n</body>\n</html>\n",
        page->has_figures ? "</div>\n" : "", LYCOSA_VERSION);
}
