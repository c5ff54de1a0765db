#include "engine/state/fold.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/state/journal_read.h"
#include "engine/state/limits.h"
#include "lockfree/clock.h"

enum { PATH_BYTES = FILES_PATH_BYTES + 32, NICENESS = 10 };

struct path {
    char text[PATH_BYTES];
};

static struct path path_of(const struct fold *fold, const char *name)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/%s", fold->options.directory, name);
    return path;
}

static struct path journal_path(const struct fold *fold, unsigned number)
{
    char name[32];
    journal_name(name, number);
    return path_of(fold, name);
}

void fold_init(struct fold *fold, const struct fold_options *options)
{
    *fold = (struct fold){.options = *options, .room = UINT64_MAX};
    if (!fold->options.pairs_max)
        fold->options.pairs_max = FOLD_PAIRS_MAX;
}

void fold_fini(struct fold *fold)
{
    int error;
    if (fold->is_busy)
        fold_stop(fold, &error);
}

static void remove_older(void *argument, const char *name)
{
    struct fold *fold = argument;
    const struct disk *disk = fold->options.disk;
    unsigned number = journal_number(name);
    if (number && number < fold->work.last && !fold->error && !lf_load(&fold->stops, relaxed))
        fold->error = disk->unlink(disk->owner, path_of(fold, name).text);
}

/* The base is written and synced. What cannot be removed is removed at a resume or by the next fold. */
static void take_over(struct fold *fold)
{
    const struct disk *disk = fold->options.disk;
    struct path from = path_of(fold, JOURNAL_FOLD_NAME), to = journal_path(fold, fold->work.last);
    fold->error = disk->rename(disk->owner, from.text, to.text);
    if (fold->error) {
        disk->unlink(disk->owner, from.text);
        return;
    }
    fold->error = disk->sync_directory(disk->owner, fold->options.directory);
    fold->is_fatal = fold->error != 0;
    if (fold->error)
        return;
    fold->folds++;
    int error = disk->list(disk->owner, fold->options.directory, remove_older, fold);
    fold->error = fold->error ? fold->error : error;
}

static void *work(void *argument)
{
    struct fold *fold = argument;
    if (fold->has_thread)
        setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
    struct fold_base_result result = fold_base_write(&fold->work);
    fold->error = result.error;
    fold->is_fatal = result.has_failed_sync;
    fold->records += result.records;
    if (!fold->error)
        take_over(fold);
    return NULL;
}

/* What there is from the first file on: 0, or a negative errno. `*base` is what the first of them has, if it is one. */
static int measure(const struct fold *fold, const struct journal_files *files, uint64_t *all, uint64_t *base)
{
    const struct disk *disk = fold->options.disk;
    *all = *base = 0;
    for (unsigned i = files->first; i <= fold->work.last; i++) {
        int64_t size = disk->size(disk->owner, journal_path(fold, i).text);
        if (size < 0)
            return (int)size;
        *all += (uint64_t)size;
        if (i == files->first && files->has_base)
            *base = (uint64_t)size;
    }
    return 0;
}

static void tell(struct fold *fold, int trouble)
{
    lf_store(&fold->trouble, trouble, relaxed); /* numbers that others look at */
    lf_store(&fold->trouble_stays, trouble && fold->has_given_up, relaxed);
    lf_store(&fold->folds_told, fold->folds, relaxed);
}

/* What is due could not be made. */
static void note_failure(struct fold *fold, int error)
{
    fold->has_given_up =
        error != -ENOSPC && error != -EDQUOT && error != -EFBIG && error != -ENOMEM && error != -EAGAIN;
    fold->is_wanted = true;
    fold->again_ns = fold->now_ns + FOLD_RETRY_NS;
    tell(fold, error == -ECANCELED ? 0 : error);
}

/* What cannot be done now is looked at again, also if no file is closed until then. */
static void look_later(struct fold *fold)
{
    fold->is_wanted = true;
    fold->again_ns = fold->now_ns + FOLD_LOOK_NS;
}

/* Beside the files there must be room for the base and for what is sorted. */
static bool is_due(struct fold *fold)
{
    struct journal_files files;
    uint64_t all, base;
    if (journal_find(&files, fold->options.disk, fold->options.directory) != 0 || files.first == 0 ||
        measure(fold, &files, &all, &base) != 0) {
        look_later(fold);
        return false;
    }
    fold->work.first = files.first;
    uint64_t fresh = all - base;
    bool is_worth_it = fresh >= fold->options.bytes_min && fresh >= base, has_room = fold->room / 2 >= all;
    fold->is_wanted = false;
    if (is_worth_it && !has_room)
        look_later(fold);
    tell(fold, fold->is_wanted ? -ENOSPC : 0);
    return is_worth_it && has_room;
}

void fold_begin(struct fold *fold, unsigned last, uint64_t epoch, uint64_t now_ns)
{
    const struct fold_options *options = &fold->options;
    if (!options->bytes_min || fold->has_given_up || now_ns < fold->again_ns ||
        (last == fold->looked && !fold->is_wanted))
        return;
    fold->looked = last;
    fold->now_ns = now_ns;
    fold->work = (struct fold_base_options){.disk = options->disk,
                                            .directory = options->directory,
                                            .scratch = options->scratch,
                                            .last = last,
                                            .epoch_max = epoch,
                                            .pairs_max = options->pairs_max,
                                            .stops = &fold->stops};
    if (!is_due(fold))
        return;
    fold->is_busy = true;
    fold->error = 0;
    fold->is_fatal = false;
    fold->has_thread = !options->is_inline;
    int error = fold->has_thread ? pthread_create(&fold->thread, NULL, work, fold) : 0;
    if (error) {
        fold->has_thread = fold->is_busy = false;
        note_failure(fold, -error);
    }
    if (options->is_inline)
        work(fold);
}

/* The thread's work is the housekeeper's again. */
static void take_back(struct fold *fold, int *error)
{
    fold->is_busy = fold->has_thread = false;
    if (fold->error)
        note_failure(fold, fold->error);
    else
        tell(fold, 0);
    *error = fold->is_fatal ? fold->error : 0;
}

bool fold_is_done(struct fold *fold, uint64_t now_ns, int *error)
{
    if (fold->has_thread && pthread_tryjoin_np(fold->thread, NULL) == EBUSY)
        return false;
    fold->now_ns = now_ns; /* a try that failed is repeated so long after its end */
    take_back(fold, error);
    return true;
}

void fold_stop(struct fold *fold, int *error)
{
    lf_store(&fold->stops, true, relaxed); /* nothing else is handed over with it */
    if (fold->has_thread)
        pthread_join(fold->thread, NULL);
    take_back(fold, error);
}
