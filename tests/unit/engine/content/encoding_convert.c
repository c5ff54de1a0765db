#include "engine/content/encoding.h"

#include "engine/content/limits.h"
#include "tests/support/check.h"

static struct slice converted(const char *label, struct slice text)
{
    static char out[4096];
    char *copy = check_guard_copy(text.ptr, text.len);
    struct slice result = {
        out, encoding_to_utf8(encoding_find(slice_of(label)), (struct slice){copy, text.len}, out)};
    check_guard_free(copy, text.len);
    return result;
}

static struct slice query(const char *label, const char *url)
{
    static char out[4096];
    return (struct slice){out, encoding_query(encoding_find(slice_of(label)), slice_of(url), out)};
}

TEST(text_becomes_utf8)
{
    CHECK_SLICE(converted("windows-1252", SLICE("caf\xe9 \x80")), "caf\xc3\xa9 \xe2\x82\xac");
    CHECK_SLICE(converted("windows-1251", SLICE("\xef\xf0")), "\xd0\xbf\xd1\x80");
    CHECK_SLICE(converted("shift_jis", SLICE("\x83\x65\x83\x58")), "\xe3\x83\x86\xe3\x82\xb9");
    CHECK_SLICE(converted("gbk", SLICE("\xd6\xd0")), "\xe4\xb8\xad");
    CHECK_SLICE(converted("euc-kr", SLICE("\xc7\xd1")), "\xed\x95\x9c");
    CHECK_SLICE(converted("utf-16le", SLICE("a\0\xe9\0")), "a\xc3\xa9");
    CHECK_SLICE(converted("utf-16be", SLICE("\0a\0\xe9")), "a\xc3\xa9");
    CHECK_SLICE(converted("iso-2022-jp", SLICE("\x1b$B%F\x1b(Bx")), "\xe3\x83\x86x");
    encoding_fini();
}

TEST(malformed_text_becomes_replacement_characters)
{
    CHECK_SLICE(converted("utf-8", SLICE("a\xff"
                                         "b\xc3")),
                "a\xef\xbf\xbd"
                "b\xef\xbf\xbd");
    CHECK_SLICE(converted("utf-8", SLICE("\xed\xa0\x80")), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    CHECK_SLICE(converted("gbk", SLICE("a\xd6")), "a\xef\xbf\xbd");
    CHECK_SLICE(converted("shift_jis", SLICE("\xffz")), "\xef\xbf\xbdz");
    encoding_fini();
}

TEST(half_a_pair_does_not_shift_what_follows)
{
    CHECK_SLICE(converted("utf-16le", SLICE("a\0\0\xd8"
                                            "b\0c\0")),
                "a\xef\xbf\xbd"
                "bc");
    CHECK_SLICE(converted("utf-16be", SLICE("\0a\xdc\0\0b\0c")), "a\xef\xbf\xbd"
                                                                 "bc");
    CHECK_SLICE(converted("utf-16le", SLICE("a\0\0\xd8")), "a\xef\xbf\xbd");
    encoding_fini();
}

TEST(each_encoding_of_the_table_can_be_opened)
{
    static const char *const labels[] = {
        "ibm866",       "iso-8859-2",     "iso-8859-3",   "iso-8859-4",   "iso-8859-5",   "iso-8859-6",
        "iso-8859-7",   "iso-8859-8",     "iso-8859-8-i", "iso-8859-10",  "iso-8859-13",  "iso-8859-14",
        "iso-8859-15",  "iso-8859-16",    "koi8-r",       "koi8-u",       "macintosh",    "windows-874",
        "windows-1250", "windows-1253",   "windows-1254", "windows-1255", "windows-1256", "windows-1257",
        "windows-1258", "x-mac-cyrillic", "gb18030",      "big5",         "euc-jp"};
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        CHECK(encoding_find(slice_of(labels[i])));
        CHECK_SLICE(converted(labels[i], SLICE("abc")), "abc");
        /* No module would leave a replacement character for a whole character of two bytes at least. */
        struct slice result = converted(labels[i], SLICE("\xb0\xa1\xb0\xa1"));
        CHECK(result.len >= 3);
    }
    encoding_fini();
}

TEST(a_query_keeps_the_documents_encoding)
{
    CHECK_SLICE(query("windows-1252", "/caf\xc3\xa9?caf\xc3\xa9#\xc3\xa9"), "/caf\xc3\xa9?caf%E9#\xc3\xa9");
    CHECK_SLICE(query("shift_jis", "?\xe3\x83\x86"), "?%83%65");
    CHECK_SLICE(query("windows-1252", "?\xd0\xbf"), "?%26%231087%3B");
    CHECK_SLICE(query("windows-1252", "?\xf0\x9f\x98\x80"), "?%26%23128512%3B");
    CHECK_SLICE(query("utf-8", "?\xc3\xa9"), "?\xc3\xa9");
    CHECK_SLICE(query("utf-16le", "?\xc3\xa9"), "?\xc3\xa9");
    CHECK_SLICE(query("windows-1252", "#?\xc3\xa9"), "#?\xc3\xa9");
    encoding_fini();
}

TEST(utf8_is_recognised)
{
    CHECK(encoding_is_utf8(SLICE("")));
    CHECK(encoding_is_utf8(SLICE("plain text of more than eight bytes")));
    CHECK(encoding_is_utf8(SLICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80")));
    CHECK(encoding_is_utf8(SLICE("cut off \xe2\x82")));
    CHECK(!encoding_is_utf8(SLICE("\xe2(\xa1")));
    CHECK(!encoding_is_utf8(SLICE("\xc0\xaf")));
    CHECK(!encoding_is_utf8(SLICE("\xed\xa0\x80")));
    CHECK(!encoding_is_utf8(SLICE("\xf4\x90\x80\x80")));
    CHECK(!encoding_is_utf8(SLICE("\xf0\x80\x80\x80")));
    CHECK(!encoding_is_utf8(SLICE("abcdefgh\x80")));
}

TEST(utf8_at_a_guard_page_is_not_read_beyond)
{
    const char text[] = "0123456\xf0\x9f\x98\x80";
    for (size_t len = 0; len < sizeof(text); len++) {
        char *copy = check_guard_copy(text, len);
        CHECK(encoding_is_utf8((struct slice){copy, len}));
        check_guard_free(copy, len);
    }
}

TEST(the_start_of_a_document_is_readable)
{
    static char document[2 * SNIFF_BYTES_MAX], room[3 * SNIFF_BYTES_MAX + 4];
    const struct encoding *utf16 = encoding_find(SLICE("utf-16le"));
    CHECK_SLICE(encoding_readable_start(NULL, SLICE("\xff<p>"), room), "\xff<p>");
    CHECK_SLICE(encoding_readable_start(utf16, SLICE("\xff\xfe<\0p\0>\0"), room), "<p>");
    memset(document, 'a', sizeof(document));
    CHECK_INT(encoding_readable_start(NULL, (struct slice){document, sizeof(document)}, room).len,
              SNIFF_BYTES_MAX);
    CHECK_INT(encoding_readable_start(utf16, (struct slice){document, sizeof(document)}, room).len,
              3 * SNIFF_BYTES_MAX / 2);
    encoding_fini();
}
