#include "engine/disk/outlet.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/disk/syncer.h"
#include "lockfree/atomic.h"
#include "tests/support/check.h"

static char directory[64];
static struct files files;
static struct outlet outlet;

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-outlet-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    files_init(&files, &disk_system, directory);
    CHECK_INT(outlet_init(&outlet, &(struct outlet_options){.files = &files}), 0);
}

static char *path(const char *name)
{
    static char text[128];
    snprintf(text, sizeof text, "%s/%s", directory, name);
    return text;
}

/* Finished files get their names. */
static void name_files(void)
{
    struct syncer syncer;
    syncer_init(&syncer, &files, false);
    syncer_begin(&syncer, -1);
    CHECK_INT(syncer_finish(&syncer), 0);
    syncer_fini(&syncer);
}

static void finish(const char *name)
{
    outlet_fini(&outlet);
    files_fini(&files);
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

/* Whether there are bytes in hand or not. */
TEST(a_file_is_closed_before_another_is_opened)
{
    begin();
    for (unsigned i = 0; i < 2; i++) {
        const char *name = i ? "two" : "one";
        CHECK(outlet_open(&outlet, name));
        outlet_append(&outlet, SLICE("hello"));
        if (i)
            outlet_flush(&outlet);
        CHECK_INT(outlet_drain(&outlet), 0);
        name_files();
        CHECK(access(path(name), F_OK) != 0);
        CHECK(outlet_close(&outlet));
        CHECK_INT(outlet_drain(&outlet), 0);
        name_files();
        check_file(name, "hello");
        unlink(path(name));
    }
    CHECK_INT(outlet_finish(&outlet), 0);
    finish("none");
}

TEST(files_are_open_until_closed)
{
    begin();
    CHECK(outlet_open(&outlet, "one"));
    outlet_append(&outlet, SLICE("hello "));
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    name_files();
    CHECK(access(path("one.open"), F_OK) == 0);
    CHECK(access(path("one"), F_OK) != 0);
    outlet_append(&outlet, SLICE("world"));
    outlet_flush(&outlet);
    CHECK(outlet_open(&outlet, "two"));
    outlet_append(&outlet, SLICE("x"));
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    name_files();
    check_file("one", "hello world");
    CHECK_INT(outlet_finish(&outlet), 0);
    name_files();
    check_file("two", "x");
    unlink(path("one"));
    finish("two");
}

TEST(a_loop_is_told_when_all_blocks_are_on_their_way)
{
    begin();
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
    name_files();
    finish("one");
}

TEST(the_block_that_came_back_last_is_filled_first)
{
    begin();
    outlet_fini(&outlet);
    CHECK_INT(outlet_init(&outlet, &(struct outlet_options){.files = &files,
                                                            .bytes = 8 * sizeof(struct outlet_block)}),
              0);
    const struct outlet_block *last = NULL;
    CHECK(outlet_open(&outlet, "one"));
    for (int i = 0; i < 20; i++) {
        outlet_append(&outlet, SLICE("x"));
        CHECK(!last || outlet.current == last);
        CHECK_INT(outlet_room(&outlet), 8 * OUTLET_BLOCK_BYTES - 1);
        last = outlet.current;
        outlet_flush(&outlet);
        CHECK_INT(outlet_drain(&outlet), 0);
    }
    check_file("one.open", "xxxxxxxxxxxxxxxxxxxx");
    finish("one.open");
}

TEST(a_seal_holds_what_comes_after_it)
{
    begin();
    CHECK(outlet_open(&outlet, "one"));
    outlet_append(&outlet, SLICE("first "));
    outlet_seal(&outlet);
    outlet_append(&outlet, SLICE("second"));
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK(outlet.is_held);
    CHECK_INT(files.all->length, 6);
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK_INT(files.all->length, 6);
    outlet_release(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK(!outlet.is_held);
    check_file("one.open", "first second");
    finish("one.open");
}

TEST(all_blocks_and_a_seal_fit_the_ring)
{
    static char bytes[OUTLET_BLOCK_BYTES];
    begin();
    CHECK(outlet_open(&outlet, "one"));
    outlet_append(&outlet, (struct slice){bytes, sizeof bytes});
    outlet_append(&outlet, (struct slice){bytes, sizeof bytes});
    outlet_seal(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK(outlet.is_held);
    CHECK_INT(files.all->length, 2 * OUTLET_BLOCK_BYTES);
    finish("one.open");
}

TEST(the_end_writes_over_seals)
{
    begin();
    CHECK(outlet_open(&outlet, "one"));
    outlet_append(&outlet, SLICE("a"));
    outlet_seal(&outlet);
    outlet_append(&outlet, SLICE("b"));
    outlet_flush(&outlet);
    CHECK_INT(outlet_finish(&outlet), 0);
    name_files();
    check_file("one", "ab");
    finish("one");
}

TEST(several_outlets_share_a_file_line_by_line)
{
    static char line[1000];
    struct outlet other;
    begin();
    struct outlet_options options = {.files = &files, .is_shared = true};
    outlet_fini(&outlet);
    CHECK_INT(outlet_init(&outlet, &options), 0);
    CHECK_INT(outlet_init(&other, &options), 0);
    CHECK(outlet_open(&outlet, "log") && outlet_open(&other, "log"));
    for (int i = 0; i < 300; i++) {
        struct outlet *one = i % 2 ? &outlet : &other;
        memset(line, i % 2 ? 'a' : 'b', sizeof line - 1);
        line[sizeof line - 1] = '\n';
        outlet_append_whole(one, (struct slice){line, sizeof line});
        if (i % 7 == 0)
            outlet_flush(one);
        CHECK_INT(outlet_drain(&outlet), 0);
        CHECK_INT(outlet_drain(&other), 0);
    }
    outlet_flush(&outlet);
    outlet_flush(&other);
    CHECK_INT(outlet_finish(&outlet), 0);
    CHECK_INT(outlet_finish(&other), 0);
    size_t len;
    char *text = check_read_file(path("log"), &len);
    CHECK_INT(len, 300 * sizeof line);
    for (size_t i = 0; i < len; i += sizeof line)
        for (size_t k = 1; k < sizeof line - 1; k++)
            CHECK(text[i + k] == text[i]);
    free(text);
    outlet_fini(&other);
    finish("log");
}

/* The limit on file size stands in for a full disk: write() fails in the same place and way. */
TEST(after_a_failed_write_everything_is_thrown_away)
{
    static char record[OUTLET_BLOCK_BYTES];
    struct rlimit old, limit;
    begin();
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    limit = (struct rlimit){.rlim_cur = 300000, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(outlet_open(&outlet, "one"));
    outlet_append(&outlet, (struct slice){record, sizeof record});
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    files_commit(&files);
    outlet_append(&outlet, (struct slice){record, sizeof record});
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), -EFBIG);
    CHECK_INT(files_cut(&files), 0);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    outlet_append(&outlet, SLICE("late"));
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK_INT(outlet_unwritten(&outlet), 0);
    size_t len;
    free(check_read_file(path("one"), &len));
    CHECK_INT(len, sizeof record);
    finish("one");
}

/* A loop that fills and a housekeeper that writes at the same time. */
enum { THREAD_ITEMS = 20000 };

static void *fill(void *argument)
{
    (void)argument;
    char text[32];
    for (int i = 0; i < THREAD_ITEMS;) {
        int len = snprintf(text, sizeof text, "%d\n", i);
        if (outlet_room(&outlet) < (size_t)len)
            continue;
        outlet_append(&outlet, (struct slice){text, (size_t)len});
        if (++i % 100 == 0)
            outlet_flush(&outlet);
    }
    outlet_flush(&outlet);
    return NULL;
}

TEST(two_threads_hand_over_everything_in_order)
{
    pthread_t thread;
    begin();
    CHECK(outlet_open(&outlet, "one"));
    CHECK(pthread_create(&thread, NULL, fill, NULL) == 0);
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        CHECK_INT(outlet_drain(&outlet), 0);
    CHECK_INT(outlet_finish(&outlet), 0);
    name_files();
    size_t len;
    char *text = check_read_file(path("one"), &len), *at = text;
    for (int i = 0; i < THREAD_ITEMS; i++)
        CHECK_INT(strtol(at, &at, 10), i);
    free(text);
    finish("one");
}
