#include "macro/fetch_client.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "lockfree/clock.h"
#include "lockfree/container_of.h"
#include "net/conn.h"

/* Connects under way at once: the server's backlog has room for them. */
#define CONNECTING_MAX 512
#define LOOPS_MAX      16
/* Contexts kept for the next handshakes. */
#define SPARE_TLS 16

struct visitor {
    struct conn conn;
    struct timer pause;
    struct tls_session session;
};

/* What the loops of one run agree on. */
struct run {
    const struct fetch_load *load;
    atomic_uint ready_loops; /* that have all their connections open */
    struct fetch_result results[LOOPS_MAX];
};

struct loop {
    struct run *run;
    unsigned index;
    unsigned count; /* connections of this loop */
    unsigned begun;
    unsigned opened;
    bool measures;
    bool ends;
    uint64_t requests; /* in the measured part */
    uint64_t bytes;
    uint64_t failures;
    struct visitor *visitors;
    struct http_request request;
    struct ring ring;
    struct bufring buffers;
    struct conn_loop conns;
    struct tls_trust *trust;
    struct tls_pool *tls;
    pthread_t thread;
};

static struct loop *loop_of(const struct conn *conn)
{
    return conn->owner;
}

static void begin(struct loop *loop, struct visitor *visitor, unsigned index)
{
    const struct fetch_load *load = loop->run->load;
    const union ip_socket address = {
        .v4 = {.sin_family = AF_INET,
               .sin_port = htons(load->port),
               .sin_addr.s_addr = htonl(INADDR_LOOPBACK + index % load->addresses)}};
    conn_begin(&visitor->conn, &(struct conn_target){.host = SLICE("localhost"),
                                                     .address = &address,
                                                     .tls = load->cacert,
                                                     .session = load->resumes ? &visitor->session : NULL});
}

static void begin_next(struct loop *loop)
{
    while (loop->begun < loop->count && loop->begun - loop->opened < CONNECTING_MAX) {
        begin(loop, &loop->visitors[loop->begun], loop->begun);
        loop->begun++;
    }
}

static void on_ready(struct conn *conn)
{
    struct loop *loop = loop_of(conn);
    if (loop->opened < loop->count)
        loop->opened++;
    if (loop->run->load->handshakes) {
        loop->requests++;
        conn_close(conn, OUTCOME_DONE);
    } else {
        conn_request(conn, &loop->request);
    }
    begin_next(loop);
}

static void on_head(struct conn *conn, const struct http_head *head)
{
    if (head->status != 200)
        loop_of(conn)->failures++;
}

static void on_body(struct conn *conn, struct slice bytes)
{
    loop_of(conn)->bytes += bytes.len;
}

static void on_response(struct conn *conn)
{
    struct loop *loop = loop_of(conn);
    const unsigned interval_ms = loop->run->load->interval_ms;
    loop->requests++;
    if (loop->ends || !conn_is_ready(conn))
        return;
    if (interval_ms)
        timer_arm(&loop->ring.timers, &((struct visitor *)conn)->pause,
                  loop->ring.now_ns + interval_ms * CLOCK_NS_PER_MS);
    else
        conn_request(conn, &loop->request);
}

static void on_pause_over(struct timer *timer)
{
    struct visitor *visitor = container_of(timer, struct visitor, pause);
    struct loop *loop = loop_of(&visitor->conn);
    if (!loop->ends && conn_is_ready(&visitor->conn))
        conn_request(&visitor->conn, &loop->request);
}

static void on_closed(struct conn *conn, enum outcome outcome)
{
    struct loop *loop = loop_of(conn);
    timer_cancel(&loop->ring.timers, &((struct visitor *)conn)->pause);
    if (loop->run->load->handshakes && outcome == OUTCOME_DONE) {
        if (!loop->ends)
            begin(loop, (struct visitor *)conn, 0);
    } else if (!loop->ends) {
        if (loop->failures++ == 0)
            fprintf(stderr, "bench_fetch: a connection ended: %s\n", outcome_name(outcome));
        loop->opened++;
    }
}

static const struct conn_events events = {on_ready, on_head, on_body, on_response, on_closed};

static bool start_tls(struct loop *loop)
{
    char message[256] = "no memory for TLS";
    if (!loop->run->load->cacert)
        return true;
    loop->trust = tls_trust_create(loop->run->load->cacert, message, sizeof message);
    if (loop->trust)
        loop->tls = tls_pool_create(&(struct tls_options){.trust = loop->trust, .spare_max = SPARE_TLS});
    if (!loop->tls)
        fprintf(stderr, "bench_fetch: %s\n", message);
    return loop->tls;
}

