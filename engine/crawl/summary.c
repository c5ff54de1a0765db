#include "engine/crawl/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/crawl/codes.h"
#include "engine/crawl/crawl.h"
#include "engine/crawl/diagnosis.h"
#include "engine/crawl/limits.h"
#include "lockfree/clock.h"

static void write_counters(const struct stats *now, FILE *out)
{
#define SUMMARY_COUNTER(name) fprintf(out, "  \"" #name "\": %" PRIu64 ",\n", stats_get(&now->name));
    STATS_COUNTERS(SUMMARY_COUNTER)
#undef SUMMARY_COUNTER
}

static void write_races(const struct stats_races *races, FILE *out)
{
    uint64_t sum = 0;
    const char *comma = "";
#define SUMMARY_ADD(name) sum += stats_get(&races->name);
    STATS_RACES(SUMMARY_ADD)
#undef SUMMARY_ADD
    fprintf(out, "  \"lost_races\": %" PRIu64 ",\n  \"lost_races_by\": {", sum);
#define SUMMARY_RACE(name)                                                                                   \
    fprintf(out, "%s\"" #name "\": %" PRIu64, comma, stats_get(&races->name));                               \
    comma = ", ";
    STATS_RACES(SUMMARY_RACE)
#undef SUMMARY_RACE
    fprintf(out, "},\n");
}

/* A counter for each outcome; those that are 0 are left out. */
static void write_by_outcome(const char *name, const stats_counter *counters, FILE *out)
{
    const char *comma = "";
    fprintf(out, "  \"%s\": {", name);
    for (int i = 0; i < FETCH_OUTCOME_COUNT; i++)
        if (stats_get(&counters[i])) {
            fprintf(out, "%s\"%s\": %" PRIu64, comma, fetch_outcome_name((enum fetch_outcome)i),
                    stats_get(&counters[i]));
            comma = ", ";
        }
    fprintf(out, "},\n");
}

static void write_outcomes(const struct stats *now, FILE *out)
{
    const char *comma = "";
    write_by_outcome("outcomes", now->outcomes, out);
    write_by_outcome("tries_failed", now->tries_failed, out);
    fprintf(out, "  \"status\": {");
    for (int i = 1; i < STATS_STATUSES; i++)
        if (stats_get(&now->statuses[i])) {
            fprintf(out, "%s\"%dxx\": %" PRIu64, comma, i, stats_get(&now->statuses[i]));
            comma = ", ";
        }
    fprintf(out, "},\n  \"scope\": {");
    comma = "";
    for (int i = 0; i < SCOPE_RULES; i++)
        if (stats_get(&now->scope[i])) {
            fprintf(out, "%s\"%s\": %" PRIu64, comma, scope_rule_name((enum scope_rule)i),
                    stats_get(&now->scope[i]));
            comma = ", ";
        }
    fprintf(out, "},\n");
}

/* Of this process: the journal does not keep them. */
static void write_kinds(const struct status *status, const struct crawl *crawl, FILE *out)
{
    struct census types = {.count = 0}, domains = {.count = 0};
    char code[CODES_NAME_BYTES];
    const char *comma = "";
    fputs("  \"codes\": {", out);
    for (unsigned row = 0; row < CODES_ROWS; row++) {
        uint64_t count = codes_row(status->now.codes, row, code);
        if (!count)
            continue;
        fprintf(out, "%s\"%s\": %" PRIu64, comma, code, count);
        comma = ", ";
    }
    fputs("},\n  \"types\": ", out);
    status_count_kinds(&types, &domains, crawl);
    census_print(&types, SUMMARY_KINDS_MAX, out);
    fputs(",\n  \"domains\": ", out);
    census_print(&domains, SUMMARY_KINDS_MAX, out);
    fputs(",\n", out);
}

static void write_limits(const struct status *status, FILE *out)
{
    char sentence[DIAGNOSIS_BYTES];
    const char *comma = "";
    fprintf(out, "  \"limited_ms\": {");
    for (int by = 0; by < LIMITED_COUNT; by++, comma = ", ")
        fprintf(out, "%s\"%s\": %" PRIu64, comma, limited_name((enum limited_by)by),
                stats_get(&status->now.limited_ns[by]) / CLOCK_NS_PER_MS);
    diagnosis_write(status, sentence, sizeof sentence);
    fprintf(out, "},\n  \"diagnosis\": \"%s\",\n", sentence);
}

static void write_troubles(const struct status *status, const struct crawl *crawl, FILE *out)
{
    const struct status_seeds *seeds = &status->seeds;
    const char *comma = "";
    fprintf(out, "  \"failed\": %" PRIu64 ",\n  \"hosts_failing\": {", status->failed);
    for (int i = 0; i < FETCH_OUTCOME_COUNT; i++)
        if (status->failing[i] > 0) {
            fprintf(out, "%s\"%s\": %" PRId64, comma, fetch_outcome_name((enum fetch_outcome)i),
                    status->failing[i]);
            comma = ", ";
        }
    fprintf(out,
            "},\n  \"seeds\": {\"count\": %" PRIu64 ", \"queued\": %" PRIu64 ", \"out_of_scope\": %" PRIu64
            ", \"lost\": %" PRIu64 ", \"added\": %" PRIu64 "},\n",
            seeds->count, seeds->queued, seeds->out_of_scope, seeds->lost, lf_load(&crawl->seeds_added, relaxed));
}

/* Epochs, and how far checkpoints are. */
static void write_durable(const struct crawl_durable *durable, FILE *out)
{
    uint64_t done = lf_load(&durable->done, relaxed);
    fprintf(out, "  \"epoch\": {\"committed\": %" PRIu64 ", \"synced\": %" PRIu64 "},\n",
            lf_load(&durable->committed, relaxed), lf_load(&durable->synced, relaxed));
    fprintf(out,
            "  \"checkpoint\": {\"state\": \"%s\", \"count\": %" PRIu64 ", \"epoch\": %" PRIu64
            ", \"seconds\": %.3f},\n",
            lf_load(&durable->asked, relaxed) > done ? "under way" : done ? "done" : "none", done,
            lf_load(&durable->done_epoch, relaxed), (double)lf_load(&durable->done_took_ns, relaxed) / 1e9);
}

/* What has gone to the disk in this process, and how long ago the last commit was synced. */
static void write_written(const struct status *status, const struct crawl *crawl, FILE *out)
{
    uint64_t synced_ns = lf_load(&crawl->commit.synced_ns, relaxed), now_ns = clock_now_ns();
    fprintf(out, "  \"written\": {\"store\": %" PRIu64 ", \"log\": %" PRIu64 "},\n", status->written.store, status->written.log);
    if (synced_ns)
        fprintf(out, "  \"synced_ago_seconds\": %.3f,\n", now_ns > synced_ns ? (double)(now_ns - synced_ns) / 1e9 : 0);
}

/* The journal: how long commits took to come, and whether it is folded. */
static void write_journal(const struct status *status, struct crawl *crawl, FILE *out)
{
    const struct commit *commit = &crawl->commit;
    const char *state = status->fold_trouble_stays ? "given up" : status->fold_trouble ? "to be tried again" : "sound";
    fprintf(out, "  \"commit_age_max_ms\": %" PRIu64 ",\n  \"commit_age_max_while_folding_ms\": %" PRIu64 ",\n",
            lf_load(&commit->age_max_ns, relaxed) / CLOCK_NS_PER_MS,
            lf_load(&commit->folding_age_max_ns, relaxed) / CLOCK_NS_PER_MS);
    fprintf(out, "  \"fold\": {\"count\": %" PRIu64 ", \"state\": \"%s\", \"error\": \"%s\"},\n",
            lf_load(&commit->fold.folds_told, relaxed), state,
            status->fold_trouble ? strerror(-status->fold_trouble) : "");
}

/* How much is in use of what the tuning file allows. */
static void write_budgets(const struct status *status, struct crawl *crawl, FILE *out)
{
    const struct tuning_fixed *tuning = &crawl->tuning.fixed;
    const struct {
        const char *name;
        uint64_t used, limit;
    } budgets[] = {
        {"memory.frontier", stats_get(&status->now.frontier_bytes), tuning->memory.frontier_bytes},
        {"memory.pages", stats_get(&status->now.page_bytes), tuning->memory.page_bytes},
        {"memory.robots", lf_load(&crawl->rules.bytes_used, relaxed), tuning->memory.robots_bytes},
        {"memory.hosts", status->host_count, tuning->memory.hosts_max},
        {"memory.sieve", sieve_count(&crawl->sieve), sieve_capacity(&crawl->sieve)},
        {"net.connections", stats_get(&status->now.connections), tuning->net.connections},
    };
    fprintf(out, "  \"budgets\": {");
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++)
        fprintf(out, "%s\"%s\": {\"used\": %" PRIu64 ", \"limit\": %" PRIu64 "}", i ? ", " : "", budgets[i].name,
                budgets[i].used, budgets[i].limit);
    fprintf(out, "},\n");
}

