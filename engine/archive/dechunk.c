#include "engine/archive/dechunk.h"

void dechunk_begin(struct dechunk *dechunk, bool is_chunked)
{
    *dechunk = (struct dechunk){.is_chunked = is_chunked};
    http_body_init(&dechunk->body, HTTP_FRAMING_CHUNKED, 0);
}

static struct slice take_all(struct slice *piece)
{
    struct slice all = *piece;
    *piece = slice_skip(*piece, piece->len);
    return all;
}

struct slice dechunk_next(struct dechunk *dechunk, struct slice *piece)
{
    struct slice part = {piece->ptr, 0}, before = *piece;
    enum http_error error;
    if (!dechunk->is_chunked)
        return take_all(piece);
    while (piece->len && part.len == 0 && !dechunk->has_ended && !dechunk->is_bad) {
        switch (http_body_feed(&dechunk->body, piece, &part, &error)) {
        case PARSE_PARTIAL:
            break;
        case PARSE_DONE:
            dechunk->has_ended = true;
            break;
        case PARSE_BAD:
            if (!dechunk->has_begun) { /* no chunks after all */
                dechunk->is_chunked = false;
                *piece = before;
                return take_all(piece);
            }
            dechunk->is_bad = true;
            break;
        }
        dechunk->has_begun |= part.len > 0 || dechunk->has_ended;
    }
    if (dechunk->has_ended || dechunk->is_bad)
        *piece = slice_skip(*piece, part.len ? 0 : piece->len);
    return part;
}
