/* The files that a crawl only ever appends to: WARC files, crawl.log. Each has a length up to which it is
 * committed; when a write fails, or after a crash, every file is cut back to that length, and then all
 * of them tell the same.
 *
 *     open -> append ... -> finish -> (synced, renamed, closed by a sync) -> forgotten at the next commit
 *
 * A file is NAME.open until it is closed, and then NAME; a shared one keeps its name all the time, and several
 * outlets append to it. Belongs to the housekeeper, but for the part of a sync that runs on a thread of its own
 * (syncer.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/disk/disk.h"

enum { FILES_NAME_BYTES = 192, FILES_PATH_BYTES = 1100 };

struct file {
    struct file *next;
    char name[FILES_NAME_BYTES]; /* below the directory, without ".open" */
    int fd;                      /* -1: closed */
    uint64_t length;
    uint64_t committed;
    bool is_shared;   /* keeps its name; several outlets append to it */
    bool is_listed;   /* a commit names it */
    bool is_changed;  /* since the last commit: opened, appended to or finished */
    bool is_unsynced; /* written to since its last sync */
    bool is_finished; /* nothing more will be appended */
};

struct files {
    const struct disk *disk;
    const char *directory;
    struct file *all;
    bool has_new_names; /* since the directories were synced last */
};

/* The directory's name outlives the files. */
void files_init(struct files *files, const struct disk *disk, const char *directory);
/* Closes what is open, as it is. */
void files_fini(struct files *files);

/* A new file; or, if it is shared and there already, that one. NULL: *error says why. */
struct file *files_open(struct files *files, const char *name, bool is_shared, int *error);
/* 0 or a negative errno. */
int files_append(struct files *files, struct file *file, struct slice bytes);
/* Nothing more comes. */
void files_finish(struct file *file);

/* All files are as they should be: their lengths are committed. */
void files_commit(struct files *files);
/* A write has failed: all files are cut back to what was committed, those that no commit names are removed unless
 * they are shared, and all are closed. 0, or the first error. */
int files_cut(struct files *files);

/* What recovery does with one file: it ends up with this length and its final name, whatever it is called at
 * this moment. -ENOENT: there is none; -EBADMSG: it is shorter. */
int files_restore(const struct disk *disk, const char *directory, const char *name, uint64_t length);

/* A file that was closed gets its final name. Any thread. */
int files_name(const struct files *files, const struct file *file);
