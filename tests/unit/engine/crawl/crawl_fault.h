/* For tests of what a crawl does when its disk fails: a crawl on a disk that does so when the test says so. */
#pragma once

#include "tests/unit/engine/crawl/crawl_frame.h"

/* A disk that is full, or broken, from a moment on that the test chooses. */
static int fault;       /* negative errno of the next write; 0: none */
static int later_fault; /* of those after it; 0: the same */

static inline int64_t write_or_fail(void *owner, int fd, struct slice bytes)
{
    int error = fault;
    fault = later_fault ? later_fault : fault;
    return error ? error : disk_system.write(owner, fd, bytes);
}

static inline int64_t write_at_or_fail(void *owner, int fd, uint64_t offset, struct slice bytes)
{
    return fault ? fault : disk_system.write_at(owner, fd, offset, bytes);
}

/* A crawl whose seeds are queued and committed; no thread runs. */
static inline struct crawl *fault_open(struct trial *trial)
{
    static struct disk disk;
    struct crawl *crawl = trial_begin(trial);
    disk = disk_system;
    disk.write = disk.write_away = write_or_fail;
    disk.write_at = write_at_or_fail;
    fault = later_fault = 0;
    crawl->disk = &disk;
    trial_fill(trial);
    return crawl;
}
