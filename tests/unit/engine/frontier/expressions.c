#include "engine/frontier/expressions.h"

#include <stdio.h>

#include "engine/url/limits.h"
#include "tests/support/check.h"
#include "tests/support/pace.h"

static char text[URL_BYTES_MAX + 1];
static struct expressions *expressions;
static struct expressions_loop *loop;

static void begin(const char *list)
{
    struct tuning_error error;
    expressions = expressions_create("exclude", list, &error);
    loop = expressions_loop_create();
    CHECK(expressions && loop);
}

static void finish(void)
{
    expressions_loop_destroy(loop);
    expressions_destroy(expressions);
}

static struct expressions_answer ask(const char *url)
{
    expressions_begin(loop, slice_of(url), expressions_count(expressions));
    return expressions_ask(loop, expressions);
}

/* A URL of `len` bytes that repeats `unit` and ends in `tail`. */
static const char *long_url(size_t len, const char *unit, const char *tail)
{
    size_t end = len - strlen(tail);
    snprintf(text, sizeof text, "http://a.example.org/");
    for (size_t i = strlen(text), j = 0; i < end; i++, j = unit[j + 1] ? j + 1 : 0)
        text[i] = unit[j];
    snprintf(text + end, sizeof text - end, "%s", tail);
    return text;
}

/* One path of the test matches without counting, the other one, for longer URLs, with it. */
static bool decides(const char *expression, const char *url, bool is_match)
{
    bool is_same = true;
    static char list[TUNING_LIST_BYTES];
    for (int others = 0; others < 200; others += 199) {
        int len = 0;
        for (int i = 0; i < others; i++)
            len += snprintf(list + len, sizeof list - (size_t)len, "zzz%d\n", i);
        snprintf(list + len, sizeof list - (size_t)len, "%s", expression);
        begin(list);
        struct expressions_answer answer = ask(url);
        is_same &= answer.is_match == is_match && !answer.is_undecided;
        is_same &= !is_match || slice_equals(answer.expression, slice_of(expression));
        finish();
    }
    return is_same;
}

TEST(ordinary_expressions_are_decided_with_and_without_counting)
{
    const struct {
        const char *expression, *yes, *no;
    } cases[] = {
        {"\\.jpe?g$", "http://a.it/x.jpg", "http://a.it/x.jpg/"},
        {"^https?://[^/]*a", "https://b.a.it/", "http://b.it/a"},
        {"/cal(endar)?/", "http://a.it/x/cal/1", "http://a.it/x/calend/1"},
        {"[?&](sid|PHPSESSID)=", "http://a.it/?x=1&sid=2", "http://a.it/?xsid=2"},
        {"(/[^/]+)\\1\\1", "http://a.it/ab/ab/ab", "http://a.it/ab/ac/ab"},
        {"(?i)/PRIVATE/", "http://a.it/private/", "http://a.it/privat/"},
        {"(?<!www)\\.it", "http://a.it/", "http://www.it/"},
        {"a|b$", "http://x.yz/a", "http://x.yz/bc"},
        {"(?x) /x /y # a comment", "http://a.it/x/y", "http://a.it/xy"},
        {"(*NO_JIT)/x+y", "http://a.it/xxy", "http://a.it/xx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK(decides(cases[i].expression, cases[i].yes, true));
        CHECK(decides(cases[i].expression, cases[i].no, false));
    }
}

TEST(a_long_url_has_memory_enough)
{
    for (size_t len = 100; len <= URL_BYTES_MAX; len += 199) {
        CHECK(decides("/(?:[^/]|%2f)*/private", long_url(len, "a", "/private"), true));
        CHECK(decides("/([^/]|%2f)*/private", long_url(len, "a", "/private"), true));
        CHECK(decides("/(?:[^/]|%2f)*/private", long_url(len, "a", "/privat"), false));
    }
}

/* It takes more steps than the first try has, but not more than there are. */
TEST(a_first_try_that_fails_decides_nothing)
{
    CHECK(decides("^.*(/.+?/).*?\\1.*?\\1", "http://www.example.org/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o.html", false));
    CHECK(decides("^.*(/.+?/).*?\\1.*?\\1", "http://a.it/b/x/c/d/e/f/b/g/h/i/j/k/l/m/n/o/b/p", true));
}

static const char deep[] = "http://www.example.org/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o.html";

TEST(an_expression_that_takes_too_long_is_given_up_and_named)
{
    begin("/private/\nw(.*/)*calendar/.*\nw(.*/)*diary/.*");
    struct expressions_answer answer = ask(deep);
    CHECK(!answer.is_match && answer.is_undecided);
    CHECK_SLICE(answer.expression, "w(.*/)*calendar/.*");
    answer = ask(long_url(URL_BYTES_MAX, "/a", "")); /* what the last URL took is not held against it */
    CHECK(!answer.is_match && !answer.is_undecided && answer.expression.len == 0);
    finish();
}

TEST(a_match_counts_even_after_another_was_given_up)
{
    begin("(.*/)*calendar/.*\no\\.html$");
    struct expressions_answer answer = ask(deep);
    CHECK(answer.is_match && !answer.is_undecided);
    CHECK_SLICE(answer.expression, "o\\.html$");
    finish();
}

/* For URLs of that length all steps are counted, so the second expression finds none left. */
TEST(steps_are_for_all_expressions_of_a_url)
{
    begin("(.*/)*calendar/.*\no\\.html$");
    struct expressions_answer answer = ask(long_url(2000, "a/", "o.html"));
    CHECK(!answer.is_match && answer.is_undecided);
    finish();
    begin("o\\.html$");
    CHECK(ask(text).is_match);
    finish();
}

/* What is skipped between two places where a match may begin takes none. */
TEST(a_hundred_usual_expressions_have_steps_enough_for_a_long_url)
{
    char list[TUNING_LIST_BYTES], segment[101];
    int len = 0;
    for (int i = 0; i < 100; i++)
        len += snprintf(list + len, sizeof list - (size_t)len, "/cal%d(endar)?/\n", i);
    snprintf(segment, sizeof segment, "/%099d", 1);
    begin(list);
    CHECK(!ask(long_url(2048, "/aaaaaaaaaaaaaa", "")).is_undecided);
    CHECK(!ask(long_url(URL_BYTES_MAX, segment, "")).is_undecided);
    finish();
}

static uint64_t quietest_ns(const char *url)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t begin_ns = pace_thread_ns();
        ask(url);
        uint64_t spent_ns = pace_thread_ns() - begin_ns;
        least = spent_ns < least ? spent_ns : least;
    }
    return least;
}

