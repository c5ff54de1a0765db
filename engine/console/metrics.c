#include "engine/console/metrics.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/crawl/codes.h"
#include "engine/frontier/sieve.h"
#include "lockfree/clock.h"

static void begin(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP lycosa_%s %s\n# TYPE lycosa_%s %s\n", name, help, name, type);
}

/* A family with one series. */
static void write_one(FILE *out, const char *name, const char *type, const char *help, double value)
{
    begin(out, name, type, help);
    fprintf(out, "lycosa_%s %.17g\n", name, value);
}

static void write_counter(FILE *out, const char *name, const char *help, const stats_counter *counter)
{
    begin(out, name, "counter", help);
    fprintf(out, "lycosa_%s %" PRIu64 "\n", name, stats_get(counter));
}

static void write_phase(const struct status *status, FILE *out)
{
    begin(out, "phase", "gauge", "1 for the phase that the crawl is in");
    for (int phase = CRAWL_RUNNING; phase <= CRAWL_ENDING; phase++)
        fprintf(out, "lycosa_phase{phase=\"%s\"} %d\n", gate_phase_name((enum crawl_phase)phase),
                phase == (int)status->phase);
}

static void write_counters(const struct stats *now, FILE *out)
{
    write_counter(out, "pages_total", "Complete responses, without those for robots.txt", &now->pages);
    write_counter(out, "robots_files_total", "Responses for robots.txt", &now->robots_files);
    write_counter(out, "requests_total", "Requests", &now->requests);
    write_counter(out, "visits_total", "Visits: polite bursts of requests over one connection", &now->visits);
    write_counter(out, "retries_total", "URLs that were tried again", &now->retries);
    write_counter(out, "redirects_total", "Redirects", &now->redirects);
    write_counter(out, "received_bytes_total", "Bytes received from sockets", &now->bytes_received);
    write_counter(out, "body_bytes_total", "Bytes of bodies, as transferred", &now->bytes_body);
    write_counter(out, "stored_pages_total", "Pages given to the store", &now->stored);
    write_counter(out, "duplicates_total", "Pages whose body is that of an earlier page", &now->duplicates);
    write_counter(out, "near_duplicates_total", "Pages whose text is nearly that of an earlier page",
                  &now->near_duplicates);
    write_counter(out, "hosts_given_up_total", "Hosts that were given up", &now->hosts_given_up);
    write_counter(out, "urls_found_total", "URLs that the sieve admitted", &now->urls_in);
    write_counter(out, "urls_done_total", "URLs that are finished, whatever became of them", &now->urls_out);
}

static void write_codes(const struct stats *now, FILE *out)
{
    char code[CODES_NAME_BYTES];
    begin(out, "responses_total", "counter", "Responses by status; codes that are not registered by their first digit");
    for (unsigned row = 0; row < CODES_ROWS; row++) {
        uint64_t count = codes_row(now->codes, row, code);
        fprintf(out, "lycosa_responses_total{code=\"%s\"} %" PRIu64 "\n", code, count);
    }
}

static void write_outcomes(const struct stats *now, FILE *out)
{
    begin(out, "fetches_total", "counter", "URLs by what became of them");
    for (int i = 0; i < FETCH_OUTCOME_COUNT; i++)
        fprintf(out, "lycosa_fetches_total{outcome=\"%s\"} %" PRIu64 "\n", fetch_outcome_name((enum fetch_outcome)i),
                stats_get(&now->outcomes[i]));
    write_codes(now, out);
    begin(out, "scope_refused_total", "counter", "Links out of scope by the rule that decided");
    for (int i = 0; i < SCOPE_RULES; i++)
        fprintf(out, "lycosa_scope_refused_total{rule=\"%s\"} %" PRIu64 "\n", scope_rule_name((enum scope_rule)i),
                stats_get(&now->scope[i]));
}

