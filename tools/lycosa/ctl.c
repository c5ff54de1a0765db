/* lycosa ctl DIR VERB: orders and questions to a running crawl, by the socket in its directory. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/lycosa/commands.h"

struct verb {
    const char *name;
    const char *method, *path;
    bool has_text; /* further arguments, or standard input, are the body */
};

static const struct verb verbs[] = {
    {"status", "GET", "/api/v1/crawl", false},     {"samples", "GET", "/api/v1/samples", false},
    {"events", "GET", "/api/v1/events", false},    {"metrics", "GET", "/metrics", false},
    {"health", "GET", "/healthz", false},          {"ready", "GET", "/readyz", false},
    {"tuning", "GET", "/api/v1/tuning", false},    {"set", "PATCH", "/api/v1/tuning", true},
    {"pause", "POST", "/api/v1/pause", false},     {"resume", "POST", "/api/v1/resume", false},
    {"stop", "POST", "/api/v1/stop", false},       {"reload", "POST", "/api/v1/reload", false},
};

static const struct command_term meanings[] = {
    {"status", "all counters of the crawl, as JSON"},
    {"samples", "its last ten minutes, a sample each second"},
    {"events", "a sample each second, until it is interrupted"},
    {"metrics", "metrics for Prometheus"},
    {"health, ready", "whether every thread moves; whether the crawl runs"},
    {"tuning", "the tuning in force, as a tuning file"},
    {"set KEY=VALUE...", "change keys that may change while a crawl runs: net.bandwidth=5MB; without arguments, a piece of "
                         "a tuning file on standard input"},
    {"pause, resume", "no new requests; go on"},
    {"stop", "end in order; a second time: at once"},
    {"reload", "read the tuning file again"},
    {0},
};

static const struct command_section sections[] = {{"Verbs", meanings}, {"Exit codes", lycosa_exits}, {0}};

const struct command lycosa_ctl = {
    .program = "lycosa",
    .name = "ctl",
    .run = lycosa_ctl_main,
    .synopsis = "DIR VERB [KEY=VALUE...]",
    .summary = "look at a running crawl, and steer it",
    .description = "Asks the crawl in DIR, by DIR/control.sock, and prints its answer. The crawl's owner may do that, and nobody "
                   "else. Exit code 1: the crawl does not run, or refused the order.",
    .sections = sections,
};

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "lycosa: ctl: %s: %s\n", what, why);
    return LYCOSA_EXIT_FAILED;
}

/* The path may be longer than that of a socket can be: the directory is named by its descriptor. */
static int connect_to(const char *directory)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = folder < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(place.sun_path, sizeof place.sun_path, "/proc/self/fd/%d/control.sock", folder);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&place, sizeof place) != 0) {
        close(fd);
        fd = -1;
    }
    int error = errno;
    if (folder >= 0)
        close(folder);
    errno = error;
    return fd;
}

/* "net.bandwidth=5MB" becomes "[net]\nbandwidth = 5MB\n". */
static bool write_keys(FILE *out, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '='), *dot = strchr(argv[i], '.');
        if (!equals || !dot || dot > equals)
            return false;
        fprintf(out, "[%.*s]\n%.*s = %s\n", (int)(dot - argv[i]), argv[i], (int)(equals - dot) - 1, dot + 1, equals + 1);
    }
    return true;
}

static void copy_input(FILE *out)
{
    char buffer[4096];
    for (size_t len; (len = fread(buffer, 1, sizeof buffer, stdin)) > 0;)
        fwrite(buffer, 1, len, out);
}

/* Prints the body; the status of the answer, 0 if there was none. HTTP/1.0, so that the answer ends with the connection and
 * has no chunks. */
static int exchange(FILE *peer, const struct verb *verb, const char *body, size_t len)
{
    char line[4096];
    int status = 0, c;
    fprintf(peer,
            "%s %s HTTP/1.0\r\nHost: lycosa\r\nContent-Type: text/plain;charset=utf-8\r\nContent-Length: %zu\r\n\r\n",
            verb->method, verb->path, len);
    fwrite(body, 1, len, peer);
    fflush(peer);
    if (!fgets(line, sizeof line, peer) || sscanf(line, "HTTP/%*d.%*d %d", &status) != 1)
        return 0;
    while (fgets(line, sizeof line, peer) && line[0] != '\r' && line[0] != '\n')
        ;
    FILE *out = status < 300 ? stdout : stderr;
    while ((c = getc(peer)) != EOF) {
        putc(c, out);
        if (c == '\n')
            fflush(out); /* events come line by line */
    }
    return status;
}

static const struct verb *find(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int ask(const char *directory, const struct verb *verb, const char *body, size_t len)
{
    int fd = connect_to(directory);
    if (fd < 0)
        return complain(directory, errno == ENOENT || errno == ECONNREFUSED ? "no crawl runs there" : strerror(errno));
    FILE *peer = fdopen(fd, "r+");
    int status = peer ? exchange(peer, verb, body, len) : 0;
    if (peer)
        fclose(peer);
    if (status == 0)
        return complain(directory, "the crawl gave no answer");
    return status < 300 ? LYCOSA_EXIT_DONE : LYCOSA_EXIT_FAILED;
}

int lycosa_ctl_main(int argc, char **argv)
{
    int option = command_getopt(&lycosa_ctl, argc, argv);
    if (option != -1)
        return command_help(&lycosa_ctl, option == 'h' ? stdout : stderr);
    argc -= optind;
    argv += optind;
    const struct verb *verb = argc >= 2 ? find(argv[1]) : NULL;
    if (!verb || (argc > 2 && !verb->has_text))
        return command_help(&lycosa_ctl, stderr);
    char *body = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&body, &len);
    if (!out)
        return complain(argv[0], strerror(errno));
    bool good = true;
    if (verb->has_text && argc > 2)
        good = write_keys(out, argc - 2, argv + 2);
    else if (verb->has_text)
        copy_input(out);
    int code = fclose(out) == 0 && good ? ask(argv[0], verb, body, len)
                                        : (complain("set", "give keys as SECTION.KEY=VALUE"), LYCOSA_EXIT_USAGE);
    free(body);
    return code;
}
