/* A disk that dies at its n-th call that changes something: nothing works from then on. It is the system's, but for what
 * has not been made durable at that moment:
 *
 *     MORTAL_PROCESS   the process dies: everything that was done stays; of a write that is under way, one half
 *     MORTAL_CUT       the machine dies: files that were not synced since they were written to have lost their end
 *     MORTAL_NAMES     the machine dies: names that were given or removed since the directory was synced are lost
 *     MORTAL_BOTH      both
 *
 * Or, without dying, one call fails (`error`). Syncs are noted and not made, and O_DIRECT is left
 * out: what counts is the order of calls, and there are many of them. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "engine/disk/disk.h"
#include "tests/support/check.h"

enum mortal_death { MORTAL_PROCESS, MORTAL_CUT, MORTAL_NAMES, MORTAL_BOTH, MORTAL_DEATHS };

enum { MORTAL_FDS = 1024, MORTAL_PATHS = 32 };

struct mortal_path {
    char text[200];
};

struct mortal {
    unsigned calls, dies_at; /* 0: never */
    enum mortal_death death;
    int error; /* not 0: the call fails with it, and that is all */
    bool is_dead;
    struct mortal_path opened[MORTAL_FDS];     /* by descriptor */
    struct mortal_path unsynced[MORTAL_PATHS]; /* files; "": free */
    struct mortal_path removed[MORTAL_PATHS];  /* names; they are still there */
    struct mortal_path from, to;               /* a rename */
};

static inline void mortal_set(struct mortal_path *set, const char *path)
{
    unsigned i = 0;
    while (set[i].text[0] && strcmp(set[i].text, path) != 0)
        CHECK(++i < MORTAL_PATHS);
    snprintf(set[i].text, sizeof set[i].text, "%s", path);
}

static inline bool mortal_clear(struct mortal_path *set, const char *path)
{
    for (unsigned i = 0; i < MORTAL_PATHS; i++)
        if (strcmp(set[i].text, path) == 0) {
            for (; i + 1 < MORTAL_PATHS; i++)
                set[i] = set[i + 1];
            set[MORTAL_PATHS - 1].text[0] = '\0';
            return true;
        }
    return false;
}

static inline void mortal_remove_names(struct mortal *disk)
{
    for (unsigned i = 0; i < MORTAL_PATHS && disk->removed[i].text[0]; i++)
        unlink(disk->removed[i].text);
    memset(disk->removed, 0, sizeof disk->removed);
}

static inline void mortal_die(struct mortal *disk)
{
    struct stat status;
    disk->is_dead = true;
    if (disk->death == MORTAL_CUT || disk->death == MORTAL_BOTH)
        for (unsigned i = 0; i < MORTAL_PATHS && disk->unsynced[i].text[0]; i++)
            if (stat(disk->unsynced[i].text, &status) == 0)
                CHECK_INT(truncate(disk->unsynced[i].text, status.st_size * 2 / 3), 0);
    if (disk->death == MORTAL_PROCESS || disk->death == MORTAL_CUT)
        mortal_remove_names(disk);
    else if (disk->to.text[0])
        CHECK_INT(rename(disk->to.text, disk->from.text), 0);
}

/* 0, or what the call returns instead of being made. */
static inline int mortal_call(struct mortal *disk)
{
    if (disk->is_dead)
        return -EIO;
    if (++disk->calls != disk->dies_at)
        return 0;
    if (disk->error)
        return disk->error;
    mortal_die(disk);
    return -EIO;
}

static inline int mortal_open(void *owner, const char *path, int flags)
{
    struct mortal *disk = owner;
    int error = flags & O_CREAT ? mortal_call(disk) : disk->is_dead ? -EIO : 0;
    if (error)
        return error;
    if (flags & O_CREAT && mortal_clear(disk->removed, path))
        unlink(path);
    int fd = disk_system.open(NULL, path, flags & ~O_DIRECT);
    CHECK(fd < MORTAL_FDS);
    if (fd >= 0)
        snprintf(disk->opened[fd].text, sizeof disk->opened[fd].text, "%s", path);
    return fd;
}

