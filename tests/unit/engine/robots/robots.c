/* What the clauses in tests/conformance/robots.c leave: the compiled form itself. */
#include "engine/robots/robots.h"

#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/pace.h"

static struct robots *compile(const char *text)
{
    struct robots *robots = malloc(robots_size(strlen(text)));
    return robots_compile(robots, slice_of(text), SLICE("lycosa"));
}

TEST(empty_file)
{
    struct robots *robots = compile("");
    CHECK_INT(robots->rule_count, 0);
    CHECK_INT(robots->bytes, sizeof *robots);
    CHECK(robots->for_all && !robots->truncated && !robots->disallow_all);
    free(robots);
}

TEST(equal_patterns_are_merged)
{
    struct robots *robots =
        compile("user-agent: *\ndisallow: /a\nallow: /%61\ndisallow: /a\ndisallow: /b\nsitemap: s\n");
    uint32_t cursor = 0;
    struct slice sitemap;
    CHECK_INT(robots->rule_count, 2);
    CHECK(robots_allows(robots, SLICE("/a"), NULL));
    CHECK(!robots_allows(robots, SLICE("/b"), NULL));
    CHECK(robots_sitemap(robots, &cursor, &sitemap));
    CHECK_SLICE(sitemap, "s");
    free(robots);
}

TEST(for_all_says_whose_rules_they_are)
{
    struct robots *robots = compile("user-agent: *\ndisallow: /a\n");
    CHECK(robots->for_all);
    free(robots);
    robots = compile("user-agent: lycosa\n");
    CHECK(!robots->for_all);
    free(robots);
}

TEST(crawl_delays)
{
    static const struct {
        const char *value;
        uint32_t ms;
    } cases[] = {{"1", 1000},
                 {"0.25", 250},
                 {"1.5", 1500},
                 {"10s", 10000},
                 {"", 0},
                 {"x", 0},
                 {"-1", 0},
                 {"0", 0},
                 {"1.23456789", 1234},
                 {"99999999999999999999999", ROBOTS_DELAY_MS_MAX},
                 {"86401", ROBOTS_DELAY_MS_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[100];
        snprintf(text, sizeof text, "user-agent: *\ncrawl-delay: %s\n", cases[i].value);
        struct robots *robots = compile(text);
        CHECK_INT(robots->crawl_delay_ms, cases[i].ms);
        free(robots);
    }
}

/* The form needs no more than robots_size says, whatever fills the file: the buffer ends at a guard page. */
TEST(size_is_enough)
{
    static const char *const lines[] = {"allow:x", "allow:*\xff$", "allow:/*a", "sitemap:\xff",
                                        "disallow:\"\"\"\"\"\"\"\""};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (size_t repeats = 0; repeats < 200; repeats += 7) {
            char text[8192] = "user-agent:*\n";
            size_t len = strlen(text);
            for (size_t r = 0; r < repeats; r++)
                len +=
                    (size_t)snprintf(text + len, sizeof text - len, "%s%c\n", lines[i], (char)('A' + r % 26));
            char *text_copy = check_guard_copy(text, len);
            size_t size = (robots_size(len) + 15) / 16 * 16;
            char *zeros = calloc(1, size), *buffer = check_guard_copy(zeros, size);
            robots_compile(buffer, (struct slice){text_copy, len}, SLICE("lycosa"));
            robots_allows((struct robots *)buffer, SLICE("/some/path"), NULL);
            check_guard_free(buffer, size);
            check_guard_free(text_copy, len);
            free(zeros);
        }
    }
}

/* Every prefix of a file is a file. */
TEST(every_prefix)
{
    static const char text[] = "\xef\xbb\xbfUser-Agent: lycosa # x\r\nDisallow: /a%2Fb*c$\r\nAllow: "
                               "/a\nCrawl-Delay: 1.5\nSitemap: http://h/s\n";
    for (size_t len = 0; len < sizeof text; len++) {
        struct robots *robots = malloc(robots_size(len));
        char *guarded = check_guard_copy(text, len);
        robots_compile(robots, (struct slice){guarded, len}, SLICE("lycosa"));
        CHECK(robots->rule_count <= 2);
        CHECK(robots_allows(robots, SLICE("z"), NULL));
        check_guard_free(guarded, len);
        free(robots);
    }
}

/* `unit` again and again, each '#' of it a number. */
static size_t fill(char *text, size_t size, const char *unit)
{
    size_t len = (size_t)snprintf(text, size, "user-agent: *\n");
    for (unsigned i = 0; len + 64 < size; i++)
        for (const char *at = unit; *at; at++) {
            if (*at == '#')
                len += (size_t)snprintf(text + len, 16, "%u", i);
            else
                text[len++] = *at;
        }
    return len;
}

/* A loop does nothing else meanwhile: less than five milliseconds, on a machine that is not busy. */
TEST(no_file_takes_long)
{
    SKIP_IF_SLOWED_DOWN();
    static const char *const units[] = {"\n", "\r\n", "a\n", "a:\n", "allow:/\n", "allow:/*a\n", "disallow: /#\n",
                                        "disallow: /*#*$\n", "allow:/aaaaaaaa1\nallow:/aaaaaaaa2\n",
                                        "allow:/aaaaaaaaaaaa*#\n", "sitemap:x\n"};
    char *text = malloc(ROBOTS_BYTES_MAX);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t len = fill(text, ROBOTS_BYTES_MAX, units[i]);
        void *buffer = calloc(1, robots_size(len));
        uint64_t least = UINT64_MAX;
        for (int round = 0; round < 5; round++) {
            uint64_t begin = pace_thread_ns();
            robots_compile(buffer, (struct slice){text, len}, SLICE("lycosa"));
            uint64_t spent = pace_thread_ns() - begin;
            least = spent < least ? spent : least;
        }
        printf("%.*s: %.2f ms\n", (int)strcspn(units[i], "\r\n"), units[i], (double)least / 1e6);
        CHECK(least < pace_bound_ns(8));
        free(buffer);
    }
    free(text);
}

/* Bytes that have to be escaped grow threefold: the rules that fit count, and what is left out is told. */
TEST(the_rules_of_a_host_are_bounded)
{
    char *text = malloc(ROBOTS_BYTES_MAX);
    size_t len = (size_t)snprintf(text, ROBOTS_BYTES_MAX, "user-agent: *\ndisallow: /first\n");
    for (unsigned i = 0; len + 2100 < ROBOTS_BYTES_MAX; i++) {
        len += (size_t)snprintf(text + len, 32, "disallow: /%u", i);
        memset(text + len, 0xe9, 2000);
        len += 2000;
        text[len++] = '\n';
    }
    struct robots *robots = malloc(robots_size(len));
    robots_compile(robots, (struct slice){text, len}, SLICE("lycosa"));
    CHECK(robots->bytes <= ROBOTS_COMPILED_BYTES_MAX);
    CHECK(robots->truncated && robots->rule_count > 100);
    CHECK(!robots_allows(robots, SLICE("/first"), NULL));
    free(robots);
    free(text);
}
