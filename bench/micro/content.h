/* bench_content: what the engine does with bytes, one row per figure, peers in the same run.
 *
 * A part (content_NOUN.c) registers its rows from a constructor. The rows of one group (the name up to the
 * first '/') take turns: one sample each per round, so that a noisy moment hits all of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum content_unit { CONTENT_NS_PER_ITEM, CONTENT_MB_PER_SECOND };
enum content_role { CONTENT_OURS, CONTENT_PEER, CONTENT_BASELINE };

enum { CONTENT_PAGES_MAX = 1024 };

struct content_row {
    const char *name; /* "url/resolve"; a peer's row: "url/lexbor" */
    const char *what; /* one line: what a pass does */
    enum content_unit unit;
    enum content_role role;
    double target; /* the figure asked for: at most for ns, at least for MB/s; 0 for none */
    /* Loads the input and sets items and bytes of one pass; false where the input is absent (the row is
     * skipped). */
    bool (*begin)(struct content_row *row);
    /* One pass. The return value depends on all the work, so that none of it can be left out. */
    uint64_t (*pass)(struct content_row *row);
    void (*finish)(struct content_row *row);
    void *context;
    uint64_t items, bytes;
    bool of_websim; /* the row's pages are websim's */
    struct content_row *next; /* the frame's own */
};

void content_register(struct content_row *row);
/* Rows whose input is content_each_page: each is registered twice, the second time for websim's pages, with "websim " before
 * the last part of its name. */
void content_register_pages(struct content_row *rows, size_t count);

/* The whole of a file below the corpora's folder (--corpora, ../shared/corpora unless told), malloc'ed, NUL
 * after its end; NULL where it is absent. */
char *content_read(const char *relative, size_t *len);
/* Calls `visit` for each page of the row's kind: those of the corpora, at most CONTENT_PAGES_MAX, or websim's. The text, NUL
 * after its end, is malloc'ed, and the visitor's. False where there is none. */
bool content_each_page(const struct content_row *row, void (*visit)(void *context, char *page, size_t len),
                       void *context);
/* Calls `visit` for each regular file in a folder of the corpora, in the order of names; false where
 * absent. */
bool content_each_file(const char *folder, void (*visit)(void *context, const char *relative), void *context);
