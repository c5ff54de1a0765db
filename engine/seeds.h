/* Seeds: URLs as arguments, or files with one per line. A line may be a bare name ("example.org"), which is
 * read as http; empty lines and lines that begin with '#' are passed over. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/tuning.h"
#include "engine/url.h"
#include "net/slice.h"

/* Called for each seed; `url` is good during the call. */
struct seeds_sink {
    void (*take)(void *owner, const struct url *url);
    void *owner;
    uint64_t count;
};

/* One seed as a person wrote it. False: `error` says what is wrong. */
bool seeds_take_text(struct seeds_sink *sink, struct slice text, struct tuning_error *error);

/* Every seed of a file's text; the first that is none ends it, with file and line. */
bool seeds_take_lines(struct seeds_sink *sink, const char *name, struct slice text,
                      struct tuning_error *error);

/* An argument of the command line: a URL with its scheme, or a file. */
bool seeds_take_argument(struct seeds_sink *sink, const char *argument, struct tuning_error *error);
