/* The programs of a build directory: an older lycosa may know fewer keys of the tuning file than this one. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { CRAWL_BUILD_PATH_BYTES = 512, CRAWL_BUILD_KEYS_BYTES = 65536 };

struct crawl_build {
    char directory[CRAWL_BUILD_PATH_BYTES];
    char keys[CRAWL_BUILD_KEYS_BYTES]; /* what its lycosa crawl --print-tuning says */
};

/* False, with a message, if there is no lycosa that prints its keys. */
bool crawl_build_open(struct crawl_build *build, const char *directory);

/* Whether it knows all keys of a tuning file's lines, and of keys with a list of values these values. */
bool crawl_build_knows(const struct crawl_build *build, const char *tuning);

/* Writes the lines of a tuning file, without those that it does not know. */
void crawl_build_write(const struct crawl_build *build, const char *tuning, FILE *out);
