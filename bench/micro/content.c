/* The frame of bench_content: runs the rows that the parts registered and reports them. Each row is sampled
 * once per round, a sample being as many passes as fill the sample time; the figure is the median over
 * rounds. */
#include "micro/content.h"

#include <assert.h>
#include <dirent.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "micro/pages.h"

#define ROUNDS_MAX 1000
/* Rows that are registered a second time, for websim's pages. */
enum { COPIES_MAX = 64, NAME_BYTES = 64 };

struct settings {
    const char *filter, *json, *corpora;
    unsigned rounds, sample_ms;
};

struct result {
    struct content_row *row;
    uint64_t passes; /* per sample */
    unsigned count;
    double figures[ROUNDS_MAX];
    uint64_t sink;
};

static struct settings settings = {.corpora = "../shared/corpora", .rounds = 15, .sample_ms = 20};
static struct content_row *first, **last = &first;

void content_register(struct content_row *row)
{
    *last = row;
    last = &row->next;
}

void content_register_pages(struct content_row *rows, size_t count)
{
    static struct content_row copies[COPIES_MAX];
    static char names[COPIES_MAX][NAME_BYTES];
    static size_t used;
    for (size_t i = 0; i < count; i++) {
        const char *slash = strchr(rows[i].name, '/');
        assert(used < COPIES_MAX && slash);
        struct content_row *copy = &copies[used];
        *copy = rows[i];
        copy->of_websim = true;
        copy->target = 0;
        snprintf(names[used], NAME_BYTES, "%.*s/websim %s", (int)(slash - rows[i].name), rows[i].name, slash + 1);
        copy->name = names[used++];
        content_register(&rows[i]);
        content_register(copy);
    }
}

static bool corpus_path(char path[1024], const char *relative)
{
    return snprintf(path, 1024, "%s/%s", settings.corpora, relative) < 1024;
}

