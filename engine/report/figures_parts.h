/* Shared by the figures*.c files only. */
#pragma once

#include "engine/report/figures.h"

/* Appends to the caption. */
void figures_say(struct figure *figure, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says why there is nothing to draw. */
void figures_miss(struct figure *figure, const char *why);
/* The name of a crawl's series: of the crawl if there are two, with `what` if that is not NULL. */
struct chart_series *figures_series(const struct figures *figures, struct chart *chart, size_t crawl,
                                    const char *what);

enum { FIGURES_BINS_MAX = 120 };

/* Time since the start, in seconds. */
extern const struct chart_axis figures_time_axis;

static inline uint64_t figures_sample(const struct survey *survey, size_t i, enum samples_column column)
{
    return survey->samples.values[i][column];
}

static inline double figures_sample_s(const struct survey *survey, size_t i)
{
    return (double)figures_sample(survey, i, SAMPLES_running_ms) / 1000;
}

/* What a counter grew by; counters of a crawl that was killed may fall behind a little. */
static inline double figures_growth(const struct survey *survey, size_t from, size_t to, enum samples_column column)
{
    uint64_t before = figures_sample(survey, from, column), after = figures_sample(survey, to, column);
    return after > before ? (double)(after - before) : 0;
}

/* How many of `count` are put together, so that at most FIGURES_BINS_MAX are left. */
static inline size_t figures_stride(size_t count)
{
    return (count + FIGURES_BINS_MAX - 1) / FIGURES_BINS_MAX;
}

/* figures_time.c */
void figures_make_pages(const struct figures *figures, struct figure *figure);
void figures_make_data(const struct figures *figures, struct figure *figure);
void figures_make_speed(const struct figures *figures, struct figure *figure);
void figures_make_bandwidth(const struct figures *figures, struct figure *figure);
void figures_make_found(const struct figures *figures, struct figure *figure);
void figures_make_outlinks(const struct figures *figures, struct figure *figure);
void figures_make_repeats(const struct figures *figures, struct figure *figure);

/* figures_limits.c */
void figures_make_limits(const struct figures *figures, struct figure *figure);
void figures_make_politeness(const struct figures *figures, struct figure *figure);
void figures_make_week(const struct figures *figures, struct figure *figure);

/* figures_tasks.c */
void figures_make_weights(const struct figures *figures, struct figure *figure);
void figures_make_later_pages(const struct figures *figures, struct figure *figure);
void figures_make_task_time(const struct figures *figures, struct figure *figure);
void figures_make_task_size(const struct figures *figures, struct figure *figure);
void figures_make_page_time(const struct figures *figures, struct figure *figure);
void figures_make_page_size(const struct figures *figures, struct figure *figure);
void figures_make_depth(const struct figures *figures, struct figure *figure);

/* figures_names.c */
int figures_count_codes(struct roster *codes, const struct survey *survey);
int figures_count_domains(struct roster *domains, const struct survey *survey);
void figures_make_codes(const struct figures *figures, struct figure *figure);
void figures_make_outcomes(const struct figures *figures, struct figure *figure);
void figures_make_mimes(const struct figures *figures, struct figure *figure);
void figures_make_domains(const struct figures *figures, struct figure *figure);
void figures_make_hosts(const struct figures *figures, struct figure *figure);
