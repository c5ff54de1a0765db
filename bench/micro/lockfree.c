/* The frame of bench_lockfree: options, groups of rows, samples. */
#include "micro/lockfree.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockfree/arena.h"
#include "micro/lockfree_report.h"
#include "micro/lockfree_sample.h"

#define ROWS_MAX    512
#define REPEATS_MAX 1000
#define MEMORY_MIN  ((size_t)1 << 20)

enum { EXIT_USAGE = 2 };

static struct {
    const char *filter;
    unsigned threads[LOCKFREE_THREADS_MAX], threads_count;
    double seconds;
    unsigned repeats;
    size_t memory;
    const char *json;
} settings = {.seconds = 0.02, .repeats = 5, .memory = (size_t)1 << 30};

static struct lockfree_report report;
static struct lockfree_row *rows[ROWS_MAX];
static size_t rows_count;

/* In the order of the table. */
static const char *const benches[] = {"memory",     "ring_spsc",  "ring_mpmc", "queue",
                                      "queue_mpsc", "inbox",      "reclaim",   "list",
                                      "map",        "signatures", "bloom",     "wheel"};
static const char *const impls[] = {"lycosa", "ck", "urcu", "lfds", "xenium", "floor", "heap", "mutex"};

void lockfree_register(struct lockfree_row *row)
{
    if (rows_count == ROWS_MAX)
        abort();
    rows[rows_count++] = row;
}

static void __attribute__((noreturn, format(printf, 1, 2))) refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench_lockfree: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(EXIT_USAGE);
}

size_t lockfree_memory_bytes(void)
{
    return settings.memory;
}

size_t lockfree_scaled(size_t most, size_t part)
{
    size_t size = 1;
    while (size * 2 <= most && size * 2 <= settings.memory / part)
        size *= 2;
    return size;
}

void *lockfree_map(size_t bytes)
{
    struct arena arena;
    int error = arena_init(&arena, &(struct arena_options){.bytes = bytes, .populate = true});
    if (error)
        refuse("no %zu MiB of memory: %s", bytes >> 20, strerror(-error));
    return arena.base;
}

void lockfree_unmap(void *memory, size_t bytes)
{
    size_t huge = (size_t)2 << 20;
    arena_fini(&(struct arena){.base = memory, .bytes = (bytes + huge - 1) & ~(huge - 1)});
}

static void add_sample(struct lockfree_result *result, const struct lockfree_worker *workers)
{
    double rate = 0;
    uint64_t least = UINT64_MAX, most = 0;
    unsigned counting = 0;
    for (unsigned i = 0; i < result->threads; i++) {
        rate += workers[i].ops_per_s;
        result->ops += workers[i].ops;
        result->losses += workers[i].losses;
        if (!workers[i].measured_ops)
            continue;
        counting++;
        least = workers[i].measured_ops < least ? workers[i].measured_ops : least;
        most = workers[i].measured_ops > most ? workers[i].measured_ops : most;
    }
    result->ops_per_s[result->count] = rate;
    result->fairness[result->count] = counting > 1 ? (double)least / (double)most : 0;
    result->count++;
}

static bool takes_part(const struct lockfree_row *row, unsigned threads)
{
    return threads >= row->threads_min && (!row->threads_max || threads <= row->threads_max);
}

/* rows[first..end) are a group. */
static void run_group(size_t first, size_t end, unsigned threads)
{
    static struct lockfree_result results[ROWS_MAX];
    static void *states[ROWS_MAX];
    struct lockfree_worker workers[LOCKFREE_THREADS_MAX];
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        if (!takes_part(rows[i], threads))
            continue;
        results[count] = (struct lockfree_result){.row = rows[i], .threads = threads};
        results[count].ops_per_s = calloc(settings.repeats, sizeof(double));
        results[count].fairness = calloc(settings.repeats, sizeof(double));
        states[count] = rows[i]->absent || !rows[i]->begin ? NULL : rows[i]->begin(rows[i], threads);
        count++;
    }
    for (unsigned round = 0; round < settings.repeats; round++)
        for (size_t i = 0; i < count; i++)
            if (!results[i].row->absent) {
                struct lockfree_sample_options options = {results[i].row, states[i], threads,
                                                          settings.seconds};
                report.samples++;
                report.disturbed += !lockfree_sample_take(&options, workers);
                add_sample(&results[i], workers);
            }
    for (size_t i = 0; i < count; i++)
        if (!results[i].row->absent && results[i].row->finish)
            results[i].row->finish(states[i]);
    lockfree_report_group(&report, results, count);
    for (size_t i = 0; i < count; i++) {
        free(results[i].ops_per_s);
        free(results[i].fairness);
    }
}

static bool is_same_group(const struct lockfree_row *a, const struct lockfree_row *b)
{
    return strcmp(a->bench, b->bench) == 0 && strcmp(a->mix, b->mix) == 0;
}

static bool is_wanted(const struct lockfree_row *row)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", row->bench, row->mix);
    return !settings.filter || strstr(name, settings.filter);
}

static size_t rank_in(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    abort();
}

/* By bench, then by mix in the order in which its first row was registered that is not a peer's, then by
 * implementation. */