char *content_read(const char *relative, size_t *len)
{
    char path[1024], *text = NULL;
    struct stat status;
    FILE *file = corpus_path(path, relative) ? fopen(path, "rb") : NULL;
    if (!file)
        return NULL;
    if (fstat(fileno(file), &status) == 0 && (text = malloc((size_t)status.st_size + 1))) {
        *len = fread(text, 1, (size_t)status.st_size, file);
        text[*len] = '\0';
    }
    fclose(file);
    return text;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

bool content_each_file(const char *folder, void (*visit)(void *context, const char *relative), void *context)
{
    char path[1024], relative[1024];
    struct dirent **entries;
    int count = corpus_path(path, folder) ? scandir(path, &entries, is_visible, alphasort) : -1;
    if (count < 0)
        return false;
    for (int i = 0; i < count; i++) {
        if (snprintf(relative, sizeof relative, "%s/%s", folder, entries[i]->d_name) < (int)sizeof relative)
            visit(context, relative);
        free(entries[i]);
    }
    free(entries);
    return true;
}

/* Whose visitor it is, and how many pages it had. */
struct visitor {
    void (*visit)(void *context, char *page, size_t len);
    void *context;
    size_t count;
};

static void give_page(struct visitor *visitor, char *page, size_t len)
{
    if (page && visitor->count++ < CONTENT_PAGES_MAX)
        visitor->visit(visitor->context, page, len);
    else
        free(page);
}

static void give_file(void *context, const char *relative)
{
    size_t len = 0;
    char *page = content_read(relative, &len);
    give_page(context, page, len);
}

static void give_copy(void *context, const char *html, size_t len)
{
    char *page = malloc(len + 1);
    memcpy(page, html, len);
    page[len] = '\0';
    give_page(context, page, len);
}

bool content_each_page(const struct content_row *row, void (*visit)(void *context, char *page, size_t len),
                       void *context)
{
    struct visitor visitor = {.visit = visit, .context = context};
    if (row->of_websim)
        pages_each_of_websim(give_copy, &visitor);
    else
        content_each_file("html", give_file, &visitor);
    return visitor.count > 0;
}

static double figure_of(const struct content_row *row, uint64_t passes, uint64_t ns)
{
    if (row->unit == CONTENT_NS_PER_ITEM)
        return (double)ns / (double)(passes * row->items);
    return (double)(passes * row->bytes) / 1e6 / ((double)ns / 1e9);
}

/* Processor time of this thread: what else runs on the machine is not counted. No row waits for anything. */
static uint64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t run_passes(struct result *result, uint64_t passes)
{
    uint64_t begin = cpu_now_ns();
    for (uint64_t i = 0; i < passes; i++)
        result->sink += result->row->pass(result->row);
    return cpu_now_ns() - begin;
}

/* Finds how many passes fill the sample time; warms the caches while at it. */
static void calibrate(struct result *result)
{
    uint64_t wanted = settings.sample_ms * 1000000ull, ns;
    result->passes = 1;
    while ((ns = run_passes(result, result->passes)) < wanted / 2)
        result->passes = ns ? 1 + result->passes * wanted / ns : result->passes * 2;
}

static int compare_figures(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const struct result *result)
{
    unsigned half = result->count / 2;
    return result->count % 2 ? result->figures[half]
                             : (result->figures[half - 1] + result->figures[half]) / 2;
}

static const char *unit_name(enum content_unit unit)
{
    return unit == CONTENT_NS_PER_ITEM ? "ns/item" : "MB/s";
}

static const char *role_name(enum content_role role)
{
    return role == CONTENT_OURS ? "ours" : role == CONTENT_PEER ? "peer" : "baseline";
}

static const char *verdict(const struct result *result)
{
    const struct content_row *row = result->row;
    if (row->target <= 0)
        return "";
    bool met =
        row->unit == CONTENT_NS_PER_ITEM ? median(result) <= row->target : median(result) >= row->target;
    return met ? "met" : "MISSED";
}

static void print_result(const struct result *result)
{
    const struct content_row *row = result->row;
    char target[32] = "", each[32] = "";
    if (row->target > 0)
        snprintf(target, sizeof target, "%s %.0f %s",
                 row->unit == CONTENT_NS_PER_ITEM ? "<=" : ">=", row->target, verdict(result));
    if (row->unit == CONTENT_MB_PER_SECOND && row->items > 1)
        snprintf(each, sizeof each, "%.2f us/item", (double)row->bytes / (double)row->items / median(result));
    printf("%-30s %-8s %10.1f %-7s %9.1f .. %-9.1f %-16s %-14s %s\n", row->name, role_name(row->role),
           median(result), unit_name(row->unit), result->figures[0], result->figures[result->count - 1], each,
           target, row->what);
    fflush(stdout);
}

static void write_json(FILE *out, const struct result *result, bool first_row)
{
    const struct content_row *row = result->row;
    fprintf(
        out,
        "%s\n  {\"name\":\"%s\",\"role\":\"%s\",\"unit\":\"%s\",\"median\":%.3f,\"min\":%.3f,\"max\":%.3f,"
        "\"rounds\":%u,\"items\":%llu,\"bytes\":%llu,\"target\":%.1f}",
        first_row ? "" : ",", row->name, role_name(row->role), unit_name(row->unit), median(result),
        result->figures[0], result->figures[result->count - 1], result->count, (unsigned long long)row->items,
        (unsigned long long)row->bytes, row->target);
}

static void read_cpu_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(name, size, "%s", strchr(line, ':') + 2);
            name[strcspn(name, "\n")] = '\0';
            break;
        }
    if (file)
        fclose(file);
}

static void print_header(FILE *json)
{
    char cpu[128];
    read_cpu_name(cpu, sizeof cpu);
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    printf("machine: %s, %ld processors; compiler: %s; flags: %s\n%u rounds of %u ms of processor time; "
           "median, min .. max\n",
           cpu, cpus, __VERSION__, BENCH_FLAGS, settings.rounds, settings.sample_ms);
    if (json)
        fprintf(json,
                "{\"machine\":\"%s\",\"processors\":%ld,\"compiler\":\"%s\",\"flags\":\"%s\",\"rows\":[", cpu,
                cpus, __VERSION__, BENCH_FLAGS);
}