static void write_links(const struct stats *now, FILE *out)
{
    const struct {
        const char *fate;
        const stats_counter *counter;
    } fates[] = {{"new", &now->urls_in},
                 {"known", &now->links_known},
                 {"out_of_scope", &now->links_out_of_scope},
                 {"nofollow", &now->links_nofollow},
                 {"bad", &now->links_bad},
                 {"lost", &now->links_lost}};
    begin(out, "links_total", "counter",
          "Links by their fate; new are those that the sieve let through, seeds and redirects among them");
    for (size_t i = 0; i < sizeof fates / sizeof fates[0]; i++)
        fprintf(out, "lycosa_links_total{fate=\"%s\"} %" PRIu64 "\n", fates[i].fate,
                stats_get(fates[i].counter));
}

static void write_hosts(const struct status *status, FILE *out)
{
    begin(out, "hosts", "gauge", "Hosts by state");
    for (int state = 0; state < HOST_STATES; state++)
        fprintf(out, "lycosa_hosts{state=\"%s\"} %" PRId64 "\n", host_state_name((enum host_state)state),
                status->hosts[state] > 0 ? status->hosts[state] : 0);
    write_one(out, "hosts_failing", "gauge", "Hosts whose last visit failed",
              status->failing_count > 0 ? (double)status->failing_count : 0);
    write_one(out, "addresses", "gauge", "IP addresses", (double)status->address_count);
    write_one(out, "urls_queued", "gauge", "URLs that wait or are being fetched", (double)status->queued);
    write_one(out, "connections", "gauge", "Open connections", (double)stats_get(&status->now.connections));
}

static void write_loops(const struct status *status, FILE *out)
{
    begin(out, "loop_busy_seconds_total", "counter", "Processor time of each loop");
    for (unsigned i = 0; i < status->loop_count; i++)
        fprintf(out, "lycosa_loop_busy_seconds_total{loop=\"%u\"} %.3f\n", i,
                (double)status->loops[i].work_ns / 1e9);
    begin(out, "loop_turns_total", "counter", "Turns of each loop; one that stands still is stuck");
    for (unsigned i = 0; i < status->loop_count; i++)
        fprintf(out, "lycosa_loop_turns_total{loop=\"%u\"} %" PRIu64 "\n", i, status->loops[i].turns);
}

static void write_lookups(const struct stats *now, FILE *out)
{
    begin(out, "dns_lookups_total", "counter", "Look-ups of names by their result; remembered ones asked no name server");
    for (int i = 0; i < STATS_LOOKUPS; i++) {
        const char *result = i == STATS_LOOKUP_REMEMBERED ? "remembered" : dns_error_text((enum dns_error)i);
        if (i != DNS_ERROR_CANCELLED)
            fprintf(out, "lycosa_dns_lookups_total{result=\"%s\"} %" PRIu64 "\n", i == DNS_OK ? "found" : result,
                    stats_get(&now->lookups[i]));
    }
}

