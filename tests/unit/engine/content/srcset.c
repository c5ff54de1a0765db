#include "engine/content/srcset.h"

#include "tests/support/check.h"

/* The URLs, each followed by '|'. */
static const char *split(const char *text)
{
    static char out[1024];
    size_t len = strlen(text), used = 0;
    char *copy = check_guard_copy(text, len);
    struct slice rest = {copy, len}, url;
    while (srcset_next(&rest, &url))
        used += (size_t)snprintf(out + used, sizeof(out) - used, "%.*s|", (int)url.len, url.ptr);
    out[used] = '\0';
    check_guard_free(copy, len);
    return out;
}

TEST(candidates_are_separated_by_commas_behind_descriptors)
{
    CHECK_STR(split("a 1x, b 2x"), "a|b|");
    CHECK_STR(split("a 100w,b 200w"), "a|b|");
    CHECK_STR(split("a"), "a|");
    CHECK_STR(split("a, b"), "a|b|");
}

TEST(commas_within_a_url_belong_to_it)
{
    CHECK_STR(split("a,b 1x"), "a,b|");
    CHECK_STR(split("a,b,c"), "a,b,c|");
    CHECK_STR(split("data:,x 1x, y"), "data:,x|y|");
}

TEST(commas_at_its_end_do_not)
{
    CHECK_STR(split("a,, b"), "a|b|");
    CHECK_STR(split(",,a"), "a|");
}

TEST(white_space_is_of_any_kind)
{
    CHECK_STR(split("\n\ta\f1x ,\r\nb\t2x\n"), "a|b|");
    CHECK_STR(split("  "), "");
    CHECK_STR(split(""), "");
    CHECK_STR(split(" , , "), "");
}

TEST(parentheses_keep_commas_in_descriptors)
{
    CHECK_STR(split("a (1,2) 1x, b"), "a|b|");
    CHECK_STR(split("a (1, b"), "a|");
}
