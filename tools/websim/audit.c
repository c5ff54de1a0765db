#include "tools/websim/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/clock.h"
#include "tools/websim/commands.h"

#define NS_PER_US 1000

const char *websim_rule_text(enum websim_rule rule)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        WEBSIM_RULES(TEXT)
#undef TEXT
    };
    return texts[rule];
}

static int by_connection(const void *a, const void *b)
{
    const struct websim_record *left = a, *right = b;
    if (left->connection != right->connection)
        return left->connection < right->connection ? -1 : 1;
    return left->time_event < right->time_event ? -1 : left->time_event > right->time_event;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) {
        fprintf(stderr, "websim audit: no memory for %zu records\n", count);
        exit(WEBSIM_EXIT_FAILED);
    }
    return memory;
}

static void end_request(struct websim_audit_request *request, const struct websim_record *record)
{
    request->end = websim_record_time(record);
    request->complete = websim_record_event(record) == WEBSIM_EVENT_END;
    request->status = record->status;
    request->retry_after_s = record->retry_after_s;
}

/* The records of one connection; `last_ns` ends what the journal leaves open. */
static void read_connection(struct websim_audit *audit, const struct websim_record *records, size_t count,
                            uint64_t last_ns)
{
    struct websim_audit_connection connection = {.open = websim_record_time(&records[0]), .close = last_ns};
    size_t first = audit->request_count;
    for (size_t i = 0; i < count; i++) {
        const struct websim_record *record = &records[i];
        struct websim_audit_request *request = &audit->requests[audit->request_count];
        enum websim_event event = websim_record_event(record);
        if (event == WEBSIM_EVENT_CLOSE)
            connection.close = websim_record_time(record);
        if (event == WEBSIM_EVENT_REQUEST) {
            uint32_t host = websim_url_unpack(record->url).host;
            *request = (struct websim_audit_request){
                .start = audit->request_count == first ? connection.open : websim_record_time(record),
                .end = last_ns,
                .url = record->url,
                .connection = record->connection,
                .host = host,
                .address = websim_host_address(&audit->web, host)};
            audit->request_count++;
        }
        if ((event == WEBSIM_EVENT_END || event == WEBSIM_EVENT_ABORT) && audit->request_count > first)
            end_request(request - 1, record);
    }
    if (audit->request_count == first) {
        audit->unused_connections++;
        return;
    }
    connection.host = audit->requests[first].host;
    connection.address = audit->requests[first].address;
    audit->connections[audit->connection_count++] = connection;
}

void websim_audit_init(struct websim_audit *audit, struct websim_journal_contents *journal,
                       const struct websim_audit_options *options)
{
    uint64_t last_ns = journal->count ? websim_record_time(&journal->records[journal->count - 1]) : 0;
    memset(audit, 0, sizeof *audit);
    websim_web_init(&audit->web, &journal->parameters);
    audit->options = *options;
    audit->start_ns = journal->count ? websim_record_time(&journal->records[0]) : 0;
    audit->requests = allocate(journal->count, sizeof *audit->requests);
    audit->connections = allocate(journal->count, sizeof *audit->connections);
    audit->visits_ns = allocate(journal->count, sizeof *audit->visits_ns);
    audit->rests_ns = allocate(journal->count, sizeof *audit->rests_ns);
    audit->visit_requests = allocate(journal->count, sizeof *audit->visit_requests);
    qsort(journal->records, journal->count, sizeof *journal->records, by_connection);
    for (size_t i = 0, end; i < journal->count; i = end) {
        for (end = i + 1; end < journal->count; end++)
            if (journal->records[end].connection != journal->records[i].connection)
                break;
        read_connection(audit, &journal->records[i], end - i, last_ns);
    }
}

