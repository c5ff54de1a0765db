#include "engine/archive/gzip_head.h"

#include "tests/support/check.h"

/* All flags; the extra field holds another subfield and "sl"; then a name, a comment, a checksum, and data. */
static const char all[] = "\x1f\x8b\x08\x1e\0\0\0\0\0\x03"
                          "\x12\0"
                          "xy\x02\0ab"
                          "sl\x08\0\x01\x02\x03\x04\x05\x06\0\0"
                          "name\0comment\0\xaa\xbb"
                          "data";

TEST(lengths_are_found_among_other_fields)
{
    struct gzip_head head;
    CHECK_INT(gzip_head_parse(&head, (struct slice){all, sizeof all - 1}), PARSE_DONE);
    CHECK_INT(head.len, sizeof all - 1 - 4);
    CHECK(head.has_lengths);
    CHECK_INT(head.packed_bytes, 0x04030201);
    CHECK_INT(head.content_bytes, 0x0605);
}

TEST(every_beginning_is_partial)
{
    struct gzip_head head;
    for (size_t len = 0; len < sizeof all - 1 - 4; len++) {
        char *copy = check_guard_copy(all, len);
        CHECK_INT(gzip_head_parse(&head, (struct slice){copy, len}), PARSE_PARTIAL);
        check_guard_free(copy, len);
    }
}

TEST(subfields_that_do_not_fit_are_ignored)
{
    struct gzip_head head;
    CHECK_INT(gzip_head_parse(&head, (struct slice){"\x1f\x8b\x08\x04\0\0\0\0\0\x03\x06\0sl\x08\0\1\2", 18}),
              PARSE_DONE);
    CHECK(!head.has_lengths);
    CHECK_INT(head.len, 18);
}

TEST(what_is_no_header_is_refused)
{
    struct gzip_head head;
    CHECK_INT(gzip_head_parse(&head, SLICE("\x1f\x8c")), PARSE_BAD);
    CHECK_INT(gzip_head_parse(&head, SLICE("\x1f\x8b\x07")), PARSE_BAD);
    CHECK_INT(gzip_head_parse(&head, SLICE("\x1f\x8b\x08\x20")), PARSE_BAD);
    CHECK_INT(gzip_head_parse(&head, SLICE("W")), PARSE_BAD);
}
