#include "macro/fetch_peer.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a program pinned to a processor; what it prints goes to `output`. False unless it ends with 0. */
static bool run_pinned(char *const *arguments, unsigned cpu, char *output, size_t size, struct rusage *usage)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
        dup2(ends[1], STDOUT_FILENO);
        execvp(arguments[0], arguments);
        _exit(127);
    }
    close(ends[1]);
    size_t len = 0;
    ssize_t n;
    while (len + 1 < size && (n = read(ends[0], output + len, size - 1 - len)) > 0)
        len += (size_t)n;
    output[len] = '\0';
    close(ends[0]);
    int status = 1;
    wait4(child, &status, 0, usage);
    if (status != 0)
        fprintf(stderr, "bench_fetch: %s is not installed or failed\n", arguments[0]);
    return status == 0;
}

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

bool fetch_peer_wrk(const struct fetch_load *load, struct fetch_peer_result *result)
{
    char connections[16], duration[16], url[128], output[4096];
    struct rusage usage;
    const unsigned seconds = load->seconds < 1 ? 1 : (unsigned)load->seconds;
    snprintf(connections, sizeof connections, "-c%u", load->connections);
    snprintf(duration, sizeof duration, "-d%us", seconds);
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", load->port, load->path);
    char *arguments[] = {(char[]){"wrk"}, (char[]){"-t1"}, connections, duration, url, NULL};
    if (!run_pinned(arguments, load->first_cpu, output, sizeof output, &usage))
        return false;
    const char *total = strstr(output, " requests in "), *rate = strstr(output, "Requests/sec:");
    if (!total || !rate) {
        fprintf(stderr, "bench_fetch: wrk said: %s\n", output);
        return false;
    }
    while (total > output && total[-1] != ' ' && total[-1] != '\n')
        total--;
    const double requests = atof(total);
    result->rate = atof(rate + strlen("Requests/sec:"));
    result->user_us = seconds_of(usage.ru_utime) * 1e6 / requests;
    result->cpu_us = result->user_us + seconds_of(usage.ru_stime) * 1e6 / requests;
    return true;
}

bool fetch_peer_openssl(const struct fetch_load *load, bool resumes, const char *path,
                        struct fetch_peer_tls *result)
{
    char command[512], output[65536];
    struct rusage usage;
    /* The dots that it prints per connection go where its figures do not. */
    snprintf(
        command, sizeof command,
        "exec openssl s_time -connect 127.0.0.1:%u %s -time %u -tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256 "
        "-CAfile %s -verify 2 %s%s 2>/dev/null",
        load->port, resumes ? "-reuse" : "-new", load->seconds < 1 ? 1 : (unsigned)load->seconds,
        load->cacert, path ? "-www " : "", path ? path : "");
    char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, command, NULL};
    if (!run_pinned(arguments, load->first_cpu, output, sizeof output, &usage))
        return false;
    const char *line = strstr(output, " real seconds, ");
    while (line && line > output && line[-1] != '\n')
        line--;
    unsigned connections, seconds, bytes;
    if (!line ||
        sscanf(line, "%u connections in %u real seconds, %u bytes", &connections, &seconds, &bytes) != 3) {
        fprintf(stderr, "bench_fetch: openssl s_time said: %s\n", output);
        return false;
    }
    *result = (struct fetch_peer_tls){
        .connections = connections,
        .bytes = bytes,
        .seconds = seconds,
        .cpu_us = (seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)) * 1e6,
    };
    return true;
}
