#include "macro/crawl_web.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "macro/process.h"

/* What websim may take to open its ports on a busy machine. */
enum { START_MS = 20000 };

const char *crawl_web_path(const struct crawl_web *web, const char *name, char path[CRAWL_WEB_PATH_BYTES])
{
    snprintf(path, CRAWL_WEB_PATH_BYTES, "%s/%s", web->directory, name);
    return path;
}

bool crawl_web_make_directory(const char *name, char path[CRAWL_WEB_DIRECTORY_BYTES])
{
    const char *parent = getenv("TMPDIR");
    int len = snprintf(path, CRAWL_WEB_DIRECTORY_BYTES, "%s/%s.XXXXXX", parent && *parent ? parent : "/tmp", name);
    bool good = len < CRAWL_WEB_DIRECTORY_BYTES && mkdtemp(path);
    if (!good)
        fprintf(stderr, "bench_crawl: no directory %s: %s\n", path, strerror(errno));
    return good;
}

static bool find_programs(struct crawl_web *web)
{
    ssize_t len = readlink("/proc/self/exe", web->programs, sizeof web->programs - 1);
    web->programs[len > 0 ? len : 0] = '\0';
    char *end = strrchr(web->programs, '/');
    if (!end)
        return false;
    *end = '\0';
    return true;
}

/* The arguments of a call of websim, on the heap of nobody: texts are the caller's. */
struct call {
    char *arguments[2 * CRAWL_WEB_OPTIONS_MAX];
    size_t count;
};

static void call_add(struct call *call, const char *text)
{
    if (call->count + 1 < sizeof call->arguments / sizeof call->arguments[0])
        call->arguments[call->count++] = (char *)(uintptr_t)text;
}

static void call_add_all(struct call *call, const char *const *texts)
{
    for (; texts && *texts; texts++)
        call_add(call, *texts);
}

static void serve(struct crawl_web *web, const struct crawl_web_options *options, int input, int output)
{
    char program[CRAWL_WEB_PATH_BYTES + 16], journal[CRAWL_WEB_PATH_BYTES];
    struct call call = {0};
    snprintf(program, sizeof program, "%s/websim", web->programs);
    call_add_all(&call, (const char *const[]){program, "serve", "--port", "0", "--tls-port", "0",
                                              "--dns-port", "0", "--until-eof", NULL});
    if (options->journal)
        call_add_all(&call,
                     (const char *const[]){"--journal", crawl_web_path(web, "journal", journal), NULL});
    call_add_all(&call, options->web);
    call_add_all(&call, options->serve);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    execv(program, call.arguments);
    _exit(127);
}

static uint16_t port_of(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    at = at ? strchr(at, ':') : NULL;
    return at ? (uint16_t)strtoul(at + 1, NULL, 10) : 0;
}

/* The first line names the ports. */
static bool read_ports(struct crawl_web *web, int fd)
{
    char line[512] = "";
    size_t len = 0;
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    while (!strchr(line, '\n') && len + 1 < sizeof line && poll(&watched, 1, START_MS) > 0) {
        ssize_t n = read(fd, line + len, sizeof line - 1 - len);
        if (n <= 0)
            break;
        len += (size_t)n;
        line[len] = '\0';
    }
    web->http_port = port_of(line, " http ");
    web->https_port = port_of(line, " https ");
    web->dns_port = port_of(line, " dns ");
    return web->dns_port && (web->http_port || web->https_port);
}

bool crawl_web_begin(struct crawl_web *web, const struct crawl_web_options *options)
{
    int in[2], out[2];
    *web = (struct crawl_web){.web = options->web};
    if (!crawl_web_make_directory("bench_crawl", web->directory))
        return false;
    if (!find_programs(web) || pipe2(in, O_CLOEXEC) < 0 ||
        pipe2(out, O_CLOEXEC) < 0) {
        fprintf(stderr, "bench_crawl: no pipe: %s\n", strerror(errno));
        return false;
    }
    web->pid = fork();
    if (web->pid == 0)
        serve(web, options, in[0], out[1]);
    close(in[0]);
    close(out[1]);
    web->input = in[1];
    bool good = read_ports(web, out[0]);
    close(out[0]);
    if (!good) {
        fprintf(stderr, "bench_crawl: %s/websim does not come up\n", web->programs);
        crawl_web_finish(web, false);
    }
    return good;
}

void crawl_web_finish(struct crawl_web *web, bool keep)
{
    struct process_result result;
    if (web->pid > 0) {
        close(web->input);
        waitpid(web->pid, NULL, 0);
        web->pid = 0;
    }
    if (keep)
        return;
    char *arguments[] = {(char[]){"rm"}, (char[]){"-rf"}, web->directory, NULL};
    process_run(&(struct process_options){.arguments = arguments, .cpu = PROCESS_ANY_CPU}, &result);
}

bool crawl_web_ask(const struct crawl_web *web, const char *const *command, const char *name)
{
    char program[CRAWL_WEB_PATH_BYTES + 16], output[CRAWL_WEB_PATH_BYTES], http[16], https[16];
    struct process_result result;
    struct call call = {0};
    snprintf(program, sizeof program, "%s/websim", web->programs);
    snprintf(http, sizeof http, "%u", web->http_port);
    snprintf(https, sizeof https, "%u", web->https_port ? web->https_port : 1);
    call_add(&call, program);
    call_add_all(&call, command);
    call_add_all(&call, web->web);
    call_add_all(&call, (const char *const[]){"--port", http, "--tls-port", https, NULL});
    return process_run(&(struct process_options){.arguments = call.arguments,
                                                 .cpu = PROCESS_ANY_CPU,
                                                 .output = crawl_web_path(web, name, output),
                                                 .is_quiet = true},
                       &result);
}

bool crawl_web_write_seeds(const struct crawl_web *web)
{
    return crawl_web_ask(web, (const char *const[]){"seeds", "--count", "16777216", NULL}, "seeds");
}

/* A line of the truth is URL, status, size and more, with tabs between. */
static void take_truth(struct crawl_web_truth *truth, char *line, uint64_t size, uint64_t *distance)
{
    char *status = strchr(line, '\t');
    if (!status)
        return;
    *status++ = '\0';
    truth->pages++;
    const char *bytes = strchr(status, '\t');
    if (strtol(status, NULL, 10) != 200 || !bytes || strlen(line) >= sizeof truth->page)
        return;
    uint64_t found = strtoull(bytes + 1, NULL, 10), gap = found > size ? found - size : size - found;
    if (gap < *distance) {
        *distance = gap;
        memcpy(truth->page, line, strlen(line) + 1);
    }
}

bool crawl_web_write_truth(const struct crawl_web *web, uint64_t size, struct crawl_web_truth *truth)
{
    char path[CRAWL_WEB_PATH_BYTES], line[16384];
    uint64_t distance = UINT64_MAX;
    const char *seeds = crawl_web_path(web, "seeds", path);
    if (!crawl_web_ask(web, (const char *const[]){"truth", "--seeds", seeds, NULL}, "truth"))
        return false;
    FILE *in = fopen(crawl_web_path(web, "truth", path), "re");
    FILE *out = fopen(crawl_web_path(web, "urls", path), "we");
    *truth = (struct crawl_web_truth){0};
    while (in && out && fgets(line, sizeof line, in)) {
        take_truth(truth, line, size, &distance);
        fprintf(out, "%s\n", line);
    }
    if (in)
        fclose(in);
    return out && fclose(out) == 0 && truth->pages > 0;
}
