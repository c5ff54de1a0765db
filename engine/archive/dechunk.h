/* Takes the chunks off a body that was stored with them, piece by piece. Lycosa stores bodies without chunks. Other
 * programs store them as they came. Some remove the chunks and keep the field that announces them; then the body is
 * left as it is. Pure. */
#pragma once

#include <stdbool.h>

#include "net/http_body.h"
#include "net/slice.h"

struct dechunk {
    struct http_body body;
    bool is_chunked; /* so far */
    bool has_begun;  /* a chunk has been read: what is wrong from here on is damage */
    bool has_ended;
    bool is_bad;
};

void dechunk_begin(struct dechunk *dechunk, bool is_chunked);
/* The next part of the body out of `piece`, which loses what was used. Empty: `piece` is used up. */
struct slice dechunk_next(struct dechunk *dechunk, struct slice *piece);
