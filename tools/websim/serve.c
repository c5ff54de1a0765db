#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tools/websim/commands.h"
#include "tools/websim/listen.h"
#include "tools/websim/loop.h"
#include "tools/websim/tls.h"

#define THREADS_MAX 64
/* DNS questions of a resolver over TCP, control connections, and the like. */
#define CONNECTIONS_DEFAULT 16384
/* Clients that a thread accepts in one turn. */
#define ACCEPTS     64
#define DNS_ACCEPTS 2

struct serve_options {
    uint64_t threads, connections, dns_port, seconds;
    const char *journal, *ca;
    bool no_dns, no_pin, until_eof;
};

struct server {
    struct serve_options options;
    struct websim_shared *shared;
    int stop_fd, refuse_fd, http_fd, https_fd;
    uint16_t dns_port;
    struct websim_listen_dns dns;
};

struct thread {
    pthread_t handle;
    struct server *server;
    unsigned number;
    int start_result; /* written before `ready`, read after it */
    int result;       /* read after the thread was joined */
    struct websim_loop_stats stats;
    pthread_barrier_t *ready;
};

static void *run_thread(void *argument)
{
    struct thread *thread = argument;
    struct server *server = thread->server;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    struct websim_loop_options options = {
        .shared = server->shared,
        .number = thread->number,
        .connections = (unsigned)server->options.connections,
        /* From the last processor down: a crawler's loops begin at the first. */
        .cpu = server->options.no_pin ? -1 : (int)(cpus - 1 - (long)thread->number % cpus),
        .stop_fd = server->stop_fd,
        .dns_fd = thread->number == 0 && !server->options.no_dns ? server->dns.udp : -1,
    };
    struct websim_loop *loop = malloc(sizeof *loop);
    thread->result = thread->start_result = loop ? websim_loop_init(loop, &options) : -ENOMEM;
    if (thread->start_result == 0) {
        if (thread->number == 0 && !server->options.no_dns)
            websim_loop_listen(loop, server->dns.tcp, WEBSIM_PROTOCOL_DNS, DNS_ACCEPTS);
        if (server->shared->tls)
            websim_loop_listen(loop, server->https_fd, WEBSIM_PROTOCOL_HTTPS, ACCEPTS);
        websim_loop_listen(loop, server->http_fd, WEBSIM_PROTOCOL_HTTP, ACCEPTS);
    }
    pthread_barrier_wait(thread->ready);
    if (thread->start_result == 0) {
        thread->result = websim_loop_run(loop);
        thread->stats = loop->stats;
        if (thread->result != -ETIMEDOUT)
            websim_loop_fini(loop);
    }
    free(loop);
    return NULL;
}

static int open_port(const struct server *server, int *fd, uint64_t *port)
{
    uint16_t number = (uint16_t)*port;
    *fd = websim_listen_http(&number);
    *port = number;
    if (*fd < 0)
        return WEBSIM_EXIT_USAGE;
    int error = server->options.journal ? websim_moment_listen(*fd) : 0;
    if (error < 0)
        return websim_options_error("serve", "the kernel gives no times of arrival: %s", strerror(-error));
    return 0;
}

static bool needs_tls(const struct websim_parameters *p)
{
    return p->https || p->faults[WEBSIM_FAULT_EXPIRED];
}

static int open_sockets(struct server *server, struct websim_parameters *p)
{
    uint16_t refuse = (uint16_t)p->refuse_port;
    if (open_port(server, &server->http_fd, &p->port) ||
        (needs_tls(p) && open_port(server, &server->https_fd, &p->tls_port)))
        return WEBSIM_EXIT_USAGE;
    if (p->faults[WEBSIM_FAULT_REFUSE] && (server->refuse_fd = websim_listen_refuse(&refuse)) < 0)
        return WEBSIM_EXIT_USAGE;
    p->refuse_port = refuse;
    server->dns_port = (uint16_t)server->options.dns_port;
    if (!server->options.no_dns && !websim_listen_dns(&server->dns, &server->dns_port))
        return WEBSIM_EXIT_USAGE;
    return 0;
}

