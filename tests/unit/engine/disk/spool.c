#include "engine/disk/spool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/check.h"

static char directory[64];
static struct spool spool;

static void begin(void)
{
    char prefix[128];
    snprintf(directory, sizeof directory, "/tmp/lycosa-spool-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(prefix, sizeof prefix, "%s/q", directory);
    CHECK_INT(spool_init(&spool, &disk_system, prefix), 0);
}

/* Nothing is left of the files. */
static void finish(void)
{
    spool_fini(&spool);
    CHECK_INT(rmdir(directory), 0);
}

/* Records of many lengths that can be told apart. */
static size_t write_record(char *buffer, uint64_t number)
{
    size_t len = 8 + number * 7919 % 5000;
    memset(buffer, (int)(number & 0xff), len);
    memcpy(buffer, &number, sizeof number);
    return len;
}

static void push(uint64_t number)
{
    char record[8192];
    spool_push(&spool, (struct slice){record, write_record(record, number)});
}

static void check_front(struct slice record, uint64_t number)
{
    char expected[8192];
    size_t len = write_record(expected, number);
    CHECK_INT(record.len, len);
    CHECK(memcmp(record.ptr, expected, len) == 0);
}

TEST(a_short_queue_never_touches_the_disk)
{
    struct slice record;
    begin();
    CHECK(!spool_front(&spool, &record));
    for (uint64_t i = 0; i < 20; i++)
        push(i);
    CHECK_INT(spool_count(&spool), 20);
    CHECK(!spool_front(&spool, &record)); /* hands over what there is */
    CHECK_INT(spool_serve(&spool), 0);
    for (uint64_t i = 0; i < 20; i++) {
        CHECK(spool_front(&spool, &record));
        check_front(record, i);
        spool_pop(&spool);
    }
    CHECK(!spool_front(&spool, &record));
    CHECK_INT(spool_count(&spool), 0);
    CHECK_INT(spool.written, 0);
    finish();
}

/* Over several segments, which go as soon as they were read. */
TEST(a_long_queue_keeps_its_order)
{
    enum { RECORDS = 60000 };
    uint64_t pushed = 0, popped = 0, most_bytes = 0;
    uint32_t dice = 1;
    struct slice record;
    begin();
    while (popped < RECORDS) {
        dice = dice * 1664525 + 1013904223;
        unsigned wanted = dice >> 24;
        bool fills = pushed < RECORDS && (pushed < RECORDS / 2 || dice >> 16 & 1);
        for (unsigned i = 0; fills && i < wanted && pushed < RECORDS && spool_has_room(&spool, 8192); i++)
            push(pushed++);
        for (unsigned i = 0; !fills && i < wanted && spool_front(&spool, &record); i++) {
            check_front(record, popped++);
            spool_pop(&spool);
        }
        CHECK_INT(spool_count(&spool), pushed - popped);
        CHECK_INT(spool_serve(&spool), 0);
        uint64_t bytes = lf_load(&spool.bytes, relaxed);
        most_bytes = bytes > most_bytes ? bytes : most_bytes;
    }
    CHECK(spool.written > SPOOL_SEGMENT_BLOCKS);
    CHECK(most_bytes > 32 << 20);
    finish();
}

TEST(what_is_left_is_removed)
{
    begin();
    for (uint64_t i = 0; i < 5000; i++) {
        if (!spool_has_room(&spool, 8192))
            CHECK_INT(spool_serve(&spool), 0);
        push(i);
    }
    CHECK_INT(spool_serve(&spool), 0);
    CHECK(spool.written > spool.read);
    finish();
}

/* The limit on file size stands in for a full disk. */
TEST(a_full_disk_is_told)
{
    struct rlimit old, limit;
    int error = 0;
    begin();
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    limit = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (uint64_t i = 0; i < 5000 && !error; i++) {
        if (!spool_has_room(&spool, 8192))
            error = spool_serve(&spool);
        if (!error)
            push(i);
    }
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_INT(error, -EFBIG);
    finish();
}

/* A loop and a housekeeper at the same time. */
static _Atomic(bool) is_done;

static void *serve(void *argument)
{
    (void)argument;
    while (!lf_load(&is_done, acquire)) /* A1 pairs with R1 */
        CHECK_INT(spool_serve(&spool), 0);
    return NULL;
}

TEST(two_threads_lose_nothing)
{
    enum { RECORDS = 20000 };
    uint64_t pushed = 0, popped = 0;
    pthread_t thread;
    struct slice record;
    begin();
    lf_store(&is_done, false, relaxed);
    CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
    while (popped < RECORDS) {
        for (unsigned i = 0; i < 300 && pushed < RECORDS && spool_has_room(&spool, 8192); i++)
            push(pushed++);
        for (unsigned i = 0; i < 200 && spool_front(&spool, &record); i++) {
            check_front(record, popped++);
            spool_pop(&spool);
        }
    }
    lf_store(&is_done, true, release); /* R1 */
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_INT(spool_count(&spool), 0);
    finish();
}
