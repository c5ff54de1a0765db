/* lycosa ctl DIR VERB: orders and questions to a running crawl, by the socket in its directory. */
#include <ctype.h>
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

#include "engine/frontier/seeds.h"
#include "tools/lycosa/commands.h"

/* What further arguments are. */
enum verb_takes {
    TAKES_NOTHING,
    TAKES_KEYS,  /* KEY=VALUE for the body; if there are none, the body is standard input */
    TAKES_SEEDS, /* URLs, files or "-", for the body; likewise */
    TAKES_VALUE, /* one, for the query: the path ends with its name and '=' */
    TAKES_PLACE, /* likewise, but a host or a domain: the path ends with '?' */
    TAKES_BY,    /* --by, for the query */
};

struct verb {
    const char *name;
    const char *method, *path;
    enum verb_takes takes;
};

static const struct verb verbs[] = {
    {"status", "GET", "/api/v1/crawl", TAKES_NOTHING},
    {"samples", "GET", "/api/v1/samples", TAKES_NOTHING},
    {"events", "GET", "/api/v1/events", TAKES_NOTHING},
    {"metrics", "GET", "/metrics", TAKES_NOTHING},
    {"health", "GET", "/healthz", TAKES_NOTHING},
    {"ready", "GET", "/readyz", TAKES_NOTHING},
    {"tuning", "GET", "/api/v1/tuning", TAKES_NOTHING},
    {"set", "PATCH", "/api/v1/tuning", TAKES_KEYS},
    {"pause", "POST", "/api/v1/pause", TAKES_NOTHING},
    {"resume", "POST", "/api/v1/resume", TAKES_NOTHING},
    {"stop", "POST", "/api/v1/stop", TAKES_NOTHING},
    {"reload", "POST", "/api/v1/reload", TAKES_NOTHING},
    {"seeds", "POST", "/api/v1/seeds?lines=1", TAKES_SEEDS},
    {"checkpoint", "POST", "/api/v1/checkpoint", TAKES_NOTHING},
    {"why", "GET", "/api/v1/why?url=", TAKES_VALUE},
    {"hosts", "GET", "/api/v1/hosts?by=", TAKES_BY},
    {"host", "GET", "/api/v1/host?key=", TAKES_VALUE},
    {"queue", "GET", "/api/v1/host?format=text&key=", TAKES_VALUE},
    {"hold", "POST", "/api/v1/hold?", TAKES_PLACE},
    {"release", "POST", "/api/v1/release?", TAKES_PLACE},
    {"drop", "POST", "/api/v1/drop?", TAKES_PLACE},
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
    {"seeds [FILE|-|URL...]", "add seeds, which are taken as those at the start are; without arguments, those on standard input"},
    {"checkpoint", "commit and sync all that was done so far"},
    {"why URL", "where a URL is: unknown, waiting, in flight or done"},
    {"hosts", "the 64 hosts with the longest queues, or as --by says, and what is held"},
    {"host KEY", "one host (https://example.org): its state, when it is visited next and why then, its queue"},
    {"queue KEY", "all URLs in memory that wait for a host, a line each; lines with # tell what waits on disk"},
    {"hold KEY", "no further request to a host (https://example.org), or to all hosts of a registrable domain (example.org)"},
    {"release KEY", "take a hold back"},
    {"drop KEY", "drop the URLs that wait for a host or a domain now; those found later are queued again"},
    {0},
};

static const struct command_section sections[] = {{"Verbs", meanings}, {"Exit codes", lycosa_exits}, {0}};

static const struct command_option options[] = {
    {COMMAND_LONG, "by", "WHAT", "order hosts by queue, failures, time or bytes"},
    {0},
};

const struct command lycosa_ctl = {
    .program = "lycosa",
    .name = "ctl",
    .run = lycosa_ctl_main,
    .synopsis = "DIR VERB [ARGUMENT...]",
    .summary = "look at a running crawl, and steer it",
    .description = "Asks the crawl in DIR, by DIR/control.sock, and prints its answer. The crawl's owner may do that, and nobody "
                   "else. Exit code 1: the crawl does not run, or refused the order.",
    .options = options,
    .sections = sections,
};

