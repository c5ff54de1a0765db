#include "engine/crawl/indexer.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/archive/index.h"
#include "engine/crawl/limits.h"

enum { NICE = 10 };

static bool ends_with(const char *name, const char *end)
{
    size_t len = strlen(name), end_len = strlen(end);
    return len > end_len && strcmp(name + len - end_len, end) == 0;
}

/* The length of NAME in NAME.warc, NAME.warc.gz and NAME.warc.zst; 0: it is no WARC file, or one that is not closed, whose
 * name ends in ".open". */
static size_t stem_len(const char *name)
{
    static const char *const ends[] = {".warc.gz", ".warc.zst", ".warc"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(name, ends[i]))
            return strlen(name) - strlen(ends[i]);
    return 0;
}

/* No-op if there is one already, or one could not be made before. */
static void index_one(struct indexer *indexer, const char *name)
{
    char warc[INDEXER_PATH_BYTES + 256], cdxj[INDEXER_PATH_BYTES + 264];
    struct index_options options = {.stop = &indexer->is_over};
    snprintf(warc, sizeof warc, "%s/%s", indexer->directory, name);
    snprintf(cdxj, sizeof cdxj, "%s/%.*s.cdxj", indexer->directory, (int)stem_len(name), name);
    if (access(cdxj, F_OK) != 0 && indexer->error.fault == ARCHIVE_OK)
        index_file(warc, cdxj, &options, &indexer->error);
}

/* Indexes what has no index yet. */
static void look(struct indexer *indexer)
{
    DIR *folder = opendir(indexer->directory);
    if (!folder)
        return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (stem_len(entry->d_name))
            index_one(indexer, entry->d_name);
    closedir(folder);
}

static void *run(void *argument)
{
    struct indexer *indexer = argument;
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* on Linux, of this thread alone */
    for (bool is_last = false; !is_last;) {
        for (unsigned i = 0; i < INDEXER_WAITS && !is_last; i++) {
            poll(NULL, 0, INDEXER_WAIT_MS);
            is_last = lf_load(&indexer->is_last, acquire); /* A1 pairs with R1 in indexer_finish */
        }
        look(indexer);
    }
    return NULL;
}

int indexer_start(struct indexer *indexer, const char *directory)
{
    *indexer = (struct indexer){0};
    snprintf(indexer->directory, sizeof indexer->directory, "%s", directory);
    int error = pthread_create(&indexer->thread, NULL, run, indexer);
    indexer->is_running = error == 0;
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