static void write_races(const struct stats_races *races, FILE *out)
{
    begin(out, "lost_races_total", "counter", "Attempts that another thread was ahead of, by shared structure");
#define METRICS_RACE(name) \
    fprintf(out, "lycosa_lost_races_total{structure=\"" #name "\"} %" PRIu64 "\n", stats_get(&races->name));
    STATS_RACES(METRICS_RACE)
#undef METRICS_RACE
}

/* Bounds are powers of four of a microsecond (or of a byte), which are bounds of the internal buckets, too: the counts are
 * exact, but for values that equal a bound, which are in the next bucket. */
static void write_histogram(FILE *out, const char *name, const char *help, const struct stats_histogram *histogram,
                            double unit)
{
    uint64_t count = 0;
    unsigned next = 0;
    begin(out, name, "histogram", help);
    for (unsigned bits = 10; bits <= 28; bits += 2) {
        for (unsigned end = log_linear_bucket(UINT64_C(1) << bits); next < end; next++)
            count += stats_get(&histogram->buckets[next]);
        fprintf(out, "lycosa_%s_bucket{le=\"%.9g\"} %" PRIu64 "\n", name, (double)(UINT64_C(1) << bits) * unit, count);
    }
    for (; next < STATS_BUCKETS; next++)
        count += stats_get(&histogram->buckets[next]);
    fprintf(out, "lycosa_%s_bucket{le=\"+Inf\"} %" PRIu64 "\nlycosa_%s_sum %.9g\nlycosa_%s_count %" PRIu64 "\n", name,
            count, name, (double)stats_get(&histogram->sum) * unit, name, count);
}

static void write_limits(const struct stats *now, FILE *out)
{
    begin(out, "limited_seconds_total", "counter", "Time of the loops by what limited them");
    for (int by = 0; by < LIMITED_COUNT; by++)
        fprintf(out, "lycosa_limited_seconds_total{by=\"%s\"} %.3f\n", limited_name((enum limited_by)by),
                (double)stats_get(&now->limited_ns[by]) / 1e9);
}

/* The sieve in memory is filled as far as it has URLs. */
static uint64_t sieve_bytes(struct crawl *crawl)
{
    double capacity = (double)sieve_capacity(&crawl->sieve), share = capacity > 0 ? (double)sieve_count(&crawl->sieve) / capacity : 0;
    return (uint64_t)((double)crawl->tuning.fixed.memory.sieve_bytes * (share < 1 ? share : 1));
}

static void write_memory(const struct status *status, struct crawl *crawl, FILE *out)
{
    const struct tuning_fixed *tuning = &crawl->tuning.fixed;
    const struct {
        const char *name;
        uint64_t used, limit;
    } budgets[] = {
        {"frontier", stats_get(&status->now.frontier_bytes), tuning->memory.frontier_bytes},
        {"pages", stats_get(&status->now.page_bytes), tuning->memory.page_bytes},
        {"robots", lf_load(&crawl->rules.bytes_used, relaxed), tuning->memory.robots_bytes},
        {"sieve", sieve_bytes(crawl), tuning->memory.sieve_bytes},
        {"duplicates", repeats_bytes(&crawl->repeats), tuning->duplicates.bytes},
        {"store", status->written.store_waits, tuning->store.buffer_bytes},
    };
    const size_t count = sizeof budgets / sizeof budgets[0];
    begin(out, "memory_used_bytes", "gauge", "Memory in use, by budget");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "lycosa_memory_used_bytes{budget=\"%s\"} %" PRIu64 "\n", budgets[i].name, budgets[i].used);
    begin(out, "memory_limit_bytes", "gauge", "Budgets of the tuning file");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "lycosa_memory_limit_bytes{budget=\"%s\"} %" PRIu64 "\n", budgets[i].name, budgets[i].limit);
    write_one(out, "hosts_known", "gauge", "Hosts that have a record", (double)status->host_count);
    write_one(out, "hosts_max", "gauge", "memory.hosts", (double)tuning->memory.hosts_max);
    write_one(out, "sieve_urls", "gauge", "URLs that the sieve has seen",
              (double)(sieve_count(&crawl->sieve) + lf_load(&crawl->mill.known, relaxed)));
}

static void write_written(const struct status_written *written, FILE *out)
{
    begin(out, "written_bytes_total", "counter", "Bytes written, by file: of pages, crawl.log, the journal");
    fprintf(out,
            "lycosa_written_bytes_total{file=\"store\"} %" PRIu64 "\nlycosa_written_bytes_total{file=\"log\"} %" PRIu64
            "\nlycosa_written_bytes_total{file=\"journal\"} %" PRIu64 "\n",
            written->store, written->log, written->journal);
}

/* A checkpoint is a commit that has been synced: what even a machine that dies leaves. */
static void write_checkpoint(const struct status *status, const struct crawl *crawl, FILE *out)
{
    uint64_t last_ns = lf_load(&crawl->commit.last_ns, relaxed), synced_ns = lf_load(&crawl->commit.synced_ns, relaxed);
    if (crawl->tuning.fixed.state.journal)
        write_one(out, "commit_age_seconds", "gauge", "Time since the last commit",
                  status->now_ns > last_ns ? (double)(status->now_ns - last_ns) / 1e9 : 0);
    double ago_s = ((double)clock_now_ns() - (double)synced_ns) / 1e9;
    write_one(out, "checkpoint_timestamp_seconds", "gauge", "When the last commit was synced, since 1970; 0: none was",
              synced_ns ? (double)clock_wall_us() / 1e6 - ago_s : 0);
    write_one(out, "checkpoint_duration_seconds", "gauge", "How long that sync took",
              (double)lf_load(&crawl->commit.sync_took_ns, relaxed) / 1e9);
}

