#include "engine/crawl/indexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/store/note.h"

#include "tests/support/check.h"

static char directory[64];
static struct indexer indexer;
static struct outlet notes;

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static bool exists(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/indexer.XXXXXX");
    CHECK(mkdtemp(directory));
    CHECK_INT(outlet_init(&notes, &(struct outlet_options){.bytes = 1}), 0);
}

/* What one thread makes of the folder. */
static void run_once(bool is_over)
{
    struct outlet *outlets[] = {&notes};
    struct indexer_options options = {.directory = directory, .notes = outlets, .notes_count = 1};
    CHECK_INT(indexer_start(&indexer, &options), 0);
    indexer_finish(&indexer, is_over);
    pthread_join(indexer.thread, NULL);
}

static void end(const char *const *names)
{
    for (; *names; names++)
        unlink(path_of(*names));
    CHECK_INT(rmdir(directory), 0); /* nothing else is left */
    outlet_fini(&notes);
}

#define RECORD                                                                                               \
    "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:22222222-2222-4222-8222-222222222222>\r\n" \
    "WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Target-URI: http://a.test/x\r\n"                                \
    "Content-Type: application/http; msgtype=response\r\nContent-Length: 41\r\n\r\n"                         \
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n"

TEST(closed_files_get_an_index_and_open_ones_none)
{
    begin();
    write_file("a.warc", RECORD);
    write_file("b.warc.open", RECORD);
    write_file("other.txt", "x");
    run_once(false);
    CHECK(!indexer_error(&indexer));
    CHECK(exists("a.cdxj") && !exists("b.cdxj") && !exists("other.cdxj"));
    end((const char *const[]){"a.warc", "b.warc.open", "other.txt", "a.cdxj", NULL});
}

TEST(an_index_that_is_there_is_left_alone)
{
    char line[16] = "";
    begin();
    write_file("a.warc", RECORD);
    write_file("a.cdxj", "mine");
    run_once(false);
    FILE *file = fopen(path_of("a.cdxj"), "r");
    CHECK(file && fgets(line, sizeof line, file) && fclose(file) == 0);
    CHECK_STR(line, "mine");
    end((const char *const[]){"a.warc", "a.cdxj", NULL});
}

TEST(a_bad_file_is_told_and_no_half_index_is_left)
{
    begin();
    write_file("a.warc", "no WARC at all");
    run_once(false);
    CHECK(indexer_error(&indexer) && strstr(indexer_error(&indexer), "a.warc"));
    CHECK(!exists("a.cdxj"));
    end((const char *const[]){"a.warc", NULL});
}

TEST(when_it_is_over_nothing_is_made)
{
    begin();
    write_file("a.warc", RECORD);
    run_once(true);
    CHECK(!indexer_error(&indexer) && !exists("a.cdxj"));
    end((const char *const[]){"a.warc", NULL});
}

/* Notes of a file with one record at offset 7, and its end. */
static void note_file(const char *name, uint64_t bytes)
{
    struct note all[] = {
        {.kind = NOTE_RESPONSE, .status = 200, .offset = 7, .length = 9, .url = SLICE("http://a.test/x")},
        {.kind = NOTE_END, .offset = bytes}};
    CHECK(outlet_open(&notes, name));
    for (int i = 0; i < 2; i++) {
        char text[256];
        note_write(text, &all[i]);
        outlet_append(&notes, (struct slice){text, note_bytes(&all[i])});
    }
    outlet_flush(&notes);
}

static bool is_from_notes(const char *name)
{
    size_t len;
    char *text = check_read_file(path_of(name), &len);
    bool is = memmem(text, len, "\"offset\": \"7\"", 13);
    free(text);
    return is;
}

TEST(notes_spare_the_reading)
{
    begin();
    write_file("a.warc", "no WARC at all");
    note_file("a.warc", 14);
    write_file("c.cdxj.open", "what a dead process has left");
    run_once(false);
    CHECK(!indexer_error(&indexer) && is_from_notes("a.cdxj"));
    end((const char *const[]){"a.warc", "a.cdxj", NULL});
}

TEST(a_file_that_is_not_as_noted_is_read)
{
    begin();
    write_file("a.warc", RECORD);
    note_file("a.warc", 14);
    run_once(false);
    CHECK(!indexer_error(&indexer) && exists("a.cdxj") && !is_from_notes("a.cdxj"));
    end((const char *const[]){"a.warc", "a.cdxj", NULL});
}

TEST(a_file_that_is_not_closed_gets_no_index_of_its_notes)
{
    begin();
    write_file("a.warc.open", RECORD);
    note_file("a.warc", sizeof RECORD - 1);
    run_once(false);
    CHECK(!indexer_error(&indexer) && !exists("a.cdxj"));
    end((const char *const[]){"a.warc.open", NULL});
}
