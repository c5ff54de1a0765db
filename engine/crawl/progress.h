/* DIR/progress.tsv: samples of a crawl over time, for reports and spreadsheets. The first line has the names of the
 * columns; a resumed crawl goes on in the same file. Nothing depends on it: what cannot be written is left out. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "engine/crawl/sample.h"

struct progress {
    FILE *file; /* NULL: there is none */
    /* Called with each sample that is in the file when it is opened; NULL: nobody wants them. */
    void (*on_sample)(void *owner, const struct sample *sample);
    void *owner;
};

/* Opens the file to add lines. If it has lines already, `last` becomes the last whole one, and a torn line behind it is
 * removed; a file with other columns is moved to PATH.old. True if there was a last line. */
bool progress_open(struct progress *progress, const char *path, struct sample *last);
void progress_add(struct progress *progress, const struct sample *sample);
void progress_close(struct progress *progress);
