#include "engine/archive/dechunk.h"

#include <stdio.h>

#include "tests/support/check.h"

/* The body, fed in parts of `step` bytes. */
static const char *body_of(const char *text, bool is_chunked, size_t step)
{
    static char body[1000];
    struct dechunk dechunk;
    size_t len = 0;
    struct slice rest = slice_of(text);
    dechunk_begin(&dechunk, is_chunked);
    while (rest.len) {
        struct slice piece = {rest.ptr, rest.len < step ? rest.len : step};
        rest = slice_skip(rest, piece.len);
        while (piece.len) {
            struct slice part = dechunk_next(&dechunk, &piece);
            memcpy(body + len, part.ptr, part.len);
            len += part.len;
        }
    }
    body[len] = '\0';
    return body;
}

TEST(chunks_are_taken_off)
{
    static const char text[] = "5\r\nfirst\r\n6;x=y\r\n again\r\n0\r\nTrailer: x\r\n\r\nbehind it";
    for (size_t step = 1; step <= sizeof text; step++) {
        CHECK_STR(body_of(text, true, step), "first again");
        CHECK_STR(body_of(text, false, step), text);
    }
}

TEST(what_has_no_chunks_is_left_as_it_is)
{
    CHECK_STR(body_of("<html>no chunks", true, 1000), "<html>no chunks");
}

TEST(damage_behind_a_chunk_ends_the_body)
{
    CHECK_STR(body_of("5\r\nfirst\r\nzz\r\nmore", true, 1000), "first");
    CHECK_STR(body_of("5\r\nfir", true, 1000), "fir");
}