static int prepare_shared(struct server *server, const struct websim_parameters *p)
{
    struct websim_shared *shared = server->shared;
    websim_web_init(&shared->web, p);
    websim_text_init(&shared->text, p->seed);
    if (p->faults[WEBSIM_FAULT_BOMB]) {
        struct websim_buffer bomb = {0};
        websim_encode_bomb(&bomb, p->bomb_size);
        shared->bomb = (struct slice){bomb.data, bomb.len};
    }
    if (needs_tls(p))
        if (!(shared->tls = websim_tls_create(&shared->web, server->options.ca)))
            return WEBSIM_EXIT_FAILED;
    if (server->options.journal) {
        int error = websim_journal_create(&shared->journal, server->options.journal, p);
        if (error)
            return websim_options_error("serve", "cannot write %s: %s", server->options.journal,
                                        strerror(-error));
        shared->has_journal = true;
    }
    return 0;
}

/* The line that scripts wait for: name and value in turn. */
static void announce(const struct server *server)
{
    const struct websim_parameters *p = &server->shared->web.parameters;
    printf("websim: http 127.0.0.1:%" PRIu64, p->port);
    if (server->shared->tls)
        printf(" https 127.0.0.1:%" PRIu64, p->tls_port);
    if (!server->options.no_dns)
        printf(" dns 127.0.0.1:%u", server->dns_port);
    if (p->faults[WEBSIM_FAULT_REFUSE])
        printf(" refuse 127.0.0.1:%" PRIu64, p->refuse_port);
    printf("\n");
    fflush(stdout);
}

/* Returns when it is time to end: a signal, the end of stdin, or of the given time. */
static void wait_for_end(const struct serve_options *options, int signals)
{
    struct pollfd fds[2] = {{.fd = signals, .events = POLLIN},
                            {.fd = options->until_eof ? STDIN_FILENO : -1, .events = POLLIN}};
    char byte;
    while (poll(fds, 2, options->seconds ? (int)options->seconds * 1000 : -1) > 0) {
        if (fds[0].revents)
            return;
        if (fds[1].revents && read(STDIN_FILENO, &byte, 1) <= 0)
            return;
    }
}

static int join_threads(struct server *server, struct thread *threads)
{
    struct websim_loop_stats sum = {0};
    int result = 0;
    for (unsigned i = 0; i < server->options.threads; i++) {
        pthread_join(threads[i].handle, NULL);
        if (threads[i].result < 0) {
            fprintf(stderr, "websim serve: thread %u: %s\n", i, strerror(-threads[i].result));
            result = WEBSIM_EXIT_FAILED;
        }
        sum.connections += threads[i].stats.connections;
        sum.requests += threads[i].stats.requests;
        sum.ends += threads[i].stats.ends;
        sum.aborts += threads[i].stats.aborts;
        sum.bytes += threads[i].stats.bytes;
        sum.dns_queries += threads[i].stats.dns_queries;
        sum.open_most += threads[i].stats.open_most;
    }
    printf("websim: connections %" PRIu64 " at-once %" PRIu64 " requests %" PRIu64 " answered %" PRIu64
           " aborted %" PRIu64 " bytes %" PRIu64 " dns %" PRIu64 "\n",
           sum.connections, sum.open_most, sum.requests, sum.ends, sum.aborts, sum.bytes, sum.dns_queries);
    return result;
}

