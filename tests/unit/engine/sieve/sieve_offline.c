/* Batches that wait. */
#include <errno.h>
#include <fcntl.h>

#include "tests/unit/engine/sieve/sieve_frame.h"

static struct frame frame;
static struct frame_caller caller;

static void begin(void)
{
    frame_begin(&frame, 83);
    for (unsigned i = 0; i < 6; i++)
        frame_add(&frame, 3000, 60, 5);
    frame_answer(&frame);
    caller = (struct frame_caller){.frame = &frame, .sieve = frame_open(&frame, SIEVE_DISK_OFFLINE)};
}

static void finish(void)
{
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}

TEST(a_batch_waits_until_it_is_merged)
{
    begin();
    for (unsigned number = 1; number <= 3; number++) {
        CHECK_INT(frame_ask(&caller, number), SIEVE_DISK_LATER);
        CHECK_INT(sieve_disk_pending(caller.sieve), number);
        CHECK_INT(sieve_disk_pending_words(caller.sieve), number * sieve_disk_words(3000));
        CHECK_INT(sieve_disk_count(caller.sieve), 0);
    }
    CHECK_INT(frame_list(&frame).count, 3); /* the runs */
    CHECK_INT(frame_merge(&caller), 0);
    CHECK_INT(sieve_disk_pending(caller.sieve), 0);
    CHECK_INT(sieve_disk_count(caller.sieve), frame.known[3]);
    CHECK_INT(frame_list(&frame).count, 1);
    finish();
}

TEST(a_merge_may_come_early_or_for_nothing)
{
    begin();
    CHECK_INT(sieve_disk_merge(caller.sieve, NULL), 0);
    CHECK_INT(frame_ask(&caller, 1), SIEVE_DISK_LATER);
    CHECK_INT(frame_merge(&caller), 0);
    CHECK_INT(sieve_disk_merge(caller.sieve, NULL), 0);
    CHECK_INT(frame_ask_from(&caller, 2), 0);
    finish();
}

TEST(a_damaged_run_is_found)
{
    begin();
    for (unsigned number = 1; number <= 3; number++)
        CHECK_INT(frame_ask(&caller, number), SIEVE_DISK_LATER);
    int fd = open(frame_path(&frame, "run-01"), O_WRONLY);
    CHECK_INT(pwrite(fd, "damage", 6, 5000), 6);
    close(fd);
    CHECK_INT(frame_merge(&caller), -EBADMSG);
    const char *text = sieve_disk_error(caller.sieve)->text;
    CHECK(strstr(text, "/run-01: damaged, the block at offset 4096 is not as written"));
    finish();
}
