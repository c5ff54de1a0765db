#include "engine/store/crawl_log_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/url/hash.h"
#include "tests/support/check.h"

static char path[64];
static unsigned lines;
static char last[512];

static void keep(void *owner, struct slice line, const struct slice columns[CRAWL_LOG_COLUMNS])
{
    (void)owner;
    lines++;
    snprintf(last, sizeof last, "%.*s %.*s", (int)columns[CRAWL_LOG_STATUS].len, columns[CRAWL_LOG_STATUS].ptr,
             (int)columns[CRAWL_LOG_ANNOTATIONS].len, columns[CRAWL_LOG_ANNOTATIONS].ptr);
    CHECK(line.len && line.ptr[line.len - 1] != '\n');
}

static int ask(const char *url)
{
    struct crawl_log_find find = {.path = path, .url = slice_of(url), .on_line = keep};
    lines = 0;
    last[0] = '\0';
    return crawl_log_find(&find);
}

static void put(FILE *out, unsigned number, const char *url, const char *via)
{
    fprintf(out, "2026-11-18T04:00:00.000Z %5u %10u %s L %s text/html #000 20261118040000000+1 sha1:X - a%u\n", 200 + number % 100,
            number, url, via, number);
}

/* Pages of the log end in the middle of lines. */
TEST(each_line_is_found_wherever_it_is)
{
    enum { LINES = 30000 };
    char url[64];
    snprintf(path, sizeof path, "/tmp/lycosa-log-XXXXXX");
    FILE *out = fdopen(mkstemp(path), "w");
    for (unsigned i = 0; i < LINES; i++) {
        snprintf(url, sizeof url, "http://h.example/%u", i);
        put(out, i, url, "http://h.example/7");
    }
    fclose(out);
    for (unsigned i = 0; i < LINES; i += 97) {
        char told[64];
        snprintf(url, sizeof url, "http://h.example/%u", i);
        snprintf(told, sizeof told, "%u a%u", 200 + i % 100, i);
        CHECK_INT(ask(url), 0);
        CHECK_INT(lines, 1);
        CHECK_STR(last, told);
    }
    unlink(path);
}

TEST(a_line_is_found_by_the_hash_of_its_url)
{
    snprintf(path, sizeof path, "/tmp/lycosa-log-XXXXXX");
    FILE *out = fdopen(mkstemp(path), "w");
    for (unsigned i = 0; i < 5; i++)
        put(out, i, i == 3 ? "http://h.example/3" : "http://h.example/", "http://h.example/3");
    fclose(out);
    struct crawl_log_find find = {.path = path, .hash = hash_slice(SLICE("http://h.example/3")), .on_line = keep};
    lines = 0;
    CHECK_INT(crawl_log_find(&find), 0);
    CHECK_INT(lines, 1);
    CHECK_STR(last, "203 a3");
    find.hash++;
    CHECK_INT(crawl_log_find(&find), 0);
    CHECK_INT(lines, 1);
    unlink(path);
}

/* As the page that led to another, or as the beginning of a longer one, it has no line of its own. */
TEST(a_url_that_is_only_mentioned_is_not_found)
{
    snprintf(path, sizeof path, "/tmp/lycosa-log-XXXXXX");
    FILE *out = fdopen(mkstemp(path), "w");
    put(out, 1, "http://h.example/a/b", "http://h.example/a");
    put(out, 2, "http://h.example/twice", "-");
    put(out, 3, "http://h.example/twice", "-");
    fprintf(out, "http://h.example/torn 1 2 http://h.example/torn"); /* being written */
    fclose(out);
    CHECK_INT(ask("http://h.example/a"), 0);
    CHECK_INT(lines, 0);
    CHECK_INT(ask("http://h.example/twice"), 0);
    CHECK_INT(lines, 2);
    CHECK_STR(last, "203 a3");
    CHECK_INT(ask("http://h.example/torn"), 0);
    CHECK_INT(lines, 0);
    unlink(path);
    CHECK_INT(ask("http://h.example/a"), -ENOENT);
}

TEST(a_search_can_be_given_up)
{
    snprintf(path, sizeof path, "/tmp/lycosa-log-XXXXXX");
    FILE *out = fdopen(mkstemp(path), "w");
    put(out, 1, "http://h.example/a", "-");
    fclose(out);
    struct crawl_log_find find = {.path = path, .url = SLICE("http://h.example/a"), .on_line = keep};
    lf_store(&find.stops, true, relaxed); /* there is one thread */
    lines = 0;
    CHECK_INT(crawl_log_find(&find), 0);
    CHECK_INT(lines, 0);
    unlink(path);
}
