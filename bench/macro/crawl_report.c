#include "macro/crawl_report.h"

#include <assert.h>
#include <string.h>

static const struct crawl_report_column of_crawls[CRAWL_COLUMN_COUNT] = {
    [CRAWL_COLUMN_RATE] = {"pages/s", "pages_per_s", "%.0f"},
    [CRAWL_COLUMN_MB] = {"MB/s", "megabytes_per_s", "%.1f"},
    [CRAWL_COLUMN_CPU] = {"cpu s/1k", "cpu_s_per_1000", "%.4f"},
    [CRAWL_COLUMN_USER] = {"user s/1k", "user_s_per_1000", "%.4f"},
    [CRAWL_COLUMN_BUSY] = {"busy", "cpu_s_per_s", "%.2f"},
    [CRAWL_COLUMN_PEAK] = {"peak MB", "peak_megabytes", "%.0f"},
    [CRAWL_COLUMN_ENTERS] = {"enters/page", "ring_enters_per_page", "%.4f"},
    [CRAWL_COLUMN_OF_FIRST] = {"of first", "rate_by_first_row", "%.2f"},
    [CRAWL_COLUMN_LOST] = {"lost CAS", "lost_races", "%.0f"},
    [CRAWL_COLUMN_ON_DISK] = {"on disk", "share_on_disk", "%.3f"},
};

static const struct crawl_report_column *columns_of(const struct crawl_report *report)
{
    return report->columns ? report->columns : of_crawls;
}

static unsigned column_count(const struct crawl_report *report)
{
    return report->columns ? report->column_count : CRAWL_COLUMN_COUNT;
}

struct crawl_report_row *crawl_report_row(struct crawl_report *report, const char *name)
{
    for (unsigned i = 0; i < report->count; i++)
        if (strcmp(report->rows[i].name, name) == 0)
            return &report->rows[i];
    assert(report->count < CRAWL_REPORT_ROWS_MAX);
    struct crawl_report_row *row = &report->rows[report->count++];
    memset(row, 0, sizeof *row);
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

void crawl_report_add(struct crawl_report *report, const char *name, const double *values)
{
    struct crawl_report_row *row = crawl_report_row(report, name);
    for (unsigned c = 0; c < column_count(report); c++)
        series_add(&row->columns[c], values[c]);
}

static void add_rate(struct crawl_report *report, struct crawl_report_row *row, double rate)
{
    if (row == &report->rows[0])
        report->first_rate = rate;
    series_add(&row->columns[CRAWL_COLUMN_RATE], rate);
    if (report->first_rate > 0)
        series_add(&row->columns[CRAWL_COLUMN_OF_FIRST], rate / report->first_rate);
}

void crawl_report_add_run(struct crawl_report *report, const char *name, const struct crawl_run *run)
{
    struct crawl_report_row *row = crawl_report_row(report, name);
    double pages = (double)run->pages, cpu_s = run->user_s + run->system_s;
    add_rate(report, row, pages / run->seconds);
    series_add(&row->columns[CRAWL_COLUMN_MB], run->received / 1e6 / run->seconds);
    series_add(&row->columns[CRAWL_COLUMN_CPU], cpu_s * 1000 / pages);
    series_add(&row->columns[CRAWL_COLUMN_USER], run->user_s * 1000 / pages);
    series_add(&row->columns[CRAWL_COLUMN_BUSY], cpu_s / run->seconds);
    series_add(&row->columns[CRAWL_COLUMN_PEAK], (double)run->peak_bytes / 1e6);
    series_add(&row->columns[CRAWL_COLUMN_ENTERS], run->enters / pages);
    series_add(&row->columns[CRAWL_COLUMN_LOST], run->lost_races);
    if (run->urls_in > 0)
        series_add(&row->columns[CRAWL_COLUMN_ON_DISK], run->on_disk / run->urls_in);
}

void crawl_report_add_peer(struct crawl_report *report, const char *name,
                           const struct crawl_peer_result *peer)
{
    struct crawl_report_row *row = crawl_report_row(report, name);
    add_rate(report, row, peer->pages / peer->seconds);
    if (peer->received > 0)
        series_add(&row->columns[CRAWL_COLUMN_MB], peer->received / 1e6 / peer->seconds);
    series_add(&row->columns[CRAWL_COLUMN_CPU], peer->cpu_s * 1000 / peer->pages);
    series_add(&row->columns[CRAWL_COLUMN_BUSY], peer->cpu_s / peer->seconds);
    series_add(&row->columns[CRAWL_COLUMN_PEAK], (double)peer->peak_bytes / 1e6);
}

/* In the column's format; returns `text`. */
static const char *write_value(char text[32], const char *format, double value)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, 32, format, value);
#pragma GCC diagnostic pop
    return text;
}

