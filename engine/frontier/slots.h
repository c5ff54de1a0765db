/* Queues of hosts on disk, in a fixed amount of memory: a record on disk takes none.
 *
 * A scratch file is divided into slots of one size. The records of a queue are gathered in a buffer. A buffer
 * that is full is written to a slot, and a slot is read back whole when its records are needed:
 *
 *     push --> buffer --> slot --> slot --> ... --> slot --> load: a batch of the oldest records
 *             (memory)   newest                    oldest
 *
 *     slot:   next u32 | count u16 | used u16 | host u32 | { length u16 | bytes } ...
 *
 * The place of a slot is reserved when the slot before it is written. So its `next` is known when a slot is
 * written, and it is never changed afterwards. A slot is free again as soon as it was read: there is nothing
 * to collect. The file means nothing to another process: numbers are in the machine's byte order, the
 * file is emptied at the start, removed at the end, and never synced.
 *
 * Loops never touch the file. They hand buffers to the housekeeper, who writes them or reads into them.
 *
 * | call                      | by whom                                        | at the same time as        |
 * |---------------------------|------------------------------------------------|----------------------------|
 * | push, flush, load, accept | a loop, with its own part, that owns the queue | anything for other queues  |
 * | loaded, next, release     | the loop that asked for the batch              | anything                   |
 * | serve                     | the housekeeper                                | anything but init and fini |
 * | count, is_full            | anybody                                        | anything; a snapshot       |
 * | init, fini                | one thread                                     | nothing                    |
 *
 * Progress: loaded and next are wait-free. Push, flush, load, accept and release are lock-free: they take and
 * give back buffers and slots by a stack. No loop waits for the housekeeper: a call that finds no buffer
 * returns false, and the loop tries again in a later turn. If the housekeeper stands still, buffers run out,
 * and that is all. If a loop stands still, it keeps the buffers of its queues, and the others share the rest.
 *
 * Ownership:
 * - A queue belongs to one loop at a time. It may move to another loop, with its buffer, if the hand-over is
 *   ordered (release to acquire). If it moves between load and accept, the batch still goes to the loop that
 *   asked; that loop keeps it until it owns the queue again, or has the owner accept it. The queue stays
 *   at its address until the batch is accepted.
 * - A buffer that is being filled belongs to its queue. Push and flush hand it over to the housekeeper. All
 *   loops share these buffers: since queues move, a buffer may end up at any loop.
 * - A batch belongs to the loop that asked for it, from loaded to release. Its records are part of it.
 *
 * After the first error nothing is written or read any more, because a slot has been lost: serve returns the
 * error, and every batch that was on disk comes with the error and without records. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "lockfree/arena.h"
#include "lockfree/atomic.h"
#include "lockfree/backoff.h"
#include "lockfree/id_stack.h"
#include "lockfree/ring_spsc.h"
#include "net/slice.h"

enum {
    SLOTS_BYTES_SMALL = 4096,        /* a page of the page cache, which then is never read to be written */
    SLOTS_BYTES_LARGE = 16384,       /* for long records */
    SLOTS_RECORD_BYTES_SMALL = 2048, /* the longest for which small slots are used */
    SLOTS_RECORD_BYTES_MAX = SLOTS_BYTES_LARGE - 14, /* one fits, with head and length */
};

/* What waits for one host. All zero but for `host`: an empty queue. */
struct slots_queue {
    uint32_t host;           /* stands in its slots, to check them when they are read */
    uint32_t first;          /* the oldest slot on disk; 0: none */
    uint32_t reserved;       /* where the buffer will be written; 0: nothing is on disk */
    uint32_t on_disk;        /* records in slots, and those that are being loaded */
    uint32_t buffer;         /* the one that is being filled; 0: none */
    uint16_t used;           /* bytes in it, its head included */
    uint16_t in_buffer : 15; /* records in it */
    uint16_t is_loading : 1; /* from load to accept */
};

/* The memory of one slot. */
struct slots_buffer {
    char *bytes;
    struct slots_loop *loop;    /* whose it is, for loading; NULL: it is filled, and all loops share it */
    struct slots_queue *queue;  /* for which it is loaded */
    struct slots_buffer *below; /* in a list of a loop's */
    uint32_t host;              /* of this queue */
    uint32_t slot;              /* where it is written to or read from; 0: it did not go over the disk */
    uint32_t read_at;           /* where the next record begins */
    int error;                  /* of reading it: 0 or a negative errno */
};

