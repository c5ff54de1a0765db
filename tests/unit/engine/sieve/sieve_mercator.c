/* One file after another. */
#include <sys/stat.h>

#include "engine/sieve/sieve_file.h"
#include "tests/unit/engine/sieve/sieve_frame.h"

static struct frame frame;

static void begin(void)
{
    frame_begin(&frame, 71);
    for (unsigned i = 0; i < 6; i++)
        frame_add(&frame, 3000, 60, 5);
    frame_answer(&frame);
}

TEST(each_batch_leaves_one_file_with_all_signatures_in_order)
{
    begin();
    struct frame_caller caller = {.frame = &frame, .sieve = frame_open(&frame, SIEVE_DISK_MERCATOR)};
    struct sieve_block *buffer = aligned_alloc(SIEVE_FILE_BLOCK_BYTES, SIEVE_FILE_BUFFER_BYTES);
    for (unsigned number = 1; number <= frame.count; number++) {
        struct sieve_error error = {0};
        struct sieve_reader reader;
        uint64_t word, last = 0, count = 0;
        CHECK_INT(frame_ask(&caller, number), SIEVE_DISK_NOW);
        struct frame_names names = frame_list(&frame);
        CHECK_INT(names.count, 1);
        CHECK_STR(names.names[0], "Z");
        struct sieve_file file = {&disk_system, frame_path(&frame, "Z"), buffer, &error};
        sieve_reader_begin(&reader, &file, frame.known[number]);
        for (; sieve_reader_next(&reader, &word); last = word, count++)
            CHECK(count == 0 || word > last);
        sieve_reader_finish(&reader);
        CHECK_INT(count, frame.known[number]);
    }
    free(buffer);
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}