static inline int64_t mortal_write(void *owner, int fd, struct slice bytes)
{
    struct mortal *disk = owner;
    bool is_under_way = !disk->is_dead && disk->calls + 1 == disk->dies_at && !disk->error;
    size_t half = bytes.len / 2 / 4096 * 4096;
    if (is_under_way && half)
        CHECK_INT(disk_system.write(NULL, fd, (struct slice){bytes.ptr, half}), half);
    if (!disk->is_dead)
        mortal_set(disk->unsynced, disk->opened[fd].text);
    int error = mortal_call(disk);
    return error ? error : disk_system.write(NULL, fd, bytes);
}

static inline int64_t mortal_read(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    struct mortal *disk = owner;
    return disk->is_dead ? -EIO : disk_system.read(NULL, fd, offset, room);
}

static inline int mortal_sync(void *owner, int fd)
{
    struct mortal *disk = owner;
    int error = mortal_call(disk);
    if (!error)
        mortal_clear(disk->unsynced, disk->opened[fd].text);
    return error;
}

static inline int mortal_close(void *owner, int fd)
{
    (void)owner;
    return disk_system.close(NULL, fd);
}

static inline int64_t mortal_size(void *owner, const char *path)
{
    struct mortal *disk = owner;
    return disk->is_dead ? -EIO : disk_system.size(NULL, path);
}

static inline int mortal_rename(void *owner, const char *from, const char *to)
{
    struct mortal *disk = owner;
    int error = mortal_call(disk);
    if (error)
        return error;
    CHECK(!disk->to.text[0]); /* or the directory was not synced since the last one */
    if (mortal_clear(disk->unsynced, from))
        mortal_set(disk->unsynced, to);
    snprintf(disk->from.text, sizeof disk->from.text, "%s", from);
    snprintf(disk->to.text, sizeof disk->to.text, "%s", to);
    return disk_system.rename(NULL, from, to);
}

static inline int mortal_unlink(void *owner, const char *path)
{
    struct mortal *disk = owner;
    int error = mortal_call(disk);
    if (!error && access(path, F_OK) == 0)
        mortal_set(disk->removed, path);
    return error;
}

static inline int mortal_sync_directory(void *owner, const char *path)
{
    struct mortal *disk = owner;
    (void)path;
    int error = mortal_call(disk);
    if (error)
        return error;
    mortal_remove_names(disk);
    disk->to.text[0] = '\0';
    return 0;
}

struct mortal_listing {
    struct mortal *disk;
    const char *directory;
    void (*each)(void *, const char *);
    void *argument;
};

static inline void mortal_name(void *argument, const char *name)
{
    struct mortal_listing *listing = argument;
    struct mortal_path path;
    snprintf(path.text, sizeof path.text, "%s/%s", listing->directory, name);
    for (unsigned i = 0; i < MORTAL_PATHS; i++)
        if (strcmp(listing->disk->removed[i].text, path.text) == 0)
            return;
    listing->each(listing->argument, name);
}

static inline int mortal_list(void *owner, const char *path, void (*each)(void *, const char *),
                              void *argument)
{
    struct mortal *disk = owner;
    struct mortal_listing listing = {disk, path, each, argument};
    return disk->is_dead ? -EIO : disk_system.list(NULL, path, mortal_name, &listing);
}

static inline struct disk mortal_disk(struct mortal *disk)
{
    return (struct disk){
        .owner = disk,
        .open = mortal_open,
        .write = mortal_write,
        .read = mortal_read,
        .sync = mortal_sync,
        .close = mortal_close,
        .size = mortal_size,
        .rename = mortal_rename,
        .unlink = mortal_unlink,
        .sync_directory = mortal_sync_directory,
        .list = mortal_list,
    };
}

/* An orderly end: what was removed is gone. */
static inline void mortal_end(struct mortal *disk)
{
    mortal_remove_names(disk);
}
