#include "engine/crawl/unpacker.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"

static char directory[64];
static struct unpacker_options options;

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-unpacker-XXXXXX");
    CHECK(mkdtemp(directory));
    CHECK(mkdir(path_of("incoming"), 0755) == 0 && mkdir(path_of("files"), 0755) == 0);
    options = (struct unpacker_options){.directory = directory, .body_bytes_max = 100, .syncs = true};
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static void finish(void)
{
    CHECK_INT(nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "we");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void check_text(const char *name, const char *expected)
{
    size_t len;
    char *text = check_read_file(path_of(name), &len);
    CHECK_STR(text, expected);
    free(text);
}

static bool exists(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

static void add_record(const char *name, const char *url, const char *fields, const char *body)
{
    char head[256];
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n%s\r\n", fields);
    FILE *file = fopen(path_of(name), "ae");
    CHECK(file);
    fprintf(file,
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"
            "WARC-Target-URI: %s\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: %zu\r\n\r\n%s%s\r\n\r\n",
            url, strlen(head) + strlen(body), head, body);
    fclose(file);
}

/* The second column is the status, the last one the path. */
static unsigned count_lines(void)
{
    size_t len;
    unsigned lines = 0;
    char *text = check_read_file(path_of("files.tsv"), &len);
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

TEST(each_response_becomes_a_file_and_a_line)
{
    begin();
    add_record("incoming/a.warc", "https://example.org/one", "", "first");
    add_record("incoming/a.warc", "https://example.org/two/", "", "second");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    check_text("files/example.org/one.page", "first");
    CHECK_INT(count_lines(), 2);
    CHECK(!exists("incoming/a.warc") && !exists("files.mark") && !exists("files/.part"));
    size_t len;
    char *list = check_read_file(path_of("files.tsv"), &len);
    CHECK(strstr(list, "https://example.org/one\t200\ttext/plain\t2026-01-02T03:04:05Z\tsha1:"));
    CHECK(strstr(list, "\t5\tfiles/example.org/one.page\n"));
    free(list);
    finish();
}

TEST(a_body_of_another_coding_than_told_is_kept_as_it_came)
{
    begin();
    add_record("incoming/a.warc", "https://example.org/x", "Content-Encoding: gzip\r\n", "not packed");
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    check_text("files/example.org/x.page", "not packed");
    CHECK_INT(count_lines(), 1);
    finish();
}

/* A process was killed in the middle: its lines are taken back, and the file is unpacked once more, over what was made. */
TEST(what_was_left_half_done_is_done_again)
{
    begin();
    write_text("files.tsv", "a line of an earlier file\nhttps://example.org/one\t200\n");
    write_text("files.mark", "26 a.warc\n");
    write_text("files/.part", "half a pa");
    add_record("incoming/a.warc", "https://example.org/one", "", "first");
    CHECK_INT(unpacker_recover(&options), 0);
    check_text("files.tsv", "a line of an earlier file\n");
    CHECK(!exists("files/.part") && !exists("files.mark"));
    CHECK_INT(unpacker_unpack(&options, "a.warc"), 0);
    CHECK_INT(count_lines(), 2);
    CHECK_INT(unpacker_recover(&options), 0);
    CHECK_INT(count_lines(), 2);
    finish();
}

/* Killed between the removal of the file and that of the mark: all of it is there. */
TEST(what_was_done_stays)
{
    begin();
    write_text("files.tsv", "a line of the file that is gone\n");
    write_text("files.mark", "0 a.warc\n");
    CHECK_INT(unpacker_recover(&options), 0);
    CHECK_INT(count_lines(), 1);
    CHECK(!exists("files.mark"));
    finish();
}

TEST(errors_leave_the_file_where_it_is)
{
    begin();
    write_text("incoming/a.warc", "WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 1000\r\n\r\ncut");
    CHECK(unpacker_unpack(&options, "a.warc") < 0);
    CHECK(exists("incoming/a.warc") && exists("files.mark"));
    write_text("files.mark", "what is this");
    CHECK_INT(unpacker_recover(&options), -EBADMSG);
    finish();
}

/* The thread takes nothing before its commit cannot be undone; the last call takes all. */
TEST(the_thread_waits_for_the_disk)
{
    static struct unpacker unpacker;
    begin();
    add_record("incoming/a.warc", "https://example.org/one", "", "first");
    add_record("incoming/b.warc.open", "https://example.org/two", "", "second");
    options.epoch = 7;
    CHECK_INT(unpacker_start(&unpacker, &options), 0);
    unpacker_tell(&unpacker, 8, 7);
    usleep(60000); /* it could: nothing is waited for */
    CHECK(exists("incoming/a.warc"));
    CHECK(rename(path_of("incoming/b.warc.open"), path_of("incoming/b.warc")) == 0);
    unpacker_finish(&unpacker, false);
    CHECK_INT(pthread_join(unpacker.thread, NULL), 0);
    CHECK_INT(lf_load(&unpacker.error, relaxed), 0);
    check_text("files/example.org/one.page", "first");
    check_text("files/example.org/two.page", "second");
    finish();
}
