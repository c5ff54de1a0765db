/* Which rows of a part are wanted: those whose name an extended regular expression matches, without regard to case. */
#pragma once

#include <regex.h>
#include <stdbool.h>

struct crawl_filter {
    regex_t pattern;
    bool is_set;
};

/* False, with a message, if it is no regular expression. */
bool crawl_filter_open(struct crawl_filter *filter, const char *pattern);

/* All are wanted while there is no pattern. */
bool crawl_filter_wants(const struct crawl_filter *filter, const char *row);
