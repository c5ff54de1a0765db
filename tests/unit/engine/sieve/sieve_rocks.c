/* What is RocksDB's own: its words for damage and for a disk that is full. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/engine/sieve/sieve_frame.h"

/* Together they are more than what RocksDB keeps in memory before a write has to wait for a file. */
enum { BATCHES = 5 };

static struct frame frame;
static struct frame_caller caller;

static void begin(void)
{
    if (!sieve_disk_has(SIEVE_DISK_ROCKS))
        SKIP("this build has no RocksDB (librocksdb-dev; not under ThreadSanitizer)");
    frame_begin(&frame, 61);
    for (unsigned i = 0; i < BATCHES; i++)
        frame_add(&frame, 300000, 30, 0);
    frame_answer(&frame);
    caller = (struct frame_caller){.frame = &frame, .sieve = frame_open(&frame, SIEVE_DISK_ROCKS)};
}

static void finish(void)
{
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}

/* In the middle of every table. */
static void damage(void)
{
    struct frame_names names = frame_list(&frame);
    for (unsigned i = 0; i < names.count; i++) {
        struct stat status;
        const char *path = frame_path(&frame, names.names[i]);
        if (!strstr(path, ".sst"))
            continue;
        int fd = open(path, O_RDWR);
        if (fd < 0)
            continue; /* compacted meanwhile */
        CHECK_INT(fstat(fd, &status), 0);
        CHECK_INT(pwrite(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, status.st_size / 3), 8);
        close(fd);
    }
}

TEST(damage_is_refused_with_file_and_offset)
{
    int answer = 0;
    begin();
    for (unsigned number = 1; number <= BATCHES && answer == 0; number++) {
        damage();
        answer = frame_ask(&caller, number);
    }
    CHECK_INT(answer, -EBADMSG);
    const char *text = sieve_disk_error(caller.sieve)->text;
    CHECK(strstr(text, frame.directory) == text);
    CHECK(strstr(text, ".sst") && strstr(text, "offset"));
    finish();
}

/* A limit on the size of files stands for the full disk: it needs no file system of the test's own. */
TEST(a_file_that_may_not_grow_is_told)
{
    struct rlimit before, small;
    begin();
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){100000, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    CHECK_INT(frame_ask_from(&caller, 1), -EFBIG);
    CHECK(strstr(sieve_disk_error(caller.sieve)->text, ".sst"));
    finish();
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
}
