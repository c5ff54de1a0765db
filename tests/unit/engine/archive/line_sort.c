#include "engine/archive/line_sort.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/archive/limits.h"
#include "tests/support/check.h"

static char directory[] = "/tmp/lycosa-line-sort-XXXXXX";

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* A line of up to `max` bytes, few of them different, so that lines share beginnings. */
static struct slice make_line(unsigned *seed, size_t max)
{
    static char line[CDXJ_LINE_BYTES_MAX];
    size_t len = next(seed) % max;
    for (size_t i = 0; i < len; i++)
        line[i] = "\t !ab\xc3\xff"[next(seed) % 7];
    line[len] = '\n';
    return (struct slice){line, len + 1};
}

/* LC_ALL=C sort -o DIRECTORY/sorted DIRECTORY/lines */
static void sort_file(void)
{
    char from[300], to[300];
    int status;
    snprintf(from, sizeof from, "%s/lines", directory);
    snprintf(to, sizeof to, "%s/sorted", directory);
    pid_t child = fork();
    if (child == 0) {
        setenv("LC_ALL", "C", 1);
        execlp("sort", "sort", "-o", to, from, (char *)NULL);
        _exit(127);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void check_same(void)
{
    char path[300];
    size_t sorted_len, ours_len;
    snprintf(path, sizeof path, "%s/sorted", directory);
    char *sorted = check_read_file(path, &sorted_len);
    snprintf(path, sizeof path, "%s/ours", directory);
    char *ours = check_read_file(path, &ours_len);
    CHECK(sorted_len == ours_len && memcmp(sorted, ours, ours_len) == 0);
    free(sorted);
    free(ours);
}

static void compare_with_sort(size_t count, size_t max, unsigned seed)
{
    struct archive_error error = {0};
    struct line_sort sort;
    struct line_sort_options options = {.memory_bytes = LINE_SORT_MEMORY_MIN, .directory = directory};
    char path[300];
    snprintf(path, sizeof path, "%s/lines", directory);
    FILE *plain = fopen(path, "w");
    CHECK(line_sort_init(&sort, &options, &error));
    for (size_t i = 0; i < count; i++) {
        struct slice line = make_line(&seed, max);
        CHECK(line_sort_add(&sort, line));
        CHECK(fwrite(line.ptr, 1, line.len, plain) == line.len);
    }
    CHECK(fclose(plain) == 0);
    CHECK(line_sort_finish(&sort));
    snprintf(path, sizeof path, "%s/ours", directory);
    FILE *ours = fopen(path, "w");
    for (struct slice line; line_sort_next(&sort, &line);)
        CHECK(fwrite(line.ptr, 1, line.len, ours) == line.len && putc('\n', ours) != EOF);
    CHECK(fclose(ours) == 0 && error.fault == ARCHIVE_OK);
    line_sort_fini(&sort);
    sort_file();
    check_same();
}

/* In memory; in one pass; in several, because there are more runs than buffers. */
TEST(the_order_is_that_of_sort)
{
    CHECK(mkdtemp(directory));
    compare_with_sort(0, 10, 1);
    compare_with_sort(1000, 100, 2);
    compare_with_sort(60000, 100, 3);
    compare_with_sort(400000, 60, 4);
    compare_with_sort(300, 100000, 5);
    for (const char **name = (const char *[]){"lines", "ours", "sorted", NULL}; *name; name++) {
        char path[300];
        snprintf(path, sizeof path, "%s/%s", directory, *name);
        CHECK(unlink(path) == 0);
    }
    CHECK(rmdir(directory) == 0); /* no temporary file has been left */
}

TEST(a_folder_that_is_not_there_is_an_error)
{
    struct archive_error error = {0};
    struct line_sort sort;
    struct line_sort_options options = {.memory_bytes = LINE_SORT_MEMORY_MIN, .directory = "/nonexistent"};
    unsigned seed = 1;
    CHECK(line_sort_init(&sort, &options, &error));
    bool good = true;
    for (size_t i = 0; good && i < 100000; i++)
        good = line_sort_add(&sort, make_line(&seed, 100));
    CHECK(!good && error.fault == ARCHIVE_SYSTEM && strstr(error.text, "/nonexistent"));
    CHECK(!line_sort_finish(&sort));
    line_sort_fini(&sort);
}
