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
    CHECK_SLICE(slice_trim(SLICE(" \t\r\n a b \f\v")), "a b");
    CHECK_SLICE(slice_trim(SLICE("   ")), "");
}
