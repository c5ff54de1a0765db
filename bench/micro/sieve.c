/* bench_sieve: what a question to each kind of sieve costs, and what a URL costs in memory and on disk.
 *
 * A row is a sieve that knows --known signatures and is asked about batches of which 80% are known. A sample is --group
 * batches. mercator and offline have --memory bytes for each known signature. Each row is a process of its own, so that its memory, its writes and the processor time
 * of all its threads can be told from outside the sieve. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/sieve/sieve_disk.h"
#include "lockfree/arena.h"
#include "lockfree/bloom.h"
#include "lockfree/clock.h"
#include "lockfree/signatures.h"

enum { REPEATS_MAX = 64, GROUP_MAX = 64, MEMORY_BATCH = 256, KNOWN_PERCENT = 80, RUNS = 8 };

/* As in engine/frontier/sieve.h. */
#define BLOOM_RATE 0.01

static struct {
    const char *filter, *directory, *json;
    uint64_t known;
    size_t batch;
    double memory;
    unsigned group, repeats;
} settings = {
    .directory = "/tmp", .known = 10000000, .batch = 1000000, .memory = 2, .group = 8, .repeats = 3};

/* A sieve in memory, or one on disk. */
struct subject {
    struct arena arena;
    struct signatures set;
    struct signatures_writer writer;
    struct bloom bloom;
    struct sieve_disk *disk;
    uint64_t *bitmap; /* disk */
};

struct row {
    const char *name, *what;
    void (*open)(struct subject *subject, const char *directory);
    uint64_t (*ask)(struct subject *subject, const uint64_t *signatures,
                    size_t count); /* how many were new */
    enum sieve_disk_kind kind;     /* of those on disk */
};

