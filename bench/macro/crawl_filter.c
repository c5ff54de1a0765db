#include "macro/crawl_filter.h"

#include <stdio.h>

bool crawl_filter_open(struct crawl_filter *filter, const char *pattern)
{
    filter->is_set = regcomp(&filter->pattern, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB) == 0;
    if (!filter->is_set)
        fprintf(stderr, "bench_crawl: --filter %s: not a regular expression\n", pattern);
    return filter->is_set;
}

bool crawl_filter_wants(const struct crawl_filter *filter, const char *row)
{
    return !filter->is_set || regexec(&filter->pattern, row, 0, NULL, 0) == 0;
}
