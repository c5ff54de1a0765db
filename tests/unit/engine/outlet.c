#include "engine/outlet.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "tests/support/check.h"

static char directory[64];
static struct outlet outlet;

static void begin(size_t bytes)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-outlet-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    CHECK_INT(outlet_init(&outlet, directory, bytes), 0);
}

static char *path(const char *name)
{
    static char text[128];
    snprintf(text, sizeof text, "%s/%s", directory, name);
    return text;
}

static void finish(const char *name)
{
    outlet_fini(&outlet);
    unlink(path(name));
    CHECK(rmdir(directory) == 0);
}

static void check_file(const char *name, const char *content)
{
    size_t len;
    char *text = check_read_file(path(name), &len);
    CHECK_STR(text, content);
    free(text);
}

TEST(files_are_open_until_closed)
{
    begin(0);
    CHECK(outlet_open(&outlet, "one"));
    outlet_append(&outlet, SLICE("hello "));
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK(access(path("one.open"), F_OK) == 0);
    CHECK(access(path("one"), F_OK) != 0);
    outlet_append(&outlet, SLICE("world"));
    outlet_flush(&outlet);
    CHECK(outlet_open(&outlet, "two"));
    outlet_append(&outlet, SLICE("x"));
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    check_file("one", "hello world");
    CHECK_INT(outlet_finish(&outlet), 0);
    check_file("two", "x");
    unlink(path("one"));
    finish("two");
}

TEST(a_loop_is_told_when_all_blocks_are_on_their_way)
{
    begin(0);
    static char bytes[OUTLET_BLOCK_BYTES];
    CHECK(outlet_open(&outlet, "one"));
    CHECK_INT(outlet_room(&outlet), 2 * OUTLET_BLOCK_BYTES);
    outlet_append(&outlet, (struct slice){bytes, sizeof bytes});
    outlet_append(&outlet, (struct slice){bytes, sizeof bytes});
    CHECK_INT(outlet_room(&outlet), 0);
    size_t room;
    CHECK(outlet_space(&outlet, &room) == NULL && room == 0);
    CHECK(!outlet_open(&outlet, "two"));
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK_INT(outlet_room(&outlet), 2 * OUTLET_BLOCK_BYTES);
    CHECK_INT(outlet_finish(&outlet), 0);
    finish("one");
}

/* The limit on file size stands in for a full disk: write() fails in the same place and way. */
TEST(a_full_disk_leaves_whole_records)
{
    begin(0);
    static char record[100000];
    memset(record, 'r', sizeof record);
    struct rlimit old, limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    limit = (struct rlimit){.rlim_cur = 450000, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(outlet_open(&outlet, "one"));
    int error = 0;
    for (int i = 0; i < 8 && !error; i++) {
        outlet_append(&outlet, (struct slice){record, sizeof record});
        outlet_mark(&outlet);
        outlet_flush(&outlet);
        error = outlet_drain(&outlet);
    }
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_INT(error, -EFBIG);
    size_t len;
    free(check_read_file(path("one"), &len));
    CHECK(len >= 200000 && len % sizeof record == 0);
    CHECK_INT(outlet_finish(&outlet), 0);
    finish("one");
}

TEST(a_full_disk_leaves_no_file_without_a_record)
{
    static char record[100000];
    struct rlimit old, limit;
    begin(0);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    limit = (struct rlimit){.rlim_cur = 4096, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(outlet_open(&outlet, "one"));
    outlet_append(&outlet, (struct slice){record, sizeof record});
    outlet_mark(&outlet);
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), -EFBIG);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK(access(path("one"), F_OK) != 0 && access(path("one.open"), F_OK) != 0);
    finish("one");
}

TEST(lines_of_two_outlets_in_one_file_stay_whole)
{
    struct outlet other;
    begin(0);
    CHECK_INT(outlet_init(&other, directory, 0), 0);
    outlet.appends = other.appends = true;
    CHECK(outlet_open(&outlet, "log") && outlet_open(&other, "log"));
    char a[101], b[101];
    memset(a, 'a', 100);
    memset(b, 'b', 100);
    a[99] = b[99] = '\n';
    for (int i = 0; i < 20000; i++) {
        outlet_append_whole(&outlet, (struct slice){a, 100});
        outlet_append_whole(&other, (struct slice){b, 100});
        CHECK_INT(outlet_drain(&outlet), 0);
        CHECK_INT(outlet_drain(&other), 0);
    }
    outlet_flush(&outlet);
    outlet_flush(&other);
    CHECK_INT(outlet_finish(&outlet), 0);
    CHECK_INT(outlet_finish(&other), 0);
    size_t len;
    char *text = check_read_file(path("log"), &len);
    CHECK_INT(len, 2 * 20000 * 100);
    for (size_t i = 0; i < len; i += 100)
        CHECK(memcmp(text + i, a, 100) == 0 || memcmp(text + i, b, 100) == 0);
    free(text);
    outlet_fini(&other);
    finish("log");
}

static _Atomic(bool) ended;

static void *housekeep(void *argument)
{
    (void)argument;
    while (!lf_load(&ended, acquire))
        CHECK_INT(outlet_drain(&outlet), 0);
    CHECK_INT(outlet_finish(&outlet), 0);
    return NULL;
}

TEST(nothing_is_lost_between_loop_and_housekeeper)
{
    enum { LINES = 200000 };
    pthread_t thread;
    begin(0);
    CHECK(outlet_open(&outlet, "one"));
    CHECK(pthread_create(&thread, NULL, housekeep, NULL) == 0);
    for (int i = 0; i < LINES;) {
        char line[16];
        if (outlet_room(&outlet) < sizeof line)
            continue;
        snprintf(line, sizeof line, "%07d\n", i++);
        outlet_append(&outlet, (struct slice){line, 8});
    }
    outlet_flush(&outlet);
    lf_store(&ended, true, release);
    pthread_join(thread, NULL);
    size_t len;
    char *text = check_read_file(path("one"), &len);
    CHECK_INT(len, LINES * 8);
    for (int i = 0; i < LINES; i++)
        CHECK_INT(strtol(text + i * 8, NULL, 10), i);
    free(text);
    finish("one");
}
