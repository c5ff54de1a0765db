#include "tools/lycosa/fetch_run.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/json.h"

#define NO_JOB UINT64_MAX

/* One connection and the fetch that it is busy with. */
struct worker {
    struct conn conn;
    struct fetch *fetch;
    struct timer limit;
    uint64_t job;                  /* number of the fetch, or NO_JOB */
    struct lycosa_fetch_url *from; /* whose host the connection is open to */
    uint64_t begin_ns;
    uint64_t bytes; /* of the body */
    int status;
    bool is_first; /* the fetch that opened the connection */
    bool was_retried;
    FILE *out;  /* where the body goes; NULL: nowhere */
    char *kept; /* the body, if it goes to stdout whole */
    size_t kept_len;
    enum tls_error certificate;
};

/* The whole run: jobs are numbers, and job n fetches URL n / repeat. */
struct fetch {
    const struct lycosa_fetch_options *options;
    struct lycosa_fetch_url *urls;
    uint64_t jobs;
    uint64_t next;
    uint64_t failed;
    unsigned active; /* workers that are not done */
    int exit;
    char user_agent[256];
    struct ring ring;
    struct bufring buffers;
    struct conn_loop loop;
    struct dns *dns;
    struct tls_trust *trust;
    struct tls_pool *tls;
    unsigned worker_count;
    struct worker *workers;
};

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

static struct lycosa_fetch_url *url_of(const struct fetch *fetch, uint64_t job)
{
    return &fetch->urls[job / fetch->options->repeat];
}

static void fail_writing(struct fetch *fetch, const char *what)
{
    fprintf(stderr, "lycosa fetch: cannot write %s: %s\n", what, strerror(errno));
    fetch->exit = errno == ENOSPC || errno == EDQUOT ? LYCOSA_EXIT_DISK_FULL : LYCOSA_EXIT_FAILED;
    fetch->next = fetch->jobs;
}

/* Bodies go to a file each, or to stdout: at once over one connection, else whole, one after the other. */
static void open_output(struct worker *worker)
{
    const struct lycosa_fetch_options *options = worker->fetch->options;
    char path[4096];
    worker->kept = NULL;
    worker->out = NULL;
    if (options->directory) {
        snprintf(path, sizeof path, "%s/%llu", options->directory, (unsigned long long)worker->job + 1);
        worker->out = fopen(path, "we");
        if (!worker->out)
            fail_writing(worker->fetch, path);
    } else if (!options->json) {
        worker->out = options->connections == 1 ? stdout : open_memstream(&worker->kept, &worker->kept_len);
    }
}

static void close_output(struct worker *worker)
{
    if (!worker->out)
        return;
    const bool failed = worker->out == stdout ? fflush(stdout) != 0 : fclose(worker->out) != 0;
    if (failed)
        fail_writing(worker->fetch, "the body");
    if (worker->kept && fwrite(worker->kept, 1, worker->kept_len, stdout) != worker->kept_len)
        fail_writing(worker->fetch, "to stdout");
    free(worker->kept);
    worker->kept = NULL;
    worker->out = NULL;
}

static struct slice address_text(const struct conn *conn, char *buffer)
{
    if (!conn->times.resolved_ns || conn->address.any.sa_family == AF_UNSPEC)
        return SLICE(""); /* the name has no address */
    struct ip ip = ip_of_socket(&conn->address);
    return ip_text(&ip, buffer);
}

/* Milliseconds between two moments; 0 where one did not happen. */
static double span_ms(uint64_t from_ns, uint64_t to_ns)
{
    return from_ns && to_ns > from_ns ? (double)(to_ns - from_ns) / (double)CLOCK_NS_PER_MS : 0;
}

static void print_times(const struct worker *worker)
{
    const struct conn_times *times = &worker->conn.times;
    const bool first = worker->is_first;
    printf(",\"dns_ms\":%.3f", first ? span_ms(times->begin_ns, times->resolved_ns) : 0);
    printf(",\"connect_ms\":%.3f", first ? span_ms(times->resolved_ns, times->connected_ns) : 0);
    printf(",\"tls_ms\":%.3f", first ? span_ms(times->connected_ns, times->secured_ns) : 0);
    printf(",\"first_byte_ms\":%.3f", span_ms(times->request_ns, times->first_byte_ns));
    printf(",\"total_ms\":%.3f", span_ms(worker->begin_ns, clock_now_ns()));
}

