#include "engine/robots/robots_pattern.h"

#include "tests/support/check.h"

static void check_pattern(const char *pattern, const char *expected)
{
    char normal[100];
    size_t len = strlen(pattern);
    char *guarded = check_guard_copy(pattern, len);
    struct slice result = {normal, robots_pattern_normalise(normal, (struct slice){guarded, len})};
    CHECK_SLICE(result, expected);
    check_guard_free(guarded, len);
}

static void check_path(enum robots_query query, const char *path, const char *expected)
{
    char normal[100];
    struct slice result = {normal, robots_path_normalise(normal, slice_of(path), query)};
    CHECK_SLICE(result, expected);
    CHECK_INT(robots_path_is_normal(slice_of(path)), strcmp(path, expected) == 0 && !strchr(path, '%'));
}

TEST(patterns)
{
    check_pattern("/a/b-c.d_e~f", "/a/b-c.d_e~f");
    check_pattern("/%61%7e%2f%3d", "/a~%2F%3D");
    check_pattern("/a**b*$", "/a*b*$");
    check_pattern("/a$b$", "/a%24b$");
    check_pattern("/%2a%24", "/%2A%24");
    check_pattern("/\xc3\xa9\x7f\"<", "/%C3%A9%7F%22%3C");
    check_pattern("/%", "/%");
    check_pattern("/%4", "/%4");
    check_pattern("/%zz", "/%zz");
    check_pattern("/a%3Ab?c%3Ad", "/a%3Ab?c:d");
    check_pattern("", "");
}

TEST(paths)
{
    check_path(ROBOTS_QUERY_AS_IS, "/a/b?c=d&e", "/a/b?c=d&e");
    check_path(ROBOTS_QUERY_AS_IS, "/*$", "/%2A%24");
    check_path(ROBOTS_QUERY_AS_IS, "/%41%2f?%2f%42", "/A%2F?%2FB");
    check_path(ROBOTS_QUERY_DECODED, "/%41%2f?%2f%42", "/A%2F?/B");
    check_path(ROBOTS_QUERY_AS_IS, "/%C3%A9", "/%C3%A9");
}

/* A pattern's pairs are all among those of a path that it is part of. */
TEST(pairs)
{
    uint64_t path = robots_pairs(SLICE("/shop/list.html?sort=price"));
    CHECK((robots_pairs(SLICE("?sort=")) & ~path) == 0);
    CHECK((robots_pairs(SLICE("list.html")) & ~path) == 0);
    CHECK((robots_pairs(SLICE("zq!xj~")) & ~path) != 0);
    CHECK(robots_pairs(SLICE("a")) == 0);
    CHECK(robots_pairs(SLICE("")) == 0);
}
