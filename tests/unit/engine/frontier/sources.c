#include "engine/frontier/sources.h"

#include <stdio.h>

#include "tests/support/check.h"

TEST(each_seed_is_found_by_its_number)
{
    struct sources sources = {0};
    CHECK_SLICE(sources_url(&sources, SOURCES_NONE), "");
    CHECK_INT(sources_add(&sources, SLICE("http://a.org/")), 1);
    CHECK_INT(sources_add(&sources, SLICE("http://b.org/x")), 2);
    CHECK_SLICE(sources_url(&sources, 1), "http://a.org/");
    CHECK_SLICE(sources_url(&sources, 2), "http://b.org/x");
    CHECK_SLICE(sources_url(&sources, SOURCES_NONE), "");
    sources_fini(&sources);
    CHECK_INT(sources.count, 0);
}

TEST(as_many_as_there_are_and_as_long_as_they_are)
{
    enum { SEEDS = 5000 };
    static char lengthy[20000];
    struct sources sources = {0};
    char url[64];
    memset(lengthy, 'x', sizeof lengthy);
    for (unsigned i = 1; i <= SEEDS; i++) {
        int len = snprintf(url, sizeof url, "http://host-%u.example.org/", i);
        CHECK_INT(sources_add(&sources, (struct slice){url, (size_t)len}), i);
    }
    CHECK_INT(sources_add(&sources, (struct slice){lengthy, sizeof lengthy}), SEEDS + 1);
    for (unsigned i = 1; i <= SEEDS; i++) {
        snprintf(url, sizeof url, "http://host-%u.example.org/", i);
        CHECK_SLICE(sources_url(&sources, i), url);
    }
    CHECK_INT(sources_url(&sources, SEEDS + 1).len, sizeof lengthy);
    sources_fini(&sources);
}

/* Loops read while seeds are added. */
TEST(what_is_there_does_not_move)
{
    enum { SEEDS = 20000 };
    struct sources sources = {0};
    CHECK_INT(sources_add(&sources, SLICE("http://a.org/")), 1);
    const char *first = sources_url(&sources, 1).ptr;
    for (unsigned i = 2; i <= SEEDS; i++)
        CHECK_INT(sources_add(&sources, SLICE("http://b.org/")), i);
    CHECK(sources_url(&sources, 1).ptr == first);
    CHECK_SLICE(sources_url(&sources, SEEDS), "http://b.org/");
    sources_fini(&sources);
}
