#include "engine/archive/warc_head.h"

#include "tests/support/check.h"

static const char good[] = "WARC/1.0\r\n"
                           "warc-type: response\r\n"
                           "WARC-Record-ID: <urn:uuid:1>\r\n"
                           "WARC-Target-URI:\thttp://example.org/  \r\n"
                           "X-Other: a\r\n b\r\n"
                           "WARC-Filename: one\r\n two\r\n"
                           "WARC-Filename: second\r\n"
                           "Content-Length: 12\r\n\r\n";

TEST(fields_are_found_whatever_their_case)
{
    struct warc_head head;
    struct warc_head_fault fault;
    char *copy = check_guard_copy(good, sizeof good - 1);
    CHECK_INT(warc_head_parse(&head, (struct slice){copy, sizeof good - 1}, &fault), PARSE_DONE);
    CHECK_INT(head.raw.len, sizeof good - 1);
    CHECK_SLICE(head.version, "1.0");
    CHECK(warc_head_is_type(&head, SLICE("Response")));
    CHECK_SLICE(warc_head_uri(head.fields[WARC_FIELD_RECORD_ID]), "urn:uuid:1");
    CHECK_SLICE(head.fields[WARC_FIELD_TARGET_URI], "http://example.org/");
    CHECK_SLICE(head.fields[WARC_FIELD_FILENAME], "one\r\n two");
    CHECK(head.fields[WARC_FIELD_DATE].ptr == NULL);
    CHECK_INT(head.content_length, 12);
    check_guard_free(copy, sizeof good - 1);
}

TEST(every_beginning_is_partial)
{
    struct warc_head head;
    struct warc_head_fault fault;
    for (size_t len = 0; len < sizeof good - 1; len++) {
        char *copy = check_guard_copy(good, len);
        CHECK_INT(warc_head_parse(&head, (struct slice){copy, len}, &fault), PARSE_PARTIAL);
        check_guard_free(copy, len);
    }
}

TEST(what_is_wrong_is_told_with_its_place)
{
    struct warc_head head;
    struct warc_head_fault fault;
    CHECK_INT(warc_head_parse(&head, SLICE("WARC/1.0\r\nA: b\r\nno field\r\n\r\n"), &fault), PARSE_BAD);
    CHECK(fault.fault == ARCHIVE_BAD_HEAD && fault.at == 16);
    CHECK_INT(warc_head_parse(&head, SLICE("WARC/1.0\r\nA b: c\r\n\r\n"), &fault), PARSE_BAD);
    CHECK_INT(warc_head_parse(&head, SLICE("W"), &fault), PARSE_PARTIAL);
    CHECK_INT(warc_head_parse(&head, SLICE("X"), &fault), PARSE_BAD);
    CHECK_INT(warc_head_parse(&head, SLICE("WARC/\r\n"), &fault), PARSE_BAD);
    CHECK_INT(fault.fault, ARCHIVE_NOT_WARC);
}

static bool is_date(const char *date, const char *expected)
{
    char timestamp[WARC_TIMESTAMP_CHARS + 1] = "";
    bool is_good = warc_head_timestamp(slice_of(date), timestamp);
    CHECK_STR(timestamp, expected);
    return is_good;
}

TEST(dates_have_the_forms_of_the_standard)
{
    CHECK(is_date("2026-11-16T07:19:47Z", "20261116071947"));
    CHECK(is_date("2026-11-16T07:19:47.123456789Z", "20261116071947"));
    CHECK(is_date("2026-11-16T07:19Z", "20261116071900"));
    CHECK(is_date("2026-11-16", "20261116000000"));
    CHECK(is_date("2026-11", "20261101000000"));
    CHECK(is_date("2026", "20260101000000"));
    CHECK(!is_date("2026-11-16T07:19:47", "20261116071947"));
    CHECK(!is_date("2026-11-16T07:19:47+01:00", "20261116071947"));
    CHECK(!is_date("2026-11-16T07:19:47.Z", "20261116071947"));
    CHECK(!is_date("2026-11-16T07:19:47.1234567890Z", "20261116071947"));
    CHECK(!is_date("2026-13-16T07:19:47Z", "20261316071947"));
    CHECK(!is_date("2026-11-16T24:19:47Z", "20261116241947"));
    CHECK(!is_date("20261116071947", "20261116071947"));
    CHECK(!is_date("", "00000101000000"));
    CHECK(!warc_head_timestamp((struct slice){0}, (char[WARC_TIMESTAMP_CHARS]){0}));
}
