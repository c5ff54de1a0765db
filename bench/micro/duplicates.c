/* bench_duplicates: what it costs to ask for near-duplicates, and to hold a page.
 *
 * Each row begins with --known random fingerprints, which are not near each other, and is then given more: new ones,
 * which are asked for and added, and such as are a bit away from a known one. Processor time of the one thread,
 * the median of --repeats samples. Brute force reads all fingerprints for each question, the set knows equal
 * ones only. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/duplicates/exact.h"
#include "engine/duplicates/near.h"
#include "lockfree/signatures.h"

enum { REPEATS_MAX = 64, URL_BYTES = 80 };

static struct {
    const char *filter; /* rows whose group (near, set, brute, exact) it names; NULL for all */
    uint64_t known;
    unsigned distance, repeats;
} settings = {.known = 1000000, .distance = 3, .repeats = 5};

/* What was asked in one sample, and what it took. */
struct sample {
    double ns;
    uint64_t found;
};

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The i-th fingerprint of all. */
static uint64_t fingerprint_of(uint64_t i)
{
    return mix((i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_ns(const void *a, const void *b)
{
    double left = ((const struct sample *)a)->ns, right = ((const struct sample *)b)->ns;
    return (left > right) - (left < right);
}

static void report(const char *name, struct sample *samples, uint64_t asked, double bytes)
{
    qsort(samples, settings.repeats, sizeof(samples[0]), by_ns);
    const struct sample *median = &samples[settings.repeats / 2];
    printf("%-34s %10.1f %10.1f %10.1f %9.1f%% %8.1f\n", name, median->ns, samples[0].ns,
           samples[settings.repeats - 1].ns, 100.0 * (double)median->found / (double)asked, bytes);
    fflush(stdout);
}

/* Samples of `asked` questions each; `ask` says whether the n-th of all was known. */
static void measure(const char *name, uint64_t asked, double bytes, bool (*ask)(uint64_t n))
{
    struct sample samples[REPEATS_MAX];
    uint64_t n = 0;
    for (unsigned i = 0; i < settings.repeats; i++) {
        double begin = cpu_ns();
        samples[i].found = 0;
        for (uint64_t end = n + asked; n < end; n++)
            samples[i].found += ask(n);
        samples[i].ns = (cpu_ns() - begin) / (double)asked;
    }
    report(name, samples, asked, bytes);
}

static struct near near;
static struct signatures set;
static struct signatures_writer writer;
static uint64_t *all;
static struct exact exact;
static struct exact_copy copy;
static char url[URL_BYTES];

static bool add_new(uint64_t n)
{
    return near_add(&near, fingerprint_of(settings.known + n), n, NULL);
}

/* A few bits from a known one. */
static uint64_t close_to_known(uint64_t n)
{
    uint64_t other = mix(n), fingerprint = fingerprint_of(other % settings.known);
    for (unsigned i = 0; i < settings.distance; i++)
        fingerprint ^= UINT64_C(1) << (other >> (8 * i) & 63);
    return fingerprint;
}

static bool add_close(uint64_t n)
{
    struct near_match match;
    return near_add(&near, close_to_known(n), n, &match);
}

static bool add_to_set(uint64_t n)
{
    return signatures_add(&writer, fingerprint_of(settings.known + n)) == SIGNATURES_KNOWN;
}

__attribute__((target_clones("default", "popcnt"))) static bool ask_all(uint64_t n)
{
    uint64_t fingerprint = fingerprint_of(settings.known + n);
    bool is_near = false;
    for (uint64_t i = 0; i < settings.known; i++)
        is_near |= (unsigned)__builtin_popcountll(all[i] ^ fingerprint) <= settings.distance;
    return is_near;
}

static const unsigned char *digest_of(uint64_t n)
{
    static uint64_t words[3];
    for (unsigned i = 0; i < 3; i++)
        words[i] = mix(3 * n + i + 1);
    return (const unsigned char *)words;
}

static void add_copy(uint64_t n)
{
    exact_add(&exact, 0, digest_of(n), (struct exact_source){{url, URL_BYTES}, n});
}

static bool add_copy_if_new(uint64_t n)
{
    bool found = exact_find(&exact, digest_of(settings.known + n), &copy);
    if (!found)
        add_copy(settings.known + n);
    return found;
}

static bool find_copy(uint64_t n)
{
    return exact_find(&exact, digest_of(mix(n) % settings.known), &copy);
}

static void fail(const char *what)
{
    fprintf(stderr, "bench_duplicates: no memory for %s; take a smaller --known\n", what);
    exit(1);
}

static void measure_near(uint64_t asked)
{
    uint64_t count = settings.known + (asked + 1) * settings.repeats;
    struct near_options options = {.bytes = near_bytes_for(count, settings.distance),
                                   .distance = settings.distance};
    if (near_init(&near, &options))
        fail("the index");
    for (uint64_t i = 0; i < settings.known; i++)
        near_add(&near, fingerprint_of(i), i, NULL);
    double bytes = (double)options.bytes / (double)near_count_max(&near);
    measure("near/new: asked and added", asked, bytes, add_new);
    measure("near/known: within the distance", asked, bytes, add_close);
    printf("%34s %u tables, %llu held, %llu dropped, %llu refused\n", "", near.tables_count,
           (unsigned long long)near_count(&near), (unsigned long long)near_dropped(&near),
           (unsigned long long)near_refused(&near));
    near_fini(&near);
}

static void measure_set(uint64_t asked)
{
    uint64_t count = settings.known + (asked + 1) * settings.repeats;
    size_t bytes = signatures_bytes(count);
    struct arena arena;
    if (arena_init(&arena, &(struct arena_options){.bytes = bytes}))
        fail("the set");
    signatures_init(&set, arena_take(&arena, bytes, LF_CACHE_LINE), bytes);
    signatures_writer_init(&writer, &set);
    for (uint64_t i = 0; i < settings.known; i++)
        signatures_add(&writer, fingerprint_of(i));
    measure("near/set: equal ones only", asked, (double)bytes / (double)count, add_to_set);
    arena_fini(&arena);
}

static void measure_brute_force(void)
{
    all = malloc(settings.known * sizeof(uint64_t));
    if (!all)
        fail("brute force");
    for (uint64_t i = 0; i < settings.known; i++)
        all[i] = fingerprint_of(i);
    measure("near/brute force", 1 + 100000000 / settings.known, 8, ask_all);
    free(all);
}

static void measure_exact(uint64_t asked)
{
    uint64_t count = settings.known + (asked + 1) * settings.repeats;
    struct exact_options options = {.bytes = count * 128 + EXACT_LOOP_BYTES_MIN, .loops = 1};
    memset(url, 'u', sizeof(url));
    if (exact_init(&exact, &options))
        fail("copies");
    for (uint64_t i = 0; i < settings.known; i++)
        add_copy(i);
    measure("exact/new: asked and added", asked, 128, add_copy_if_new);
    measure("exact/known", asked, 128, find_copy);
    printf("%34s %llu overwritten, %llu displaced\n", "", (unsigned long long)exact_overwritten(&exact),
           (unsigned long long)exact_displaced(&exact));
    exact_fini(&exact);
}

static bool is_wanted(const char *group)
{
    return !settings.filter || strcmp(settings.filter, group) == 0;
}

static bool read_options(int argc, char **argv)
{
    static const struct option options[] = {{"known", required_argument, NULL, 'k'},
                                            {"distance", required_argument, NULL, 'd'},
                                            {"repeats", required_argument, NULL, 'r'},
                                            {"filter", required_argument, NULL, 'f'},
                                            {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'k')
            settings.known = strtoull(optarg, NULL, 10);
        else if (option == 'd')
            settings.distance = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            settings.repeats = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'f')
            settings.filter = optarg;
        else
            return false;
    }
    bool has_rows = is_wanted("near") || is_wanted("set") || is_wanted("brute") || is_wanted("exact");
    return has_rows && optind == argc && settings.known >= 1000 && settings.distance <= NEAR_DISTANCE_MAX &&
           settings.repeats && settings.repeats <= REPEATS_MAX;
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv)) {
        fprintf(stderr, "usage: bench_duplicates [--known N] [--distance 0-7] [--repeats N] [--filter "
                        "near|set|brute|exact]\n");
        return 2;
    }
    uint64_t asked = settings.known / 20 < 200000 ? settings.known / 20 : 200000;
    printf("%llu known, distance %u, gcc %s, %s\n", (unsigned long long)settings.known, settings.distance,
           __VERSION__, BENCH_FLAGS);
    printf("%-34s %10s %10s %10s %10s %8s\n", "", "ns median", "least", "most", "found", "bytes");
    if (is_wanted("near"))
        measure_near(asked);
    if (is_wanted("set"))
        measure_set(asked);
    if (is_wanted("brute"))
        measure_brute_force();
    if (is_wanted("exact"))
        measure_exact(asked);
    return 0;
}
