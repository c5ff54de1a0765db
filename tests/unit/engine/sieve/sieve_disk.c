/* What all kinds promise alike. */
#include "engine/sieve/sieve_disk.h"

#include <errno.h>

#include "tests/unit/engine/sieve/sieve_frame.h"

static struct frame frame;

static void check_all_batches(enum sieve_disk_kind kind)
{
    struct frame_caller caller = {.frame = &frame, .sieve = frame_open(&frame, kind)};
    CHECK_INT(sieve_disk_count(caller.sieve), 0);
    CHECK_INT(frame_ask_from(&caller, 1), 0);
    sieve_disk_close(caller.sieve);
}

TEST(answers_are_those_of_a_set)
{
    static const unsigned known[] = {0, 20, 80, 99};
    for (unsigned i = 0; i < 4; i++)
        FRAME_EACH_KIND(kind)
        {
            frame_begin(&frame, 1 + i);
            for (unsigned batch = 0; batch < 7; batch++)
                frame_add(&frame, 20000 + 1000 * batch, known[i], known[i] < 50 ? 10 : 1);
            frame_answer(&frame);
            check_all_batches(kind);
            frame_finish(&frame);
        }
}

TEST(batches_of_all_sizes)
{
    static const unsigned sizes[] = {0, 1, 0, 63, 64, 65, 511, 512, 0, 1022, 5000, 1, 70000, 0};
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 7);
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
            frame_add(&frame, sizes[i], 50, 20);
        frame_answer(&frame);
        check_all_batches(kind);
        frame_finish(&frame);
    }
}

TEST(one_signature_many_times_and_the_largest_and_smallest)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 9);
        for (unsigned i = 0; i < 4; i++) {
            frame_add(&frame, 30000, 0, 99);
            uint64_t *signatures = (uint64_t *)(uintptr_t)frame.batches[frame.count].signatures;
            signatures[100] = UINT64_MAX;
            signatures[200 - i] = 0;
            signatures[300 + i] = 0;
        }
        frame_answer(&frame);
        check_all_batches(kind);
        frame_finish(&frame);
    }
}

/* What an earlier process had, some of it twice. */
TEST(what_was_learnt_is_known)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 19);
        for (unsigned i = 0; i < 9; i++)
            frame_add(&frame, 6000, 30, 3);
        frame_answer(&frame);
        struct frame_caller caller = {.frame = &frame, .sieve = frame_open(&frame, kind)};
        for (unsigned number = 1; number <= 6; number++)
            CHECK_INT(sieve_disk_learn(caller.sieve, &frame.batches[number]), 0);
        CHECK_INT(sieve_disk_learn(caller.sieve, &frame.batches[2]), 0);
        for (unsigned number = 7; number <= frame.count; number++)
            CHECK_INT(frame_ask(&caller, number), 0);
        CHECK(sieve_disk_count(caller.sieve) >= frame.known[9]);
        sieve_disk_close(caller.sieve);
        frame_finish(&frame);
    }
}

static void add_batches(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        frame_add(&frame, 3000, 60, 5);
    frame_answer(&frame);
}

TEST(it_is_empty_whenever_it_is_opened)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 11);
        add_batches(3);
        for (unsigned round = 0; round < 2; round++)
            check_all_batches(kind);
        frame_finish(&frame);
    }
}

static void leave_file(const char *name, const char *text)
{
    FILE *file = fopen(frame_path(&frame, name), "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* A process that was killed has left files. */
TEST(files_that_are_there_are_removed)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 13);
        add_batches(3);
        leave_file("Z", "this is not a sieve");
        leave_file("Z.next", "");
        leave_file("run-01", "nor is this a run");
        leave_file("CURRENT", "nor is this a database");
        struct frame_caller caller = {.frame = &frame, .sieve = frame_open(&frame, kind)};
        CHECK(access(frame_path(&frame, "run-01"), F_OK) != 0);
        CHECK_INT(frame_ask_from(&caller, 1), 0);
        sieve_disk_close(caller.sieve);
        frame_finish(&frame);
    }
}

static int refuse_to_remove(void *owner, const char *path)
{
    (void)owner, (void)path;
    return -EROFS;
}

TEST(a_file_that_cannot_be_removed_is_told)
{
    FRAME_EACH_KIND(kind)
    {
        struct disk disk = disk_system;
        struct sieve_error error;
        disk.unlink = refuse_to_remove;
        frame_begin(&frame, 17);
        leave_file("run-01", "");
        struct sieve_disk_options options = {kind, &disk, frame.directory, 100, 3, 0};
        CHECK(sieve_disk_open(&options, &error) == NULL);
        CHECK_INT(error.code, -EROFS);
        CHECK(strstr(error.text, "/run-01: cannot remove: Read-only file system"));
        CHECK_INT(unlink(frame_path(&frame, "run-01")), 0);
        CHECK_INT(rmdir(frame.directory), 0);
        frame_finish(&frame);
    }
}

TEST(a_directory_that_cannot_be_made_is_told)
{
    FRAME_EACH_KIND(kind)
    {
        struct sieve_disk_options options = {kind, &disk_system, "/nowhere/at/all", 100, 3, 0};
        struct sieve_error error;
        CHECK(sieve_disk_open(&options, &error) == NULL);
        CHECK_INT(error.code, -ENOENT);
        CHECK_STR(error.text, "/nowhere/at/all: cannot make: No such file or directory");
    }
}

#ifndef HAVE_ROCKSDB
TEST(a_kind_that_was_not_built_is_told)
{
    struct sieve_disk_options options = {SIEVE_DISK_ROCKS, &disk_system, "/nowhere/at/all", 100, 3, 0};
    struct sieve_error error;
    CHECK(sieve_disk_open(&options, &error) == NULL);
    CHECK_INT(error.code, -ENOTSUP);
}
#endif
