/* Every call with which the engine writes, reads back or names a file that has to survive a crash. The calls stand in a
 * table, so that tests can put another disk underneath: one that fails at the n-th call, or that forgets
 * what was not synced.
 *
 * Results are a count or a descriptor, or a negative errno. Calls that the system interrupts are made again
 * here and nowhere else; a sync that fails is never made again, because the kernel may have dropped the data
 * by then. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"

/* Where what is read goes. */
struct disk_room {
    char *bytes;
    size_t size;
};

struct disk {
    void *owner;
    int (*open)(void *owner, const char *path, int flags);
    int64_t (*write)(void *owner, int fd, struct slice bytes); /* appends; may be short */
    /* The same for bytes that nobody will read soon: the page cache need not keep them once they are on the disk. */
    int64_t (*write_away)(void *owner, int fd, struct slice bytes);
    int64_t (*write_at)(void *owner, int fd, uint64_t offset, struct slice bytes); /* may be short */
    int64_t (*read)(void *owner, int fd, uint64_t offset,
                    struct disk_room room); /* 0: the end; may be short */
    int (*sync)(void *owner, int fd);
    int (*close)(void *owner, int fd);
    int (*truncate)(void *owner, const char *path, uint64_t length);
    /* Takes space on the disk for what will be written up to `end`; the file stays as long as it is. Truncating it gives
     * back what is behind its end. -EOPNOTSUPP: the file system cannot do it. */
    int (*reserve)(void *owner, int fd, uint64_t offset, uint64_t end);
    int64_t (*size)(void *owner, const char *path);
    int (*rename)(void *owner, const char *from, const char *to);
    int (*unlink)(void *owner, const char *path);
    int (*sync_directory)(void *owner, const char *path);
    /* Calls `each` with the name of every file in a directory. */
    int (*list)(void *owner, const char *path, void (*each)(void *argument, const char *name),
                void *argument);
};

/* The calls of the system. */
extern const struct disk disk_system;

/* Appends all of it. 0 or a negative errno; how much was written is told in either case. */
int disk_write_all(const struct disk *disk, int fd, struct slice bytes, size_t *written);
/* The same by `write_away`. */
int disk_write_all_away(const struct disk *disk, int fd, struct slice bytes, size_t *written);
/* Writes all of it from `offset` on, of a file that was not opened for appending. 0 or a negative errno. */
int disk_write_all_at(const struct disk *disk, int fd, uint64_t offset, struct slice bytes);
/* Fills `room` from `offset` on, unless the file ends before that. Bytes, or a negative errno. */
int64_t disk_read_all(const struct disk *disk, int fd, uint64_t offset, struct disk_room room);
/* As `reserve`, made again when it is interrupted. */
int disk_reserve(const struct disk *disk, int fd, uint64_t offset, uint64_t end);
/* The process holds `path` alone until its descriptor is closed: the descriptor, or -EWOULDBLOCK if another
 * process has it, and keeps it for so long. */
int disk_lock(const char *path, uint64_t patience_ns);
/* Whether a process holds it. Who looks is in the way of disk_lock for a moment, but not of others who look. */
bool disk_is_locked(const char *path);