void websim_audit_fini(struct websim_audit *audit)
{
    free(audit->requests);
    free(audit->connections);
    free(audit->visits_ns);
    free(audit->rests_ns);
    free(audit->visit_requests);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Quantiles of values, divided by `unit`. */
static void print_distribution(FILE *out, const char *name, uint64_t *values, size_t count, double unit)
{
    static const struct {
        const char *name;
        double at;
    } quantiles[] = {{"min", 0},   {"p1", 0.01},  {"p10", 0.1}, {"p50", 0.5},
                     {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};
    fprintf(out, "  %-34s n %zu", name, count);
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; count && i < sizeof quantiles / sizeof *quantiles; i++)
        fprintf(out, "  %s %.3f", quantiles[i].name,
                (double)values[(size_t)(quantiles[i].at * (double)(count - 1))] / unit);
    fputc('\n', out);
}

static void print_case(const struct websim_audit *audit, const struct websim_audit_case *found, FILE *out)
{
    char text[WEBSIM_URL_BYTES];
    if (found->url == UINT64_MAX || websim_url_unpack(found->url).kind == WEBSIM_KIND_OTHER)
        websim_host_origin(&audit->web, found->host, text);
    else
        websim_url_write(&audit->web, websim_url_unpack(found->url), text);
    fprintf(out, "    at %.6f s", (double)(found->time_ns - audit->start_ns) / CLOCK_NS_PER_S);
    if (found->excess_ns)
        fprintf(out, " by %.3f ms", (double)found->excess_ns / CLOCK_NS_PER_MS);
    fprintf(out, "  %u.%u.%u.%u  %s\n", found->address >> 24, found->address >> 16 & 255,
            found->address >> 8 & 255, found->address & 255, text);
}

void websim_audit_print(struct websim_audit *audit, FILE *out)
{
    uint64_t *fetches = allocate(audit->request_count, sizeof *fetches), total = 0;
    for (size_t i = 0; i < audit->request_count; i++)
        fetches[i] = audit->requests[i].end - audit->requests[i].start;
    fprintf(out,
            "audit: %zu requests on %zu connections (%" PRIu64 " more without a request), tolerance %" PRIu64
            " us\n",
            audit->request_count, audit->connection_count, audit->unused_connections,
            audit->options.tolerance_ns / NS_PER_US);
    print_distribution(out, "time of a request, ms", fetches, audit->request_count, CLOCK_NS_PER_MS);
    print_distribution(out, "time of a visit, ms", audit->visits_ns, audit->visit_count, CLOCK_NS_PER_MS);
    print_distribution(out, "requests of a visit", audit->visit_requests, audit->visit_count, 1);
    print_distribution(out, "rest between visits of a host, ms", audit->rests_ns, audit->rest_count,
                       CLOCK_NS_PER_MS);
    free(fetches);
    for (unsigned rule = 0; rule < WEBSIM_RULE_COUNT; rule++) {
        const struct websim_audit_finding *finding = &audit->findings[rule];
        fprintf(out, "%-52s checked %" PRIu64 " violations %" PRIu64 "\n",
                websim_rule_text((enum websim_rule)rule), finding->checked, finding->violations);
        for (unsigned i = 0; i < finding->worst_count; i++)
            print_case(audit, &finding->worst[i], out);
        total += finding->violations;
    }
    fprintf(out, "audit: %" PRIu64 " violations\n", total);
}

/* Milliseconds and the like from the command line to what the audit counts in. */
struct audit_arguments {
    uint64_t burst_ms, min_idle_ms, address_min_idle_ms, delay_ms, tolerance_us;
};

#define UNSET                UINT64_MAX
#define MS_MAX               (UINT64_C(1) << 32)
#define TOLERANCE_US_DEFAULT 2000

static int run(const char *path, struct websim_audit_options options)
{
    struct websim_journal_contents journal;
    struct websim_audit audit;
    if (websim_journal_read(&journal, path) != 0)
        return WEBSIM_EXIT_USAGE;
    if (!options.agent)
        options.agent = journal.parameters.agent;
    websim_audit_init(&audit, &journal, &options);
    uint64_t violations = websim_audit_judge(&audit);
    websim_audit_print(&audit, stdout);
    websim_audit_fini(&audit);
    websim_journal_free(&journal);
    return violations ? WEBSIM_EXIT_FAILED : WEBSIM_EXIT_DONE;
}

static const char *add_kill(void *target, const char *text)
{
    struct websim_audit_options *options = target;
    struct websim_audit_kill kill;
    char end;
    if (options->killed_count == WEBSIM_AUDIT_KILLS_MAX)
        return "too many of them";
    if (sscanf(text, "%" SCNu64 ":%" SCNu64 "%c", &kill.at_ns, &kill.heard_ns, &end) != 2 ||
        kill.heard_ns > kill.at_ns)
        return "expected AT:HEARD, in nanoseconds, the later one first";
    options->killed[options->killed_count++] = kill;
    return NULL;
}

static struct websim_audit_options options = {.connections_per_address = 1};
static struct audit_arguments times = {.tolerance_us = TOLERANCE_US_DEFAULT};

static const struct websim_option rows[] = {
    {.name = "ratio",
     .type = WEBSIM_OPTION_RATIO,
     .target = &options.ratio_ppm,
     .max = UNSET,
     .help = "fetching to idling, per host; 0: not checked"},
    {.name = "ip-ratio",
     .type = WEBSIM_OPTION_RATIO,
     .target = &options.address_ratio_ppm,
     .max = UNSET,
     .help = "the same per address; 0: not checked"},
    {.name = "burst-ms",
     .type = WEBSIM_OPTION_COUNT,
     .target = &times.burst_ms,
     .max = MS_MAX,
     .help = "no request of a visit starts later than this after its beginning"},
    {.name = "min-idle-ms",
     .type = WEBSIM_OPTION_COUNT,
     .target = &times.min_idle_ms,
     .max = MS_MAX,
     .help = "shortest rest of a host between visits"},
    {.name = "ip-min-idle-ms",
     .type = WEBSIM_OPTION_COUNT,
     .target = &times.address_min_idle_ms,
     .max = MS_MAX,
     .help = "the same per address"},
    {.name = "delay-ms",
     .type = WEBSIM_OPTION_COUNT,
     .target = &times.delay_ms,
     .max = MS_MAX,
     .help = "from the end of a request to the start of the host's next; 0: not checked"},
    {.name = "connections-per-address",
     .type = WEBSIM_OPTION_COUNT,
     .target = &options.connections_per_address,
     .min = 1,
     .max = 1 << 16,
     .help = "at a time"},
    {.name = "tolerance-us",
     .type = WEBSIM_OPTION_COUNT,
     .target = &times.tolerance_us,
     .max = MS_MAX,
     .help = "difference between the client's and the server's view of a moment"},
    {.name = "as",
     .type = WEBSIM_OPTION_TEXT,
     .target = &options.agent,
     .argument = "NAME",
     .help = "product name of the crawler; otherwise the web's --agent"},
    {.name = "kills",
     .type = WEBSIM_OPTION_COUNT,
     .target = &options.kills,
     .max = 1 << 20,
     .help = "times that the crawler was killed and resumed: so often a URL may be asked for again"},
    {.name = "killed",
     .type = WEBSIM_OPTION_CALL,
     .target = &options,
     .call = add_kill,
     .argument = "AT:HEARD",
     .help = "for each time: when it was dead, and from when on it may forget; monotonic ns"},
    {.name = "robots-known",
     .type = WEBSIM_OPTION_FLAG,
     .target = &options.robots_known,
     .help = "the crawler had robots.txt before the journal began"},
};

const struct websim_command websim_audit = {
    .command = {.program = "websim",
                .name = "audit",
                .run = websim_audit_main,
                .synopsis = "FILE [RULES]",
                .summary = "judges a client's manners; exit code 1 if a rule was broken",
                .description =
                    "Reads the journal that `websim serve --journal FILE` wrote, and counts how often the "
                    "client broke each rule. The exit code is 1 if any was broken."},
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .operands_max = 1,
};

int websim_audit_main(int argc, char **argv)
{
    int operands = websim_commands_parse(&websim_audit, NULL, argc, argv);
    if (operands < 0)
        return WEBSIM_EXIT_USAGE;
    if (operands != 1)
        return websim_options_error("audit", "expected one FILE, a journal of websim serve");
    options.burst_ns = times.burst_ms * CLOCK_NS_PER_MS;
    options.min_idle_ns = times.min_idle_ms * CLOCK_NS_PER_MS;
    options.address_min_idle_ns = times.address_min_idle_ms * CLOCK_NS_PER_MS;
    options.delay_ns = times.delay_ms * CLOCK_NS_PER_MS;
    options.tolerance_ns = times.tolerance_us * NS_PER_US;
    return run(argv[1], options);
}

const struct websim_command websim_journal = {
    .command = {.program = "websim",
                .name = "journal",
                .run = websim_journal_main,
                .synopsis = "dump FILE | now",
                .summary = "a journal as text: time, connection, event, status, retry-after, URL",
                .description =
                    "Prints what `websim serve --journal FILE` recorded, a line per event: time, connection, "
                    "event, status, retry-after, URL. `now` prints the moment by the clock of the journals, in "
                    "nanoseconds.",
                .words = "dump now"},
    .operands_max = 2,
};

int websim_journal_main(int argc, char **argv)
{
    struct websim_journal_contents journal;
    int operands = websim_commands_parse(&websim_journal, NULL, argc, argv);
    if (operands < 0)
        return WEBSIM_EXIT_USAGE;
    if (operands == 1 && strcmp(argv[1], "now") == 0)
        return printf("%" PRIu64 "\n", clock_now_ns()) > 0 ? WEBSIM_EXIT_DONE : WEBSIM_EXIT_FAILED;
    if (operands != 2 || strcmp(argv[1], "dump") != 0)
        return websim_options_error("journal", "expected: websim journal dump FILE, or now");
    if (websim_journal_read(&journal, argv[2]) != 0)
        return WEBSIM_EXIT_USAGE;
    websim_journal_dump(&journal, stdout);
    websim_journal_free(&journal);
    return ferror(stdout) ? WEBSIM_EXIT_FAILED : WEBSIM_EXIT_DONE;
}
