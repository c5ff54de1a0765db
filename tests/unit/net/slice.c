#include "net/slice.h"
#include "tests/support/check.h"

TEST(equals)
{
    CHECK(slice_equals(SLICE("abc"), slice_of("abc")));
    CHECK(!slice_equals(SLICE("abc"), SLICE("abd")));
    CHECK(!slice_equals(SLICE("abc"), SLICE("ab")));
    CHECK(slice_equals((struct slice){NULL, 0}, SLICE("")));
}

TEST(equals_nocase_folds_ascii_letters_only)
{
    CHECK(slice_equals_nocase(SLICE("Content-Type"), SLICE("content-tYPE")));
    CHECK(!slice_equals_nocase(SLICE("["), SLICE("{")));
    CHECK(!slice_equals_nocase(SLICE("\xc0"), SLICE("\xe0")));
}

TEST(starts_with_and_skip)
{
    CHECK(slice_starts_with(SLICE("http://x"), SLICE("http:")));
    CHECK(!slice_starts_with(SLICE("http"), SLICE("http:")));
    CHECK_SLICE(slice_skip(SLICE("http://x"), 5), "//x");
}

TEST(trim)
{
    CHECK_SLICE(slice_trim(SLICE(" \t\r\n a b \f ")), "a b");
    CHECK_SLICE(slice_trim(SLICE("   ")), "");
}

TEST(white_space_is_that_of_html)
{
    for (int byte = 0; byte < 256; byte++)
        CHECK(slice_is_space((char)byte) == (byte != 0 && strchr(" \t\n\f\r", byte)));
    CHECK(slice_equals(slice_skip_space(SLICE(" \t\n\f\r a ")), SLICE("a ")));
    CHECK(slice_equals(slice_skip_space(SLICE("  ")), SLICE("")));
}

TEST(blanks_do_not_end_a_line)
{
    for (int c = -128; c < 128; c++)
        CHECK(slice_is_blank((char)c) == (c == ' ' || c == '\t'));
}

TEST(hexadecimal_digits_have_values)
{
    const char digits[] = "0123456789abcdef";
    for (int byte = 0; byte < 256; byte++) {
        const char *at = byte ? strchr(digits, byte >= 'A' && byte <= 'F' ? byte | 0x20 : byte) : NULL;
        CHECK_INT(slice_hex_value((char)byte), at ? at - digits : -1);
    }
}
