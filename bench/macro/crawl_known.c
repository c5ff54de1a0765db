/* A crawl that knows many URLs already: what a page costs with each kind of sieve, and how fast a journal is read.
 *
 * A journal is made once, of URLs that are done and of the root pages of a simulated web, which wait. In each round each row
 * resumes a copy of it to the end. Before the first round each row does so for nothing, to the first page: memory that
 * nobody has used for a while is slower to get. Processor time is that of all threads from the moment on at which the
 * journal was read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/frontier/host.h"
#include "engine/state/commit.h"
#include "engine/state/resume.h"
#include "engine/url/canonical.h"
#include "engine/url/hash.h"
#include "engine/url/url.h"
#include "macro/crawl_parts.h"
#include "macro/process.h"

enum column { COLUMN_CPU, COLUMN_OF_FIRST, COLUMN_RESUMED, COLUMN_PEAK, COLUMNS };

static const struct crawl_report_column columns[COLUMNS] = {
    {"us/page", "cpu_us_per_page", "%.1f"},
    {"of first", "of_first", "%.2f"}, /* the time of the first row by this one's, in the same round */
    {"M records/s", "million_records_per_s", "%.2f"},
    {"peak MB", "peak_megabytes", "%.0f"},
};

struct row {
    const char *name, *kind;
    unsigned bytes_per_url; /* of memory */
};

enum { MEMORY_MIN = 32 << 20 };

static const struct row rows[] = {
    {"signatures, 16 bytes per URL", "signatures", 16},
    {"memory for a quarter, then disk", "signatures", 4},
    {"mercator, 3 bytes", "mercator", 3},
    {"offline, 3 bytes", "offline", 3},
};

static bool complain(const char *what, int error)
{
    fprintf(stderr, "bench_crawl: known: %s: %s\n", what, strerror(-error));
    return false;
}

static int write_if_full(struct commit *commit, struct journal_loop *book)
{
    return journal_has_room(book) ? 0 : commit_write(commit);
}

/* The root pages wait: they are what the crawl begins with. */
static int add_seeds(const struct crawl_web *web, struct commit *commit, struct journal_loop *book)
{
    char path[CRAWL_WEB_PATH_BYTES], line[2048];
    FILE *seeds = fopen(crawl_web_path(web, "seeds", path), "re");
    if (!seeds)
        return -errno;
    int error = 0;
    while (!error && fgets(line, sizeof line, seeds)) {
        struct slice text = {line, strcspn(line, "\n")};
        struct record_url url = {.signature = hash_bytes(text.ptr, text.len), .kind = HOST_ITEM_SEED, .text = text};
        error = write_if_full(commit, book);
        if (!error)
            journal_add_url(book, &url, (struct slice){"", 0});
    }
    fclose(seeds);
    return error;
}

/* No page of the web has such a signature. */
static int add_done(uint64_t count, struct commit *commit, struct journal_loop *book)
{
    int error = 0;
    for (uint64_t i = 0; i < count && !error; i++) {
        struct record_done done = {.signature = hash_bytes(&i, sizeof i), .status = 200, .is_page = true};
        error = write_if_full(commit, book);
        if (!error)
            journal_add_done(book, &done);
    }
    return error;
}

static int write_journal(const struct crawl_web *web, const char *directory, uint64_t known)
{
    static struct commit commit;
    static struct outlet log;
    static struct journal_loop book;
    struct journal_session session = {.version = LYCOSA_VERSION, .canonical = CANONICAL_DEFAULT};
    commit_init(&commit, &(struct commit_options){.disk = &disk_system, .directory = directory, .has_journal = true});
    int error = outlet_init(&log, &(struct outlet_options){.files = &commit.files, .bytes = 1 << 20, .is_shared = true});
    if (!error)
        error = journal_loop_init(&book, 0);
    if (error)
        return error;
    outlet_open(&log, "crawl.log");
    commit_add_loop(&commit, &(struct commit_loop){.log = &log, .journal = &book});
    resume_boot_id(session.boot_id);
    error = commit_begin(&commit, &session, (struct journal_place){.number = 1}, 0);
    book.epoch = lf_load(&commit.epoch, relaxed);
    if (!error)
        error = add_done(known, &commit, &book);
    if (!error)
        error = add_seeds(web, &commit, &book);
    if (!error)
        error = commit_now(&commit);
    if (!error)
        error = commit_finish(&commit);
    commit_fini(&commit);
    outlet_fini(&log);
    journal_loop_fini(&book);
    return error;
}

static bool copy(const char *from, const char *to)
{
    static struct process_result result;
    char *arguments[] = {(char[]){"cp"}, (char[]){"-r"}, (char *)(uintptr_t)from, (char *)(uintptr_t)to, NULL};
    return process_run(&(struct process_options){.arguments = arguments, .cpu = PROCESS_ANY_CPU}, &result);
}

static void discard(const char *directory)
{
    static struct process_result result;
    char *arguments[] = {(char[]){"rm"}, (char[]){"-rf"}, (char *)(uintptr_t)directory, NULL};
    process_run(&(struct process_options){.arguments = arguments, .cpu = PROCESS_ANY_CPU}, &result);
}

/* What a crawler needs to go on there, but for the tuning file of the row. */
static bool make_base(const struct crawl_web *web, const char *directory, uint64_t known)
{
    char path[CRAWL_WEB_PATH_BYTES + 16], seeds[CRAWL_WEB_PATH_BYTES];
    snprintf(path, sizeof path, "%s/state", directory);
    if (mkdir(directory, 0755) != 0 || mkdir(path, 0755) != 0)
        return complain(directory, -errno);
    int error = write_journal(web, directory, known);
    if (error)
        return complain("the journal", error);
    snprintf(path, sizeof path, "%s/seeds.txt", directory);
    return copy(crawl_web_path(web, "seeds", seeds), path);
}

