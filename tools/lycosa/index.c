/* lycosa index: makes indexes (CDXJ) of WARC files, by which a page can be found; merges indexes. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/archive/index.h"
#include "engine/tuning/tuning_value.h"
#include "tools/lycosa/archive_paths.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/progress.h"

enum { PATH_BYTES = 1200 };

struct job {
    struct index_options options;
    const char *output; /* NULL: an index beside each file */
    struct archive_paths paths;
    struct progress progress;
    uint64_t records, indexed, too_long, skipped;
};

static _Atomic(bool) stop;

static void on_signal(int number)
{
    (void)number;
    lf_store(&stop, true, relaxed);
}

enum { OPTION_FORCE = COMMAND_LONG, OPTION_MEMORY };

static const struct command_option known[] = {
    {'o', "output", "FILE", "one index of all that is named"},
    {OPTION_FORCE, "force", NULL, "overwrite indexes that are there"},
    {OPTION_MEMORY, "memory", "SIZE",
     "for sorting, 64MiB unless said otherwise; what does not fit goes to $TMPDIR, or else beside the index"},
    {0},
};

const struct command lycosa_index = {
    .program = "lycosa",
    .name = "index",
    .run = lycosa_index_main,
    .synopsis = "[-o OUT.cdxj] [--force] [--memory SIZE] WARC|CDXJ|DIR...",
    .summary = "an index (CDXJ) of WARC files",
    .description = "Makes a sorted index (CDXJ) of WARC files, which pywb, wabac.js and `lycosa archive get` read.\n\n"
                   "Without -o: NAME.cdxj beside each NAME.warc, NAME.warc.gz and NAME.warc.zst; in a DIR, files that "
                   "have one already are passed over. With -o: one index of all files, into which CDXJ files are "
                   "merged. DIR is a crawl's directory or any folder with WARC files.",
    .options = known,
};

static int exit_code(const struct archive_error *error)
{
    if (error->fault == ARCHIVE_STOPPED)
        return LYCOSA_EXIT_STOPPED;
    return error->fault == ARCHIVE_SYSTEM && error->code == ENOSPC ? LYCOSA_EXIT_DISK_FULL
                                                                   : LYCOSA_EXIT_FAILED;
}

static int fail(struct job *job, const struct archive_error *error)
{
    progress_clear(&job->progress);
    fprintf(stderr, "lycosa index: %s\n", error->text);
    return exit_code(error);
}

static uint64_t size_of(char **paths, size_t count)
{
    struct stat status;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += stat(paths[i], &status) == 0 ? (uint64_t)status.st_size : 0;
    return bytes;
}

static void add_counts(struct job *job, const struct index_counts *counts)
{
    job->records += counts->records;
    job->indexed += counts->indexed;
    job->too_long += counts->too_long;
    job->progress.bytes_before += counts->bytes;
}

