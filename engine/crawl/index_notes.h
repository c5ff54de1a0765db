/* Makes indexes of the notes that a loop's store takes (store/note.h): the index of a file is complete when the file is, before it
 * is closed. Belongs to the indexer's thread; the loop only ever fills the outlet.
 *
 * The notes of a file begin with its name and end with its length. If the end is missing, some notes found no room:
 * the others are dropped, and the file itself has to be read. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/archive/index.h"
#include "engine/disk/outlet.h"

/* A file whose index is ready: beside it, as NAME.cdxj.open. */
struct indexed_file {
    struct indexed_file *next;
    char name[FILES_NAME_BYTES];
    uint64_t bytes; /* of the file, once it is closed */
};

struct index_notes {
    struct outlet *outlet;
    struct index *index;         /* of the file whose notes come; NULL: none, or one that is not whole */
    char name[FILES_NAME_BYTES]; /* of that file */
};

struct index_notes_options {
    const char *directory;       /* of the files */
    const _Atomic(bool) *stop;   /* set by another thread: nothing more is made */
    struct archive_error *error; /* set: notes are taken and dropped */
};

/* Takes the notes that are there. Returns the file that has become complete, or NULL: there are no more notes. The caller
 * frees it. */
struct indexed_file *index_notes_take(struct index_notes *notes, const struct index_notes_options *options);
void index_notes_fini(struct index_notes *notes);

/* The paths of the index of the WARC file NAME, finished or not, in `path` of INDEX_NOTES_PATH_BYTES. */
enum { INDEX_NOTES_PATH_BYTES = 1400 };
void index_notes_path(char *path, const char *directory, const char *name, bool is_open);
/* The length of NAME in NAME.warc, NAME.warc.gz and NAME.warc.zst; 0: it is no WARC file, or one that is not closed, whose
 * name ends in ".open". */
size_t index_notes_stem(const char *name);