/* What is sent with a verb. */
struct body {
    const char *value; /* for the query; NULL: none */
    char *text;
    size_t len;
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

static void copy_stream(FILE *out, FILE *in)
{
    char buffer[4096];
    for (size_t len; (len = fread(buffer, 1, sizeof buffer, in)) > 0;)
        fwrite(buffer, 1, len, out);
}

static bool copy_file(FILE *out, const char *path)
{
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    copy_stream(out, in);
    fclose(in);
    return true;
}

/* The seeds of each argument, as `lycosa crawl` takes them. */
static bool write_seeds(FILE *out, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        enum seeds_source source = seeds_source_of(argv[i]);
        if (source == SEEDS_STDIN)
            copy_stream(out, stdin);
        else if (source == SEEDS_URL)
            fputs(argv[i], out);
        else if (source == SEEDS_NONE || !copy_file(out, argv[i]))
            return false;
        fputc('\n', out); /* the last line of a file may lack it */
    }
    return true;
}

/* What an address may not have as it is becomes %XX. */
static void write_encoded(FILE *out, const char *text)
{
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || strchr("-_.~", *text))
            fputc(*text, out);
        else
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
}

/* Prints the body; the status of the answer, 0 if there was none. HTTP/1.0, so that the answer ends with the connection and
 * has no chunks. */
static int exchange(FILE *peer, const struct verb *verb, const struct body *body)
{
    char line[4096];
    int status = 0, c;
    fprintf(peer, "%s %s", verb->method, verb->path);
    if (verb->takes == TAKES_PLACE)
        fputs(strstr(body->value, "://") ? "host=" : "domain=", peer);
    if (body->value)
        write_encoded(peer, body->value);
    fprintf(peer, " HTTP/1.0\r\nHost: lycosa\r\nContent-Type: text/plain;charset=utf-8\r\nContent-Length: %zu\r\n\r\n", body->len);
    fwrite(body->text, 1, body->len, peer);
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

static int ask(const char *directory, const struct verb *verb, const struct body *body)
{
    int fd = connect_to(directory);
    if (fd < 0)
        return complain(directory, errno == ENOENT || errno == ECONNREFUSED ? "no crawl runs there" : strerror(errno));
    FILE *peer = fdopen(fd, "r+");
    int status = peer ? exchange(peer, verb, body) : 0;
    if (peer)
        fclose(peer);
    if (status == 0)
        return complain(directory, "the crawl gave no answer");
    return status < 300 ? LYCOSA_EXIT_DONE : LYCOSA_EXIT_FAILED;
}

/* 0, or the exit code of a usage that is wrong. */
static int write_body(const struct verb *verb, int argc, char **argv, FILE *out)
{
    bool is_seeds = verb->takes == TAKES_SEEDS;
    bool good = is_seeds ? write_seeds(out, argc, argv) : write_keys(out, argc, argv);
    if (argc == 0)
        copy_stream(out, stdin);
    if (good)
        return 0;
    complain(verb->name, is_seeds ? "give URLs, files of URLs, or -" : "give keys as SECTION.KEY=VALUE");
    return LYCOSA_EXIT_USAGE;
}

static bool takes_so_many(const struct verb *verb, int count)
{
    if (verb->takes == TAKES_VALUE || verb->takes == TAKES_PLACE)
        return count == 1;
    return count == 0 || verb->takes == TAKES_KEYS || verb->takes == TAKES_SEEDS;
}

/* What ends the path; NULL: nothing. `argument` is the one behind the verb, if there is one. */
static const char *value_of(const struct verb *verb, const char *by, const char *argument)
{
    if (verb->takes == TAKES_BY)
        return by ? by : "queue";
    return verb->takes == TAKES_VALUE || verb->takes == TAKES_PLACE ? argument : NULL;
}

int lycosa_ctl_main(int argc, char **argv)
{
    const char *by = NULL;
    int code = 0;
    for (int option; (option = command_getopt(&lycosa_ctl, argc, argv)) != -1; by = optarg)
        if (option != COMMAND_LONG)
            return command_help(&lycosa_ctl, option == 'h' ? stdout : stderr);
    argc -= optind;
    argv += optind;
    const struct verb *verb = argc >= 2 ? find(argv[1]) : NULL;
    if (!verb || !takes_so_many(verb, argc - 2) || (by && verb->takes != TAKES_BY))
        return command_help(&lycosa_ctl, stderr);
    struct body body = {.value = value_of(verb, by, argv[2])};
    FILE *out = open_memstream(&body.text, &body.len);
    if (!out)
        return complain(argv[0], strerror(errno));
    if (verb->takes == TAKES_KEYS || verb->takes == TAKES_SEEDS)
        code = write_body(verb, argc - 2, argv + 2, out);
    if (fclose(out) != 0)
        code = complain(argv[0], strerror(errno));
    code = code ? code : ask(argv[0], verb, &body);
    free(body.text);
    return code;
}
