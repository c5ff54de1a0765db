#include "micro/lockfree_report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef BENCH_FLAGS
#define BENCH_FLAGS ""
#endif
#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void read_line_of(const char *path, const char *name, char *value, size_t size)
{
    char line[512];
    FILE *file = fopen(path, "r");
    snprintf(value, size, "unknown");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && strchr(line, ':')) {
            const char *text = strchr(line, ':') + 1;
            snprintf(value, size, "%s", text + strspn(text, " \t"));
            value[strcspn(value, "\n\"\\")] = '\0';
            break;
        }
    if (file)
        fclose(file);
}

/* The outermost cache of processor 0. */
static void read_cache(char *value, size_t size)
{
    snprintf(value, size, "unknown");
    for (int level = 3; level > 0; level--) {
        char path[64];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", level);
        FILE *file = fopen(path, "r");
        bool is_read = file && fgets(value, (int)size, file);
        if (file)
            fclose(file);
        value[strcspn(value, "\n")] = '\0';
        if (is_read)
            return;
    }
}

void lockfree_report_header(const struct lockfree_report *report)
{
    char cpu[128], cache[32];
    struct utsname kernel;
    read_line_of("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    read_cache(cache, sizeof cache);
    uname(&kernel);
    printf("machine   %s, %ld processors, last-level cache %s, %s %s\n", cpu, sysconf(_SC_NPROCESSORS_ONLN),
           cache, kernel.sysname, kernel.release);
    printf("compiler  %s, %s\n", COMPILER, BENCH_FLAGS);
    printf("samples   %u of %g s per row after a warm-up, taken in turns; median; spread = (max - min) / "
           "median\n",
           report->repeats, report->seconds);
    printf("sizes     signatures and bloom %zu MiB, wheel %u ids, map %zu keys and as many buckets\n\n",
           lockfree_memory_bytes() >> 20, lockfree_wheel_ids(), lockfree_set_keys());
    printf("%-11s %-26s %7s %-7s %9s %9s %7s %5s %8s  %s\n", "bench", "mix", "threads", "impl", "Mops/s",
           "ns/op", "spread", "fair", "lost/1k", "ratio to the best peer");
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const double *sorted, unsigned count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double figure_of(const struct lockfree_result *result)
{
    return result->count ? median_of(result->ops_per_s, result->count) : 0;
}

static double spread_of(const struct lockfree_result *result)
{
    double figure = figure_of(result);
    return figure > 0 ? (result->ops_per_s[result->count - 1] - result->ops_per_s[0]) / figure : 0;
}

static bool is_impl(const struct lockfree_result *result, const char *impl)
{
    return strcmp(result->row->impl, impl) == 0;
}

static bool is_peer(const struct lockfree_result *result)
{
    return is_impl(result, "ck") || is_impl(result, "urcu") || is_impl(result, "lfds");
}

/* The fastest of ck, urcu and lfds; where none of them takes part, the fastest of the others. */
static const struct lockfree_result *best_peer(const struct lockfree_result *results, size_t count)
{
    const struct lockfree_result *best = NULL;
    for (int peers = 1; peers >= 0 && !best; peers--)
        for (size_t i = 0; i < count; i++)
            if (!is_impl(&results[i], "lycosa") && (!peers || is_peer(&results[i])) && results[i].count &&
                (!best || figure_of(&results[i]) > figure_of(best)))
                best = &results[i];
    return best;
}

static void print_row(const struct lockfree_result *result, const struct lockfree_result *best)
{
    const struct lockfree_row *row = result->row;
    double figure = figure_of(result);
    printf("%-11s %-26s %7u %-7s ", row->bench, row->mix, result->threads, row->impl);
    if (row->absent) {
        printf("%s\n", row->absent);
        return;
    }
    char fairness[16] = "-", lost[16] = "-";
    double fair = median_of(result->fairness, result->count);
    if (fair > 0)
        snprintf(fairness, sizeof fairness, "%.2f", fair);
    if (row->counts_losses && result->ops)
        snprintf(lost, sizeof lost, "%.2f", 1000.0 * (double)result->losses / (double)result->ops);
    printf("%9.2f %9.2f %6.1f%% %5s %8s", figure / 1e6, figure > 0 ? 1e9 / figure : 0,
           100 * spread_of(result), fairness, lost);
    if (best && is_impl(result, "lycosa"))
        printf("  %.2f x %s", figure_of(best) > 0 ? figure / figure_of(best) : 0, best->row->impl);
    printf("\n");
}

static void write_json(const struct lockfree_report *report, const struct lockfree_result *result,
                       const struct lockfree_result *best)
{
    const struct lockfree_row *row = result->row;
    double figure = figure_of(result);
    fprintf(
        report->json,
        "{\"bench\":\"%s\",\"mix\":\"%s\",\"impl\":\"%s\",\"threads\":%u,\"ops_per_s\":%.1f,\"spread\":%.4f",
        row->bench, row->mix, row->impl, result->threads, figure, spread_of(result));
    if (row->absent) {
        fprintf(report->json, ",\"note\":\"%s\"}\n", row->absent);
        return;
    }
    double fairness = median_of(result->fairness, result->count);
    fprintf(report->json, ",\"ns_per_op\":%.3f,\"min\":%.1f,\"max\":%.1f,\"samples\":%u,\"seconds\":%g",
            figure > 0 ? 1e9 / figure : 0, result->ops_per_s[0], result->ops_per_s[result->count - 1],
            result->count, report->seconds);
    if (fairness > 0)
        fprintf(report->json, ",\"fairness\":%.3f", fairness);
    if (row->counts_losses && result->ops)
        fprintf(report->json, ",\"lost_per_op\":%.6f", (double)result->losses / (double)result->ops);
    if (best && is_impl(result, "lycosa") && figure_of(best) > 0)
        fprintf(report->json, ",\"ratio\":%.3f,\"ratio_to\":\"%s\"", figure / figure_of(best),
                best->row->impl);
    fprintf(report->json, ",\"compiler\":\"%s\",\"flags\":\"%s\"}\n", COMPILER, BENCH_FLAGS);
}

void lockfree_report_group(const struct lockfree_report *report, struct lockfree_result *results,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        qsort(results[i].ops_per_s, results[i].count, sizeof(double), compare_doubles);
        qsort(results[i].fairness, results[i].count, sizeof(double), compare_doubles);
    }
    const struct lockfree_result *best = best_peer(results, count);
    for (size_t i = 0; i < count; i++) {
        print_row(&results[i], best);
        if (report->json)
            write_json(report, &results[i], best);
    }
    fflush(stdout);
}

void lockfree_report_footer(const struct lockfree_report *report)
{
    printf("\n%u samples", report->samples);
    if (report->disturbed)
        printf("; %u of them disturbed: a thread had less than 95%% of its processor", report->disturbed);
    printf(".\n");
}
