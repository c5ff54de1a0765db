#include "engine/archive/cdxj_file.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/engine/archive/warc_file.h"

static char directory[] = "/tmp/lycosa-cdxj-XXXXXX";

/* The first line that is not before `text`. */
static const char *find(struct cdxj_file *file, const char *text)
{
    static char found[300];
    struct slice line;
    CHECK(cdxj_file_find(file, slice_of(text)));
    found[0] = '\0';
    if (cdxj_file_next(file, &line))
        snprintf(found, sizeof found, "%.*s", (int)line.len, line.ptr);
    return found;
}

/* Every line of a file is found, and what lies between two lines leads to the second. */
static void search_all(size_t count, size_t pad, const char *last_end)
{
    static char text[WARC_FILE_BYTES];
    struct archive_error error = {0};
    struct cdxj_file file;
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "key%06zu %0*d%s", 2 * i, (int)(pad + i % 7),
                                1, i + 1 < count ? "\n" : last_end);
    const char *path = warc_file_save(directory, "a.cdxj", (struct slice){text, len});
    CHECK(cdxj_file_open(&file, path, &error));
    for (size_t i = 0; i < count; i++) {
        char key[32], between[32];
        snprintf(key, sizeof key, "key%06zu ", 2 * i);
        snprintf(between, sizeof between, "key%06zu ", 2 * i - (i > 0));
        CHECK(strncmp(find(&file, key), key, strlen(key)) == 0);
        CHECK(strncmp(find(&file, between), key, strlen(key)) == 0);
        char whole[300];
        snprintf(whole, sizeof whole, "%s", find(&file, key));
        CHECK_STR(find(&file, whole), whole);
    }
    CHECK_STR(find(&file, "z"), "");
    CHECK(strlen(find(&file, "")) > 0 || count == 0);
    cdxj_file_fini(&file);
    CHECK(unlink(path) == 0 && error.fault == ARCHIVE_OK);
}

TEST(lines_are_found_by_a_binary_search)
{
    CHECK(mkdtemp(directory));
    search_all(0, 1, "");
    search_all(1, 1, "\n");
    search_all(1, 1, "");
    search_all(1000, 1, "\n");
    search_all(1000, 200, "");
    search_all(3000, 100, "\n");
    CHECK(rmdir(directory) == 0);
}

TEST(lines_come_with_their_places)
{
    char folder[] = "/tmp/lycosa-cdxj-XXXXXX";
    struct archive_error error = {0};
    struct cdxj_file file;
    struct slice line;
    CHECK(mkdtemp(folder));
    const char *path = warc_file_save(folder, "a.cdxj", SLICE("one\ntwo\r\n\nfour"));
    static const char *const lines[] = {"one", "two", "", "four"};
    static const unsigned offsets[] = {0, 4, 9, 10};
    CHECK(cdxj_file_open(&file, path, &error));
    for (unsigned i = 0; i < 4; i++) {
        CHECK(cdxj_file_next(&file, &line));
        CHECK_SLICE(line, lines[i]);
        CHECK(file.line_offset == offsets[i] && file.line_number == i + 1);
    }
    CHECK(!cdxj_file_next(&file, &line) && error.fault == ARCHIVE_OK);
    cdxj_file_fini(&file);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}