/* As the housekeeper saw it last: whoever asks does not wait for the disk. */
static void write_disk(struct crawl *crawl, FILE *out)
{
    uint64_t size = lf_load(&crawl->disk_size, relaxed);
    if (size)
        fprintf(out, "  \"disk\": {\"free\": %" PRIu64 ", \"size\": %" PRIu64 ", \"reserve\": %" PRIu64 "},\n",
                lf_load(&crawl->disk_free, relaxed), size, crawl->tuning.fixed.state.reserve_bytes);
}

/* "outlook": {"by": "max-pages", "share": 0.250, "left_seconds": 75}; what is not known is left out. */
static void write_outlook(const struct status *status, FILE *out)
{
    const struct outlook *outlook = &status->outlook;
    fprintf(out, "  \"outlook\": {\"by\": \"%s\"", outlook_name(outlook->by));
    if (outlook->share >= 0)
        fprintf(out, ", \"share\": %.4f", outlook->share);
    if (outlook->left_s >= 0)
        fprintf(out, ", \"left_seconds\": %.0f", outlook->left_s);
    fprintf(out, "},\n  \"loops_busy\": [");
    for (unsigned i = 0; i < status->loop_count; i++)
        fprintf(out, "%s%.3f", i ? ", " : "", status->loops[i].busy);
    fprintf(out, "],\n");
}

