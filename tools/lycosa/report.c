/* lycosa report DIR: one HTML page with the plots of a crawl. Reads crawl.log once, and beside it progress.tsv and
 * summary.json; DIR may also be a crawl.log, of lycosa or of Heritrix. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/report/figures.h"
#include "engine/report/report_page.h"
#include "engine/report/survey.h"
#include "engine/report/tables.h"
#include "tools/lycosa/commands.h"

enum { OPTION_OUTPUT = COMMAND_LONG, OPTION_DATA, OPTION_TASK, OPTION_COMPARE };
/* A line that does not fit is none: it is dropped. */
enum { READ_BYTES = 4 << 20, PATH_BYTES = 4096, SUMMARY_BYTES = 1 << 20 };

static const struct command_option options[] = {
    {OPTION_OUTPUT, "output", "FILE",
     "the page; default: DIR/report.html, or report.html here if DIR is a file; - is stdout"},
    {OPTION_DATA, "data", "DIR",
     "also write each figure as NAME.svg and NAME.tsv, and hosts-report.tsv, responsecode-report.tsv, "
     "mimetype-report.tsv, seeds-report.tsv as Heritrix has them"},
    {OPTION_TASK, "task", "visit|host", "what a task is, in the figures about tasks; default: visit"},
    {OPTION_COMPARE, "compare", "DIR", "draw a second crawl over the first"},
    {0},
};

const struct command lycosa_report = {
    .program = "lycosa",
    .name = "report",
    .run = lycosa_report_main,
    .synopsis = "[--output FILE] [--data DIR2] [--task visit|host] [--compare DIR3] DIR",
    .summary = "one HTML page with the plots of a crawl",
    .description =
        "Makes a page of a crawl, running or ended: pages, data and speed over time, what limited it, times "
        "and sizes of pages "
        "and tasks, links per page, status codes, outcomes, MIME types, domains, hosts. The page is one file "
        "without scripts, "
        "for screens of any width and for paper.\n\n"
        "DIR is the crawl's directory, or a crawl.log, which may be Heritrix's. Figures that need what is "
        "not there (progress.tsv, "
        "or the 13th column of crawl.log, which log.extra writes) are left out, and the page says why.\n\n"
        "rsvg-convert (Debian: librsvg2-bin) makes PNG files of the SVG files.",
    .options = options,
};

struct job {
    const char *output, *data;
    const char *paths[FIGURES_CRAWLS_MAX];
    size_t count;
    enum survey_task task;
    struct survey *surveys[FIGURES_CRAWLS_MAX];
    char names[FIGURES_CRAWLS_MAX][CHART_NAME_BYTES];
};

static int fail(const char *path, int error)
{
    fprintf(stderr, "lycosa report: %s: %s\n", path, strerror(error));
    return error == ENOSPC ? LYCOSA_EXIT_DISK_FULL : LYCOSA_EXIT_FAILED;
}

/* Hands the whole lines of a file to `take`. What follows the last newline is still being written. 0, or an errno. */
static int each_line(int fd, void (*take)(struct survey *survey, struct slice line), struct survey *survey)
{
    char *buffer = malloc(READ_BYTES);
    size_t used = 0;
    ssize_t got;
    bool is_skipping = false;
    if (!buffer)
        return ENOMEM;
    while ((got = read(fd, buffer + used, READ_BYTES - used)) > 0) {
        char *line = buffer, *end = buffer + used + got, *newline;
        for (; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
            if (!is_skipping)
                take(survey, slice_between(line, newline));
            is_skipping = false;
        }
        used = (size_t)(end - line);
        if (used == READ_BYTES) {
            is_skipping = true;
            used = 0;
        }
        memmove(buffer, line, used);
    }
    int error = got < 0 ? errno : 0;
    free(buffer);
    return error;
}

static void take_sample(struct survey *survey, struct slice line)
{
    samples_take(&survey->samples, line);
}

