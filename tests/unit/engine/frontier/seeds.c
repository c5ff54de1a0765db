#include "engine/frontier/seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"

static char taken[16][256];
static struct tuning_error error;

static bool take(void *owner, const struct url *url)
{
    struct seeds_sink *sink = owner;
    CHECK(sink->count < 16);
    snprintf(taken[sink->count], sizeof taken[0], "%.*s", (int)url->len, url->text);
    return true;
}

static bool lines(struct seeds_sink *sink, const char *text)
{
    *sink = (struct seeds_sink){.take = take, .owner = sink};
    char *copy = check_guard_copy(text, strlen(text));
    bool good = seeds_take_lines(sink, "seeds.txt", (struct slice){copy, strlen(text)}, &error);
    check_guard_free(copy, strlen(text));
    return good;
}

TEST(urls_names_comments_and_empty_lines)
{
    struct seeds_sink sink;
    CHECK(lines(&sink,
                "\xef\xbb\xbfhttp://a.it\r\n\n# no\n  example.org/x  \nexample.org:8080\nHTTPS://B.it/%7e"));
    CHECK_INT(sink.count, 4);
    CHECK_STR(taken[0], "http://a.it/");
    CHECK_STR(taken[1], "http://example.org/x");
    CHECK_STR(taken[2], "http://example.org:8080/");
    CHECK_STR(taken[3], "https://b.it/%7e");
}

TEST(what_is_no_url_is_named_with_its_line)
{
    struct seeds_sink sink;
    CHECK(!lines(&sink, "http://a.it/\n\nftp://x.org/\n"));
    CHECK(strstr(error.message, "seeds.txt:3: 'ftp://x.org/' is no URL to start from: ") == error.message);
    CHECK(!lines(&sink, "not a url at all"));
    CHECK(!lines(&sink, "http://"));
    CHECK(!lines(&sink, "http://a.it:99999/"));
}

TEST(an_argument_is_a_file_or_a_url)
{
    char path[] = "/tmp/lycosa-seeds-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, "http://a.it/\nhttp://b.it/\n", 26) == 26);
    close(fd);
    struct seeds_sink sink = {.take = take, .owner = &sink};
    CHECK(seeds_take_argument(&sink, path, &error));
    CHECK_INT(sink.count, 2);
    CHECK(seeds_take_argument(&sink, "http://c.it/", &error));
    CHECK_STR(taken[2], "http://c.it/");
    CHECK(!seeds_take_argument(&sink, "/nonexistent/seeds", &error));
    CHECK_STR(error.message, "'/nonexistent/seeds' is neither a file nor a URL (http://...)");
    CHECK(!seeds_take_argument(&sink, "seeds.txt", &error));
    CHECK(!seeds_take_argument(&sink, "/tmp", &error));
    unlink(path);
}

TEST(an_argument_may_be_a_bare_name)
{
    struct seeds_sink sink = {.take = take, .owner = &sink};
    const char *names[] = {"example.org", "example.org/a/b", "localhost", "127.0.0.1", "intranet:8080/x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(seeds_take_argument(&sink, names[i], &error));
    CHECK_INT(sink.count, 5);
    CHECK_STR(taken[0], "http://example.org/");
    CHECK_STR(taken[1], "http://example.org/a/b");
    CHECK_STR(taken[2], "http://localhost/");
    CHECK_STR(taken[3], "http://127.0.0.1/");
    CHECK_STR(taken[4], "http://intranet:8080/x");
    CHECK(!seeds_take_argument(&sink, "./example.org", &error));
    CHECK(!seeds_take_argument(&sink, "seeds", &error));
}

TEST(standard_input_is_read_once_and_kept)
{
    int ends[2];
    CHECK(pipe(ends) == 0 && write(ends[1], "example.org\n# no\nhttp://a.it/", 29) == 29);
    CHECK(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 2; i++) {
        struct seeds_sink sink = {.take = take, .owner = &sink};
        CHECK(seeds_take_argument(&sink, "-", &error));
        CHECK_INT(sink.count, 2);
        CHECK_STR(taken[1], "http://a.it/");
    }
}

static bool take_none(void *owner, const struct url *url)
{
    (void)owner;
    (void)url;
    return false;
}

TEST(no_memory_for_a_seed_is_an_error)
{
    struct seeds_sink sink = {.take = take_none};
    CHECK(!seeds_take_argument(&sink, "http://a.it/", &error));
    CHECK_STR(error.message, "no memory for another seed");
}