static void print_cell(FILE *out, const char *format, const struct series *series, bool with_spread)
{
    char median[32], least[32], most[32];
    struct series_spread spread = series_spread(series);
    fprintf(out, " %11s", series->count ? write_value(median, format, spread.median) : "-");
    if (with_spread)
        fprintf(out, " [%8s %8s]", write_value(least, format, spread.least), write_value(most, format, spread.most));
}

/* Of the first column: the longest name. */
static int name_width(const struct crawl_report *report)
{
    int width = 34;
    for (unsigned i = 0; i < report->count; i++) {
        int len = (int)strlen(report->rows[i].name);
        width = len > width ? len : width;
    }
    return width;
}

static bool has_spread(const struct crawl_report *report, unsigned c)
{
    return c == 0 || c < report->spread_columns;
}

static void print_head(const struct crawl_report *report, int width, FILE *out)
{
    fprintf(out, "%s\n%-*s", report->title, width, "");
    for (unsigned c = 0; c < column_count(report); c++) {
        fprintf(out, " %11s", columns_of(report)[c].head);
        if (has_spread(report, c))
            fprintf(out, " %19s", "[least most]");
    }
    fprintf(out, "\n");
}

static void print_table(const struct crawl_report *report, FILE *out)
{
    int width = name_width(report);
    print_head(report, width, out);
    for (unsigned i = 0; i < report->count; i++) {
        const struct crawl_report_row *row = &report->rows[i];
        fprintf(out, "%-*s", width, row->name);
        for (unsigned c = 0; c < column_count(report) && row->columns[0].count; c++)
            print_cell(out, columns_of(report)[c].format, &row->columns[c], has_spread(report, c));
        fprintf(out, "%s%s\n", row->note ? "  " : "", row->note ? row->note : "");
    }
    fprintf(out, "\n");
    fflush(out);
}

void crawl_report_print(const struct crawl_report *report, FILE *out)
{
    if (report->count) /* --filter may have left out all rows */
        print_table(report, out);
    if (report->below)
        crawl_report_print(report->below, out);
}

static void write_row(const struct crawl_report *report, const struct crawl_report_row *row, FILE *out)
{
    const struct crawl_report_column *columns = columns_of(report);
    fprintf(out, "    {\"name\": \"%s\"", row->name);
    if (row->note)
        fprintf(out, ", \"note\": \"%s\"", row->note);
    for (unsigned c = 0; c < column_count(report); c++) {
        struct series_spread spread = series_spread(&row->columns[c]);
        if (row->columns[c].count)
            fprintf(out, ", \"%s\": {\"median\": %.9g, \"least\": %.9g, \"most\": %.9g}", columns[c].key,
                    spread.median, spread.least, spread.most);
    }
    fprintf(out, "}");
}

void crawl_report_write_json(const struct crawl_report *report, FILE *out)
{
    fprintf(out, "  {\"title\": \"%s\", \"rows\": [\n", report->title);
    for (unsigned i = 0; i < report->count; i++) {
        write_row(report, &report->rows[i], out);
        fprintf(out, "%s\n", i + 1 < report->count ? "," : "");
    }
    fprintf(out, "  ]}%s", report->below ? ",\n" : "");
    if (report->below)
        crawl_report_write_json(report->below, out);
}