static int serve(struct server *server, int signals)
{
    struct thread threads[THREADS_MAX] = {0};
    pthread_barrier_t ready;
    uint64_t one = 1;
    pthread_barrier_init(&ready, NULL, (unsigned)server->options.threads + 1);
    for (unsigned i = 0; i < server->options.threads; i++) {
        threads[i] = (struct thread){.server = server, .number = i, .ready = &ready};
        if (pthread_create(&threads[i].handle, NULL, run_thread, &threads[i]) != 0) {
            fprintf(stderr, "websim serve: cannot start thread %u\n", i);
            exit(WEBSIM_EXIT_FAILED);
        }
    }
    pthread_barrier_wait(&ready);
    bool up = true;
    for (unsigned i = 0; i < server->options.threads; i++)
        up &= threads[i].start_result == 0;
    if (up) {
        announce(server);
        wait_for_end(&server->options, signals);
    }
    if (write(server->stop_fd, &one, sizeof one) != sizeof one)
        return WEBSIM_EXIT_FAILED;
    int result = join_threads(server, threads);
    pthread_barrier_destroy(&ready);
    if (server->shared->has_journal && websim_journal_close(&server->shared->journal) < 0)
        result = WEBSIM_EXIT_FAILED;
    return result;
}

static struct server server = {.options = {.threads = 1, .connections = CONNECTIONS_DEFAULT}};

static const struct websim_option rows[] = {
    {.name = "threads",
     .type = WEBSIM_OPTION_COUNT,
     .target = &server.options.threads,
     .min = 1,
     .max = THREADS_MAX,
     .help = "serving threads, pinned from the last processor down"},
    {.name = "no-pin",
     .type = WEBSIM_OPTION_FLAG,
     .target = &server.options.no_pin,
     .help = "threads are not pinned"},
    {.name = "connections",
     .type = WEBSIM_OPTION_COUNT,
     .target = &server.options.connections,
     .min = 1,
     .max = 1 << 20,
     .help = "connections per thread at a time; more wait to be accepted"},
    {.name = "dns-port",
     .type = WEBSIM_OPTION_COUNT,
     .target = &server.options.dns_port,
     .max = 65535,
     .help = "port of the DNS, UDP and TCP; 0 picks a free one"},
    {.name = "no-dns",
     .type = WEBSIM_OPTION_FLAG,
     .target = &server.options.no_dns,
     .help = "do not answer DNS"},
    {.name = "journal",
     .type = WEBSIM_OPTION_TEXT,
     .target = &server.options.journal,
     .argument = "FILE",
     .help = "records what was asked when, for websim audit"},
    {.name = "ca",
     .type = WEBSIM_OPTION_TEXT,
     .target = &server.options.ca,
     .argument = "FILE",
     .help = "gets the authority's certificate (PEM), with --https"},
    {.name = "seconds",
     .type = WEBSIM_OPTION_COUNT,
     .target = &server.options.seconds,
     .max = 1000000,
     .help = "end after this time; 0: at a signal"},
    {.name = "until-eof",
     .type = WEBSIM_OPTION_FLAG,
     .target = &server.options.until_eof,
     .help = "end when stdin ends"},
};

const struct websim_command websim_serve = {
    .command =
        {.program = "websim",
         .name = "serve",
         .run = websim_serve_main,
         .synopsis = "[OPTIONS] [WEB]",
         .summary = "serves the web and its DNS on loopback; first line: the ports",
         .description =
             "Serves the web and its DNS on loopback addresses until a signal comes. The first line that "
             "it prints names the ports."},
    .rows = rows,
    .count = sizeof rows / sizeof *rows,
    .has_web = true,
};

int websim_serve_main(int argc, char **argv)
{
    struct websim_parameters parameters;
    sigset_t signals;
    if (websim_commands_parse(&websim_serve, &parameters, argc, argv) != 0)
        return WEBSIM_EXIT_USAGE;
    int result = open_sockets(&server, &parameters);
    if (result != 0)
        return result;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    server.shared = calloc(1, sizeof *server.shared);
    server.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!server.shared || server.stop_fd < 0) {
        fprintf(stderr, "websim serve: cannot start: %s\n", strerror(errno));
        return WEBSIM_EXIT_FAILED;
    }
    result = prepare_shared(&server, &parameters);
    if (result == 0)
        result = serve(&server, signalfd(-1, &signals, SFD_CLOEXEC));
    if (server.shared->tls)
        websim_tls_destroy(server.shared->tls);
    free((void *)(uintptr_t)server.shared->bomb.ptr);
    free(server.shared);
    return result;
}
