/* What all kinds promise alike. */
#include "engine/sieve/sieve_disk.h"

#include <errno.h>

#include "tests/unit/engine/sieve/sieve_frame.h"

static struct frame frame;

static void check_all_batches(enum sieve_disk_kind kind)
{
    struct frame_caller caller = {.frame = &frame, .sieve = frame_open(&frame, kind)};
    CHECK_INT(sieve_disk_count(caller.sieve), 0);
    CHECK_INT(sieve_disk_version(caller.sieve), 0);
    CHECK_INT(frame_ask_from(&caller, 1), 0);
    sieve_disk_close(caller.sieve);
    frame_empty(&frame);
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

static void add_batches(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        frame_add(&frame, 3000, 60, 5);
    frame_answer(&frame);
}

TEST(it_goes_on_after_it_was_closed)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 11);
        add_batches(6);
        for (unsigned version = 1; version <= frame.count; version++) {
            struct frame_caller caller = {&frame, frame_open(&frame, kind), version - 1};
            CHECK_INT(sieve_disk_version(caller.sieve), version - 1);
            CHECK_INT(sieve_disk_count(caller.sieve), frame.known[version - 1]);
            CHECK(frame_ask(&caller, version) >= 0);
            CHECK_INT(frame_merge(&caller), 0);
            CHECK_INT(sieve_disk_version(caller.sieve), version);
            sieve_disk_close(caller.sieve);
        }
        frame_finish(&frame);
    }
}

TEST(the_last_batches_are_answered_again_as_the_first_time)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 13);
        add_batches(6);
        struct frame_caller caller = {&frame, frame_open(&frame, kind), 0};
        unsigned remembered = kind == SIEVE_DISK_OFFLINE ? 3 : 1;
        CHECK_INT(frame_ask_from(&caller, 1), 0);
        for (unsigned round = 0; round < 2; round++) {
            for (unsigned version = frame.count - remembered + 1; version <= frame.count; version++)
                CHECK_INT(frame_ask(&caller, version), SIEVE_DISK_NOW);
            CHECK_INT(sieve_disk_count(caller.sieve), frame.known[frame.count]);
            sieve_disk_close(caller.sieve);
            caller.sieve = frame_open(&frame, kind);
        }
        CHECK_INT(frame_ask(&caller, frame.count - remembered), -ESTALE);
        sieve_disk_close(caller.sieve);
        frame_finish(&frame);
    }
}

TEST(other_signatures_for_the_same_version_are_refused)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 17);
        add_batches(3);
        struct frame_caller caller = {&frame, frame_open(&frame, kind), 0};
        CHECK_INT(frame_ask_from(&caller, 1), 0);
        ((uint64_t *)(uintptr_t)frame.batches[3].signatures)[2999] ^= 1;
        CHECK_INT(frame_ask(&caller, 3), -EINVAL);
        CHECK(
            strstr(sieve_disk_error(caller.sieve)->text, "batch 3 is not the one that was answered before"));
        sieve_disk_close(caller.sieve);
        frame_finish(&frame);
    }
}

TEST(a_gap_is_refused)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 19);
        add_batches(3);
        struct frame_caller caller = {&frame, frame_open(&frame, kind), 0};
        CHECK(frame_ask(&caller, 1) >= 0);
        CHECK_INT(frame_ask(&caller, 3), -ESTALE);
        CHECK(strstr(sieve_disk_error(caller.sieve)->text, "the next batch is 2, not 3"));
        sieve_disk_close(caller.sieve);
        frame_finish(&frame);
    }
}

TEST(a_directory_that_is_not_there_is_told)
{
    FRAME_EACH_KIND(kind)
    {
        struct sieve_disk_options options = {kind, &disk_system, "/nowhere/at/all", 100, 3};
        struct sieve_error error;
        CHECK(sieve_disk_open(&options, &error) == NULL);
        CHECK(error.code < 0);
        CHECK(strstr(error.text, "/nowhere/at/all"));
    }
}

#ifndef HAVE_ROCKSDB
TEST(a_kind_that_was_not_built_is_told)
{
    struct sieve_disk_options options = {SIEVE_DISK_ROCKS, &disk_system, "/nowhere/at/all", 100, 3};
    struct sieve_error error;
    CHECK(sieve_disk_open(&options, &error) == NULL);
    CHECK_INT(error.code, -ENOTSUP);
}
#endif
