#include "engine/crawl/added.h"

#include "tests/support/check.h"

TEST(lines_are_numbered_as_they_came)
{
    struct added *added = added_create(SLICE(
        "\xef\xbb\xbfhttp://a.example/\r\n# a remark\n\n  b.example:8080/x \nno where\nhttp://c.example/"));
    struct tuning_error why;
    char buffer[512];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK_INT(added->count, 4);
    CHECK_SLICE(added_text(added, &added->lines[0]), "http://a.example/");
    CHECK_INT(added->lines[0].number, 1);
    CHECK_SLICE(added_text(added, &added->lines[1]), "b.example:8080/x");
    CHECK_INT(added->lines[1].number, 4);
    CHECK_INT(added->lines[2].number, 5);
    CHECK_INT(added->lines[2].fate, ADDED_BAD);
    CHECK_INT(added->lines[3].fate, ADDED_UNDECIDED);
    CHECK_INT(added_count(added, ADDED_UNDECIDED), 3);
    CHECK(added_parse(added, &added->lines[1], &url, &why));
    CHECK_SLICE(url_text(&url), "http://b.example:8080/x");
    CHECK(!added_parse(added, &added->lines[2], &url, &why));
    CHECK(strstr(why.message, "no where"));
    CHECK_INT(lf_load(&added->state, relaxed), ADDED_PENDING);
    added_destroy(added);
}

TEST(nothing_is_an_empty_list)
{
    const struct slice texts[] = {{NULL, 0}, SLICE(""), SLICE("\n\n"), SLICE("# x"), SLICE("\xef\xbb\xbf")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct added *added = added_create(texts[i]);
        CHECK_INT(added->count, 0);
        added_destroy(added);
    }
    added_destroy(NULL);
}

TEST(every_fate_has_a_name)
{
    for (int fate = 0; fate < ADDED_FATES; fate++)
        CHECK(added_fate_name((enum added_fate)fate) != NULL);
    CHECK_STR(added_fate_name(ADDED_STRANGER), added_fate_name(ADDED_BAD));
}

/* Whoever sends the text may free it at once. */
TEST(the_text_is_copied)
{
    char text[] = "http://a.example/";
    struct added *added = added_create(slice_of(text));
    memset(text, 'x', sizeof text - 1);
    CHECK_SLICE(added_text(added, &added->lines[0]), "http://a.example/");
    added_destroy(added);
}

TEST(not_a_byte_beyond_the_text_is_read)
{
    static const char text[] = "http://a.example/\nhttp://b.example/";
    for (size_t len = 0; len < sizeof text; len++) {
        char *copy = check_guard_copy(text, len);
        struct added *added = added_create((struct slice){copy, len});
        CHECK_INT(added->count, (len > 0) + (len > strlen("http://a.example/\n")));
        added_destroy(added);
        check_guard_free(copy, len);
    }
}

TEST(a_url_that_is_too_long_is_bad)
{
    static char text[2 * URL_BYTES_MAX];
    memset(text, 'x', sizeof text);
    memcpy(text, "http://a.example/", 17);
    memcpy(text + sizeof text - 20, "\nhttp://b.example/\n", 19);
    struct added *added = added_create((struct slice){text, sizeof text - 1});
    CHECK_INT(added->count, 2);
    CHECK_INT(added->lines[0].fate, ADDED_BAD);
    CHECK_INT(added->lines[1].fate, ADDED_UNDECIDED);
    CHECK_INT(added->lines[1].number, 2);
    added_destroy(added);
}

TEST(remarks_are_whole_lines)
{
    struct added *added = added_create(SLICE("  # indented\n\thttp://a.example/#part\t\r\n#\n\r\nb.example"));
    char buffer[512];
    struct tuning_error why;
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK_INT(added->count, 2);
    CHECK_SLICE(added_text(added, &added->lines[0]), "http://a.example/#part");
    CHECK_INT(added->lines[0].number, 2);
    CHECK_INT(added->lines[1].number, 5);
    CHECK(added_parse(added, &added->lines[1], &url, &why));
    CHECK_SLICE(url_text(&url), "http://b.example/");
    added_destroy(added);
}

TEST(fates_are_counted)
{
    struct added *added = added_create(SLICE("a.example\nb.example\nc.example\n"));
    CHECK_INT(added_count(added, ADDED_UNDECIDED), 3);
    added->lines[0].fate = added->lines[2].fate = ADDED_KNOWN;
    added->lines[1].fate = ADDED_LOST;
    CHECK_INT(added_count(added, ADDED_KNOWN), 2);
    CHECK_INT(added_count(added, ADDED_LOST), 1);
    CHECK_INT(added_count(added, ADDED_UNDECIDED), 0);
    added_destroy(added);
}
