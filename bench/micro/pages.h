/* Pages of websim's web, as a crawl with bench_crawl's options meets them: for rows beside those of real pages. */
#pragma once

#include <stddef.h>

enum { PAGES_OF_WEBSIM = 1000 };

/* Calls `visit` with the HTML of each page, which is valid during the call. */
void pages_each_of_websim(void (*visit)(void *context, const char *html, size_t len), void *context);
