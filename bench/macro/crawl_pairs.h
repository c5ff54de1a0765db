/* Rows beside each other: what one had by what the other had in the same round, so that what disturbs the machine hits
 * both. The table shows the median of the rounds' ratios, the least and the most. */
#pragma once

#include "macro/crawl_report.h"

/* An empty table below `report`. */
void crawl_pairs_begin(struct crawl_report *pairs, struct crawl_report *report);

/* A round's ratios: rates and processor times per page of `run` by those of `other`. The row is called "NAME : OTHER". */
struct crawl_pairs_side {
    const char *name;
    const struct crawl_run *run;
};
void crawl_pairs_add(struct crawl_report *pairs, const struct crawl_pairs_side *side,
                     const struct crawl_pairs_side *other);
