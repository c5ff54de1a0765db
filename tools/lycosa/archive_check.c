/* lycosa archive check PATH...: whether every record of every WARC file is as it should be. */
#include <inttypes.h>
#include <stdio.h>

#include "engine/archive/verify.h"
#include "tools/lycosa/archive_parts.h"
#include "tools/lycosa/archive_paths.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/progress.h"

/* Problems of one file that are written out; the rest are counted. */
enum { PROBLEMS_SHOWN = 10 };

struct check {
    struct progress progress;
    unsigned shown;
};

static void on_problem(void *owner, const char *what)
{
    struct check *check = owner;
    if (check->shown++ >= PROBLEMS_SHOWN)
        return;
    progress_clear(&check->progress);
    fprintf(stderr, "lycosa archive: %s\n", what);
}

static void on_progress(void *owner, uint64_t bytes)
{
    struct check *check = owner;
    progress_show(&check->progress, bytes);
}

static void print_report(const char *path, const struct verify_report *report,
                         const struct archive_error *error)
{
    bool is_bad = error->fault || report->problems;
    printf("%s: %s: %" PRIu64 " records in %" PRIu64 " bytes, %s, %" PRIu64 " digests checked", path,
           is_bad ? "BAD" : "good", report->records, report->bytes, members_format_name(report->format),
           report->digests);
    if (report->digests_unknown)
        printf(", %" PRIu64 " of unknown algorithms", report->digests_unknown);
    if (report->is_shared)
        printf(", records packed together (none can be found by its place)");
    if (report->problems)
        printf(", %" PRIu64 " problems", report->problems);
    if (error->fault)
        printf(", %s at byte %" PRIu64, archive_fault_name(error->fault), error->offset);
    printf("\n");
    fflush(stdout);
}

/* Whether the file is good. */
static bool check_file(struct check *check, const char *path)
{
    struct archive_error error = {0};
    struct verify_report report;
    struct verify_options options = {.on_problem = on_problem, .progress = on_progress, .owner = check};
    check->shown = 0;
    bool good = verify_file(path, &options, &report, &error);
    progress_clear(&check->progress);
    if (!good)
        archive_fail(&error);
    print_report(path, &report, &error);
    check->progress.bytes_before += report.bytes;
    return good && report.problems == 0;
}

static uint64_t bytes_of(const struct archive_paths *paths)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < paths->warc_count; i++) {
        struct archive_error error = {0};
        struct source source;
        if (source_open(&source, paths->warcs[i], &error)) {
            bytes += source_size(&source);
            source_fini(&source);
        }
    }
    return bytes;
}

int archive_check_main(int argc, char **argv)
{
    struct archive_paths paths = {0};
    struct check check;
    bool good = argc > 1;
    if (argc < 2)
        return LYCOSA_EXIT_USAGE;
    for (int i = 1; i < argc; i++)
        good &= archive_paths_add(&paths, "lycosa archive", argv[i]);
    if (good && paths.warc_count == 0) {
        fprintf(stderr, "lycosa archive: no WARC files are there to be checked\n");
        good = false;
    }
    progress_init(&check.progress, bytes_of(&paths));
    for (size_t i = 0; i < paths.warc_count; i++)
        good &= check_file(&check, paths.warcs[i]);
    archive_paths_fini(&paths);
    return good ? LYCOSA_EXIT_DONE : LYCOSA_EXIT_FAILED;
}
