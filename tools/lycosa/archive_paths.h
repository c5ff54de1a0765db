/* The files of an archive that a command line names: WARC files, their indexes, folders of both. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct archive_paths {
    char **warcs, **indexes;
    size_t warc_count, index_count;
    size_t open_count; /* files that a crawl still writes, left out of folders */
};

/* Adds a file; or, of a folder, all WARC files and indexes in it and in the folder "warc" below it, by name. False: it
 * cannot be read; a message has been written. */
bool archive_paths_add(struct archive_paths *paths, const char *command, const char *path);
void archive_paths_fini(struct archive_paths *paths);

/* By its name: NAME.cdxj. */
bool archive_paths_is_index(const char *path);
/* The index that belongs to a WARC file: NAME.warc.gz has NAME.cdxj. Returns `buffer`. */
const char *archive_paths_index_of(const char *warc, char *buffer, size_t size);
