/* The page: HTML that needs nothing from elsewhere and no script. Light or dark as the reader's system is, from 360 pixels on,
 * and on paper. */
#pragma once

#include <stdio.h>

#include "engine/report/figures.h"

struct report_page {
    FILE *out;
    const struct figures *figures;
    bool has_figures; /* one was added */
};

/* What comes before the figures: the title and the totals. */
void report_page_begin(const struct report_page *page);
void report_page_add(struct report_page *page, const struct figure *figure);
void report_page_end(const struct report_page *page);
