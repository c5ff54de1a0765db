/* Makes files durable on a thread of its own, one batch at a time: a sync takes from milliseconds to seconds,
 * and the housekeeper goes on meanwhile. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "engine/disk/files.h"

enum { SYNCER_DIRECTORIES = 3 };

struct syncer_item {
    struct file *file;
    int fd;
    bool is_unsynced;
    bool is_finished; /* is given its final name, and closed */
    bool is_closed;
};

struct syncer {
    struct files *files;
    bool is_inline; /* the work is done in syncer_begin itself; for tests */
    bool syncs;     /* false: files are closed and named, but nothing is synced */
    struct syncer_item *items;
    size_t count, room;
    const char *directories[SYNCER_DIRECTORIES]; /* those that get new names; the rest NULL */
    bool wants_directories;
    int journal; /* descriptor, synced last; -1: none */
    bool is_busy;
    bool has_thread;
    pthread_t thread;
    int error;     /* of the thread's work */
    bool has_lost; /* a sync or a close has failed: what was written before may be gone. Stays */
};

void syncer_init(struct syncer *syncer, struct files *files, bool syncs);
void syncer_fini(struct syncer *syncer);

/* Begins to sync all that was written before, and then the journal (-1: there is none). Not while it is busy. */
void syncer_begin(struct syncer *syncer, int journal);
/* Syncs the journal alone. */
void syncer_begin_journal(struct syncer *syncer, int journal);
/* True once the work is done; *error is 0 or a negative errno, and `has_lost` tells what it means. Only while it is busy. */
bool syncer_is_done(struct syncer *syncer, int *error);
/* The same, and waits for it. */
int syncer_finish(struct syncer *syncer);
