#include "engine/disk/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

/* A disk that is interrupted, then writes three bytes at a time, then fails. */
struct fussy {
    unsigned calls, fails_at;
    char bytes[64];
    size_t len;
};

static int64_t fussy_write(void *owner, int fd, struct slice bytes)
{
    struct fussy *fussy = owner;
    (void)fd;
    unsigned call = ++fussy->calls;
    if (call == fussy->fails_at)
        return -ENOSPC;
    if (call % 2)
        return -EINTR;
    size_t len = bytes.len < 3 ? bytes.len : 3;
    memcpy(fussy->bytes + fussy->len, bytes.ptr, len);
    fussy->len += len;
    return (int64_t)len;
}

static int64_t fussy_write_at(void *owner, int fd, uint64_t offset, struct slice bytes)
{
    struct fussy *fussy = owner;
    fussy->len = offset;
    return fussy_write(owner, fd, bytes);
}

static int64_t fussy_read(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    struct fussy *fussy = owner;
    (void)fd;
    if (++fussy->calls % 2)
        return -EINTR;
    size_t left = offset < fussy->len ? fussy->len - offset : 0;
    left = left < room.size ? left : room.size;
    left = left < 3 ? left : 3;
    memcpy(room.bytes, fussy->bytes + offset, left);
    return (int64_t)left;
}

TEST(writes_and_reads_are_completed)
{
    struct fussy fussy = {0};
    struct disk disk = {.owner = &fussy, .write = fussy_write, .read = fussy_read};
    size_t written;
    char back[32] = "";
    CHECK_INT(disk_write_all(&disk, 0, SLICE("eleven bytes"), &written), 0);
    CHECK_INT(written, 12);
    CHECK_INT(disk_read_all(&disk, 0, 3, (struct disk_room){back, sizeof back}), 9);
    CHECK_STR(back, "ven bytes");
    CHECK_INT(disk_read_all(&disk, 0, 12, (struct disk_room){back, sizeof back}), 0);
}

TEST(writes_to_a_place_are_completed)
{
    struct fussy fussy = {.bytes = "0123456789abcdef"};
    struct disk disk = {.owner = &fussy, .write_at = fussy_write_at};
    CHECK_INT(disk_write_all_at(&disk, 0, 4, SLICE("EIGHT...")), 0);
    CHECK_STR(fussy.bytes, "0123EIGHT...cdef");
    CHECK_INT(fussy.calls, 6);
    fussy.fails_at = 8;
    CHECK_INT(disk_write_all_at(&disk, 0, 0, SLICE("x")), -ENOSPC);
}

TEST(a_failed_write_tells_how_far_it_came)
{
    struct fussy fussy = {.fails_at = 5};
    struct disk disk = {.owner = &fussy, .write = fussy_write};
    size_t written;
    CHECK_INT(disk_write_all(&disk, 0, SLICE("eleven bytes"), &written), -ENOSPC);
    CHECK_INT(written, 6);
}

TEST(the_real_disk_writes_over_what_is_there)
{
    char path[] = "/tmp/lycosa-disk-XXXXXX", back[16] = "";
    size_t written;
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_INT(disk_write_all(&disk_system, fd, SLICE("eleven bytes"), &written), 0);
    CHECK_INT(disk_write_all_at(&disk_system, fd, 7, SLICE("B")), 0);
    CHECK_INT(disk_read_all(&disk_system, fd, 0, (struct disk_room){back, sizeof back}), 12);
    CHECK_STR(back, "eleven Bytes");
    close(fd);
    unlink(path);
}

/* On a file system that may know the flag, and on one in memory, which has no use for it. */
TEST(what_is_written_away_is_behind_what_was_there)
{
    char on_disk[] = "/tmp/lycosa-disk-XXXXXX", in_memory[] = "/dev/shm/lycosa-disk-XXXXXX";
    char *paths[] = {on_disk, in_memory};
    for (int i = 0; i < 2; i++) {
        char back[16] = "";
        size_t written;
        int fd = mkstemp(paths[i]);
        CHECK(fd >= 0);
        CHECK_INT(disk_write_all(&disk_system, fd, SLICE("eleven"), &written), 0);
        CHECK_INT(disk_write_all_away(&disk_system, fd, SLICE(" bytes"), &written), 0);
        CHECK_INT(written, 6);
        CHECK_INT(disk_read_all(&disk_system, fd, 0, (struct disk_room){back, sizeof back}), 12);
        CHECK_STR(back, "eleven bytes");
        close(fd);
        CHECK_INT(disk_write_all_away(&disk_system, fd, SLICE("x"), &written), -EBADF);
        unlink(paths[i]);
    }
}

static void count_names(void *argument, const char *name)
{
    (void)name;
    ++*(int *)argument;
}