static void print_json(const struct worker *worker, enum outcome outcome)
{
    const struct conn *conn = &worker->conn;
    char address[INET6_ADDRSTRLEN];
    lycosa_json_member(stdout, true, "url", url_text(&url_of(worker->fetch, worker->job)->url));
    lycosa_json_member(stdout, false, "outcome", slice_of(outcome_name(outcome)));
    printf(",\"status\":%d", worker->status);
    lycosa_json_member(stdout, false, "address", address_text(conn, address));
    printf(",\"bytes\":%llu,\"reused\":%s", (unsigned long long)worker->bytes,
           worker->is_first ? "false" : "true");
    if (conn->tls && conn->times.secured_ns) {
        lycosa_json_member(stdout, false, "tls", slice_of(tls_version_text(conn->tls)));
        lycosa_json_member(stdout, false, "suite", slice_of(tls_suite_text(conn->tls)));
        printf(",\"resumed\":%s", tls_was_resumed(conn->tls) ? "true" : "false");
    }
    if (worker->certificate != TLS_OK)
        lycosa_json_member(stdout, false, "certificate", slice_of(tls_error_text(worker->certificate)));
    if (worker->fetch->options->directory)
        printf(",\"file\":\"%llu\"", (unsigned long long)worker->job + 1);
    print_times(worker);
    fputs("}\n", stdout);
}

/* A head on stderr, each line behind a mark. */
static void show_lines(const char *mark, struct slice text)
{
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        const struct slice line = end ? slice_between(text.ptr, end) : text;
        text = slice_skip(text, end ? line.len + 1 : line.len);
        fprintf(stderr, "%s %.*s\n", mark, (int)line.len, line.ptr);
    }
}

static void show_address(const struct worker *worker, const char *what)
{
    char address[INET6_ADDRSTRLEN];
    fprintf(stderr, "* %s %s port %u\n", what, address_text(&worker->conn, address).ptr,
            worker->from->url.port);
}

static void show_request(const struct worker *worker, const struct http_request *request)
{
    const struct conn *conn = &worker->conn;
    char text[URL_BYTES_MAX + 2048];
    size_t len = 0;
    if (worker->is_first)
        show_address(worker, "connected to");
    if (worker->is_first && conn->tls)
        fprintf(stderr, "* %s, %s%s\n", tls_version_text(conn->tls), tls_suite_text(conn->tls),
                tls_was_resumed(conn->tls) ? ", resumed" : "");
    http_request_write(request, text, sizeof text, &len);
    show_lines(">", (struct slice){text, len});
}

static void show_times(const struct worker *worker, enum outcome outcome)
{
    const struct conn_times *times = &worker->conn.times;
    if (times->resolved_ns && !worker->conn.had_request)
        show_address(worker, times->connected_ns ? "connected to" : "could not connect to");
    fprintf(stderr, "* %s: %llu bytes, first byte after %.3f ms, %.3f ms in all\n", outcome_name(outcome),
            (unsigned long long)worker->bytes, span_ms(times->request_ns, times->first_byte_ns),
            span_ms(worker->begin_ns, clock_now_ns()));
}

static void finish_job(struct worker *worker, enum outcome outcome)
{
    struct fetch *fetch = worker->fetch;
    const struct slice url = url_text(&url_of(fetch, worker->job)->url);
    timer_cancel(&fetch->ring.timers, &worker->limit);
    close_output(worker);
    if (fetch->options->verbose)
        show_times(worker, outcome);
    if (fetch->options->json)
        print_json(worker, outcome);
    else if (outcome != OUTCOME_DONE)
        fprintf(stderr, "lycosa fetch: %.*s: %s\n", (int)url.len, url.ptr, outcome_name(outcome));
    else if (worker->certificate != TLS_OK && worker->is_first)
        fprintf(stderr, "lycosa fetch: %.*s: accepted although %s\n", (int)url.len, url.ptr,
                tls_error_text(worker->certificate));
    fetch->failed += outcome != OUTCOME_DONE;
    worker->job = NO_JOB;
}

static void make_request(struct worker *worker)
{
    const struct url *url = &url_of(worker->fetch, worker->job)->url;
    const struct http_request request = {
        .method = worker->fetch->options->head_only ? SLICE("HEAD") : SLICE("GET"),
        .target = url_path_query(url),
        .host = url_authority(url),
        .user_agent = slice_of(worker->fetch->user_agent),
        .accept = SLICE("*/*"),
    };
    if (worker->fetch->options->verbose)
        show_request(worker, &request);
    conn_request(&worker->conn, &request);
}

static struct slice host_name(const struct url *url)
{
    const struct slice host = url_host(url);
    return host.len && host.ptr[0] == '[' ? (struct slice){host.ptr + 1, host.len - 2} : host;
}