static size_t group_length(const char *name)
{
    return strcspn(name, "/");
}

static bool same_group(const struct content_row *a, const struct content_row *b)
{
    size_t len = group_length(a->name);
    return len == group_length(b->name) && memcmp(a->name, b->name, len) == 0;
}

static bool is_wanted(const struct content_row *row)
{
    return !settings.filter || strstr(row->name, settings.filter);
}

/* Sets up the wanted rows of `row`'s group, from `row` on. */
static unsigned begin_group(struct result *results, struct content_row *row)
{
    unsigned count = 0;
    for (; row; row = row->next) {
        if (!is_wanted(row) || (count && !same_group(row, results[0].row)))
            continue;
        if (!row->begin(row)) {
            printf("%-30s skipped: its input is absent\n", row->name);
            continue;
        }
        results[count] = (struct result){.row = row};
        calibrate(&results[count++]);
    }
    return count;
}

static void run_group(struct result *results, unsigned count)
{
    for (unsigned round = 0; round < settings.rounds; round++)
        for (unsigned i = 0; i < count; i++) {
            uint64_t ns = run_passes(&results[i], results[i].passes);
            results[i].figures[results[i].count++] = figure_of(results[i].row, results[i].passes, ns);
        }
    for (unsigned i = 0; i < count; i++)
        qsort(results[i].figures, results[i].count, sizeof(double), compare_figures);
}

static bool seen_before(const struct content_row *row)
{
    for (const struct content_row *other = first; other != row; other = other->next)
        if (same_group(other, row))
            return true;
    return false;
}

static unsigned count_rows(void)
{
    unsigned count = 0;
    for (const struct content_row *row = first; row; row = row->next)
        count++;
    return count;
}

static void run_all(FILE *json)
{
    struct result *results = calloc(count_rows() + 1, sizeof *results);
    bool first_row = true;
    for (struct content_row *row = first; row; row = row->next) {
        if (seen_before(row))
            continue;
        unsigned count = 0;
        for (struct content_row *member = row; member && !count; member = member->next)
            if (same_group(member, row) && is_wanted(member))
                count = begin_group(results, member);
        run_group(results, count);
        for (unsigned i = 0; i < count; i++, first_row = false) {
            print_result(&results[i]);
            if (json)
                write_json(json, &results[i], first_row);
            if (results[i].row->finish)
                results[i].row->finish(results[i].row);
        }
    }
    free(results);
}

static int usage(void)
{
    fprintf(
        stderr,
        "usage: bench_content [--filter TEXT] [--json FILE] [--rounds N] [--sample-ms N] [--corpora DIR]\n");
    return 2;
}

static bool read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"filter", required_argument, NULL, 'f'},  {"json", required_argument, NULL, 'j'},
        {"rounds", required_argument, NULL, 'r'},  {"sample-ms", required_argument, NULL, 's'},
        {"corpora", required_argument, NULL, 'c'}, {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'f')
            settings.filter = optarg;
        else if (option == 'j')
            settings.json = optarg;
        else if (option == 'r')
            settings.rounds = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 's')
            settings.sample_ms = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'c')
            settings.corpora = optarg;
        else
            return false;
    }
    return optind == argc && settings.rounds >= 1 && settings.rounds <= ROUNDS_MAX && settings.sample_ms >= 1;
}

int main(int argc, char **argv)
{
    FILE *json = NULL;
    if (!read_options(argc, argv))
        return usage();
    if (settings.json && !(json = fopen(settings.json, "w"))) {
        perror(settings.json);
        return 1;
    }
    print_header(json);
    run_all(json);
    if (json) {
        fprintf(json, "\n]}\n");
        if (fclose(json) != 0) {
            perror(settings.json);
            return 1;
        }
    }
    return 0;
}