/* "DIR/name" in `path`; false if it is too long. */
static bool join(char path[PATH_BYTES], const char *directory, const char *name)
{
    int len = snprintf(path, PATH_BYTES, "%s/%s", directory, name);
    return len > 0 && len < PATH_BYTES;
}

/* Files that need not be there. */
static void read_beside(struct survey *survey, const char *directory)
{
    static char text[SUMMARY_BYTES];
    char path[PATH_BYTES];
    int fd = join(path, directory, "progress.tsv") ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        each_line(fd, take_sample, survey);
        close(fd);
    }
    FILE *summary = join(path, directory, "summary.json") ? fopen(path, "re") : NULL;
    if (summary) {
        size_t len = fread(text, 1, sizeof text, summary);
        survey_take_summary(survey, (struct slice){text, len});
        fclose(summary);
    }
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A crawl that has just begun has no log yet, but its directory is a crawl's. */
static bool may_lack_log(const char *directory)
{
    char path[PATH_BYTES];
    return (join(path, directory, "tuning.ini") && access(path, F_OK) == 0) ||
           (join(path, directory, "summary.json") && access(path, F_OK) == 0);
}

/* The last part of the path, without what does not tell crawls apart. */
static void name_crawl(const char *path, char name[CHART_NAME_BYTES])
{
    char real[PATH_BYTES];
    char *whole = realpath(path, NULL);
    snprintf(real, sizeof real, "%s", whole ? whole : path);
    free(whole);
    if (!is_directory(real) && strcmp(basename(real), "crawl.log") == 0)
        snprintf(name, CHART_NAME_BYTES, "%s", basename(dirname(real)));
    else
        snprintf(name, CHART_NAME_BYTES, "%s", basename(real));
}

static int read_crawl(struct job *job, size_t i)
{
    char path[PATH_BYTES];
    const char *given = job->paths[i];
    bool is_dir = is_directory(given);
    struct survey *survey = malloc(sizeof *survey);
    name_crawl(given, job->names[i]);
    int error = survey ? -survey_init(survey, job->names[i], job->task) : ENOMEM;
    if (error) {
        free(survey);
        return fail(given, error);
    }
    job->surveys[i] = survey;
    if (!is_dir)
        snprintf(path, sizeof path, "%s", given);
    else if (!join(path, given, "crawl.log"))
        return fail(given, ENAMETOOLONG);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && !(errno == ENOENT && is_dir && may_lack_log(given)))
        return fail(path, errno);
    error = fd >= 0 ? each_line(fd, survey_take, survey) : 0;
    if (fd >= 0)
        close(fd);
    if (error)
        return fail(path, error);
    if (survey->lines && survey->bad_lines == survey->lines) {
        fprintf(stderr, "lycosa report: %s: not one line is of a crawl.log\n", path);
        return LYCOSA_EXIT_FAILED;
    }
    if (is_dir)
        read_beside(survey, given);
    survey_finish(survey);
    return LYCOSA_EXIT_DONE;
}

/* 0, or an errno: that of the first failure, also of what was buffered. */
static int close_file(FILE *out)
{
    bool is_bad = ferror(out);
    int error = fflush(out) == 0 && !is_bad ? 0 : errno ? errno : EIO;
    return out != stdout && fclose(out) != 0 && !error ? errno : error;
}

static FILE *open_data(const struct job *job, char path[PATH_BYTES], const char *name, const char *suffix)
{
    int len = snprintf(path, PATH_BYTES, "%s/%s%s", job->data, name, suffix);
    errno = ENAMETOOLONG;
    return len < PATH_BYTES ? fopen(path, "we") : NULL;
}

static int write_data(const struct job *job, const struct figure *figure)
{
    char path[PATH_BYTES];
    if (!job->data || figure->is_missing)
        return LYCOSA_EXIT_DONE;
    FILE *out = open_data(job, path, figure->id, ".svg");
    if (!out)
        return fail(path, errno);
    chart_write_svg(&figure->chart, out, figure->id, true);
    int error = close_file(out);
    if (error)
        return fail(path, error);
    out = open_data(job, path, figure->id, ".tsv");
    if (!out)
        return fail(path, errno);
    chart_write_tsv(&figure->chart, out);
    error = close_file(out);
    return error ? fail(path, error) : LYCOSA_EXIT_DONE;
}

