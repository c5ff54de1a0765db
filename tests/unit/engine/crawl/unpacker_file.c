/* One file of records: what becomes of each, of odd ones, and of a disk that fails in the middle. */
#include "tests/unit/engine/crawl/unpacker_frame.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "engine/crawl/limits.h"
#include "engine/url/limits.h"

static char *list_text(void)
{
    size_t len;
    return check_read_file(path_of("files.tsv"), &len);
}

TEST(lines_tell_what_was_stored)
{
    begin();
    add_record("incoming/a.warc", "https://example.org/abc", "", "abc");
    add_record("incoming/a.warc", "http://example.org:8080/d/", "", "");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    check_text("files.tsv", "https://example.org/abc\t200\ttext/"
                            "plain\t2026-01-02T03:04:05Z\tsha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"
                            "\t3\tfiles/example.org/abc.page\n"
                            "http://example.org:8080/d/\t200\ttext/"
                            "plain\t2026-01-02T03:04:05Z\tsha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
                            "\t0\tfiles/example.org_8080_http/d/@index.page\n");
    check_text("files/example.org_8080_http/d/@index.page", "");
    finish();
}

/* The limit is one of bytes of the page: exactly so many are whole, the rest of a longer one is left out. */
TEST(a_long_body_is_cut_and_the_next_page_is_not)
{
    char body[202];
    begin();
    memset(body, 'x', sizeof body);
    body[201] = '\0';
    add_record("incoming/a.warc", "https://example.org/long", "", body);
    body[100] = '\0';
    add_record("incoming/a.warc", "https://example.org/whole", "", body);
    add_record("incoming/a.warc", "https://example.org/next", "", "next");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    check_text("files/example.org/long.page", body);
    check_text("files/example.org/whole.page", body);
    check_text("files/example.org/next.page", "next");
    CHECK_INT(count_lines(), 3);
    finish();
}

/* A body that is no gzip from some byte on was written in part before that was found out. */
TEST(a_body_that_breaks_off_its_coding_is_kept_as_it_came)
{
    static const char packed[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x00\x05\x00\xfa\xffhello and no more of it";
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    char block[sizeof head - 1 + sizeof packed - 1], *kept;
    size_t len;
    begin();
    memcpy(block, head, sizeof head - 1);
    memcpy(block + sizeof head - 1, packed, sizeof packed - 1);
    add_block("incoming/a.warc",
              "WARC-Type: response\r\nWARC-Target-URI: https://example.org/x\r\n"
              "Content-Type: application/http;msgtype=response\r\n",
              (struct slice){block, sizeof block});
    add_record("incoming/a.warc", "https://example.org/next", "", "next");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    kept = check_read_file(path_of("files/example.org/x.page"), &len);
    CHECK_INT(len, sizeof packed - 1);
    CHECK(memcmp(kept, packed, len) == 0);
    free(kept);
    check_text("files/example.org/next.page", "next");
    finish();
}

TEST(only_responses_and_revisits_become_files)
{
    const struct slice block = SLICE("HTTP/1.1 200 OK\r\n\r\nbody");
    begin();
    add_block("incoming/a.warc", "WARC-Type: warcinfo\r\nContent-Type: application/warc-fields\r\n",
              SLICE("software: x\r\n"));
    add_block("incoming/a.warc",
              "WARC-Type: request\r\nWARC-Target-URI: https://example.org/request\r\n"
              "Content-Type: application/http;msgtype=request\r\n",
              SLICE("GET / HTTP/1.1\r\n\r\n"));
    add_block("incoming/a.warc",
              "WARC-Type: revisit\r\nWARC-Target-URI: https://example.org/revisit\r\n"
              "Content-Type: application/http;msgtype=response\r\n",
              block);
    add_block("incoming/a.warc",
              "WARC-Type: metadata\r\nWARC-Target-URI: https://example.org/metadata\r\n"
              "Content-Type: application/warc-fields\r\n",
              SLICE("outlink: x\r\n"));
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    CHECK_INT(count_lines(), 1);
    CHECK(exists("files/example.org/revisit.page"));
    finish();
}

/* The type is the server's text: it must not break the columns, and is not endless. */
TEST(a_media_type_stays_in_its_column)
{
    char block[1024], type[400], *list;
    begin();
    memset(type, 'y', sizeof type - 1);
    type[sizeof type - 1] = '\0';
    const char *const types[] = {"Content-Type: text/a\tb", "X: none", type};
    for (unsigned i = 0; i < 3; i++) {
        char head[256];
        snprintf(head, sizeof head,
                 "WARC-Type: response\r\nWARC-Target-URI: https://example.org/%u\r\n"
                 "Content-Type: application/http;msgtype=response\r\n",
                 i);
        snprintf(block, sizeof block, "HTTP/1.1 404 No\r\n%s%s\r\n\r\n", i == 2 ? "Content-Type: " : "",
                 types[i]);
        add_block("incoming/a.warc", head, slice_of(block));
    }
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    list = list_text();
    CHECK(strstr(list, "https://example.org/0\t404\ttext/a\t2026-"));
    CHECK(strstr(list, "https://example.org/1\t404\t-\t2026-"));
    char *column = strstr(list, "https://example.org/2\t404\t");
    CHECK(column != NULL);
    CHECK_INT(strspn(column + strlen("https://example.org/2\t404\t"), "y"), UNPACKER_TYPE_BYTES_MAX);
    free(list);
    finish();
}

TEST(a_record_without_a_url_is_an_error)
{
    char url[URL_BYTES_MAX + 64];
    begin();
    add_record("incoming/a.warc", "", "", "x");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), -EBADMSG);
    CHECK(exists("incoming/a.warc"));
    memset(url, 'x', sizeof url);
    memcpy(url, "https://example.org/", 20);
    url[URL_BYTES_MAX + 1] = '\0';
    add_record("incoming/b.warc", url, "", "x");
    CHECK_INT(unpacker_unpack(&options, "b.warc"), -EBADMSG);
    CHECK(exists("incoming/b.warc"));
    finish();
}

