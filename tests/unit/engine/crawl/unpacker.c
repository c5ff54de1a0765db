/* The thread of the unpacker, and its steps as it takes them. */
#include "tests/unit/engine/crawl/unpacker_frame.h"

#include <errno.h>

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
