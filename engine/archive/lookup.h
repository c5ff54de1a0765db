/* Finds a capture of a URL by the indexes of an archive. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/archive/archive_error.h"
#include "engine/archive/limits.h"
#include "engine/archive/warc_head.h"
#include "net/slice.h"

enum { LOOKUP_PATH_BYTES = 1200, LOOKUP_TEXT_BYTES = 160 };

struct lookup {
    const char *const *indexes; /* paths of sorted CDXJ files; outlive the lookup */
    size_t count;
    char key[CDXJ_KEY_BYTES_MAX + 1];
    char room[CDXJ_LINE_BYTES_MAX];
};

/* What is looked for. Empty members match everything. */
struct lookup_question {
    struct slice url;
    struct slice timestamp; /* the capture nearest to it; empty: the latest */
    struct slice digest;    /* only captures with it */
    bool is_original;       /* no revisits */
};

struct lookup_hit {
    char warc[LOOKUP_PATH_BYTES]; /* the file's name in the folder of the index, or in "warc" below it */
    uint64_t offset;
    bool is_revisit;
    bool is_same_url; /* and not only of the same key */
    int64_t distance_s;
    char timestamp[WARC_TIMESTAMP_CHARS + 1];
    char digest[LOOKUP_TEXT_BYTES];
};

/* False: there is none, or the error is set. A capture of the very URL is preferred to one of the same key. */
bool lookup_find(struct lookup *lookup, const struct lookup_question *question, struct lookup_hit *hit,
                 struct archive_error *error);