static void set_order(struct lockfree_row *row)
{
    size_t bench = rank_in(benches, sizeof benches / sizeof *benches, row->bench);
    size_t impl = rank_in(impls, sizeof impls / sizeof *impls, row->impl);
    size_t mix = 0;
    while (strcmp(rows[mix]->impl, row->bench[0] == 'm' && row->bench[1] == 'e' ? "floor" : "lycosa") != 0 ||
           !is_same_group(rows[mix], row))
        if (++mix == rows_count)
            abort();
    row->order = (bench * ROWS_MAX + mix) * ROWS_MAX + impl;
}

static int compare_rows(const void *a, const void *b)
{
    const struct lockfree_row *x = *(struct lockfree_row *const *)a, *y = *(struct lockfree_row *const *)b;
    return (x->order > y->order) - (x->order < y->order);
}

/* In the order of the table, without those that --filter leaves out. */
static void choose_rows(void)
{
    size_t wanted = 0;
    for (size_t i = 0; i < rows_count; i++)
        set_order(rows[i]);
    for (size_t i = 0; i < rows_count; i++)
        if (is_wanted(rows[i]))
            rows[wanted++] = rows[i];
    rows_count = wanted;
    if (!rows_count)
        refuse("--filter %s: no bench or mix has this in its name", settings.filter);
    qsort(rows, rows_count, sizeof *rows, compare_rows);
}

static void run_all(void)
{
    for (size_t first = 0, end; first < rows_count; first = end) {
        for (end = first; end < rows_count && is_same_group(rows[first], rows[end]);)
            end++;
        for (unsigned i = 0; i < settings.threads_count; i++)
            run_group(first, end, settings.threads[i]);
    }
}

static double number_of(const char *option, const char *text, double least, double most)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= least && number <= most))
        refuse("--%s %s: a number from %g to %g is expected", option, text, least, most);
    return number;
}

static void set_threads(const char *text)
{
    unsigned processors = lockfree_sample_processors();
    settings.threads_count = 0;
    for (const char *at = text;; at++) {
        char *end;
        unsigned long count = strtoul(at, &end, 10);
        if (end == at || *at == '-' || (*end && *end != ',') || count == 0)
            refuse("--threads %s: numbers from 1 on are expected, with commas between", text);
        if (count > processors)
            refuse("--threads %s: %lu threads want as many processors, and there are %u", text, count,
                   processors);
        if (settings.threads_count == LOCKFREE_THREADS_MAX)
            refuse("--threads %s: at most %d numbers", text, LOCKFREE_THREADS_MAX);
        settings.threads[settings.threads_count++] = (unsigned)count;
        at = end;
        if (!*at)
            break;
    }
}

static void set_memory(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    const char *units = "KMG", *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || (*end && (!unit || end[1])))
        refuse("--memory %s: a number with K, M or G is expected", text);
    for (int i = unit ? (int)(unit - units) : -1; i >= 0; i--)
        number *= 1024;
    double most = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 4;
    if (!(number >= (double)MEMORY_MIN && number <= most))
        refuse("--memory %s: from 1M to %.0fM, a quarter of this machine's memory, is possible", text,
               most / (1 << 20));
    settings.memory = (size_t)number & ~(MEMORY_MIN - 1);
}

static void print_usage(void)
{
    printf("usage: bench_lockfree [--filter NAME] [--threads 1,2,...] [--seconds S] [--repeats N]\n"
           "                      [--memory SIZE] [--json FILE]\n\n"
           "--filter   only rows with NAME in bench/mix\n"
           "--threads  numbers of threads, each pinned to a processor of its own (1,2 where there are two)\n"
           "--seconds  length of a sample (0.02)\n"
           "--repeats  samples per row (5)\n"
           "--memory   for the large structures: signatures, bloom, wheel, map (1G)\n"
           "--json     a line per row, to this file\n");
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"filter", required_argument, NULL, 'f'},  {"threads", required_argument, NULL, 't'},
        {"seconds", required_argument, NULL, 's'}, {"repeats", required_argument, NULL, 'r'},
        {"memory", required_argument, NULL, 'm'},  {"json", required_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {0}};
    int option;
    set_threads(lockfree_sample_processors() > 1 ? "1,2" : "1");
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
        switch (option) {
        case 'f':
            settings.filter = optarg;
            break;
        case 't':
            set_threads(optarg);
            break;
        case 's':
            settings.seconds = number_of("seconds", optarg, 0.001, 3600);
            break;
        case 'r':
            settings.repeats = (unsigned)number_of("repeats", optarg, 1, REPEATS_MAX);
            break;
        case 'm':
            set_memory(optarg);
            break;
        case 'j':
            settings.json = optarg;
            break;
        case 'h':
            print_usage();
            exit(0);
        case ':':
            refuse("%s wants a value; --help tells more", argv[optind - 1]);
        default:
            refuse("unknown option %s; --help tells more", argv[optind - 1]);
        }
    }
    if (optind < argc)
        refuse("unexpected argument %s; --help tells more", argv[optind]);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    choose_rows();
    report.seconds = settings.seconds;
    report.repeats = settings.repeats;
    if (settings.json && !(report.json = fopen(settings.json, "w"))) {
        fprintf(stderr, "bench_lockfree: cannot write %s: %s\n", settings.json, strerror(errno));
        return 1;
    }
    lockfree_report_header(&report);
    run_all();
    lockfree_report_footer(&report);
    if (report.json && fclose(report.json) != 0) {
        fprintf(stderr, "bench_lockfree: cannot write %s: %s\n", settings.json, strerror(errno));
        return 1;
    }
    return 0;
}
