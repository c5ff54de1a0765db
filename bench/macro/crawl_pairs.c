#include "macro/crawl_pairs.h"

static const struct crawl_report_column columns[] = {
    {"pages/s", "rate_by_pairs", "%.3f"},
    {"cpu/page", "cpu_by_pairs", "%.3f"},
};

void crawl_pairs_begin(struct crawl_report *pairs, struct crawl_report *report)
{
    *pairs = (struct crawl_report){.title = "by pairs: the median of the ratios that two rows had in each round",
                                   .columns = columns,
                                   .column_count = sizeof columns / sizeof columns[0],
                                   .spread_columns = 2};
    report->below = pairs;
}

static double rate(const struct crawl_run *run)
{
    return (double)run->pages / run->seconds;
}

static double cpu_s(const struct crawl_run *run)
{
    return (run->user_s + run->system_s) / (double)run->pages;
}

void crawl_pairs_add(struct crawl_report *pairs, const struct crawl_pairs_side *side,
                     const struct crawl_pairs_side *other)
{
    char name[96];
    snprintf(name, sizeof name, "%s : %s", side->name, other->name);
    crawl_report_add(pairs, name,
                     (const double[]){rate(side->run) / rate(other->run), cpu_s(side->run) / cpu_s(other->run)});
}
