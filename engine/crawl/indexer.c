#include "engine/crawl/indexer.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/archive/index.h"
#include "engine/crawl/limits.h"

enum { NICE = 10 };

/* A file that is read. */
struct reading {
    char warc[INDEXER_PATH_BYTES + 256], cdxj[INDEX_NOTES_PATH_BYTES];
    struct index_options options;
    struct archive_error error;
    _Atomic(bool) is_done;
};

static void *read_file(void *argument)
{
    struct reading *reading = argument;
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* on Linux, of this thread alone */
    index_file(reading->warc, reading->cdxj, &reading->options, &reading->error);
    lf_store(&reading->is_done, true, release); /* R2 */
    return NULL;
}

/* Takes what the loops have noted. */
static void take_notes(struct indexer *indexer)
{
    struct index_notes_options options = {
        .directory = indexer->directory, .stop = &indexer->is_over, .error = &indexer->error};
    for (unsigned i = 0; i < indexer->notes_count; i++)
        for (struct indexed_file *file; (file = index_notes_take(&indexer->notes[i], &options));) {
            file->next = indexer->ready;
            indexer->ready = file;
        }
}

/* The file is read by another thread, so that notes need not wait for it. */
static void index_by_reading(struct indexer *indexer, const char *name)
{
    struct reading reading = {.options.stop = &indexer->is_over};
    pthread_t thread;
    snprintf(reading.warc, sizeof reading.warc, "%s/%s", indexer->directory, name);
    index_notes_path(reading.cdxj, indexer->directory, name, false);
    int error = pthread_create(&thread, NULL, read_file, &reading);
    if (error) {
        archive_error_of_call(&indexer->error, error, "start a thread for", reading.warc);
        return;
    }
    while (!lf_load(&reading.is_done, acquire)) { /* A2 pairs with R2 in read_file */
        poll(NULL, 0, INDEXER_WAIT_MS);
        take_notes(indexer);
    }
    pthread_join(thread, NULL);
    if (indexer->error.fault == ARCHIVE_OK)
        indexer->error = reading.error;
}

/* Takes the file from those that are ready. NULL: it is not among them. */
static struct indexed_file *take_ready(struct indexer *indexer, const char *name)
{
    for (struct indexed_file **at = &indexer->ready; *at; at = &(*at)->next)
        if (strcmp((*at)->name, name) == 0) {
            struct indexed_file *file = *at;
            *at = file->next;
            return file;
        }
    return NULL;
}

/* The index that was made of notes gets its name. False: there is none, or the file is not what was noted. */
static bool name_index(struct indexer *indexer, const char *name)
{
    char warc[INDEXER_PATH_BYTES + 256], before[INDEX_NOTES_PATH_BYTES], after[INDEX_NOTES_PATH_BYTES];
    struct stat facts;
    struct indexed_file *file = take_ready(indexer, name);
    if (!file)
        return false;
    snprintf(warc, sizeof warc, "%s/%s", indexer->directory, name);
    index_notes_path(before, indexer->directory, name, true);
    index_notes_path(after, indexer->directory, name, false);
    bool is_right = stat(warc, &facts) == 0 && (uint64_t)facts.st_size == file->bytes;
    free(file);
    if (is_right && rename(before, after) == 0)
        return true;
    unlink(before);
    return false;
}

/* No-op if there is one already, or one could not be made before. Notes of a file are complete before it is closed, so they are
 * looked for after the closed file was seen. */
static void index_one(struct indexer *indexer, const char *name)
{
    char path[INDEX_NOTES_PATH_BYTES];
    index_notes_path(path, indexer->directory, name, false);
    if (access(path, F_OK) == 0)
        return;
    take_notes(indexer);
    if (indexer->error.fault == ARCHIVE_OK && !lf_load(&indexer->is_over, relaxed) &&
        !name_index(indexer, name))
        index_by_reading(indexer, name);
}

static bool is_unfinished(const char *name)
{
    static const char end[] = ".cdxj.open";
    size_t len = strlen(name);
    return len >= sizeof end && strcmp(name + len - (sizeof end - 1), end) == 0;
}

/* What a process that died has left. */
static void remove_unfinished(const struct indexer *indexer)
{
    char path[INDEX_NOTES_PATH_BYTES];
    DIR *folder = opendir(indexer->directory);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (is_unfinished(entry->d_name)) {
            snprintf(path, sizeof path, "%s/%s", indexer->directory, entry->d_name);
            unlink(path);
        }
    if (folder)
        closedir(folder);
}

/* Indexes what has no index yet. */
static void look(struct indexer *indexer)
{
    DIR *folder = opendir(indexer->directory);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (index_notes_stem(entry->d_name))
            index_one(indexer, entry->d_name);
    closedir(folder);
}

static void end(struct indexer *indexer)
{
    for (unsigned i = 0; i < indexer->notes_count; i++)
        index_notes_fini(&indexer->notes[i]);
    free(indexer->notes);
    while (indexer->ready) {
        struct indexed_file *file = indexer->ready;
        indexer->ready = file->next;
        free(file);
    }
    remove_unfinished(indexer);
}

static void *run(void *argument)
{
    struct indexer *indexer = argument;
    remove_unfinished(indexer);
    for (bool is_last = false; !is_last;) {
        for (unsigned i = 0; i < INDEXER_WAITS && !is_last; i++) {
            poll(NULL, 0, INDEXER_WAIT_MS);
            is_last = lf_load(&indexer->is_last, acquire); /* A1 pairs with R1 in indexer_finish */
            take_notes(indexer);
        }
        look(indexer);
    }
    end(indexer);
    return NULL;
}

int indexer_start(struct indexer *indexer, const struct indexer_options *options)
{
    *indexer = (struct indexer){.notes_count = options->notes_count};
    snprintf(indexer->directory, sizeof indexer->directory, "%s", options->directory);
    indexer->notes = calloc(options->notes_count + 1, sizeof *indexer->notes);
    if (!indexer->notes)
        return -ENOMEM;
    for (unsigned i = 0; i < options->notes_count; i++)
        indexer->notes[i].outlet = options->notes[i];
    int error = pthread_create(&indexer->thread, NULL, run, indexer);
    indexer->is_running = error == 0;
    if (error)
        free(indexer->notes);
    return -error;
}

void indexer_finish(struct indexer *indexer, bool is_over)
{
    lf_store(&indexer->is_over, is_over, relaxed);
    lf_store(&indexer->is_last, true, release); /* R1: all files have their names */
}

const char *indexer_error(const struct indexer *indexer)
{
    bool is_quiet = indexer->error.fault == ARCHIVE_OK || indexer->error.fault == ARCHIVE_STOPPED;
    return is_quiet ? NULL : indexer->error.text;
}
