#include "engine/status.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/loop.h"
#include "lockfree/clock.h"

void status_update(struct status *status, const struct crawl *crawl)
{
    uint64_t now_ns = clock_now_ns();
    memset(&status->now, 0, sizeof status->now);
    memset(status->hosts, 0, sizeof status->hosts);
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        stats_sum(&status->now, &crawl->loops[i].stats);
        for (int state = 0; state < HOST_STATES; state++)
            status->hosts[state] += lf_load(&crawl->loops[i].frontier.states[state], relaxed);
    }
    uint64_t pages = stats_get(&status->now.pages), bytes = stats_get(&status->now.bytes_received);
    double seconds = (double)(now_ns - status->last_ns) / 1e9;
    if (status->last_ns && seconds > 0) {
        status->pages_per_s = (uint64_t)((double)(pages - status->last_pages) / seconds);
        status->bytes_per_s = (uint64_t)((double)(bytes - status->last_bytes) / seconds);
    }
    status->last_ns = status->now_ns = now_ns;
    status->last_pages = pages;
    status->last_bytes = bytes;
}

static double seconds_of(const struct status *status, const struct crawl *crawl)
{
    return (double)(status->now_ns - crawl->begin_ns) / 1e9;
}

static uint64_t queued(const struct status *status)
{
    uint64_t in = stats_get(&status->now.urls_in), out = stats_get(&status->now.urls_out);
    return in > out ? in - out : 0;
}

static void print_line(const struct status *status, const struct crawl *crawl, FILE *out)
{
    const struct stats *now = &status->now;
    fprintf(out,
            "%7.1fs  pages %" PRIu64 " (%" PRIu64 "/s)  %.1f MB/s  connections %" PRIu64
            "  hosts ready %" PRId64 " resting %" PRId64 " unresolved %" PRId64 "  queue %" PRIu64
            "  failed %" PRIu64 "\n",
            seconds_of(status, crawl), stats_get(&now->pages), status->pages_per_s,
            (double)status->bytes_per_s / 1e6, stats_get(&now->connections), status->hosts[HOST_READY],
            status->hosts[HOST_RESTING], status->hosts[HOST_RESOLVING] + status->hosts[HOST_ARRIVING],
            queued(status), stats_get(&now->urls_out) - stats_get(&now->outcomes[FETCH_DONE]));
    fflush(out);
}

/* The three most frequent outcomes beside "done". */
static void print_outcomes(const struct stats *now, FILE *out)
{
    bool shown[FETCH_OUTCOME_COUNT] = {[FETCH_DONE] = true};
    for (int place = 0; place < 3; place++) {
        int most = FETCH_DONE;
        for (int i = 0; i < FETCH_OUTCOME_COUNT; i++)
            if (!shown[i] && stats_get(&now->outcomes[i]) &&
                (most == FETCH_DONE || stats_get(&now->outcomes[i]) > stats_get(&now->outcomes[most])))
                most = i;
        if (most == FETCH_DONE)
            break;
        shown[most] = true;
        fprintf(out, "%s%s %" PRIu64, place ? ", " : "", outcome_name((enum fetch_outcome)most),
                stats_get(&now->outcomes[most]));
    }
}

static void print_block(struct status *status, const struct crawl *crawl, FILE *out)
{
    const struct stats *now = &status->now;
    if (status->lines)
        fprintf(out, "\033[%uA", status->lines);
    fprintf(out, "\033[K%.0f s, crawling to %s\n", seconds_of(status, crawl), crawl->directory);
    fprintf(out, "\033[K  pages       %12" PRIu64 "  %8" PRIu64 "/s   received %.1f MB/s\n",
            stats_get(&now->pages), status->pages_per_s, (double)status->bytes_per_s / 1e6);
    fprintf(out, "\033[K  connections %12" PRIu64 "  visits %" PRIu64 ", robots.txt %" PRIu64 "\n",
            stats_get(&now->connections), stats_get(&now->visits), stats_get(&now->robots_files));
    fprintf(out,
            "\033[K  hosts       %12u  ready %" PRId64 ", resting %" PRId64 ", unresolved %" PRId64
            ", idle %" PRId64 "\n",
            lf_load(&crawl->frontier.host_count, relaxed), status->hosts[HOST_READY],
            status->hosts[HOST_RESTING], status->hosts[HOST_RESOLVING] + status->hosts[HOST_ARRIVING],
            status->hosts[HOST_IDLE]);
    fprintf(out,
            "\033[K  queue       %12" PRIu64 "  links %" PRIu64 ", known %" PRIu64 ", out of scope %" PRIu64
            "\n",
            queued(status), stats_get(&now->links), stats_get(&now->links_known),
            stats_get(&now->links_out_of_scope));
    fprintf(out, "\033[K  done        %12" PRIu64 "  ", stats_get(&now->outcomes[FETCH_DONE]));
    print_outcomes(now, out);
    fprintf(out, "\n");
    fflush(out);
    status->lines = 6;
}

void status_print(struct status *status, const struct crawl *crawl, FILE *out)
{
    if (crawl->is_live)
        print_block(status, crawl, out);
    else
        print_line(status, crawl, out);
}