/* A loop's part. */
struct slots_loop {
    struct slots *slots;
    struct backoff backoff;
    struct slots_buffer *idle;   /* for loading */
    struct slots_buffer *handed; /* unfinished ones that go from their queue straight to slots_loaded */
    struct ring_spsc writes;     /* to the housekeeper: buffers to write */
    struct ring_spsc reads;      /* to the housekeeper: buffers to read into */
    struct ring_spsc done;       /* back: those that were read */
};

struct slots {
    struct slots_loop *loops;
    unsigned loop_count;
    uint32_t buffer_count;
    uint32_t load_count; /* of each loop */
    uint32_t slots_max;
    uint32_t slot_bytes;
    struct arena arena;
    char *bytes;                  /* of all buffers, in their order */
    struct slots_buffer *buffers; /* those that are filled, index + 1 is their number; then each loop's */
    struct id_stack idle;         /* of these, the ones that no queue has */
    struct id_stack free;         /* slots that were used and are free */
    LF_ISOLATED _Atomic(uint32_t) begun;  /* slots beyond this number were never used */
    LF_ISOLATED _Atomic(uint32_t) in_use; /* slots that are written, being written, or reserved */

    /* the housekeeper's */
    LF_ISOLATED _Atomic(uint64_t) writes;
    _Atomic(uint64_t) reads;
    const struct disk *disk;
    const char *path;
    int fd;
    int error; /* the first one */
    struct backoff backoff;
    struct slots_buffer **batch; /* the reads of one pass */
};

struct slots_options {
    const struct disk *disk;
    const char *path; /* of the scratch file. Both outlive the slots */
    unsigned loops;
    uint32_t buffers;   /* to be filled, for all loops together: as many queues can be pushed to at a time */
    uint32_t loads;     /* batches that one loop can have, from load to release */
    uint32_t slots_max; /* of the file, below 2^32 - 1 */
    uint32_t record_bytes_max; /* at most SLOTS_RECORD_BYTES_MAX */
};

struct slots_counts {
    uint64_t in_use; /* slots that are written, being written, or reserved */
    uint64_t begun;  /* the size of the file, in slots */
    uint64_t reads, writes;
};

/* The memory that slots with these options take. Of it, 4 bytes per slot are touched only when the slot is
 * freed. */
size_t slots_memory_bytes(const struct slots_options *options);
/* 0 or a negative errno. A file that is there is emptied. */
int slots_init(struct slots *slots, const struct slots_options *options);
/* Removes the file. What is in the queues is gone. */
void slots_fini(struct slots *slots);

/* Puts a record of at most record_bytes_max behind all others. False: it was not put there, because no buffer
 * is free at this moment, or slots_is_full. */
bool slots_push(struct slots_loop *loop, struct slots_queue *queue, struct slice record);
/* Has an unfinished buffer written, so that another queue can use it. The rest of its slot is wasted. False:
 * slots_is_full, and nothing has changed. */
bool slots_flush(struct slots_loop *loop, struct slots_queue *queue);

/* Begins to load the oldest records: those of a slot; or, if nothing is on disk, those in the buffer, which
 * come at once. Not for an empty queue, nor for one that is loading. False: the loop has as many batches as
 * it can have. */
bool slots_load(struct slots_loop *loop, struct slots_queue *queue);
/* A batch that has come, or NULL. Its queue is not touched. */
struct slots_buffer *slots_loaded(struct slots_loop *loop);
/* By the owner of the batch's queue: the records have left the queue, which may be loaded from again. */
void slots_accept(struct slots_loop *loop, struct slots_buffer *batch);
/* The next record of the batch, oldest first. False: that was all. */
bool slots_next(struct slots_buffer *batch, struct slice *record);
/* Gives the batch back. It has been accepted. */
void slots_release(struct slots_loop *loop, struct slots_buffer *batch);

/* Records in the queue, those that are being loaded included. */
static inline uint32_t slots_waiting(const struct slots_queue *queue)
{
    return queue->on_disk + queue->in_buffer;
}

/* Writes and reads all that the loops have asked for. Returns the number of slots, or the first error that
 * ever happened, a negative errno. */
int slots_serve(struct slots *slots);

struct slots_counts slots_count(const struct slots *slots);
/* Fewer than two slots are free, which is what the first write of a queue takes: something has to be read
 * first. */
bool slots_is_full(const struct slots *slots);
