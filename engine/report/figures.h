/* The figures of a report: each is a chart with a title and a caption that says what is seen, how it is defined and in which
 * unit. If a figure cannot be drawn, its caption says why. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/report/chart.h"
#include "engine/report/roster.h"
#include "engine/report/survey.h"

enum { FIGURES_CRAWLS_MAX = 2, FIGURES_CAPTION_BYTES = 2048 };

/* The crawls to show, the first of them the one that the report is about; and tables made of what they count. */
struct figures {
    const struct survey *crawls[FIGURES_CRAWLS_MAX];
    size_t count;
    struct roster codes[FIGURES_CRAWLS_MAX];   /* "404 not found" */
    struct roster domains[FIGURES_CRAWLS_MAX]; /* top-level ones */
};

struct figure {
    const char *id; /* part of file names and anchors */
    const char *title;
    const char *section; /* NULL: that of the figure before */
    bool is_missing;     /* nothing to draw: the caption says why */
    char caption[FIGURES_CAPTION_BYTES];
    struct chart chart;
};

/* 0, or a negative errno. The surveys are finished. */
int figures_init(struct figures *figures, const struct survey *const *crawls, size_t count);
void figures_fini(struct figures *figures);

size_t figures_count(void);
/* Makes one figure of the list. */
void figures_make(const struct figures *figures, size_t index, struct figure *figure);
