#include "engine/crawl/census.h"

#include <pthread.h>
#include <stdlib.h>

#include "tests/support/check.h"

static struct census census;

static const char *name_of(unsigned number)
{
    return census.entries[number].name;
}

static const char *type(const char *field)
{
    struct slice bytes = {check_guard_copy(field, strlen(field)), strlen(field)};
    return name_of(census_find_type(&census, bytes, 64));
}

TEST(a_type_is_what_stands_before_its_parameters)
{
    memset(&census, 0, sizeof census);
    CHECK_STR(type("text/html; charset=UTF-8"), "text/html");
    CHECK_STR(type("text/html; charset=UTF-8"), "text/html"); /* as it is remembered */
    CHECK_STR(type("TEXT/HTML"), "text/html");
    CHECK_STR(type("image/svg+xml ;x"), "image/svg+xml");
    CHECK_STR(type(""), "none");
    CHECK_INT(lf_load(&census.count, relaxed), 3);
}

/* The second takes the memo of the first, and each has its own number still. */
TEST(fields_that_share_a_memo_are_told_apart)
{
    memset(&census, 0, sizeof census);
    for (int i = 0; i < 2; i++) {
        CHECK_STR(type("text/x-aaa"), "text/x-aaa");
        CHECK_STR(type("text/x-aab"), "text/x-aab");
    }
}

TEST(hostile_names_are_others)
{
    memset(&census, 0, sizeof census);
    char longest[2049];
    memset(longest, 'x', 2048);
    longest[2048] = '\0';
    const char *const names[] = {"<script>", "a\"b", "a\\b", "\xe2\x80\xae" "gnp.exe", longest, "a\x01", "other", "OTHER"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CHECK_INT(census_find(&census, (struct slice){names[i], strlen(names[i])}, 64), CENSUS_OTHERS);
        CHECK_STR(type(names[i]), "");
    }
    CHECK_INT(census_find(&census, SLICE("a\0b"), 64), CENSUS_OTHERS);
    CHECK_INT(lf_load(&census.count, relaxed), 0);
}

TEST(names_that_come_too_late_are_others)
{
    memset(&census, 0, sizeof census);
    char name[16];
    for (unsigned i = 0; i < 2 * CENSUS_NAMES_MAX; i++) {
        int len = snprintf(name, sizeof name, "x/n%u", i);
        unsigned number = census_find(&census, (struct slice){name, (size_t)len}, i % 2 ? CENSUS_NAMES_MAX : 64);
        CHECK(number <= CENSUS_NAMES_MAX);
        census_count(&census, number, 10);
    }
    CHECK_INT(lf_load(&census.count, relaxed), CENSUS_NAMES_MAX);
    uint64_t pages = 0;
    for (unsigned i = 0; i <= CENSUS_NAMES_MAX; i++)
        pages += census.entries[i].pages;
    CHECK_INT(pages, 2 * CENSUS_NAMES_MAX);
    CHECK_INT(census_find(&census, SLICE("x/n0"), 1), 1); /* a name that has its place keeps it */
}

TEST(a_domain_is_the_last_label)
{
    memset(&census, 0, sizeof census);
    const char *const hosts[][2] = {{"www.example.org", "org"}, {"localhost", "localhost"}, {"127.0.0.1", "address"},
                                    {"[::1]", "address"},       {"a.xn--p1ai", "xn--p1ai"}};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        CHECK_STR(name_of(census_find_domain(&census, (struct slice){hosts[i][0], strlen(hosts[i][0])}, 64)), hosts[i][1]);
}

static const char *printed(const struct census *from, unsigned rows)
{
    static char text[512];
    FILE *out = fmemopen(text, sizeof text, "w");
    census_print(from, rows, out);
    fclose(out);
    return text;
}

TEST(tables_are_summed_by_name_and_printed_by_size)
{
    static struct census one, other, sum;
    CHECK_STR(printed(&sum, 8), "{}");
    census_count(&one, census_find(&one, SLICE("net"), 64), 5);
    census_count(&one, census_find(&one, SLICE("org"), 64), 10);
    census_count(&other, census_find(&other, SLICE("org"), 64), 20);
    census_count(&other, census_find(&other, SLICE("com"), 64), 7);
    census_count(&other, CENSUS_OTHERS, 1);
    census_sum(&sum, &one);
    census_sum(&sum, &other);
    CHECK_STR(printed(&sum, 8), "{\"org\": {\"pages\": 2, \"bytes\": 30}, \"net\": {\"pages\": 1, \"bytes\": 5}, "
                                "\"com\": {\"pages\": 1, \"bytes\": 7}, \"other\": {\"pages\": 1, \"bytes\": 1}}");
    CHECK_STR(printed(&sum, 1), "{\"org\": {\"pages\": 2, \"bytes\": 30}, \"other\": {\"pages\": 3, \"bytes\": 13}}");
}

static void *count_names(void *argument)
{
    char name[16];
    (void)argument;
    for (unsigned i = 0; i < 20000; i++) {
        int len = snprintf(name, sizeof name, "n%u", i / 100);
        census_count(&census, census_find(&census, (struct slice){name, (size_t)len}, CENSUS_NAMES_MAX), 1);
    }
    return NULL;
}

/* Whoever reads while the owner counts sees whole names. */
TEST(readers_see_whole_names)
{
    static struct census sum;
    pthread_t thread;
    memset(&census, 0, sizeof census);
    CHECK_INT(pthread_create(&thread, NULL, count_names, NULL), 0);
    for (uint32_t count = 0; count < 200; count = lf_load(&sum.count, relaxed)) {
        memset(&sum, 0, sizeof sum);
        census_sum(&sum, &census);
        for (uint32_t i = 1; i <= lf_load(&sum.count, relaxed); i++)
            CHECK(sum.entries[i].name[0] == 'n' && strtoul(sum.entries[i].name + 1, NULL, 10) == i - 1);
    }
    CHECK_INT(pthread_join(thread, NULL), 0);
}
