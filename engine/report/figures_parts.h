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

/* figures_time.c */
void figures_make_pages(const struct figures *figures, struct figure *figure);
void figures_make_data(const struct figures *figures, struct figure *figure);
void figures_make_speed(const struct figures *figures, struct figure *figure);
void figures_make_bandwidth(const struct figures *figures, struct figure *figure);
void figures_make_found(const struct figures *figures, struct figure *figure);
void figures_make_limits(const struct figures *figures, struct figure *figure);
void figures_make_week(const struct figures *figures, struct figure *figure);
void figures_make_outlinks(const struct figures *figures, struct figure *figure);
void figures_make_repeats(const struct figures *figures, struct figure *figure);

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
