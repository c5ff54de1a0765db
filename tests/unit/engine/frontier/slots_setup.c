#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/frontier/slots.h"
#include "tests/support/check.h"

static char directory[64], path[80];

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-slots-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/slots", directory);
}

static void finish(void)
{
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(rmdir(directory), 0);
}

TEST(the_sum_of_memory_is_right)
{
    static const struct slots_options all[] = {
        {.loops = 1, .buffers = 1, .loads = 1, .slots_max = 2, .record_bytes_max = 1},
        {.loops = 1, .buffers = 511, .loads = 3, .slots_max = 1, .record_bytes_max = 8192},
        {.loops = 3, .buffers = 100, .loads = 100, .slots_max = 12345, .record_bytes_max = 2048},
        {.loops = 64, .buffers = 5000, .loads = 65, .slots_max = 10000000, .record_bytes_max = 2049},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct slots slots;
        struct slots_options options = all[i];
        begin();
        options.disk = &disk_system;
        options.path = path;
        CHECK_INT(slots_init(&slots, &options), 0);
        size_t sum = slots_memory_bytes(&options);
        CHECK(slots.arena.used <= sum && sum <= slots.arena.used + 2048);
        CHECK_INT(slots.slot_bytes, options.record_bytes_max <= 2048 ? 4096 : 16384);
        slots_fini(&slots);
        finish();
    }
}

TEST(a_file_that_is_there_is_emptied)
{
    struct slots slots;
    begin();
    FILE *old = fopen(path, "we");
    CHECK(old && fputs("old", old) >= 0 && fclose(old) == 0);
    CHECK_INT(slots_init(&slots,
                         &(struct slots_options){
                             .disk = &disk_system, .path = path, .loops = 1, .buffers = 1, .loads = 1}),
              0);
    CHECK_INT(disk_system.size(NULL, path), 0);
    slots_fini(&slots);
    finish();
}

TEST(what_cannot_be_had_is_an_error)
{
    struct slots slots;
    struct slots_options options = {
        .disk = &disk_system, .path = "/nowhere/slots", .loops = 1, .buffers = 1, .loads = 1};
    CHECK_INT(slots_init(&slots, &options), -ENOENT);
    begin();
    options.path = path;
    options.loops = options.loads = 1 << 20; /* 4 PiB of buffers */
    CHECK_INT(slots_init(&slots, &options), -ENOMEM);
    finish();
}
