/* Linearizability of recorded histories: is there one order of the operations, true to who ended before whom
 * began, in which a sequential queue, ring or map gives the same answers? The search is Wing and Gong's, with
 * Lowe's memory of visited pairs (operations done, state), which makes 64 operations feasible.
 *
 * Which operations are ordered: in a run of the model with weak steps, those that happen before one another
 * (a store that nobody has been told of may rightly be overlooked); otherwise those whose intervals do not
 * overlap in time. Operations of one thread are always ordered, and those of a thread number from
 * MODEL_THREADS_MAX on (finish) by time. All must have ended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_MAX      64
#define HISTORY_KEYS_MAX 64
#define HISTORY_NONE     UINT64_MAX /* result of a pop or find that found nothing */

enum history_kind {
    HISTORY_PUSH,   /* arg: value 0-254; result 1, or 0 where there was no room */
    HISTORY_POP,    /* result: value or HISTORY_NONE */
    HISTORY_INSERT, /* arg: key; value; result 1 if the key was new */
    HISTORY_REMOVE, /* arg: key; result 1 if it was there */
    HISTORY_FIND    /* arg: key; result: its value or HISTORY_NONE */
};

struct history_op {
    enum history_kind kind;
    unsigned thread;
    bool is_void; /* not to be explained */
    uint64_t arg, value, result;
    uint64_t begin, end;   /* moments, from one counter */
    uint32_t time_end;     /* the model's clock of this thread at the end */
    uint32_t time_seen[8]; /* and of all threads at the beginning */
};

enum history_spec { HISTORY_FIFO, HISTORY_RING, HISTORY_MAP };

struct history {
    enum history_spec spec;
    unsigned capacity;      /* of a ring */
    bool by_happens_before; /* order by the model's clocks in place of time */
    uint64_t clock;
    unsigned count;
    struct history_op ops[HISTORY_MAX];
};

void history_init(struct history *h, enum history_spec spec);
/* Records the beginning and the end of an operation; may be called by many threads at once. */
struct history_op *history_begin(struct history *h, struct history_op op);
void history_end(struct history *h, struct history_op *op, uint64_t result);
/* The same for an operation whose answer promises nothing. */
void history_end_void(struct history *h, struct history_op *op);
bool history_is_linearizable(const struct history *h);
void history_print(const struct history *h);
/* For finish of a model's case: fails the run with MODEL_HISTORY. */
void history_verify(const struct history *h);