static int write_tables(const struct job *job)
{
    char path[PATH_BYTES];
    for (size_t i = 0; job->data && i < tables_count(); i++) {
        FILE *out = open_data(job, path, tables_list[i].name, ".tsv");
        if (!out)
            return fail(path, errno);
        tables_list[i].write(job->surveys[0], out);
        int error = close_file(out);
        if (error)
            return fail(path, error);
    }
    return LYCOSA_EXIT_DONE;
}

static int write_page(const struct job *job, const struct figures *figures, FILE *out)
{
    struct report_page page = {.out = out, .figures = figures};
    struct figure *figure = malloc(sizeof *figure);
    int code = LYCOSA_EXIT_DONE;
    if (!figure)
        return fail(job->output, ENOMEM);
    report_page_begin(&page);
    for (size_t i = 0; i < figures_count() && code == LYCOSA_EXIT_DONE; i++) {
        figures_make(figures, i, figure);
        report_page_add(&page, figure);
        code = write_data(job, figure);
    }
    report_page_end(&page);
    free(figure);
    return code;
}

static int write_report(const struct job *job)
{
    struct figures figures;
    char path[PATH_BYTES] = "report.html";
    if (job->output)
        snprintf(path, sizeof path, "%s", job->output);
    else if (is_directory(job->paths[0]) && !join(path, job->paths[0], "report.html"))
        return fail(job->paths[0], ENAMETOOLONG);
    if (job->data && mkdir(job->data, 0777) != 0 && errno != EEXIST)
        return fail(job->data, errno);
    int error = -figures_init(&figures, (const struct survey *const *)job->surveys, job->count);
    if (error)
        return fail(path, error);
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    int code = out ? write_page(job, &figures, out) : fail(path, errno);
    error = out ? close_file(out) : 0;
    figures_fini(&figures);
    if (error)
        return fail(path, error);
    code = code == LYCOSA_EXIT_DONE ? write_tables(job) : code;
    if (code == LYCOSA_EXIT_DONE && out != stdout)
        printf("%s\n", path);
    return code;
}

static bool read_task(struct job *job, const char *text)
{
    bool is_host = strcmp(text, "host") == 0;
    job->task = is_host ? SURVEY_TASK_HOST : SURVEY_TASK_VISIT;
    if (is_host || strcmp(text, "visit") == 0)
        return true;
    fprintf(stderr, "lycosa report: --task %s: expected visit or host\n", text);
    return false;
}

int lycosa_report_main(int argc, char **argv)
{
    struct job job = {.task = SURVEY_TASK_VISIT};
    int code = LYCOSA_EXIT_DONE;
    optind = 1;
    for (int option; (option = command_getopt(&lycosa_report, argc, argv)) != -1;) {
        switch (option) {
        case OPTION_OUTPUT:
            job.output = optarg;
            break;
        case OPTION_DATA:
            job.data = optarg;
            break;
        case OPTION_TASK:
            if (!read_task(&job, optarg))
                return LYCOSA_EXIT_USAGE;
            break;
        case OPTION_COMPARE:
            job.paths[1] = optarg;
            break;
        default:
            return command_help(&lycosa_report, option == 'h' ? stdout : stderr);
        }
    }
    if (optind + 1 != argc)
        return command_help(&lycosa_report, stderr);
    job.paths[0] = argv[optind];
    job.count = job.paths[1] ? 2 : 1;
    for (size_t i = 0; i < job.count && code == LYCOSA_EXIT_DONE; i++)
        code = read_crawl(&job, i);
    code = code == LYCOSA_EXIT_DONE ? write_report(&job) : code;
    for (size_t i = 0; i < job.count; i++) {
        if (job.surveys[i])
            survey_fini(job.surveys[i]);
        free(job.surveys[i]);
    }
    return code;
}
