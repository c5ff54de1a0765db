#include "engine/robots/robots_tag.h"

#include "tests/support/check.h"

static void check_tag(const char *value, unsigned expected)
{
    size_t len = strlen(value);
    char *guarded = check_guard_copy(value, len);
    CHECK_INT(robots_tag_parse((struct slice){guarded, len}, SLICE("lycosa")), expected);
    check_guard_free(guarded, len);
}

TEST(directives)
{
    check_tag("noindex", ROBOTS_TAG_NOINDEX);
    check_tag(" NoIndex ,NOFOLLOW,", ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOFOLLOW);
    check_tag("none", ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOFOLLOW);
    check_tag("noarchive, noimageindex, nosnippet, notranslate",
              ROBOTS_TAG_NOARCHIVE | ROBOTS_TAG_NOIMAGEINDEX | ROBOTS_TAG_NOSNIPPET | ROBOTS_TAG_NOTRANSLATE);
    check_tag("all, index, follow", 0);
    check_tag("", 0);
    check_tag(",,,", 0);
    check_tag("noindexing", 0);
}

TEST(names)
{
    check_tag("lycosa: nofollow", ROBOTS_TAG_NOFOLLOW);
    check_tag("LYCOSA : noindex, nofollow", ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOFOLLOW);
    check_tag("googlebot: noindex, nofollow", 0);
    check_tag("noindex, googlebot: nofollow", ROBOTS_TAG_NOINDEX);
    check_tag("googlebot: nofollow, lycosa: noindex", ROBOTS_TAG_NOINDEX);
    check_tag("*: noindex", ROBOTS_TAG_NOINDEX);
}

TEST(directives_with_values_are_no_names)
{
    check_tag("unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow", ROBOTS_TAG_NOFOLLOW);
    check_tag("unavailable_after: Friday, 25-Jun-10 15:00:00 UTC, nofollow", ROBOTS_TAG_NOFOLLOW);
    check_tag("max-snippet: 20, noindex", ROBOTS_TAG_NOINDEX);
}