/* What a row's process finds. */
struct figures {
    double ns[REPEATS_MAX], wall_ns[REPEATS_MAX]; /* per question */
    uint64_t count;                               /* signatures at the end */
    uint64_t found;                               /* in the samples */
    uint64_t memory, disk, written;               /* bytes; the last: in the samples */
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_sieve: %s: %s\n", what, why);
    exit(1);
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The i-th signature of all: a bijection, so that no two are equal. */
static uint64_t signature_of(uint64_t i)
{
    return mix((i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* With one in a hundred to spare for the dice. */
static uint64_t count_max(void)
{
    uint64_t asked = (uint64_t)settings.batch * settings.group * settings.repeats;
    return settings.known + asked * (100 - KNOWN_PERCENT + 1) / 100 + 1000;
}

static void *take_memory(struct subject *subject, size_t bytes)
{
    struct arena_options options = {.bytes = bytes + 64, .populate = true};
    int error = arena_init(&subject->arena, &options);
    if (error)
        fail("memory", strerror(-error));
    return arena_take(&subject->arena, bytes, 64);
}

static void open_signatures(struct subject *subject, const char *directory)
{
    (void)directory;
    size_t bytes = signatures_bytes(count_max());
    signatures_init(&subject->set, take_memory(subject, bytes), bytes);
    signatures_writer_init(&subject->writer, &subject->set);
}

static uint64_t ask_signatures(struct subject *subject, const uint64_t *signatures, size_t count)
{
    enum signatures_answer answers[MEMORY_BATCH];
    uint64_t found = 0;
    for (size_t at = 0, now; at < count; at += now) {
        now = count - at < MEMORY_BATCH ? count - at : MEMORY_BATCH;
        found += signatures_add_batch(&subject->writer, signatures + at, now, answers);
    }
    return found;
}

static void open_bloom(struct subject *subject, const char *directory)
{
    (void)directory;
    size_t bytes = bloom_bytes(count_max(), BLOOM_RATE);
    bloom_init(&subject->bloom, take_memory(subject, bytes), bytes);
}

static uint64_t ask_bloom(struct subject *subject, const uint64_t *signatures, size_t count)
{
    bool is_new[MEMORY_BATCH];
    uint64_t found = 0;
    for (size_t at = 0, now; at < count; at += now) {
        now = count - at < MEMORY_BATCH ? count - at : MEMORY_BATCH;
        found += bloom_add_shared_batch(&subject->bloom, signatures + at, now, is_new);
    }
    return found;
}

static void open_disk(struct subject *subject, const char *directory, enum sieve_disk_kind kind)
{
    struct sieve_error error;
    struct sieve_disk_options options = {.kind = kind,
                                         .disk = &disk_system,
                                         .directory = directory,
                                         .batch_max = (uint32_t)settings.batch,
                                         .runs = RUNS,
                                         .bytes = (size_t)((double)settings.known * settings.memory)};
    subject->disk = sieve_disk_open(&options, &error);
    if (!subject->disk)
        fail("open", error.text);
    subject->bitmap = malloc(sieve_disk_words(settings.batch) * sizeof *subject->bitmap);
}

static void open_mercator(struct subject *subject, const char *directory)
{
    open_disk(subject, directory, SIEVE_DISK_MERCATOR);
}

static void open_offline(struct subject *subject, const char *directory)
{
    open_disk(subject, directory, SIEVE_DISK_OFFLINE);
}

static void open_rocks(struct subject *subject, const char *directory)
{
    open_disk(subject, directory, SIEVE_DISK_ROCKS);
}

static uint64_t ask_disk(struct subject *subject, const uint64_t *signatures, size_t count)
{
    struct sieve_disk_batch batch = {signatures, count};
    uint64_t before = sieve_disk_count(subject->disk);
    if (sieve_disk_ask(subject->disk, &batch, subject->bitmap) != 0)
        fail("ask", sieve_disk_error(subject->disk)->text);
    return sieve_disk_count(subject->disk) - before;
}

static const struct row rows[] = {
    {"signatures", "memory, batches of 256: the baseline", open_signatures, ask_signatures, 0},
    {"bloom", "memory, loses 1 new URL in 100 when it is full", open_bloom, ask_bloom, 0},
    {"mercator", "disk, Z rewritten when memory is full", open_mercator, ask_disk, SIEVE_DISK_MERCATOR},
    {"offline", "disk, Z rewritten once for eight runs", open_offline, ask_disk, SIEVE_DISK_OFFLINE},
    {"rocks", "disk, RocksDB", open_rocks, ask_disk, SIEVE_DISK_ROCKS},
};

static uint64_t ns_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The number behind a word of a file in /proc/self. */
static uint64_t proc_number(const char *path, const char *word)
{
    char line[256];
    uint64_t number = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, word, strlen(word)) == 0)
            number = strtoull(line + strlen(word), NULL, 10);
    if (file)
        fclose(file);
    return number;
}

static uint64_t resident_bytes(void)
{
    return proc_number("/proc/self/status", "VmRSS:") * 1024;
}

static uint64_t written_bytes(void)
{
    return proc_number("/proc/self/io", "wchar:");
}

struct tally {
    const char *directory;
    uint64_t bytes;
    bool removes;
};

static void tally_file(void *argument, const char *name)
{
    struct tally *tally = argument;
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", tally->directory, name);
    int64_t bytes = disk_system.size(NULL, path);
    tally->bytes += bytes > 0 ? (uint64_t)bytes : 0;
    if (tally->removes)
        unlink(path);
}

/* Bytes of the files in the directory; they are removed if wanted. */
static uint64_t tally_up(const char *directory, bool removes)
{
    struct tally tally = {directory, 0, removes};
    disk_system.list(NULL, directory, tally_file, &tally);
    return tally.bytes;
}

/* Of a hundred, KNOWN_PERCENT are among the first `known`; the others follow those. */
static uint64_t make_batch(uint64_t *signatures, uint64_t known, uint64_t *random)
{
    uint64_t next = known;
    for (size_t i = 0; i < settings.batch; i++) {
        uint64_t dice = mix(*random += UINT64_C(0x9e3779b97f4a7c15));
        bool is_known = dice % 100 < KNOWN_PERCENT && known;
        signatures[i] = signature_of(is_known ? (dice >> 8) % known : next++);
    }
    return next;
}

static uint64_t fill(const struct row *row, struct subject *subject, uint64_t *signatures)
{
    uint64_t count = 0;
    while (count < settings.known) {
        size_t now = 0;
        while (now < settings.batch && count < settings.known)
            signatures[now++] = signature_of(count++);
        row->ask(subject, signatures, now);
    }
    return count;
}

static void run_row(const struct row *row, const char *directory, struct figures *figures)
{
    struct subject subject = {0};
    uint64_t *signatures = malloc(settings.batch * sizeof *signatures), random = 1;
    memset(signatures, 1, settings.batch * sizeof *signatures);
    uint64_t memory = resident_bytes();
    row->open(&subject, directory);
    uint64_t count = fill(row, &subject, signatures), written = written_bytes();
    for (unsigned sample = 0; sample < settings.repeats; sample++) {
        uint64_t cpu = 0, wall = 0;
        for (unsigned i = 0; i < settings.group; i++) {
            uint64_t next = make_batch(signatures, count, &random), before = ns_of(CLOCK_PROCESS_CPUTIME_ID),
                     wall_before = ns_of(CLOCK_MONOTONIC);
            figures->found += row->ask(&subject, signatures, settings.batch);
            cpu += ns_of(CLOCK_PROCESS_CPUTIME_ID) - before;
            wall += ns_of(CLOCK_MONOTONIC) - wall_before;
            count = next;
        }
        figures->ns[sample] = (double)cpu / (double)settings.group / (double)settings.batch;
        figures->wall_ns[sample] = (double)wall / (double)settings.group / (double)settings.batch;
    }
    figures->count = count;
    figures->written = written_bytes() - written;
    figures->memory = resident_bytes() - memory;
    figures->disk = tally_up(directory, false);
    if (subject.disk)
        sieve_disk_close(subject.disk);
    free(subject.bitmap);
    free(signatures);
}

/* In a process of its own. */
static bool measure(const struct row *row, struct figures *figures)
{
    char directory[1024];
    int pipes[2], status;
    snprintf(directory, sizeof directory, "%s/bench-sieve-XXXXXX", settings.directory);
    if (!mkdtemp(directory) || pipe(pipes) != 0)
        fail(directory, strerror(errno));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        *figures = (struct figures){0};
        run_row(row, directory, figures);
        _exit(write(pipes[1], figures, sizeof *figures) == sizeof *figures ? 0 : 1);
    }
    close(pipes[1]);
    bool is_whole = read(pipes[0], figures, sizeof *figures) == sizeof *figures;
    close(pipes[0]);
    waitpid(child, &status, 0);
    tally_up(directory, true);
    rmdir(directory);
    return is_whole && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int compare_figures(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const struct row *row, struct figures *figures, FILE *json)
{
    double count = (double)figures->count, found = (double)figures->found;
    unsigned last = settings.repeats - 1, middle = settings.repeats / 2;
    qsort(figures->ns, settings.repeats, sizeof *figures->ns, compare_figures);
    qsort(figures->wall_ns, settings.repeats, sizeof *figures->wall_ns, compare_figures);
    double amplification = (double)figures->written / (8 * found);
    printf("%-11s %9.1f [%8.1f %8.1f] %9.1f %9.2f %9.2f %9.2f   %s\n", row->name, figures->ns[middle],
           figures->ns[0], figures->ns[last], figures->wall_ns[middle], (double)figures->memory / count,
           (double)figures->disk / count, amplification, row->what);
    if (json)
        fprintf(json,
                "{\"name\":\"%s\",\"ns\":%.2f,\"min\":%.2f,\"max\":%.2f,\"wall_ns\":%.2f,\"memory\":%.3f,"
                "\"disk\":%.3f,\"amplification\":%.3f,\"known\":%llu,\"batch\":%zu}\n",
                row->name, figures->ns[middle], figures->ns[0], figures->ns[last], figures->wall_ns[middle],
                (double)figures->memory / count, (double)figures->disk / count, amplification,
                (unsigned long long)settings.known, settings.batch);
    fflush(stdout);
}

static void print_header(void)
{
    char line[256], cpu[128] = "unknown";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %127[^\n]", cpu) == 1)
            break;
    if (file)
        fclose(file);
    printf("machine   %s, %ld processors; compiler %s; flags %s\n"
           "asked     %u samples of %u batches of %zu, %d%% known, of a sieve that knows %llu at first; "
           "median [min max]\n"
           "sieve        CPU ns of a question         wall ns    memory      disk   written\n"
           "                                                    B per URL B per URL  per 8 B\n",
           cpu, sysconf(_SC_NPROCESSORS_ONLN), __VERSION__, BENCH_FLAGS, settings.repeats, settings.group,
           settings.batch, KNOWN_PERCENT, (unsigned long long)settings.known);
}

static int usage(void)
{
    fprintf(stderr, "usage: bench_sieve [--filter NAME] [--known N] [--batch N] [--memory BYTES] "
                    "[--group N] [--repeats N] [--directory DIR] [--json FILE]\n");
    return 2;
}

static bool read_options(int argc, char **argv)
{
    static const struct option options[] = {{"filter", required_argument, NULL, 'f'},
                                            {"known", required_argument, NULL, 'k'},
                                            {"batch", required_argument, NULL, 'b'},
                                            {"group", required_argument, NULL, 'g'},
                                            {"repeats", required_argument, NULL, 'r'},
                                            {"directory", required_argument, NULL, 'd'},
                                            {"json", required_argument, NULL, 'j'},
                                            {"memory", required_argument, NULL, 'm'},
                                            {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'f')
            settings.filter = optarg;
        else if (option == 'k')
            settings.known = strtoull(optarg, NULL, 10);
        else if (option == 'b')
            settings.batch = strtoul(optarg, NULL, 10);
        else if (option == 'g')
            settings.group = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            settings.repeats = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'd')
            settings.directory = optarg;
        else if (option == 'm')
            settings.memory = strtod(optarg, NULL);
        else if (option == 'j')
            settings.json = optarg;
        else
            return false;
    }
    return optind == argc && settings.batch >= 1 && settings.batch <= SIEVE_DISK_BATCH_MAX &&
           settings.group >= 1 && settings.group <= GROUP_MAX && settings.memory >= 0 &&
           settings.repeats >= 1 && settings.repeats <= REPEATS_MAX;
}

int main(int argc, char **argv)
{
    static struct figures figures;
    FILE *json = NULL;
    int failed = 0;
    if (!read_options(argc, argv))
        return usage();
    if (settings.json && !(json = fopen(settings.json, "w")))
        fail(settings.json, strerror(errno));
    print_header();
    for (const struct row *row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
        if ((settings.filter && !strstr(row->name, settings.filter)) || !sieve_disk_has(row->kind))
            continue;
        if (measure(row, &figures))
            report(row, &figures, json);
        else
            failed = 1;
    }
    if (json && fclose(json) != 0)
        fail(settings.json, strerror(errno));
    return failed;
}
