/* Seeds: URLs as arguments, files with one per line, or "-" for standard input. A URL may be a bare name
 * ("example.org"), which is read as http; in files, empty lines and lines that begin with '#' are skipped. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/tuning/tuning.h"
#include "engine/url/url.h"
#include "net/slice.h"

/* Called for each seed; `url` is valid during the call. False: no memory. */
struct seeds_sink {
    bool (*take)(void *owner, const struct url *url);
    void *owner;
    uint64_t count;
};

/* Takes one seed as a person wrote it. False: `error` says what is wrong. */
bool seeds_take_text(struct seeds_sink *sink, struct slice text, struct tuning_error *error);

/* Takes every seed of a file's text; stops at the first bad one, with file and line in the error. */
bool seeds_take_lines(struct seeds_sink *sink, const char *name, struct slice text,
                      struct tuning_error *error);

/* Takes the seeds of a file that a crawl appends to: its last line may be torn and does not count, and if there is no file
 * there are no seeds. */
bool seeds_take_appended(struct seeds_sink *sink, const char *path, struct tuning_error *error);

enum seeds_source {
    SEEDS_URL,
    SEEDS_FILE,
    SEEDS_STDIN,
    SEEDS_NONE, /* neither an existing file nor a URL */
};

/* What an argument of the command line is. A name without a scheme is a file if there is one, else a URL if
 * its top-level domain is known, or it has a port or is an address. */
enum seeds_source seeds_source_of(const char *argument);

/* All of standard input, read at the first call and kept. False if it cannot be read. */
bool seeds_stdin(struct slice *text);

/* Takes every seed of an argument. */
bool seeds_take_argument(struct seeds_sink *sink, const char *argument, struct tuning_error *error);
