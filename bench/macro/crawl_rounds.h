/* Rows that are whole crawls of the same simulated web, in rounds: wrk first, then each row, one after another, so that a
 * noisy moment hits all of them. With a second build each row is crawled by both, and who is first changes with each round. */
#pragma once

#include "macro/crawl_parts.h"

enum crawl_rounds_web { CRAWL_ROUNDS_PLAIN, CRAWL_ROUNDS_GZIP, CRAWL_ROUNDS_TLS, CRAWL_ROUNDS_WEBS };

enum { CRAWL_ROUNDS_ROWS_MAX = 16 };

struct crawl_rounds_row {
    const char *name;
    enum crawl_rounds_web web;
    const char *seeds;  /* "seeds": the root pages; "urls": every URL */
    const char *tuning; /* lines of the tuning file; another build's file is without those that it does not know */
    const char *needs;  /* of these, the ones without which the row means nothing; NULL: none */
    const char *of;     /* the row that it is compared with by pairs; NULL: none */
};

struct crawl_rounds {
    const struct crawl_rounds_row *rows;
    unsigned count;             /* at most CRAWL_ROUNDS_ROWS_MAX */
    bool with_peers;            /* other crawlers, too */
    struct crawl_report *pairs; /* room for the second table */
};

/* False if a crawl failed, or fetched other pages than websim has. */
bool crawl_rounds_run(const struct crawl_rounds *rounds, const struct crawl_settings *settings,
                      struct crawl_report *report);
