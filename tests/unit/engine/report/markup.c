#include "engine/report/markup.h"

#include <stdlib.h>

#include "tests/support/check.h"

/* With chars_max 0, as a field. */
static const char *text(const char *from, size_t chars_max)
{
    static char *bytes;
    size_t size;
    free(bytes);
    FILE *out = open_memstream(&bytes, &size);
    if (chars_max)
        markup_text(out, slice_of(from), chars_max);
    else
        markup_field(out, slice_of(from));
    fclose(out);
    return bytes;
}

TEST(markup_and_marks_of_direction_are_harmless)
{
    CHECK_STR(text("<script>\"a'&", 99), "&lt;script&gt;&quot;a&#39;&amp;");
    CHECK_STR(text("a\xe2\x80\xaemoc.\x01\x7f", 99), "a\\u202Emoc.\\u0001\\u007F");
    CHECK_STR(text("gr\xc3\xbcn", 99), "gr\xc3\xbcn");
    CHECK_STR(text("\xff\xc0\xaf\xed\xa0\x80", 99), "\\xFF\\xC0\\xAF\\xED\\xA0\\x80");
    CHECK_STR(text("\xe2\x80", 99), "\\xE2\\x80");
}

TEST(long_names_are_cut)
{
    CHECK_STR(text("abcdef", 4), "abc\xe2\x80\xa6");
    CHECK_STR(text("abcd", 4), "abcd");
}

TEST(a_field_stays_one_field)
{
    CHECK_STR(text("a\tb\nc<d", 0), "a\\u0009b\\u000Ac<d");
}
