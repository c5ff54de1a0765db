/* Loaded before a program (LD_PRELOAD): its disk is slow, or fails.
 *
 *   DISK_BYTES_PER_S   so fast is a write to a file
 *   DISK_WAITS_FOR     path of a file: while it is there, writes wait
 *   DISK_FAILS_AFTER   bytes after which every write to a file fails with EIO
 *   DISK_FAILS_TIMES   so many do; the others succeed again
 *   DISK_STALL         while there is a file of this name, no write to a file comes to its end
 *
 * Only regular files beyond the three standard ones are meant. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_uint_least64_t written, failed;

static uint64_t setting(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

static bool is_failing(void)
{
    uint64_t times = setting("DISK_FAILS_TIMES");
    return !times || atomic_fetch_add(&failed, 1) < times;
}

static void wait_while_stalled(void)
{
    const char *path = getenv("DISK_STALL");
    while (path && access(path, F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static void wait_for_disk(size_t len)
{
    const char *path = getenv("DISK_WAITS_FOR");
    while (path && access(path, F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    uint64_t rate = setting("DISK_BYTES_PER_S");
    if (rate == 0)
        return;
    uint64_t ns = len * 1000000000ull / rate;
    nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)},
              NULL);
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    static ssize_t (*next)(int, const void *, size_t);
    struct stat status;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    if (fd <= STDERR_FILENO || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return next(fd, bytes, len);
    uint64_t limit = setting("DISK_FAILS_AFTER"), before = atomic_fetch_add(&written, len);
    if (limit && before >= limit && is_failing()) {
        errno = EIO;
        return -1;
    }
    if (limit && before < limit && before + len > limit)
        len = limit - before;
    wait_while_stalled();
    wait_for_disk(len);
    return next(fd, bytes, len);
}

/* Of the engine: one part, behind what was written last, with a flag that only tells what becomes of the page cache. */
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    (void)flags;
    if (count != 1 || offset != -1) {
        errno = ENOSYS;
        return -1;
    }
    return write(fd, parts[0].iov_base, parts[0].iov_len);
}
