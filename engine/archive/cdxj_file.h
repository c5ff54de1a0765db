/* A CDXJ file on disk: line by line, and the lines of one key by a binary search, which looks at some thirty places of a
 * file of any size. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/archive/source.h"
#include "net/slice.h"

struct cdxj_file {
    struct source source;
    struct archive_error *error;
    uint64_t size;
    uint64_t next;        /* where the next line begins */
    uint64_t line_offset; /* of the line that was given out last */
    uint64_t line_number; /* of it, if the file was read from its beginning */
};

/* The error outlives the file. False: it is set. */
bool cdxj_file_open(struct cdxj_file *file, const char *path, struct archive_error *error);
void cdxj_file_fini(struct cdxj_file *file);

/* The next line, without its end. False: there is none, or the error is set. The line is good until the next call. */
bool cdxj_file_next(struct cdxj_file *file, struct slice *line);
/* The next line is the first one that is not before `text`. The file must be sorted. False: the error is set. */
bool cdxj_file_find(struct cdxj_file *file, struct slice text);