static void write_counters(const struct stats *now, FILE *out)
{
#define STATUS_COUNTER(name) fprintf(out, "  \"" #name "\": %" PRIu64 ",\n", stats_get(&now->name));
    STATS_COUNTERS(STATUS_COUNTER)
#undef STATUS_COUNTER
}

static void write_races(const struct stats_races *races, FILE *out)
{
    uint64_t sum = 0;
    const char *comma = "";
#define STATUS_ADD(name) sum += stats_get(&races->name);
    STATS_RACES(STATUS_ADD)
#undef STATUS_ADD
    fprintf(out, "  \"lost_races\": %" PRIu64 ",\n  \"lost_races_by\": {", sum);
#define STATUS_RACE(name)                                                                                    \
    fprintf(out, "%s\"" #name "\": %" PRIu64, comma, stats_get(&races->name));                               \
    comma = ", ";
    STATS_RACES(STATUS_RACE)
#undef STATUS_RACE
    fprintf(out, "},\n");
}

static void write_outcomes(const struct stats *now, FILE *out)
{
    const char *comma = "";
    fprintf(out, "  \"outcomes\": {");
    for (int i = 0; i < FETCH_OUTCOME_COUNT; i++)
        if (stats_get(&now->outcomes[i])) {
            fprintf(out, "%s\"%s\": %" PRIu64, comma, outcome_name((enum fetch_outcome)i),
                    stats_get(&now->outcomes[i]));
            comma = ", ";
        }
    fprintf(out, "},\n  \"status\": {");
    comma = "";
    for (int i = 1; i < 6; i++)
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

static void write_quantiles(const char *name, const struct stats_histogram *histogram, FILE *out)
{
    fprintf(out,
            "  \"%s\": {\"p50\": %" PRIu64 ", \"p90\": %" PRIu64 ", \"p99\": %" PRIu64 ", \"max\": %" PRIu64
            "},\n",
            name, stats_quantile(histogram, 0.5), stats_quantile(histogram, 0.9),
            stats_quantile(histogram, 0.99), stats_quantile(histogram, 1));
}

static void write_summary(const struct status *status, struct crawl *crawl, FILE *out)
{
    const struct stats *now = &status->now;
    double seconds = seconds_of(status, crawl);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    fprintf(out, "{\n  \"software\": \"lycosa/%s\",\n  \"end\": \"%s\",\n", LYCOSA_VERSION,
            crawl_end_name(crawl->end));
    fprintf(out, "  \"seconds\": %.3f,\n  \"threads\": %u,\n", seconds, crawl->loop_count);
    write_counters(now, out);
    write_races(&now->lost_races, out);
    write_outcomes(now, out);
    write_quantiles("fetch_us", &now->fetch_us, out);
    write_quantiles("first_byte_us", &now->first_byte_us, out);
    write_quantiles("body_bytes_quantiles", &now->body_bytes, out);
    fprintf(out, "  \"hosts\": %u,\n  \"addresses\": %u,\n  \"queued\": %" PRIu64 ",\n",
            lf_load(&crawl->frontier.host_count, relaxed), lf_load(&crawl->frontier.address_count, relaxed),
            queued(status));
    fprintf(out, "  \"pages_per_s\": %.1f,\n  \"megabytes_per_s\": %.3f,\n",
            (double)stats_get(&now->pages) / seconds,
            (double)stats_get(&now->bytes_received) / 1e6 / seconds);
    fprintf(out,
            "  \"sieve\": {\"kind\": \"%s\", \"urls\": %" PRIu64 ", \"capacity\": %" PRIu64
            ", \"false_positive_rate\": %.3g},\n",
            crawl->sieve.kind == TUNING_SIEVE_BLOOM ? "bloom" : "signatures", sieve_count(&crawl->sieve),
            sieve_capacity(&crawl->sieve), sieve_false_positive_rate(&crawl->sieve));
    fprintf(out, "  \"frontier_bytes\": %zu,\n  \"cpu_seconds\": %.3f,\n  \"peak_memory_bytes\": %ld\n}\n",
            lf_load(&crawl->frontier.urls.used, relaxed),
            (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
            usage.ru_maxrss * 1024L);
}

/* The disk is full: the blocks of the last summary are there to be used again. */
static bool write_in_place(const struct status *status, struct crawl *crawl, const char *path,
                           const char *next)
{
    unlink(next);
    FILE *out = fopen(path, "r+e");
    if (!out)
        return false;
    write_summary(status, crawl, out);
    bool good = fflush(out) == 0 && ftruncate(fileno(out), ftell(out)) == 0;
    return fclose(out) == 0 && good;
}

bool status_write_summary(struct status *status, struct crawl *crawl)
{
    char path[1100], next[1100];
    snprintf(path, sizeof path, "%s/summary.json", crawl->directory);
    snprintf(next, sizeof next, "%s/summary.json.open", crawl->directory);
    FILE *out = fopen(next, "we");
    if (!out)
        return false;
    write_summary(status, crawl, out);
    bool good = !ferror(out);
    good = fclose(out) == 0 && good && rename(next, path) == 0;
    return good || write_in_place(status, crawl, path, next);
}