static bool start(struct loop *loop)
{
    const struct ring_options options = {.slots = loop->count,
                                         .gather_us = 500,
                                         .gather_count = 32,
                                         .cpu = (int)(loop->run->load->first_cpu + loop->index)};
    struct conn_limits limits = conn_limits_default;
    limits.idle_ms = 0;
    limits.connect_ms = 60000;
    if (ring_init(&loop->ring, &options) < 0 ||
        bufring_init(&loop->buffers, &loop->ring, 0, &(struct bufring_options){0}) < 0) {
        fprintf(stderr, "bench_fetch: %s\n", loop->ring.error);
        return false;
    }
    if (!start_tls(loop))
        return false;
    conn_loop_init(&loop->conns,
                   &(struct conn_loop_options){
                       .ring = &loop->ring, .buffers = &loop->buffers, .tls = loop->tls, .limits = &limits});
    loop->request = (struct http_request){
        .method = SLICE("GET"), .target = slice_of(loop->run->load->path), .host = SLICE("localhost")};
    for (unsigned i = 0; i < loop->count; i++) {
        conn_init(&loop->visitors[i].conn, &loop->conns, &events);
        loop->visitors[i].conn.owner = loop;
        timer_init(&loop->visitors[i].pause, on_pause_over);
    }
    return true;
}

static double rusage_us(struct timeval time)
{
    return (double)time.tv_sec * 1e6 + (double)time.tv_usec;
}

static void measure(struct loop *loop)
{
    struct fetch_result *result = &loop->run->results[loop->index];
    struct rusage before, after;
    const uint64_t enters = loop->ring.stats.enters;
    loop->requests = loop->bytes = 0;
    getrusage(RUSAGE_THREAD, &before);
    const uint64_t begin = clock_now_ns(), end = begin + (uint64_t)(loop->run->load->seconds * 1e9);
    while (loop->ring.now_ns < end)
        ring_turn(&loop->ring, CLOCK_NS_PER_MS * 100);
    getrusage(RUSAGE_THREAD, &after);
    *result = (struct fetch_result){
        .requests = loop->requests,
        .bytes = loop->bytes,
        .enters = loop->ring.stats.enters - enters,
        .open = loop->conns.stats.open,
        .tls_bytes = loop->tls ? (double)tls_pool_bytes(loop->tls) / loop->count : 0,
        .seconds = (double)(clock_now_ns() - begin) / 1e9,
        .user_us = rusage_us(after.ru_utime) - rusage_us(before.ru_utime),
        .system_us = rusage_us(after.ru_stime) - rusage_us(before.ru_stime),
    };
}

static void *turn_loop(void *argument)
{
    struct loop *loop = argument;
    if (!start(loop))
        exit(1);
    begin_next(loop);
    while (loop->opened < loop->count)
        ring_turn(&loop->ring, CLOCK_NS_PER_S);
    lf_fetch_add(&loop->run->ready_loops, 1, acq_rel);
    while (lf_load(&loop->run->ready_loops, acquire) < loop->run->load->loops)
        ring_turn(&loop->ring, CLOCK_NS_PER_MS);
    measure(loop);
    loop->ends = true;
    for (unsigned i = 0; i < loop->count; i++)
        conn_close(&loop->visitors[i].conn, OUTCOME_ABORTED);
    while (loop->conns.stats.open)
        ring_turn(&loop->ring, CLOCK_NS_PER_S);
    conn_loop_close(&loop->conns);
    ring_finish(&loop->ring);
    loop->run->results[loop->index].failures = loop->failures;
    bufring_fini(&loop->buffers);
    ring_fini(&loop->ring);
    if (loop->tls)
        tls_pool_destroy(loop->tls);
    if (loop->trust)
        tls_trust_destroy(loop->trust);
    return NULL;
}

static double resident_bytes(void)
{
    unsigned long total, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%lu %lu", &total, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void add(struct fetch_result *sum, const struct fetch_result *part)
{
    sum->requests += part->requests;
    sum->failures += part->failures;
    sum->enters += part->enters;
    sum->bytes += part->bytes;
    sum->open += part->open;
    sum->user_us += part->user_us;
    sum->system_us += part->system_us;
    sum->tls_bytes = part->tls_bytes;
    if (part->seconds > sum->seconds)
        sum->seconds = part->seconds;
}

/* In the child. */
static void run_loops(const struct fetch_load *load, struct fetch_result *result)
{
    static struct run run;
    static struct loop loops[LOOPS_MAX];
    run.load = load;
    const double before = resident_bytes();
    for (unsigned i = 0; i < load->loops; i++) {
        loops[i] = (struct loop){.run = &run, .index = i, .count = load->connections / load->loops};
        loops[i].visitors = calloc(loops[i].count, sizeof *loops[i].visitors);
        if (!loops[i].visitors || pthread_create(&loops[i].thread, NULL, turn_loop, &loops[i]) != 0)
            exit(1);
    }
    while (lf_load(&run.ready_loops, acquire) < load->loops)
        usleep(10000);
    usleep((useconds_t)(load->seconds * 5e5));
    const double grown = resident_bytes() - before;
    for (unsigned i = 0; i < load->loops; i++) {
        pthread_join(loops[i].thread, NULL);
        add(result, &run.results[i]);
        free(loops[i].visitors);
    }
    result->connection_bytes = grown / (double)load->connections;
}

bool fetch_client_run(const struct fetch_load *load, struct fetch_result *result)
{
    struct fetch_result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        run_loops(load, shared);
        _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    *result = *shared;
    munmap(shared, sizeof *shared);
    return status == 0;
}