static void write_disk(const struct status *status, const struct crawl *crawl, FILE *out)
{
    write_one(out, "unwritten_bytes", "gauge", "Bytes on their way to the disk", (double)status->unwritten_bytes);
    if (lf_load(&crawl->disk_size, relaxed))
        write_one(out, "disk_free_bytes", "gauge", "Free space where the crawl is", (double)lf_load(&crawl->disk_free, relaxed));
    write_one(out, "disk_reserve_bytes", "gauge", "state.reserve: with less free space the crawl ends",
              (double)crawl->tuning.fixed.state.reserve_bytes);
    write_written(&status->written, out);
    write_checkpoint(status, crawl, out);
    write_one(out, "folds_total", "counter", "Times that the journal was folded",
              (double)lf_load(&crawl->commit.fold.folds_told, relaxed));
    write_one(out, "fold_failing", "gauge", "1 while the journal should be folded and cannot be", status->fold_trouble != 0);
}

/* The names that every Prometheus client library has. */
static void write_process(FILE *out)
{
    struct rusage usage;
    long pages = 0;
    getrusage(RUSAGE_SELF, &usage);
    fprintf(out,
            "# HELP process_cpu_seconds_total Processor time\n# TYPE process_cpu_seconds_total counter\n"
            "process_cpu_seconds_total %.3f\n",
            (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm && fscanf(statm, "%*s %ld", &pages) == 1)
        fprintf(out,
                "# HELP process_resident_memory_bytes Resident memory\n# TYPE process_resident_memory_bytes gauge\n"
                "process_resident_memory_bytes %ld\n",
                pages * sysconf(_SC_PAGESIZE));
    if (statm)
        fclose(statm);
}

/* Counters begin with the process. A crawl that was killed is resumed from its last commit, before what was scraped: a
 * counter that went on from there would have fallen by a little, which Prometheus takes for a new start and adds all of it. */
void metrics_write(const struct status *status, struct crawl *crawl, FILE *out)
{
    static struct stats own; /* large; the console has one thread */
    const struct stats *now = &own;
    status_count_own(&own, crawl);
    begin(out, "build_info", "gauge", "The version, as a label");
    fprintf(out, "lycosa_build_info{version=\"%s\"} 1\n", LYCOSA_VERSION);
    write_one(out, "start_time_seconds", "gauge", "When this process began to crawl, since 1970",
              (double)clock_wall_us() / 1e6 - status->seconds);
    write_one(out, "running_seconds_total", "counter", "How long this process crawled, pauses left out",
              status->running_s - (double)crawl->ran_before_ns / 1e9);
    write_phase(status, out);
    write_counters(now, out);
    write_outcomes(now, out);
    write_links(now, out);
    write_hosts(status, out);
    write_histogram(out, "fetch_duration_seconds", "From the request to the last byte", &now->fetch_us, 1e-6);
    write_histogram(out, "first_byte_duration_seconds", "From the request to the first byte", &now->first_byte_us,
                    1e-6);
    write_histogram(out, "page_size_bytes", "Bodies, as transferred", &now->body_bytes, 1);
    write_histogram(out, "rest_duration_seconds", "Rests of hosts, as set after each visit", &now->rest_us, 1e-6);
    write_histogram(out, "dns_duration_seconds", "Look-ups that asked a name server", &now->dns_us, 1e-6);
    write_lookups(now, out);
    write_races(&now->lost_races, out);
    begin(out, "tls_handshakes_total", "counter", "TLS handshakes");
    fprintf(out, "lycosa_tls_handshakes_total{kind=\"full\"} %" PRIu64 "\n",
            stats_get(&now->tls_handshakes) - stats_get(&now->tls_resumed));
    fprintf(out, "lycosa_tls_handshakes_total{kind=\"resumed\"} %" PRIu64 "\n", stats_get(&now->tls_resumed));
    write_limits(now, out);
    write_loops(status, out);
    write_one(out, "connections_max", "gauge", "net.connections", (double)crawl->tuning.fixed.net.connections);
    write_memory(status, crawl, out);
    write_disk(status, crawl, out);
    write_process(out);
}
