#include "macro/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/clock.h"

/* What a program may take to end after SIGINT. */
#define GRACE_NS (5 * CLOCK_NS_PER_S)

void process_pin(int cpu)
{
    cpu_set_t set;
    if (cpu == PROCESS_ANY_CPU)
        return;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void become(const struct process_options *options, int output)
{
    process_pin(options->cpu);
    dup2(output, STDOUT_FILENO);
    if (options->is_quiet) {
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nothing, STDERR_FILENO);
    }
    if (options->takes_errors)
        dup2(output, STDERR_FILENO);
    execvp(options->arguments[0], options->arguments);
    _exit(127);
}

/* Ends the child when its time is over, and looks at its memory meanwhile. */
struct limit {
    pid_t child;
    uint64_t end_ns; /* 0: none */
    bool is_cut, watches_memory;
    uint64_t anonymous_bytes;
};

static void look_at_memory(struct limit *limit)
{
    char path[64], line[256];
    unsigned long kilobytes;
    snprintf(path, sizeof path, "/proc/%d/status", (int)limit->child);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %lu kB", &kilobytes) == 1 && kilobytes * 1024 > limit->anonymous_bytes)
            limit->anonymous_bytes = kilobytes * 1024;
    if (file)
        fclose(file);
}

static void enforce(struct limit *limit, uint64_t now_ns)
{
    if (!limit->end_ns || now_ns < limit->end_ns)
        return;
    kill(limit->child, limit->is_cut ? SIGKILL : SIGINT);
    limit->is_cut = true;
    limit->end_ns = now_ns + GRACE_NS;
}

/* Reads until the child has closed its output; what does not fit is thrown away. */
static void read_output(int fd, char *output, struct limit *limit)
{
    char rest[4096];
    size_t len = 0;
    for (;;) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        int ready = poll(&watched, 1, 20);
        enforce(limit, clock_now_ns());
        if (limit->watches_memory)
            look_at_memory(limit);
        if (ready <= 0)
            continue;
        bool has_room = len + 1 < PROCESS_OUTPUT_BYTES;
        ssize_t n =
            has_room ? read(fd, output + len, PROCESS_OUTPUT_BYTES - 1 - len) : read(fd, rest, sizeof rest);
        if (n <= 0)
            break;
        len += has_room ? (size_t)n : 0;
    }
    output[len] = '\0';
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void wait_for(struct limit *limit, struct process_result *result)
{
    struct rusage usage;
    while (wait4(limit->child, &result->status, WNOHANG, &usage) == 0) {
        enforce(limit, clock_now_ns());
        poll(NULL, 0, 2);
    }
    result->user_s = seconds_of(usage.ru_utime);
    result->system_s = seconds_of(usage.ru_stime);
    result->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    result->is_cut = limit->is_cut;
    result->anonymous_bytes = limit->anonymous_bytes;
}

bool process_run(const struct process_options *options, struct process_result *result)
{
    int ends[2] = {-1, -1};
    if (options->output)
        ends[1] = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if ((options->output && ends[1] < 0) || (!options->output && pipe2(ends, O_CLOEXEC) < 0)) {
        perror(options->output ? options->output : "pipe");
        return false;
    }
    uint64_t begin_ns = clock_now_ns();
    struct limit limit = {.child = fork(), .watches_memory = options->watches_memory};
    if (limit.child == 0)
        become(options, ends[1]);
    if (options->seconds_max > 0)
        limit.end_ns = begin_ns + (uint64_t)(options->seconds_max * 1e9);
    close(ends[1]);
    result->output[0] = '\0';
    if (!options->output) {
        read_output(ends[0], result->output, &limit);
        close(ends[0]);
    }
    wait_for(&limit, result);
    result->seconds = (double)(clock_now_ns() - begin_ns) / 1e9;
    if (result->status != 0 && !result->is_cut && !options->answers_by_code)
        fprintf(stderr, "%s is not installed or failed (status %#x)\n", options->arguments[0],
                (unsigned)result->status);
    return result->status == 0;
}

double process_cpu_s(pid_t pid)
{
    char path[64], text[1024];
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    /* The second field is a name in parentheses with anything in it; the two are the 14th and 15th. */
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        return 0;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

bool process_is_installed(const char *name)
{
    char path[4096];
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t len = strcspn(at, ":");
        if (snprintf(path, sizeof path, "%.*s/%s", (int)len, at, name) < (int)sizeof path &&
            access(path, X_OK) == 0)
            return true;
        at += len + (at[len] == ':');
    }
    return false;
}