/* A loop may be held for 5 ms, and takes up to 3 of them before it asks about the last URL. */
TEST(no_url_takes_long)
{
    SKIP_IF_SLOWED_DOWN();
    static const char *const hostile[] = {
        "(.*/)*calendar/.*", "(.*/)*.*x$", ".*.*.*.*=x", "[^?]*[xX]$", "(?:[^?]*+[xX])", "(?:a|a)*$b",
        "(?:/?a+)+\\?", "([a-z]+/?[0-9]*)+=", "(/.+?)\\1{9}", "a.*a.*a.*[xX]", "(?=.*=)(?=.*\\?)x|[a-z]*[xX]y",
        "(*NO_JIT)(.*/)*calendar/.*", "(*NO_JIT)[^?]*[xX]$",
    };
    static const char *const units[] = {"a", "a/", "aaaaaaaaa/"};
    static const size_t lengths[] = {60, 100, 250, 700, 2048, URL_BYTES_MAX};
    static const int counts[] = {1, 10, 100};
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        uint64_t longest_ns = 0;
        for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            char list[TUNING_LIST_BYTES];
            int len = 0;
            for (int k = 0; k < counts[j]; k++)
                len += snprintf(list + len, sizeof list - (size_t)len, "%s%s", k ? "\n" : "", hostile[i]);
            begin(list);
            for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
                for (size_t l = 0; l < sizeof units / sizeof units[0]; l++) {
                    uint64_t spent_ns = quietest_ns(long_url(lengths[k], units[l], ""));
                    longest_ns = spent_ns > longest_ns ? spent_ns : longest_ns;
                }
            finish();
        }
        printf("%s: %.2f ms\n", hostile[i], (double)longest_ns / 1e6);
        CHECK(longest_ns < pace_bound_ns(2));
    }
}

TEST(too_many_expressions_are_refused)
{
    struct tuning_error error;
    char list[TUNING_LIST_BYTES];
    int len = 0;
    for (int i = 0; i < 256; i++)
        len += snprintf(list + len, sizeof list - (size_t)len, "a\n");
    begin(list);
    CHECK_INT(expressions_count(expressions), 256);
    finish();
    snprintf(list + len, sizeof list - (size_t)len, "b");
    CHECK(!expressions_create("exclude", list, &error));
    CHECK_STR(error.message, "scope.exclude: more than 256 expressions");
}