static bool write_row_tuning(const struct crawl_web *web, const char *directory, const struct row *row, uint64_t known)
{
    uint64_t bytes = known * row->bytes_per_url;
    char path[CRAWL_WEB_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/tuning.ini", directory);
    FILE *file = fopen(path, "we");
    if (!file)
        return complain(path, -errno);
    fprintf(file, "%s[scope]\nmode = any\n[net]\ndns-servers = 127.0.0.1:%u\n[store]\nkind = none\n",
            crawl_run_rude, web->dns_port);
    fprintf(file, "[memory]\nsieve-kind = %s\nsieve = %llu\n", row->kind,
            (unsigned long long)(bytes > MEMORY_MIN ? bytes : MEMORY_MIN));
    return fclose(file) == 0;
}

/* A resumed crawl. */
struct life {
    uint64_t known;
    char pages[32]; /* where it ends */
    struct crawl_run run;
    double wall_s; /* that summary.json does not know of: reading the journal */
};

/* Goes on in a directory until so many pages are done: those of all lives count. */
static bool resume(const struct crawl_web *web, const char *directory, struct life *life)
{
    char program[CRAWL_WEB_PATH_BYTES + 16], folder[CRAWL_WEB_PATH_BYTES];
    static struct process_result result;
    snprintf(program, sizeof program, "%s/lycosa", web->programs);
    snprintf(folder, sizeof folder, "%s", directory);
    char *arguments[] = {program,
                         (char[]){"crawl"},
                         (char[]){"--resume"},
                         folder,
                         (char[]){"--threads"},
                         (char[]){"1"},
                         (char[]){"--max-pages"},
                         life->pages,
                         NULL};
    life->run = (struct crawl_run){0};
    if (!process_run(&(struct process_options){.arguments = arguments, .cpu = 0, .takes_errors = true}, &result) ||
        !crawl_run_read(directory, &life->run)) {
        fprintf(stderr, "bench_crawl: known: %s\n", result.output);
        return false;
    }
    life->run.peak_bytes = result.peak_bytes;
    life->wall_s = result.seconds - life->run.seconds;
    return true;
}

/* A copy of the journal, with the row's tuning file, is resumed and removed. */
static bool resume_copy(const struct crawl_web *web, const struct row *row, struct life *life)
{
    char base[CRAWL_WEB_PATH_BYTES], directory[CRAWL_WEB_PATH_BYTES];
    crawl_web_path(web, "known", base);
    crawl_web_path(web, "row", directory);
    bool good = copy(base, directory) && write_row_tuning(web, directory, row, life->known) &&
                resume(web, directory, life);
    discard(directory);
    return good;
}

static bool warm_row(const struct crawl_web *web, const struct row *row, uint64_t known)
{
    struct life life = {.known = known};
    snprintf(life.pages, sizeof life.pages, "%llu", (unsigned long long)known + 1);
    return resume_copy(web, row, &life);
}

static bool run_row(const struct crawl_web *web, const struct row *row, uint64_t known, struct crawl_report *report)
{
    struct life life = {.known = known, .pages = "1000000000000"};
    if (!resume_copy(web, row, &life))
        return false;
    double cpu_us = life.run.cpu_s * 1e6 / (double)(life.run.pages - known);
    if (report->count == 0 || strcmp(report->rows[0].name, row->name) == 0)
        report->first_rate = cpu_us;
    const double values[COLUMNS] = {[COLUMN_CPU] = cpu_us,
                                    [COLUMN_OF_FIRST] = report->first_rate / cpu_us,
                                    [COLUMN_RESUMED] = (double)known / 1e6 / life.wall_s,
                                    [COLUMN_PEAK] = (double)life.run.peak_bytes / 1e6};
    crawl_report_add(report, row->name, values);
    return true;
}

/* Warms each row up, then the rounds. */
static bool run_rounds(const struct crawl_web *web, const struct crawl_settings *settings, struct crawl_report *report)
{
    bool good = true;
    for (unsigned i = 0; i <= settings->repeats && good; i++)
        for (size_t k = 0; k < sizeof rows / sizeof rows[0] && good; k++) {
            if (!crawl_filter_wants(&settings->filter, rows[k].name))
                continue;
            good = i == 0 ? warm_row(web, &rows[k], settings->known)
                          : run_row(web, &rows[k], settings->known, report);
        }
    return good;
}

bool crawl_known(const struct crawl_settings *settings, struct crawl_report *report)
{
    struct crawl_web web;
    char hosts[16], pages[16], base[CRAWL_WEB_PATH_BYTES];
    snprintf(hosts, sizeof hosts, "%u", settings->hosts);
    snprintf(pages, sizeof pages, "%u", settings->pages);
    const char *const options[] = {"--plain", "--hosts", hosts, "--pages", pages, NULL};
    report->title = "a crawl that knows many URLs already (--known), by the kind of its sieve";
    report->columns = columns;
    report->column_count = COLUMNS;
    report->spread_columns = 1 + COLUMN_OF_FIRST;
    if (!crawl_web_begin(&web, &(struct crawl_web_options){.web = options}))
        return false;
    bool good = crawl_web_write_seeds(&web) &&
                make_base(&web, crawl_web_path(&web, "known", base), settings->known) &&
                run_rounds(&web, settings, report);
    crawl_web_finish(&web, false);
    return good;
}