static void write_quantiles(const char *name, const struct stats_histogram *histogram, FILE *out)
{
    fprintf(out,
            "  \"%s\": {\"p50\": %" PRIu64 ", \"p90\": %" PRIu64 ", \"p99\": %" PRIu64 ", \"max\": %" PRIu64
            "},\n",
            name, stats_quantile(histogram, 0.5), stats_quantile(histogram, 0.9),
            stats_quantile(histogram, 0.99), stats_quantile(histogram, 1));
}

void summary_print(const struct status *status, struct crawl *crawl, enum crawl_end end, FILE *out)
{
    static const char *const kinds[] = {[TUNING_SIEVE_SIGNATURES] = "signatures",
                                        [TUNING_SIEVE_BLOOM] = "bloom",
                                        [TUNING_SIEVE_MERCATOR] = "mercator",
                                        [TUNING_SIEVE_OFFLINE] = "offline",
                                        [TUNING_SIEVE_ROCKSDB] = "rocksdb"};
    const struct stats *now = &status->now;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    fprintf(out, "{\n  \"software\": \"lycosa/%s\",\n  \"end\": \"%s\",\n  \"phase\": \"%s\",\n", LYCOSA_VERSION, end_name(end),
            gate_phase_name(status->phase));
    fprintf(out, "  \"seconds\": %.3f,\n  \"running_seconds\": %.3f,\n  \"threads\": %u,\n", status->seconds, status->running_s, crawl->loop_count);
    write_counters(now, out);
    write_races(&now->lost_races, out);
    write_outcomes(now, out);
    write_kinds(status, crawl, out);
    write_troubles(status, crawl, out);
    write_durable(&crawl->durable, out);
    write_written(status, crawl, out);
    write_journal(status, crawl, out);
    write_limits(status, out);
    write_outlook(status, out);
    write_budgets(status, crawl, out);
    write_disk(crawl, out);
    write_quantiles("fetch_us", &now->fetch_us, out);
    write_quantiles("first_byte_us", &now->first_byte_us, out);
    write_quantiles("body_bytes_quantiles", &now->body_bytes, out);
    fprintf(out, "  \"hosts_held\": %" PRId64 ",\n", status->hosts[HOST_HELD]);
    fprintf(out, "  \"hosts\": %" PRIu64 ",\n  \"addresses\": %" PRIu64 ",\n  \"queued\": %" PRIu64
            ",\n  \"asked\": %" PRIu64 ",\n",
            status->host_count, status->address_count, status->queued, stats_get(&now->asked));
    fprintf(out, "  \"pages_per_s\": %.1f,\n  \"megabytes_per_s\": %.3f,\n",
            (double)(stats_get(&now->pages) - stats_get(&crawl->before.pages)) / status->seconds,
            (double)(stats_get(&now->bytes_received) - stats_get(&crawl->before.bytes_received)) / 1e6 /
                status->seconds);
    fprintf(out,
            "  \"sieve\": {\"kind\": \"%s\", \"urls\": %" PRIu64 ", \"capacity\": %" PRIu64
            ", \"false_positive_rate\": %.3g},\n",
            kinds[crawl->sieve.kind], sieve_count(&crawl->sieve) + lf_load(&crawl->mill.known, relaxed),
            sieve_capacity(&crawl->sieve), sieve_false_positive_rate(&crawl->sieve));
    fprintf(out, "  \"duplicates_forgotten\": %" PRIu64 ",\n", repeats_forgotten(&crawl->repeats));
    fprintf(out,
            "  \"frontier_bytes\": %" PRIu64 ",\n  \"cpu_seconds\": %.3f,\n  \"setup_cpu_seconds\": %.3f,\n"
            "  \"peak_memory_bytes\": %ld\n}\n",
            stats_get(&now->frontier_bytes), (double)clock_process_ns() / 1e9, (double)crawl->setup_cpu_ns / 1e9,
            usage.ru_maxrss * 1024L);
}

/* For a full disk: overwrites the last summary, whose blocks are allocated already. */
static bool write_in_place(const struct status *status, struct crawl *crawl, enum crawl_end end,
                           const char *path)
{
    FILE *out = fopen(path, "r+e");
    if (!out)
        return false;
    summary_print(status, crawl, end, out);
    bool good = fflush(out) == 0 && ftruncate(fileno(out), ftell(out)) == 0;
    return fclose(out) == 0 && good;
}

bool summary_write(const struct status *status, struct crawl *crawl, enum crawl_end end)
{
    char path[1100], next[1100];
    snprintf(path, sizeof path, "%s/summary.json", crawl->directory);
    snprintf(next, sizeof next, "%s/summary.json.open", crawl->directory);
    FILE *out = fopen(next, "we");
    if (!out)
        return false;
    summary_print(status, crawl, end, out);
    bool good = !ferror(out);
    if (fclose(out) == 0 && good && rename(next, path) == 0)
        return true;
    unlink(next);
    return write_in_place(status, crawl, end, path);
}
