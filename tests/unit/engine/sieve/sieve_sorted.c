/* Z and its succession: calls that fail, damage. */
#include "engine/sieve/sieve_sorted.h"

#include <errno.h>
#include <fcntl.h>

#include "tests/unit/engine/sieve/sieve_frame.h"

static struct frame frame;
static const enum sieve_disk_kind kinds[] = {SIEVE_DISK_MERCATOR, SIEVE_DISK_OFFLINE};

/* The system's disk, but its n-th call fails: there is no room. */
struct full_disk {
    struct disk disk;
    unsigned calls, fails_at; /* 0: never */
};

static int count_call(void *owner)
{
    struct full_disk *full = owner;
    return ++full->calls == full->fails_at ? -ENOSPC : 0;
}

static int open_counted(void *owner, const char *path, int flags)
{
    int error = count_call(owner);
    return error ? error : disk_system.open(NULL, path, flags);
}

static int64_t write_counted(void *owner, int fd, struct slice bytes)
{
    int error = count_call(owner);
    return error ? error : disk_system.write(NULL, fd, bytes);
}

static int64_t read_counted(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    int error = count_call(owner);
    return error ? error : disk_system.read(NULL, fd, offset, room);
}

static int rename_counted(void *owner, const char *from, const char *to)
{
    int error = count_call(owner);
    return error ? error : disk_system.rename(NULL, from, to);
}

static int unlink_counted(void *owner, const char *path)
{
    int error = count_call(owner);
    return error ? error : disk_system.unlink(NULL, path);
}

static void init_full(struct full_disk *full, unsigned fails_at)
{
    *full = (struct full_disk){.disk = disk_system, .fails_at = fails_at};
    full->disk.owner = full;
    full->disk.open = open_counted;
    full->disk.write = write_counted;
    full->disk.read = read_counted;
    full->disk.rename = rename_counted;
    full->disk.unlink = unlink_counted;
}

static struct frame_caller open_on(const struct disk *disk, enum sieve_disk_kind kind)
{
    struct sieve_disk_options options = frame_options(&frame, kind);
    struct sieve_error error;
    options.disk = disk;
    struct frame_caller caller = {.frame = &frame, .sieve = sieve_disk_open(&options, &error)};
    CHECK_STR(caller.sieve ? "" : error.text, "");
    return caller;
}

static void begin(uint64_t seed)
{
    frame_begin(&frame, seed);
    for (unsigned i = 0; i < 7; i++)
        frame_add(&frame, i == 2 ? 0 : 700, 40, 10);
    frame_answer(&frame);
}

/* False: no call was left to fail, and all batches were answered. */
static bool check_failure(enum sieve_disk_kind kind, unsigned n)
{
    struct full_disk full;
    init_full(&full, n);
    struct frame_caller caller = open_on(&full.disk, kind);
    int result = frame_ask_from(&caller, 1);
    bool has_failed = full.calls >= n;
    CHECK_INT(result, has_failed ? -ENOSPC : 0);
    if (has_failed) {
        CHECK(strstr(sieve_disk_error(caller.sieve)->text, "No space left on device"));
        CHECK(strstr(sieve_disk_error(caller.sieve)->text, frame.directory));
    }
    full.fails_at = 0;
    sieve_disk_close(caller.sieve);
    return has_failed;
}

TEST(a_call_that_fails_is_told)
{
    begin(37);
    for (unsigned kind = 0; kind < 2; kind++) {
        unsigned n = 1;
        while (check_failure(kinds[kind], n))
            n++;
        CHECK(n > 20);
    }
    frame_finish(&frame);
}

TEST(a_full_disk_gets_its_room_back)
{
    struct full_disk full;
    begin(41);
    init_full(&full, 2);
    struct frame_caller caller = open_on(&full.disk, SIEVE_DISK_MERCATOR);
    CHECK_INT(frame_ask(&caller, 1), -ENOSPC);
    CHECK(strstr(sieve_disk_error(caller.sieve)->text, "/Z.next: cannot write"));
    CHECK_INT(frame_list(&frame).count, 0);
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}

/* A sieve that has answered batches 1 to 6. */
static struct frame_caller make(enum sieve_disk_kind kind)
{
    struct frame_caller caller = open_on(&disk_system, kind);
    for (unsigned number = 1; number <= 6; number++) {
        CHECK(frame_ask(&caller, number) >= 0);
        if (number % 3 == 0)
            CHECK_INT(frame_merge(&caller), 0);
    }
    return caller;
}

static void flip(const char *path, off_t at)
{
    char byte;
    int fd = open(path, O_RDWR);
    CHECK_INT(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    CHECK_INT(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* The next batch meets the damage; the error says where it is. */
static void check_refused(struct frame_caller *caller, const char *path, off_t offset)
{
    char place[64];
    snprintf(place, sizeof place, "offset %lld", (long long)offset);
    CHECK_INT(frame_ask_from(caller, 7), -EBADMSG);
    const struct sieve_error *error = sieve_disk_error(caller->sieve);
    CHECK(strncmp(error->text, path, strlen(path)) == 0);
    CHECK(strstr(error->text, place));
    sieve_disk_close(caller->sieve);
}

TEST(damage_is_refused_with_file_and_offset)
{
    begin(43);
    off_t blocks = (off_t)sieve_file_blocks(frame.known[6]);
    CHECK(blocks > 3);
    for (unsigned kind = 0; kind < 2; kind++)
        for (off_t block = 0; block < blocks; block++) {
            struct frame_caller caller = make(kinds[kind]);
            const char *path = frame_path(&frame, "Z");
            CHECK_INT(disk_system.size(NULL, path), blocks * SIEVE_FILE_BLOCK_BYTES);
            flip(path, block * SIEVE_FILE_BLOCK_BYTES + 9);
            check_refused(&caller, path, block * SIEVE_FILE_BLOCK_BYTES);
        }
    frame_finish(&frame);
}

TEST(a_file_that_was_cut_short_is_refused)
{
    begin(47);
    off_t blocks = (off_t)sieve_file_blocks(frame.known[6]);
    for (off_t block = 0; block < blocks; block++) {
        struct frame_caller caller = make(SIEVE_DISK_MERCATOR);
        const char *path = frame_path(&frame, "Z");
        CHECK_INT(truncate(path, block * SIEVE_FILE_BLOCK_BYTES), 0);
        check_refused(&caller, path, block * SIEVE_FILE_BLOCK_BYTES);
    }
    frame_finish(&frame);
}
