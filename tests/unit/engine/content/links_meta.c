#include "engine/content/links_meta.h"

#include "engine/robots/robots_tag.h"
#include "tests/support/check.h"

static const char *refresh(const char *content)
{
    static char out[256];
    struct slice url;
    size_t len = strlen(content);
    char *copy = check_guard_copy(content, len);
    bool found = links_meta_refresh((struct slice){copy, len}, &url);
    if (found)
        snprintf(out, sizeof(out), "%.*s", (int)url.len, url.ptr);
    check_guard_free(copy, len);
    return found ? out : "none";
}

TEST(a_refresh_names_a_url_behind_its_seconds)
{
    CHECK_STR(refresh("5; url=x"), "x");
    CHECK_STR(refresh("0;URL=x y"), "x y");
    CHECK_STR(refresh("  1.5  ,  Url  =  x"), "x");
    CHECK_STR(refresh(".5;url=x"), "x");
    CHECK_STR(refresh("5 x"), "x");
    CHECK_STR(refresh("5;x"), "x");
}

TEST(quotes_around_the_url_are_dropped)
{
    CHECK_STR(refresh("0;url='x'y"), "x");
    CHECK_STR(refresh("0;url=\"x"), "x");
    CHECK_STR(refresh("0;'x'"), "x");
}

TEST(a_url_may_begin_like_the_word_url)
{
    CHECK_STR(refresh("0;urlx"), "urlx");
    CHECK_STR(refresh("0;url x"), "url x");
    CHECK_STR(refresh("0;up/to"), "up/to");
}

TEST(a_refresh_without_seconds_or_url_is_none)
{
    CHECK_STR(refresh(""), "none");
    CHECK_STR(refresh("5"), "none");
    CHECK_STR(refresh("5;"), "none");
    CHECK_STR(refresh("x;url=y"), "none");
    CHECK_STR(refresh("5x;url=y"), "none");
    CHECK_STR(refresh("-5;url=y"), "none");
}

TEST(robots_directives_are_gathered)
{
    CHECK_INT(links_meta_robots(SLICE("noindex, nofollow")), ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOFOLLOW);
    CHECK_INT(links_meta_robots(SLICE("NONE")), ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOFOLLOW);
    CHECK_INT(links_meta_robots(SLICE("index,follow,max-snippet:-1")), 0);
    CHECK_INT(links_meta_robots(SLICE("noarchive noimageindex")),
              ROBOTS_TAG_NOARCHIVE | ROBOTS_TAG_NOIMAGEINDEX);
    CHECK_INT(links_meta_robots(SLICE("")), 0);
    CHECK_INT(links_meta_robots(SLICE(" , ,nofollows")), 0);
}
