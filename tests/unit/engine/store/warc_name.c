#include "engine/store/warc_name.h"

#include <string.h>

#include "tests/support/check.h"

#define USUAL "{prefix}-{time}-{serial}-{loop}"

static const char *name_of(const char *format)
{
    static char text[160];
    struct warc_name name = {
        .format = format, .prefix = "lycosa", .date_us = UINT64_C(1709210096000007), .serial = 7, .loop = 3};
    warc_name_write(&name, text, sizeof text);
    return text;
}

TEST(words_are_replaced)
{
    CHECK_STR(name_of(USUAL), "lycosa-20240229123456000-00007-03");
    CHECK_STR(name_of("a.{loop}{serial}_{time}"), "a.0300007_20240229123456000");
    CHECK(strlen(name_of("{host}-{pid}")) >= 2 && !strchr(name_of("{host}-{pid}"), '{'));
}

TEST(templates_that_would_repeat_names_are_refused)
{
    CHECK(!warc_name_check(USUAL) && !warc_name_check("{time}{serial}{loop}"));
    CHECK(strstr(warc_name_check("{prefix}-{serial}-{loop}"), "{time}"));
    CHECK(warc_name_check("{time}-{loop}") && warc_name_check("{time}-{serial}") && warc_name_check(""));
}

TEST(templates_that_are_no_file_names_are_refused)
{
    CHECK(warc_name_check("a/" USUAL) && warc_name_check("." USUAL) && warc_name_check(USUAL " x"));
    CHECK(warc_name_check(USUAL "{what}") && warc_name_check(USUAL "{"));
}

TEST(a_name_stays_within_its_room)
{
    char text[24], prefix[300];
    memset(prefix, 'p', sizeof prefix - 1);
    prefix[sizeof prefix - 1] = '\0';
    struct warc_name name = {.format = USUAL, .prefix = prefix, .date_us = 1};
    warc_name_write(&name, text, sizeof text);
    CHECK_INT(strlen(text), sizeof text - 1);
}
