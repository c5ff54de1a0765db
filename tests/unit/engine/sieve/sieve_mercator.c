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
    for (unsigned version = 1; version <= frame.count; version++) {
        struct sieve_error error = {0};
        struct sieve_reader reader;
        uint64_t word, last = 0, count = 0;
        char name[32];
        CHECK_INT(frame_ask(&caller, version), SIEVE_DISK_NOW);
        snprintf(name, sizeof name, "Z-%06u", version);
        struct frame_names names = frame_list(&frame);
        CHECK_INT(names.count, 1);
        CHECK_STR(names.names[0], name);
        struct sieve_file file = {&disk_system, frame_path(&frame, name), buffer, &error};
        sieve_reader_begin(&reader, &file, 0, frame.known[version]);
        for (; sieve_reader_next(&reader, &word); last = word, count++)
            CHECK(count == 0 || word > last);
        sieve_reader_finish(&reader);
        CHECK_INT(count, frame.known[version]);
    }
    free(buffer);
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}

TEST(the_file_will_do_for_the_offline_kind_and_back)
{
    begin();
    for (unsigned version = 1; version <= frame.count; version++) {
        enum sieve_disk_kind kind = version % 2 ? SIEVE_DISK_MERCATOR : SIEVE_DISK_OFFLINE;
        struct frame_caller caller = {&frame, frame_open(&frame, kind), version - 1};
        if (version > 1)
            CHECK_INT(frame_ask(&caller, version - 1), SIEVE_DISK_NOW);
        CHECK(frame_ask(&caller, version) >= 0);
        CHECK_INT(frame_merge(&caller), 0);
        CHECK_INT(sieve_disk_count(caller.sieve), frame.known[version]);
        sieve_disk_close(caller.sieve);
    }
    frame_finish(&frame);
}