TEST(the_system_does_what_it_says)
{
    const struct disk *disk = &disk_system;
    char directory[] = "/tmp/lycosa-disk-XXXXXX", one[64], two[64], back[8] = "";
    int names = 0;
    CHECK(mkdtemp(directory) != NULL);
    snprintf(one, sizeof one, "%s/one", directory);
    snprintf(two, sizeof two, "%s/two", directory);
    CHECK_INT(disk->size(NULL, one), -ENOENT);
    int fd = disk->open(NULL, one, O_RDWR | O_CREAT | O_EXCL);
    CHECK(fd >= 0);
    CHECK_INT(disk->write(NULL, fd, SLICE("abcdef")), 6);
    CHECK_INT(disk->sync(NULL, fd), 0);
    CHECK_INT(disk->read(NULL, fd, 2, (struct disk_room){back, 3}), 3);
    CHECK_STR(back, "cde");
    CHECK_INT(disk->write_at(NULL, fd, 3, SLICE("D")), 1);
    CHECK_INT(disk->read(NULL, fd, 2, (struct disk_room){back, 3}), 3);
    CHECK_STR(back, "cDe");
    CHECK_INT(disk->close(NULL, fd), 0);
    CHECK_INT(disk->close(NULL, fd), -EBADF);
    CHECK_INT(disk->truncate(NULL, one, 2), 0);
    CHECK_INT(disk->rename(NULL, one, two), 0);
    CHECK_INT(disk->size(NULL, two), 2);
    CHECK_INT(disk->sync_directory(NULL, directory), 0);
    CHECK_INT(disk->list(NULL, directory, count_names, &names), 0);
    CHECK_INT(names, 1);
    CHECK_INT(disk->unlink(NULL, two), 0);
    CHECK_INT(disk->unlink(NULL, two), -ENOENT);
    CHECK_INT(disk->list(NULL, two, count_names, &names), -ENOENT);
    CHECK_INT(rmdir(directory), 0);
}

static uint64_t blocks_of(int fd)
{
    struct stat status;
    CHECK_INT(fstat(fd, &status), 0);
    CHECK_INT(status.st_size, 3);
    return (uint64_t)status.st_blocks * 512;
}

TEST(space_is_reserved_and_given_back)
{
    const struct disk *disk = &disk_system;
    char path[] = "/tmp/lycosa-disk-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    CHECK_INT(disk->write(NULL, fd, SLICE("abc")), 3);
    int error = disk_reserve(disk, fd, 3, 1 << 20);
    CHECK(error == 0 || error == -EOPNOTSUPP);
    if (!error) {
        CHECK(blocks_of(fd) >= 1 << 20);
        CHECK_INT(disk->truncate(NULL, path, 3), 0);
        CHECK(blocks_of(fd) < 1 << 20);
    }
    CHECK_INT(disk->close(NULL, fd), 0);
    CHECK_INT(disk->unlink(NULL, path), 0);
}

TEST(a_lock_has_one_holder)
{
    char path[] = "/tmp/lycosa-lock-XXXXXX";
    close(mkstemp(path));
    CHECK(!disk_is_locked(path));
    int first = disk_lock(path, 0);
    CHECK(first >= 0);
    CHECK(disk_is_locked(path) && disk_is_locked(path));
    CHECK_INT(disk_lock(path, 0), -EWOULDBLOCK);
    CHECK_INT(disk_lock(path, 20 * CLOCK_NS_PER_MS), -EWOULDBLOCK);
    close(first);
    CHECK(!disk_is_locked(path));
    int second = disk_lock(path, 0);
    CHECK(second >= 0);
    close(second);
    unlink(path);
    CHECK(!disk_is_locked(path));
    CHECK(access(path, F_OK) != 0); /* who looks makes nothing */
}

static void *let_go(void *argument)
{
    int fd = *(int *)argument;
    poll(NULL, 0, 20); /* the other one has most likely found it taken by then */
    close(fd);
    return NULL;
}

/* Whoever looks whether it is taken has it for a moment. Several may look at once. */
TEST(a_look_at_a_lock_does_not_keep_it_from_anybody)
{
    char path[] = "/tmp/lycosa-lock-XXXXXX";
    pthread_t thread;
    close(mkstemp(path));
    int look = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(look >= 0 && flock(look, LOCK_SH | LOCK_NB) == 0);
    CHECK(!disk_is_locked(path));
    CHECK_INT(disk_lock(path, 0), -EWOULDBLOCK);
    CHECK_INT(pthread_create(&thread, NULL, let_go, &look), 0);
    int fd = disk_lock(path, 60 * CLOCK_NS_PER_S);
    CHECK(fd >= 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    close(fd);
    unlink(path);
}
