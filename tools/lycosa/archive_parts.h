/* The parts of `lycosa archive`, one per file. Each takes its own name as argv[0] and answers an exit code. */
#pragma once

#include <stdio.h>

#include "engine/archive/archive_error.h"
#include "engine/archive/source.h"
#include "engine/archive/warc_read.h"
#include "tools/manual/command.h"

/* Of `get`. */
enum { ARCHIVE_OPTION_TIME = COMMAND_LONG, ARCHIVE_OPTION_HEADERS, ARCHIVE_OPTION_RAW };

int archive_get_main(int argc, char **argv);
int archive_check_main(int argc, char **argv);
int archive_cat_main(int argc, char **argv);
int archive_list_main(int argc, char **argv);

/* Writes the error and answers the exit code for it. */
int archive_fail(const struct archive_error *error);

/* Opens a WARC file. False: the error is set. */
bool archive_open(struct source *source, struct warc_read *reader, const char *path,
                  struct archive_error *error);
void archive_close(struct source *source, struct warc_read *reader);