static void begin_connection(struct worker *worker)
{
    struct lycosa_fetch_url *from = url_of(worker->fetch, worker->job);
    worker->from = from;
    worker->is_first = true;
    worker->certificate = TLS_OK;
    conn_begin(&worker->conn, &(struct conn_target){
                                  .host = host_name(&from->url),
                                  .port = from->url.port,
                                  .tls = url_is_https(&from->url),
                                  .session = &from->host->session,
                              });
}

/* The next job, over the open connection if that leads to its host. */
static void begin_job(struct worker *worker)
{
    struct fetch *fetch = worker->fetch;
    if (fetch->next == fetch->jobs || stop_signal) {
        if (worker->conn.state == CONN_IDLE)
            fetch->active--;
        conn_close(&worker->conn, OUTCOME_DONE);
        return;
    }
    worker->job = fetch->next++;
    worker->bytes = 0;
    worker->status = 0;
    worker->was_retried = false;
    worker->begin_ns = clock_now_ns();
    if (fetch->options->max_time_ms)
        timer_arm(&fetch->ring.timers, &worker->limit,
                  worker->begin_ns + fetch->options->max_time_ms * CLOCK_NS_PER_MS);
    open_output(worker);
    if (worker->conn.state == CONN_IDLE) {
        begin_connection(worker);
    } else if (worker->from->host == url_of(fetch, worker->job)->host) {
        worker->is_first = false;
        make_request(worker);
    } else {
        worker->from = NULL;
        conn_close(&worker->conn, OUTCOME_DONE);
    }
}

static void on_ready(struct conn *conn)
{
    struct worker *worker = conn->owner;
    if (conn->tls)
        worker->certificate = tls_certificate_error(conn->tls);
    make_request(worker);
}

static void on_head(struct conn *conn, const struct http_head *head)
{
    struct worker *worker = conn->owner;
    worker->status = head->status;
    if (worker->fetch->options->verbose)
        show_lines("<", head->raw);
    if (worker->fetch->options->head_only && worker->out)
        fwrite(head->raw.ptr, 1, head->raw.len, worker->out);
}

static void on_body(struct conn *conn, struct slice bytes)
{
    struct worker *worker = conn->owner;
    worker->bytes += bytes.len;
    if (worker->out && fwrite(bytes.ptr, 1, bytes.len, worker->out) != bytes.len) {
        fail_writing(worker->fetch, "the body");
        conn_close(conn, OUTCOME_ABORTED);
    }
}

static void on_response(struct conn *conn)
{
    struct worker *worker = conn->owner;
    finish_job(worker, OUTCOME_DONE);
    if (conn_is_ready(conn))
        begin_job(worker);
}

/* A connection ends under a job, between two, or to make room for one to another host. */
static void on_closed(struct conn *conn, enum outcome outcome)
{
    struct worker *worker = conn->owner;
    const bool makes_room = worker->job != NO_JOB && !worker->from;
    const bool retries = worker->job != NO_JOB && outcome == OUTCOME_REUSED_CLOSED && !worker->was_retried;
    if (makes_room || retries) {
        worker->was_retried = retries;
        begin_connection(worker);
        return;
    }
    if (worker->job != NO_JOB)
        finish_job(worker, outcome);
    begin_job(worker);
}

static const struct conn_events events = {on_ready, on_head, on_body, on_response, on_closed};

static void on_limit(struct timer *timer)
{
    struct worker *worker = container_of(timer, struct worker, limit);
    conn_close(&worker->conn, OUTCOME_EXCHANGE_TIMEOUT);
}

static bool is_same_host(const struct url *a, const struct url *b)
{
    return a->port == b->port && url_is_https(a) == url_is_https(b) && slice_equals(url_host(a), url_host(b));
}

static void find_hosts(struct lycosa_fetch_url *urls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        urls[i].host = &urls[i];
        for (size_t j = 0; j < i && urls[i].host == &urls[i]; j++)
            if (is_same_host(&urls[i].url, &urls[j].url))
                urls[i].host = urls[j].host;
    }
}

static bool needs_tls(const struct fetch *fetch, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (url_is_https(&fetch->urls[i].url))
            return true;
    return false;
}

static bool create_tls(struct fetch *fetch)
{
    char message[512];
    fetch->trust = tls_trust_create(fetch->options->cacert, message, sizeof message);
    if (!fetch->trust) {
        fprintf(stderr, "lycosa fetch: %s\n", message);
        return false;
    }
    fetch->tls = tls_pool_create(&(struct tls_options){
        .trust = fetch->trust, .insecure = fetch->options->insecure, .spare_max = fetch->worker_count});
    if (!fetch->tls)
        fprintf(stderr, "lycosa fetch: no memory for TLS\n");
    return fetch->tls;
}

