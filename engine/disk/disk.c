#include "engine/disk/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lockfree/clock.h"

/* Linux 6.14; the headers of Debian 12 do not have it. */
#ifndef RWF_DONTCACHE
#define RWF_DONTCACHE 0x80
#endif

static int result_of(int returned)
{
    return returned < 0 ? -errno : returned;
}

static int system_open(void *owner, const char *path, int flags)
{
    (void)owner;
    return result_of(open(path, flags | O_CLOEXEC, 0644));
}

static int64_t system_write(void *owner, int fd, struct slice bytes)
{
    (void)owner;
    ssize_t written = write(fd, bytes.ptr, bytes.len);
    return written < 0 ? -errno : written;
}

/* The pages of the page cache that such a write takes are free again as soon as they are on the disk, and serve the next
 * write: they are warm, and on a virtual machine the host has memory behind them. Where the kernel (before 6.14) or the
 * file system does not know the flag, it is an ordinary write. */
static int64_t system_write_away(void *owner, int fd, struct slice bytes)
{
    struct iovec whole = {(void *)(uintptr_t)bytes.ptr, bytes.len};
    ssize_t written = pwritev2(fd, &whole, 1, -1, RWF_DONTCACHE);
    if (written < 0 && errno == EOPNOTSUPP)
        return system_write(owner, fd, bytes);
    return written < 0 ? -errno : written;
}

static int64_t system_write_at(void *owner, int fd, uint64_t offset, struct slice bytes)
{
    (void)owner;
    ssize_t written = pwrite(fd, bytes.ptr, bytes.len, (off_t)offset);
    return written < 0 ? -errno : written;
}

static int64_t system_read(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    (void)owner;
    ssize_t got = pread(fd, room.bytes, room.size, (off_t)offset);
    return got < 0 ? -errno : got;
}

static int system_sync(void *owner, int fd)
{
    (void)owner;
    return result_of(fdatasync(fd));
}

static int system_close(void *owner, int fd)
{
    (void)owner;
    return result_of(close(fd));
}

static int system_truncate(void *owner, const char *path, uint64_t length)
{
    (void)owner;
    return result_of(truncate(path, (off_t)length));
}

static int system_reserve(void *owner, int fd, uint64_t offset, uint64_t end)
{
    (void)owner;
    return result_of(fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)(end - offset)));
}

static int64_t system_size(void *owner, const char *path)
{
    struct stat status;
    (void)owner;
    return stat(path, &status) < 0 ? -errno : status.st_size;
}

static int system_rename(void *owner, const char *from, const char *to)
{
    (void)owner;
    return result_of(rename(from, to));
}

static int system_unlink(void *owner, const char *path)
{
    (void)owner;
    return result_of(unlink(path));
}

static int system_sync_directory(void *owner, const char *path)
{
    (void)owner;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = result_of(fsync(fd));
    close(fd);
    return error;
}

static int system_list(void *owner, const char *path, void (*each)(void *, const char *), void *argument)
{
    (void)owner;
    DIR *directory = opendir(path);
    if (!directory)
        return -errno;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.')
            each(argument, entry->d_name);
    closedir(directory);
    return 0;
}

const struct disk disk_system = {
    .open = system_open,
    .write = system_write,
    .write_away = system_write_away,
    .write_at = system_write_at,
    .read = system_read,
    .sync = system_sync,
    .close = system_close,
    .truncate = system_truncate,
    .reserve = system_reserve,
    .size = system_size,
    .rename = system_rename,
    .unlink = system_unlink,
    .sync_directory = system_sync_directory,
    .list = system_list,
};

typedef int64_t disk_write_call(void *owner, int fd, struct slice bytes);

static int write_all(const struct disk *disk, disk_write_call *call, int fd, struct slice bytes, size_t *written)
{
    *written = 0;
    while (*written < bytes.len) {
        int64_t now = call(disk->owner, fd, slice_skip(bytes, *written));
        if (now < 0 && now != -EINTR)
            return (int)now;
        *written += now > 0 ? (size_t)now : 0;
    }
    return 0;
}

int disk_write_all(const struct disk *disk, int fd, struct slice bytes, size_t *written)
{
    return write_all(disk, disk->write, fd, bytes, written);
}

int disk_write_all_away(const struct disk *disk, int fd, struct slice bytes, size_t *written)
{
    return write_all(disk, disk->write_away, fd, bytes, written);
}

int disk_write_all_at(const struct disk *disk, int fd, uint64_t offset, struct slice bytes)
{
    while (bytes.len) {
        int64_t now = disk->write_at(disk->owner, fd, offset, bytes);
        if (now < 0 && now != -EINTR)
            return (int)now;
        size_t written = now > 0 ? (size_t)now : 0;
        bytes = slice_skip(bytes, written);
        offset += written;
    }
    return 0;
}

int64_t disk_read_all(const struct disk *disk, int fd, uint64_t offset, struct disk_room room)
{
    size_t got = 0;
    while (got < room.size) {
        struct disk_room rest = {room.bytes + got, room.size - got};
        int64_t now = disk->read(disk->owner, fd, offset + got, rest);
        if (now < 0 && now != -EINTR)
            return now;
        if (now == 0)
            break;
        got += now > 0 ? (size_t)now : 0;
    }
    return (int64_t)got;
}

int disk_reserve(const struct disk *disk, int fd, uint64_t offset, uint64_t end)
{
    int error;
    do {
        error = disk->reserve(disk->owner, fd, offset, end);
    } while (error == -EINTR);
    return error;
}

int disk_lock(const char *path, uint64_t patience_ns)
{
    const uint64_t until_ns = clock_now_ns() + patience_ns;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int error = -errno;
        if (error != -EWOULDBLOCK || clock_now_ns() >= until_ns) {
            close(fd);
            return error;
        }
        poll(NULL, 0, 1);
    }
    return fd;
}

bool disk_is_locked(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return is_locked;
}
