#include "engine/crawl/unpacker.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/crawl/limits.h"

void unpacker_tell(struct unpacker *unpacker, uint64_t committed, uint64_t durable)
{
    lf_store(&unpacker->committed, committed, release); /* R3: files that it has not got are closed later */
    lf_store(&unpacker->durable, durable, release);     /* R1: what it tells of is in the files */
}

static bool is_closed(const char *name)
{
    static const char end[] = ".warc"; /* until it is closed, the name ends in ".open" */
    size_t len = strlen(name);
    return len > sizeof end - 1 && strcmp(name + len - (sizeof end - 1), end) == 0;
}

static void forget(struct unpacker *unpacker)
{
    while (unpacker->count)
        free(unpacker->names[--unpacker->count]);
}

static int note(struct unpacker *unpacker, const char *name)
{
    if (unpacker->count == unpacker->room) {
        unsigned room = unpacker->room ? 2 * unpacker->room : 64;
        char **names = realloc(unpacker->names, room * sizeof *names);
        if (!names)
            return -ENOMEM;
        unpacker->names = names;
        unpacker->room = room;
    }
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    unpacker->names[unpacker->count++] = copy;
    return 0;
}

/* Looks at the files that are closed; with `takes`, they are unpacked next. Tells the loops whether they are too many bytes.
 * 0 or a negative errno. */
static int look(struct unpacker *unpacker, bool takes)
{
    char path[UNPACKER_PATH_BYTES];
    uint64_t bytes = 0;
    int failed = 0;
    snprintf(path, sizeof path, "%s/incoming", unpacker->options.directory);
    DIR *folder = opendir(path);
    if (!folder)
        return -errno;
    for (const struct dirent *entry; !failed && (entry = readdir(folder));) {
        struct stat status;
        if (!is_closed(entry->d_name))
            continue;
        bytes += fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 ? (uint64_t)status.st_size : 0;
        failed = takes ? note(unpacker, entry->d_name) : 0;
    }
    closedir(folder);
    lf_store(&unpacker->is_behind, bytes > UNPACKER_BEHIND_BYTES, relaxed);
    return failed;
}

static bool is_last(const struct unpacker *unpacker)
{
    return lf_load(&unpacker->is_last, acquire); /* A2 pairs with R2 in unpacker_finish */
}

/* What was closed when `committed` was told last is in the commit after the next: one may have been made meanwhile. True if
 * that one cannot be undone any more. */
static bool wait_until_durable(struct unpacker *unpacker, uint64_t committed)
{
    while (!is_last(unpacker) &&
           lf_load(&unpacker->durable, acquire) < committed + 2) /* A1 pairs with R1 in unpacker_tell */
        poll(NULL, 0, UNPACKER_WAIT_MS);
    return !lf_load(&unpacker->is_over, relaxed);
}

static int unpack_all(struct unpacker *unpacker)
{
    int failed = 0;
    for (unsigned i = 0; i < unpacker->count && !failed && !lf_load(&unpacker->is_over, relaxed); i++) {
        failed = unpacker_unpack(&unpacker->options, unpacker->names[i]);
        failed = failed ? failed : look(unpacker, false);
    }
    return failed;
}

/* One round; *is_done: it was the last. */
static int turn(struct unpacker *unpacker, bool *is_done)
{
    *is_done = is_last(unpacker);
    uint64_t committed = lf_load(&unpacker->committed, acquire); /* A3 pairs with R3 in unpacker_tell */
    int failed = look(unpacker, true);
    if (!failed && unpacker->count && wait_until_durable(unpacker, committed))
        failed = unpack_all(unpacker);
    bool was_idle = unpacker->count == 0;
    forget(unpacker);
    if (!failed && was_idle && !*is_done)
        poll(NULL, 0, UNPACKER_WAIT_MS);
    return failed;
}

static void *run(void *argument)
{
    struct unpacker *unpacker = argument;
    bool is_done = false;
    int failed = unpacker_recover(&unpacker->options);
    while (!failed && !is_done)
        failed = turn(unpacker, &is_done);
    forget(unpacker);
    free(unpacker->names);
    lf_store(&unpacker->error, failed, relaxed); /* a fact that the housekeeper looks at */
    return NULL;
}

int unpacker_start(struct unpacker *unpacker, const struct unpacker_options *options)
{
    *unpacker = (struct unpacker){.options = *options};
    unpacker_tell(unpacker, options->epoch, options->epoch);
    int error = pthread_create(&unpacker->thread, NULL, run, unpacker);
    unpacker->is_running = error == 0;
    return -error;
}

void unpacker_finish(struct unpacker *unpacker, bool is_over)
{
    lf_store(&unpacker->is_over, is_over, relaxed);
    lf_store(&unpacker->is_last, true, release); /* R2: all files have their names */
}
