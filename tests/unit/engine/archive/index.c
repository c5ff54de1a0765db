#include "engine/archive/index.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/engine/archive/warc_file.h"

static char directory[100];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-index-XXXXXX");
    CHECK(mkdtemp(directory));
}

/* Removes what the test made; answers how many files there were. */
static unsigned remove_directory(void)
{
    unsigned count = 0;
    DIR *open = opendir(directory);
    for (struct dirent *entry; (entry = readdir(open));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        count += entry->d_name[0] != '.' && unlink(path) == 0;
    }
    closedir(open);
    CHECK(rmdir(directory) == 0);
    return count;
}

static struct warc_file *some_records(enum warc_packing packing, unsigned count)
{
    struct warc_file *file = warc_file_new(packing);
    for (unsigned i = 0; i < count; i++) {
        char fields[200], block[200];
        snprintf(fields, sizeof fields,
                 "WARC-Target-URI: http://h%u.test/\r\nContent-Type: application/http\r\n", (i * 7) % count);
        snprintf(block, sizeof block, "HTTP/1.1 200 OK\r\nContent-Type: text/html; x\r\n\r\nbody %u", i);
        warc_file_add(file, "response", fields, slice_of(block));
        file->count %= 60;
    }
    warc_file_end(file);
    return file;
}

static char *path_of(const char *name)
{
    static char paths[4][400];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

/* The lines of an index are in order and say what they should; answers how many there are. */
static size_t check_lines(const char *path)
{
    size_t len, count = 0;
    char *text = check_read_file(path, &len), *before = NULL;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        CHECK(!before || strcmp(before, line) < 0);
        CHECK(strncmp(line, "test,h", 6) == 0 && strstr(line, ")/ 20261116071947 {\"url\": \"http://h"));
        CHECK(strstr(line, "\"mime\": \"text/html\", \"status\": \"200\", \"digest\": \""));
        before = line;
        count++;
    }
    free(text);
    return count;
}

/* The index of a file is the same whatever it is packed with, but for places. */
TEST(an_index_is_made_of_every_packing)
{
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        struct archive_error error = {0};
        make_directory();
        struct warc_file *file = some_records(packing, 50);
        warc_file_save(directory, "a.warc.gz", warc_file_all(file));
        bool good = index_file(path_of("a.warc.gz"), path_of("a.cdxj"), &(struct index_options){0}, &error);
        if (packing == PACK_GZIP_WHOLE) {
            CHECK(!good && error.fault == ARCHIVE_NOT_SEEKABLE);
            CHECK_INT(remove_directory(), 1); /* no index was made */
            continue;
        }
        CHECK(good);
        CHECK_INT(check_lines(path_of("a.cdxj")), 50);
        CHECK_INT(remove_directory(), 2);
    }
}

TEST(what_is_there_is_kept_unless_forced)
{
    struct archive_error error = {0};
    struct index_options options = {0};
    make_directory();
    warc_file_save(directory, "a.warc", warc_file_all(some_records(PACK_PLAIN, 3)));
    warc_file_save(directory, "a.cdxj", SLICE("precious"));
    CHECK(!index_file(path_of("a.warc"), path_of("a.cdxj"), &options, &error));
    CHECK_INT(error.fault, ARCHIVE_EXISTS);
    size_t len;
    char *text = check_read_file(path_of("a.cdxj"), &len);
    CHECK_STR(text, "precious");
    free(text);
    error = (struct archive_error){0};
    options.is_forced = true;
    CHECK(index_file(path_of("a.warc"), path_of("a.cdxj"), &options, &error));
    text = check_read_file(path_of("a.cdxj"), &len);
    CHECK(len > 300);
    free(text);
    CHECK_INT(remove_directory(), 2);
}

TEST(an_index_can_be_stopped_and_leaves_nothing)
{
    static _Atomic(bool) stop = true;
    struct archive_error error = {0};
    make_directory();
    warc_file_save(directory, "a.warc", warc_file_all(some_records(PACK_PLAIN, 3)));
    CHECK(!index_file(path_of("a.warc"), path_of("a.cdxj"), &(struct index_options){.stop = &stop}, &error));
    CHECK_INT(error.fault, ARCHIVE_STOPPED);
    CHECK_INT(remove_directory(), 1);
}

TEST(damage_leaves_no_index)
{
    struct archive_error error = {0};
    make_directory();
    struct warc_file *file = some_records(PACK_GZIP, 5);
    warc_file_save(directory, "a.warc.gz", (struct slice){file->bytes, file->len - 1});
    CHECK(!index_file(path_of("a.warc.gz"), path_of("a.cdxj"), &(struct index_options){0}, &error));
    CHECK(error.fault == ARCHIVE_TRUNCATED && error.offset == file->len - 1);
    CHECK_INT(remove_directory(), 1);
}

TEST(unsorted_indexes_are_refused)
{
    struct archive_error error = {0};
    make_directory();
    warc_file_save(directory, "a.cdxj", SLICE("b 2026 {}\nb 2026 {}\na 2026 {}\n"));
    struct index *index = index_create(&(struct index_options){.directory = directory}, &error);
    CHECK(index && !index_add_cdxj(index, path_of("a.cdxj")));
    CHECK(error.fault == ARCHIVE_UNSORTED && error.offset == 20 && strstr(error.text, "line 3 "));
    index_destroy(index);
    CHECK_INT(remove_directory(), 1);
}