/* The folder in which `path` is. */
static const char *folder_of(const char *path, char *buffer)
{
    const char *slash = strrchr(path, '/');
    snprintf(buffer, PATH_BYTES, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return buffer;
}

/* One index of `warc_count` WARC files and of `index_count` indexes. */
static bool make_index(struct job *job, const struct archive_paths *paths, const char *output,
                       struct archive_error *error)
{
    char folder[PATH_BYTES];
    const char *temporary = getenv("TMPDIR");
    struct index_options options = job->options;
    options.directory = temporary && temporary[0] ? temporary : folder_of(output, folder);
    struct index *index = index_create(&options, error);
    if (!index)
        return false;
    bool good = true;
    for (size_t i = 0; good && i < paths->warc_count; i++)
        good = index_add_warc(index, paths->warcs[i]);
    for (size_t i = 0; good && i < paths->index_count; i++)
        good = index_add_cdxj(index, paths->indexes[i]);
    good = good && index_write(index, output);
    if (good)
        add_counts(job, index_counts(index));
    index_destroy(index);
    return good;
}

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

/* An index beside each file. What fails does not keep the others from being indexed. */
static int make_each(struct job *job, const bool *is_of_folder)
{
    int code = LYCOSA_EXIT_DONE;
    for (size_t i = 0; i < job->paths.warc_count && code != LYCOSA_EXIT_STOPPED; i++) {
        char output[PATH_BYTES];
        struct archive_error error = {0};
        struct archive_paths one = {.warcs = &job->paths.warcs[i], .warc_count = 1};
        archive_paths_index_of(one.warcs[0], output, sizeof output);
        if (is_of_folder[i] && !job->options.is_forced && is_there(output))
            job->skipped++;
        else if (!make_index(job, &one, output, &error))
            code = fail(job, &error);
    }
    return code;
}

static void print_result(const struct job *job)
{
    progress_clear(&job->progress);
    printf("%" PRIu64 " records, %" PRIu64 " lines", job->records, job->indexed);
    if (job->skipped)
        printf("; %" PRIu64 " files have an index already", job->skipped);
    if (job->too_long)
        printf("; %" PRIu64 " URLs are too long", job->too_long);
    if (job->paths.open_count)
        printf("; %zu files are still open and left out", job->paths.open_count);
    printf("\n");
}

/* With -o, the indexes in a folder would come twice: the WARC files are read, and their indexes are not. */
static bool read_paths(struct job *job, int count, char **paths, bool **is_of_folder)
{
    for (int i = 0; i < count; i++) {
        size_t warcs = job->paths.warc_count, indexes = job->paths.index_count;
        struct stat status;
        bool is_folder = stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode);
        if (!archive_paths_add(&job->paths, "lycosa index", paths[i]))
            return false;
        if (is_folder && job->paths.warc_count > warcs)
            while (job->paths.index_count > indexes)
                free(job->paths.indexes[--job->paths.index_count]);
        bool *longer = realloc(*is_of_folder, job->paths.warc_count + 1);
        if (!longer)
            return false;
        *is_of_folder = longer;
        for (size_t j = warcs; j < job->paths.warc_count; j++)
            longer[j] = is_folder;
        if (is_folder && job->paths.warc_count == warcs && job->paths.index_count == indexes) {
            fprintf(stderr, "lycosa index: %s: no WARC files and no indexes are in it\n", paths[i]);
            return false;
        }
    }
    return true;
}

static int run(struct job *job, int count, char **paths)
{
    bool *is_of_folder = NULL;
    struct archive_error error = {0};
    int code = LYCOSA_EXIT_FAILED;
    if (read_paths(job, count, paths, &is_of_folder)) {
        progress_init(&job->progress, size_of(job->paths.warcs, job->paths.warc_count) +
                                          size_of(job->paths.indexes, job->paths.index_count));
        if (!job->output && job->paths.index_count) {
            fprintf(stderr, "lycosa index: %s: an index is merged into another by -o OUT.cdxj\n",
                    job->paths.indexes[0]);
            code = LYCOSA_EXIT_USAGE;
        } else if (job->output) {
            code = make_index(job, &job->paths, job->output, &error) ? LYCOSA_EXIT_DONE : fail(job, &error);
        } else {
            code = make_each(job, is_of_folder);
        }
        if (code == LYCOSA_EXIT_DONE)
            print_result(job);
    }
    free(is_of_folder);
    archive_paths_fini(&job->paths);
    return code;
}

static bool read_memory(struct job *job, const char *text)
{
    double bytes;
    bool good = tuning_value_read(TUNING_BYTES, slice_of(text), &bytes) && bytes >= (1 << 20);
    if (!good)
        fprintf(stderr, "lycosa index: --memory %s: expected a size of 1MiB or more (64MiB, 2GB)\n", text);
    job->options.memory_bytes = good ? (size_t)bytes : 0;
    return good;
}

int lycosa_index_main(int argc, char **argv)
{
    static struct job job;
    job.options = (struct index_options){.stop = &stop, .progress = progress_show, .owner = &job.progress};
    optind = 1;
    for (int option; (option = command_getopt(&lycosa_index, argc, argv)) != -1;) {
        switch (option) {
        case 'o':
            job.output = optarg;
            break;
        case OPTION_FORCE:
            job.options.is_forced = true;
            break;
        case OPTION_MEMORY:
            if (!read_memory(&job, optarg))
                return LYCOSA_EXIT_USAGE;
            break;
        default:
            return command_help(&lycosa_index, option == 'h' ? stdout : stderr);
        }
    }
    if (optind == argc)
        return command_help(&lycosa_index, stderr);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    return run(&job, argc - optind, argv + optind);
}