TEST(a_page_that_came_again_replaces_the_first)
{
    begin();
    add_record("incoming/a.warc", "https://example.org/x", "", "a long first page");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    write_text("files/.part", "left by a process that died, and longer than the page");
    add_record("incoming/b.warc", "https://example.org/x", "", "second");
    CHECK_INT(unpacker_unpack(&options, "b.warc"), 0);
    check_text("files/example.org/x.page", "second");
    CHECK_INT(count_lines(), 2);
    finish();
}

/* The mark is there as long as the file is: at any moment of a crash one of the two tells. */
TEST(the_mark_has_the_length_of_the_list_before_the_file)
{
    begin();
    write_text("files.tsv", "a line of an earlier file\n");
    add_record("incoming/a.warc", "https://example.org/one", "", "first");
    add_block("incoming/a.warc", "WARC-Type: response\r\n", SLICE("no URL"));
    CHECK_INT(unpacker_unpack(&options, "a.warc"), -EBADMSG);
    check_text("files.mark", "26 a.warc\n");
    CHECK_INT(count_lines(), 2);
    CHECK_INT(unpacker_recover(&options), 0);
    check_text("files.tsv", "a line of an earlier file\n");
    finish();
}

TEST(a_folder_that_cannot_be_made_is_told)
{
    begin();
    write_text("files/example.org", "a file where a folder should be");
    add_record("incoming/a.warc", "https://example.org/x/y/z", "", "body");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), -ENOTDIR);
    CHECK(exists("incoming/a.warc") && exists("files.mark"));
    CHECK_INT(unlink(path_of("files/example.org")), 0); /* the operator mends it */
    CHECK_INT(unpacker_recover(&options), 0);
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    check_text("files/example.org/x/y/z.page", "body");
    CHECK_INT(count_lines(), 1);
    finish();
}

TEST(a_file_that_is_not_there_is_an_error)
{
    begin();
    CHECK(unpacker_unpack(&options, "none.warc") < 0);
    CHECK_INT(rmdir(path_of("files")), 0);
    add_record("incoming/a.warc", "https://example.org/x", "", "body");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), -ENOENT);
    CHECK(exists("incoming/a.warc"));
    finish();
}

/* Files may not become longer than this. As on a disk that is full, a write is cut short, and the next one fails. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(a_page_for_which_there_is_no_room_is_told)
{
    begin();
    options.syncs = false;
    add_record("incoming/a.warc", "https://example.org/x", "",
               "a body of some bytes, more than the disk has room for");
    limit_files(30);
    int failed = unpacker_unpack(&options, "a.warc");
    limit_files(RLIM_INFINITY);
    CHECK_INT(failed, -EFBIG);
    CHECK(exists("incoming/a.warc") && !exists("files/example.org/x.page"));
    CHECK_INT(unpacker_recover(&options), 0);
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    CHECK_INT(count_lines(), 1);
    finish();
}

/* A line longer than stdio's buffer is written before the end: what fails there must not be forgotten at the end. */
TEST(a_line_for_which_there_is_no_room_is_told)
{
    char url[URL_BYTES_MAX];
    for (size_t len = 100; len < sizeof url; len += len / 3) {
        begin();
        options.syncs = false;
        memset(url, 'x', len);
        memcpy(url, "https://example.org/?", 21);
        url[len] = '\0';
        write_text("files.tsv", "a list that fills the disk, but for the names of some files\n");
        add_record("incoming/a.warc", url, "", "body");
        limit_files(70);
        int failed = unpacker_unpack(&options, "a.warc");
        limit_files(RLIM_INFINITY);
        CHECK_INT(failed, -EFBIG);
        CHECK(exists("incoming/a.warc") && exists("files.mark"));
        finish();
    }
}

TEST(recovery_without_a_mark_leaves_the_list_alone)
{
    begin();
    write_text("files.tsv", "one\ntwo\n");
    write_text("files/.part", "half");
    CHECK_INT(unpacker_recover(&options), 0);
    check_text("files.tsv", "one\ntwo\n");
    CHECK(!exists("files/.part"));
    finish();
}

TEST(a_mark_that_is_torn_is_an_error)
{
    static const char *const texts[] = {"", "12", "12 a.warc", "x a.warc\n", "12\n"};
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        begin();
        write_text("files.tsv", "one\n");
        write_text("files.mark", texts[i]);
        CHECK_INT(unpacker_recover(&options), -EBADMSG);
        check_text("files.tsv", "one\n");
        finish();
    }
}

/* The process died before its first line was written. */
TEST(a_list_that_is_not_there_needs_no_cutting)
{
    begin();
    add_record("incoming/a.warc", "https://example.org/one", "", "first");
    write_text("files.mark", "0 a.warc\n");
    CHECK_INT(unpacker_recover(&options), 0);
    CHECK(!exists("files.mark") && !exists("files.tsv"));
    finish();
}
