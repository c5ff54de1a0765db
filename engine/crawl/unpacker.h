/* Makes a file of each page, for `store.kind = directory`, on a thread of its own.
 *
 * The loops write pages as WARC records to DIR/incoming, as they do for `store.kind = warc`: outlets, epochs, commits
 * and what a resume cuts off are the same. The unpacker takes a file from there when it is closed and no crash can cut it
 * any more, makes DIR/files/HOST/PATH of each response in it (store/page_path.h), adds a line for each to DIR/files.tsv, and
 * removes it. So DIR/files has no page that is not done.
 *
 *     files.mark   names the file at hand, and how long files.tsv was before it
 *     .part        becomes HOST/PATH when it is whole: a file is never there in part
 *
 * If the process dies, the file at hand is still there: the next process cuts files.tsv back to the mark and unpacks it once
 * more, over what was made of it. With state.sync all that was made of a file is synced before it is removed.
 *
 * | call                        | by whom         |
 * |-----------------------------|-----------------|
 * | start, finish               | the watch       |
 * | tell                        | the housekeeper |
 * | is_behind, error            | anybody         | */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lockfree/atomic.h"

struct unpacker_options {
    const char *directory;   /* of the crawl; outlives the unpacker */
    uint64_t body_bytes_max; /* of a body without its coding; the rest of it is cut off */
    uint64_t epoch;          /* the last one that was committed */
    bool syncs;
};

struct unpacker {
    struct unpacker_options options;
    pthread_t thread;
    bool is_running;
    char **names; /* of the files that are unpacked next: malloc'd, as each of them is */
    unsigned count, room;
    _Atomic(uint64_t) committed; /* the last epoch that was committed, */
    _Atomic(uint64_t) durable;   /* and the last one that no crash can undo */
    _Atomic(bool) is_last;       /* no more files come: unpack what is there, then end */
    _Atomic(bool) is_over;       /* unpack nothing more */
    _Atomic(bool) is_behind;     /* so much waits that loops begin no more files */
    _Atomic(int) error;          /* a negative errno: it has ended */
};

/* 0 or a negative errno. */
int unpacker_start(struct unpacker *unpacker, const struct unpacker_options *options);
/* Called after each turn in which at most one epoch was committed. */
void unpacker_tell(struct unpacker *unpacker, uint64_t committed, uint64_t durable);
/* All files are closed: the thread ends as soon as they are unpacked, or at once if `is_over`. The caller joins it. */
void unpacker_finish(struct unpacker *unpacker, bool is_over);

/* The thread's steps, for tests. What an earlier process left half done is undone. 0 or a negative errno. */
int unpacker_recover(const struct unpacker_options *options);
/* Unpacks DIR/incoming/NAME and removes it. 0 or a negative errno. */
int unpacker_unpack(const struct unpacker_options *options, const char *name);
