/* What goes to which file, and when; and answers when the filter is of no use. */
#include <sys/stat.h>

#include "engine/sieve/sieve_file.h"
#include "tests/unit/engine/sieve/sieve_frame.h"

static struct frame frame;
static struct frame_caller caller;

static void begin(enum sieve_disk_kind kind, size_t count)
{
    frame_begin(&frame, 71);
    for (unsigned i = 0; i < 9; i++)
        frame_add(&frame, count, 30, 2);
    frame_answer(&frame);
    caller = (struct frame_caller){.frame = &frame, .sieve = frame_open(&frame, kind)};
}

static void finish(void)
{
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}

static unsigned files(void)
{
    return frame_list(&frame).count;
}

static bool has_file(const char *name)
{
    return access(frame_path(&frame, name), F_OK) == 0;
}

TEST(what_fits_memory_needs_no_file)
{
    for (int kind = SIEVE_DISK_MERCATOR; kind <= SIEVE_DISK_OFFLINE; kind++) {
        begin((enum sieve_disk_kind)kind, 3000);
        sieve_disk_close(caller.sieve);
        struct sieve_disk_options options = frame_options(&frame, (enum sieve_disk_kind)kind);
        struct sieve_error error;
        options.bytes = 8 << 20;
        caller.sieve = sieve_disk_open(&options, &error);
        CHECK_INT(frame_ask_from(&caller, 1), 0);
        CHECK_INT(files(), 0);
        finish();
    }
}

/* With memory for one batch, each sends the one before it to disk. */
TEST(mercator_has_one_file)
{
    begin(SIEVE_DISK_MERCATOR, 3000);
    CHECK_INT(frame_ask(&caller, 1), 0);
    CHECK_INT(files(), 0);
    for (unsigned number = 2; number <= frame.count; number++) {
        CHECK_INT(frame_ask(&caller, number), 0);
        CHECK_INT(files(), 1);
        CHECK_INT(disk_system.size(NULL, frame_path(&frame, "Z")),
                  sieve_file_blocks(frame.known[number - 1]) * SIEVE_FILE_BLOCK_BYTES);
    }
    finish();
}

/* Three runs, then all are merged. */
TEST(offline_has_runs)
{
    begin(SIEVE_DISK_OFFLINE, 3000);
    for (unsigned number = 1; number <= frame.count; number++) {
        unsigned flushes = number - 1, runs = flushes % 4;
        CHECK_INT(frame_ask(&caller, number), 0);
        CHECK_INT(has_file("Z"), flushes >= 4);
        CHECK_INT(has_file("run-01"), runs >= 1);
        CHECK_INT(has_file("run-02"), runs >= 2);
        CHECK_INT(has_file("run-03"), runs >= 3);
        CHECK_INT(files(), runs + (flushes >= 4));
    }
    finish();
}

/* While it learns there are runs, and Z of nine parts; the first question that needs room merges all. */
TEST(mercator_has_runs_while_it_learns)
{
    begin(SIEVE_DISK_MERCATOR, 3000);
    for (unsigned number = 1; number <= frame.count - 2; number++) {
        CHECK_INT(sieve_disk_learn(caller.sieve, &frame.batches[number]), 0);
        CHECK_INT(files(), number - 1);
        CHECK(!has_file("Z"));
    }
    CHECK_INT(frame_ask(&caller, frame.count - 1), 0);
    CHECK_INT(files(), 1);
    CHECK(has_file("Z"));
    CHECK_INT(sieve_disk_count(caller.sieve), frame.known[frame.count - 1]);
    CHECK_INT(frame_ask(&caller, frame.count), 0);
    finish();
}

/* The least filter has half a bit for each of these signatures: everything has to be looked up. */
TEST(answers_are_right_without_help_of_the_filter)
{
    for (int kind = SIEVE_DISK_MERCATOR; kind <= SIEVE_DISK_OFFLINE; kind++) {
        begin((enum sieve_disk_kind)kind, 160000);
        CHECK_INT(frame_ask_from(&caller, 1), 0);
        finish();
    }
}
