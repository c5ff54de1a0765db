#include "macro/fetch_peer.h"

#include <stdio.h>
#include <string.h>

#include "macro/process.h"
#include "macro/wrk.h"

bool fetch_peer_wrk(const struct fetch_load *load, struct fetch_peer_result *result)
{
    char url[128];
    struct wrk_result wrk;
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", load->port, load->path);
    struct wrk_options options = {.url = url,
                                  .connections = load->connections,
                                  .seconds = load->seconds < 1 ? 1 : (unsigned)load->seconds,
                                  .cpu = (int)load->first_cpu};
    if (!wrk_run(&options, &wrk))
        return false;
    result->rate = wrk.per_second;
    result->user_us = wrk.user_s * 1e6 / wrk.requests;
    result->cpu_us = result->user_us + wrk.system_s * 1e6 / wrk.requests;
    return true;
}

bool fetch_peer_openssl(const struct fetch_load *load, bool resumes, const char *path,
                        struct fetch_peer_tls *result)
{
    static struct process_result process;
    char command[512];
    /* The dots that it prints per connection go where its figures do not. */
    snprintf(
        command, sizeof command,
        "exec openssl s_time -connect 127.0.0.1:%u %s -time %u -tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256 "
        "-CAfile %s -verify 2 %s%s 2>/dev/null",
        load->port, resumes ? "-reuse" : "-new", load->seconds < 1 ? 1 : (unsigned)load->seconds,
        load->cacert, path ? "-www " : "", path ? path : "");
    char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, command, NULL};
    if (!process_run(&(struct process_options){.arguments = arguments, .cpu = (int)load->first_cpu},
                     &process))
        return false;
    const char *line = strstr(process.output, " real seconds, ");
    while (line && line > process.output && line[-1] != '\n')
        line--;
    unsigned connections, seconds, bytes;
    if (!line ||
        sscanf(line, "%u connections in %u real seconds, %u bytes", &connections, &seconds, &bytes) != 3) {
        fprintf(stderr, "bench_fetch: openssl s_time said: %s\n", process.output);
        return false;
    }
    *result = (struct fetch_peer_tls){
        .connections = connections,
        .bytes = bytes,
        .seconds = seconds,
        .cpu_us = (process.user_s + process.system_s) * 1e6,
    };
    return true;
}
