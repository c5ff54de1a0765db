/* What `lycosa crawl` shows while it runs: one block that is written over on a terminal, no larger than that is, and plain
 * lines elsewhere. It never blocks: what nobody reads is left out, so that a crawl does not depend on who looks at
 * it. */
#pragma once

#include <stdbool.h>

#include "engine/crawl/status.h"

enum { TERMINAL_TEXT_BYTES = 4096 }; /* PIPE_BUF: a pipe that is ready takes so much at once */

struct terminal {
    int fd;
    bool is_terminal;
    unsigned columns, rows;           /* of the terminal; 0: any */
    unsigned lines;                   /* of the block that is on the screen */
    char pending[TERMINAL_TEXT_BYTES]; /* notes that could not be written yet */
};

void terminal_init(struct terminal *terminal, int fd);
/* A line, or a block that replaces the one before. */
void terminal_status(struct terminal *terminal, const struct status *status);
/* A line that is replaced by the next one, or by the block. Elsewhere than on a terminal it is an ordinary line. */
void terminal_progress(struct terminal *terminal, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A line of its own. If it cannot be written now, it is written before the next one. */
void terminal_note(struct terminal *terminal, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The last words: waits a moment for a slow reader. */
void terminal_finish(struct terminal *terminal);

/* The text that terminal_status writes, for a terminal or not; returns its length. */
size_t terminal_write_status(struct terminal *terminal, const struct status *status, char *buffer);