static bool create_dns(struct fetch *fetch)
{
    char message[512];
    struct dns_options options = DNS_OPTIONS_DEFAULT;
    options.servers = fetch->options->dns;
    fetch->dns = dns_create(&options, message, sizeof message);
    if (!fetch->dns)
        fprintf(stderr, "lycosa fetch: %s\n", message);
    return fetch->dns;
}

static bool create_loop(struct fetch *fetch)
{
    struct conn_limits limits = conn_limits_default;
    limits.http.body_bytes_max = UINT64_MAX;
    limits.exchange_ms = 0;
    if (ring_init(&fetch->ring, &(struct ring_options){.slots = fetch->worker_count, .cpu = -1}) < 0) {
        fprintf(stderr, "lycosa fetch: %s\n", fetch->ring.error);
        return false;
    }
    const int error = bufring_init(&fetch->buffers, &fetch->ring, 0, &(struct bufring_options){0});
    if (error < 0) {
        fprintf(stderr, "lycosa fetch: no receive buffers: %s\n", strerror(-error));
        ring_fini(&fetch->ring);
        return false;
    }
    conn_loop_init(&fetch->loop, &(struct conn_loop_options){.ring = &fetch->ring,
                                                             .buffers = &fetch->buffers,
                                                             .dns = fetch->dns,
                                                             .tls = fetch->tls,
                                                             .limits = &limits,
                                                             .loopback_only = !fetch->options->contact});
    return true;
}

static void begin_workers(struct fetch *fetch)
{
    fetch->active = fetch->worker_count;
    for (unsigned i = 0; i < fetch->worker_count; i++) {
        struct worker *worker = &fetch->workers[i];
        worker->fetch = fetch;
        worker->job = NO_JOB;
        conn_init(&worker->conn, &fetch->loop, &events);
        worker->conn.owner = worker;
        timer_init(&worker->limit, on_limit);
        begin_job(worker);
    }
}

/* Turns until every worker is done; a signal ends the jobs that run and begins no others. */
static void turn(struct fetch *fetch)
{
    bool was_stopped = false;
    while (fetch->active) {
        const int error = ring_turn(&fetch->ring, TIMER_NEVER);
        if (error < 0) {
            fprintf(stderr, "lycosa fetch: io_uring_enter: %s\n", strerror(-error));
            exit(LYCOSA_EXIT_FAILED);
        }
        if (stop_signal && !was_stopped) {
            was_stopped = true;
            for (unsigned i = 0; i < fetch->worker_count; i++)
                conn_close(&fetch->workers[i].conn, OUTCOME_ABORTED);
        }
    }
}

static int end(struct fetch *fetch)
{
    conn_loop_close(&fetch->loop);
    ring_finish(&fetch->ring);
    bufring_fini(&fetch->buffers);
    ring_fini(&fetch->ring);
    if (fflush(stdout) != 0)
        fail_writing(fetch, "to stdout");
    if (stop_signal)
        return LYCOSA_EXIT_STOPPED;
    if (fetch->exit)
        return fetch->exit;
    return fetch->failed ? LYCOSA_EXIT_FAILED : LYCOSA_EXIT_DONE;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

int lycosa_fetch_run(const struct lycosa_fetch_options *options, struct lycosa_fetch_url *urls, size_t count)
{
    static struct fetch fetch;
    int result = LYCOSA_EXIT_FAILED;
    fetch = (struct fetch){.options = options, .urls = urls, .jobs = (uint64_t)count * options->repeat};
    fetch.worker_count = fetch.jobs < options->connections ? (unsigned)fetch.jobs : options->connections;
    fetch.workers = calloc(fetch.worker_count, sizeof *fetch.workers);
    snprintf(fetch.user_agent, sizeof fetch.user_agent, "Mozilla/5.0 (compatible; lycosa/%s%s%s)",
             LYCOSA_VERSION, options->contact ? "; +" : "", options->contact ? options->contact : "");
    find_hosts(urls, count);
    if (!fetch.workers)
        fprintf(stderr, "lycosa fetch: no memory for %u connections\n", fetch.worker_count);
    else if (create_dns(&fetch) && (!needs_tls(&fetch, count) || create_tls(&fetch)) && create_loop(&fetch)) {
        catch_signals();
        begin_workers(&fetch);
        turn(&fetch);
        result = end(&fetch);
    }
    if (fetch.tls)
        tls_pool_destroy(fetch.tls);
    if (fetch.trust)
        tls_trust_destroy(fetch.trust);
    if (fetch.dns)
        dns_destroy(fetch.dns);
    free(fetch.workers);
    return result;
}
