/* Loaded before a program (LD_PRELOAD): one of its calls for files goes wrong.
 *
 *   FAULT_BELOW   the directory whose files are meant
 *   FAULT_AT      the number of the call; the first is 1
 *   FAULT_KIND    EIO, ENOSPC, EINTR: the error, of those calls that can have it; SHORT: half is written, or read
 *   FAULT_TOLD    a file: "CALL PATH" when it has happened, and at the end "count KIND NUMBER": how many calls can have it */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SECTOR_BYTES = 512 };

/* Kinds of calls. */
enum { WRITES = 1, READS = 2, SYNCS = 4, NAMES = 8, RESERVES = 16 };

static const struct fault {
    const char *name;
    int error; /* 0: it is short */
    unsigned calls;
} faults[] = {
    {"EIO", EIO, WRITES | READS | SYNCS | NAMES | RESERVES},
    {"ENOSPC", ENOSPC, WRITES | RESERVES},
    {"EINTR", EINTR, WRITES | READS | RESERVES},
    {"SHORT", 0, WRITES | READS},
};

static const struct fault *fault;
static const char *below, *told;
static uint64_t wanted;
enum { KINDS = sizeof faults / sizeof faults[0] };

static atomic_uint_least64_t counts[KINDS]; /* of the calls that can have each */

__attribute__((constructor)) static void read_settings(void)
{
    const char *kind = getenv("FAULT_KIND"), *at = getenv("FAULT_AT");
    below = getenv("FAULT_BELOW");
    told = getenv("FAULT_TOLD");
    wanted = at ? strtoull(at, NULL, 10) : 0;
    for (size_t i = 0; kind && i < KINDS; i++)
        if (strcmp(kind, faults[i].name) == 0)
            fault = &faults[i];
}

static void tell(const char *what, const char *path)
{
    int error = errno, fd = told ? openat(AT_FDCWD, told, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
    if (fd < 0)
        return;
    dprintf(fd, "%s %s\n", what, path);
    close(fd);
    errno = error;
}

__attribute__((destructor)) static void tell_count(void)
{
    below = NULL;
    for (size_t i = 0; i < KINDS; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s %llu", faults[i].name, (unsigned long long)atomic_load(&counts[i]));
        tell("count", text);
    }
}

/* Whether this call is the one. */
static bool is_hit(unsigned calls, const char *name, const char *path)
{
    bool hit = false;
    if (!below || strncmp(path, below, strlen(below)) != 0)
        return false;
    for (size_t i = 0; i < KINDS; i++)
        if (faults[i].calls & calls)
            hit |= (atomic_fetch_add(&counts[i], 1) + 1 == wanted) & (&faults[i] == fault);
    if (!hit)
        return false;
    tell(name, path);
    errno = fault->error;
    return true;
}

static bool is_hit_fd(unsigned calls, const char *name, int fd)
{
    char link[32], path[PATH_MAX];
    if (!below)
        return false;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    path[len < 0 ? 0 : len] = '\0';
    return is_hit(calls, name, path);
}

#define NEXT(name) (next ? next : (*(void **)&next = dlsym(RTLD_NEXT, name), next))

/* How much of it is done: all, or half if the call is to be short; in whole sectors, as of files past the page cache. */
static size_t share_of(size_t len, bool is_hit)
{
    size_t half = len >= 2 * SECTOR_BYTES ? len / 2 / SECTOR_BYTES * SECTOR_BYTES : len / 2;
    return is_hit && half ? half : len;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    static ssize_t (*next)(int, const void *, size_t);
    bool hit = is_hit_fd(WRITES, "write", fd);
    return hit && fault->error ? -1 : NEXT("write")(fd, bytes, share_of(len, hit));
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset)
{
    static ssize_t (*next)(int, const void *, size_t, off_t);
    bool hit = is_hit_fd(WRITES, "pwrite", fd);
    return hit && fault->error ? -1 : NEXT("pwrite")(fd, bytes, share_of(len, hit), offset);
}

/* Of the engine: one part. */
ssize_t pwritev2(int fd, const struct iovec *parts, int parts_count, off_t offset, int flags)
{
    static ssize_t (*next)(int, const struct iovec *, int, off_t, int);
    bool hit = is_hit_fd(WRITES, "pwritev2", fd);
    struct iovec part = {parts[0].iov_base, share_of(parts[0].iov_len, hit)};
    return hit && fault->error ? -1 : NEXT("pwritev2")(fd, hit ? &part : parts, parts_count, offset, flags);
}

ssize_t pread(int fd, void *bytes, size_t len, off_t offset)
{
    static ssize_t (*next)(int, void *, size_t, off_t);
    bool hit = is_hit_fd(READS, "pread", fd);
    return hit && fault->error ? -1 : NEXT("pread")(fd, bytes, share_of(len, hit), offset);
}

int fdatasync(int fd)
{
    static int (*next)(int);
    return is_hit_fd(SYNCS, "fdatasync", fd) ? -1 : NEXT("fdatasync")(fd);
}

int fsync(int fd)
{
    static int (*next)(int);
    return is_hit_fd(SYNCS, "fsync", fd) ? -1 : NEXT("fsync")(fd);
}

int fallocate(int fd, int mode, off_t offset, off_t len)
{
    static int (*next)(int, int, off_t, off_t);
    return is_hit_fd(RESERVES, "fallocate", fd) ? -1 : NEXT("fallocate")(fd, mode, offset, len);
}

int open(const char *path, int flags, ...)
{
    static int (*next)(const char *, int, ...);
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    return !(flags & O_PATH) && is_hit(NAMES, "open", path) ? -1 : NEXT("open")(path, flags, mode);
}

int truncate(const char *path, off_t length)
{
    static int (*next)(const char *, off_t);
    return is_hit(NAMES, "truncate", path) ? -1 : NEXT("truncate")(path, length);
}

int rename(const char *from, const char *to)
{
    static int (*next)(const char *, const char *);
    return is_hit(NAMES, "rename", from) ? -1 : NEXT("rename")(from, to);
}

int unlink(const char *path)
{
    static int (*next)(const char *);
    return is_hit(NAMES, "unlink", path) ? -1 : NEXT("unlink")(path);
}
