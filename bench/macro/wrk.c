#include "macro/wrk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macro/process.h"

/* "  12345 requests in 2.00s, 123.45MB read": wrk counts in powers of 1,024. */
static bool read_totals(const char *text, struct wrk_result *result)
{
    const char *at = strstr(text, " requests in "), *rate = strstr(text, "Requests/sec:");
    char unit = 'B';
    if (!at || !rate || strstr(text, "Non-2xx"))
        return false;
    result->per_second = atof(rate + strlen("Requests/sec:"));
    if (sscanf(at, " requests in %*[^,], %lf%c", &result->bytes, &unit) < 1)
        return false;
    result->bytes *= unit == 'G' ? 1 << 30 : unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1;
    while (at > text && at[-1] != ' ' && at[-1] != '\n')
        at--;
    result->requests = atof(at);
    return result->requests > 0;
}

bool wrk_run(const struct wrk_options *options, struct wrk_result *result)
{
    static struct process_result process;
    char connections[16], duration[16], url[1200], host[600];
    snprintf(connections, sizeof connections, "-c%u", options->connections);
    snprintf(duration, sizeof duration, "-d%us", options->seconds);
    snprintf(url, sizeof url, "%s", options->url);
    snprintf(host, sizeof host, "%s", options->host ? options->host : "");
    char *arguments[] = {
        (char[]){"wrk"}, (char[]){"-t1"}, connections, duration, url, (char[]){"-H"}, host, NULL};
    if (!options->host)
        arguments[5] = NULL;
    if (!process_run(&(struct process_options){.arguments = arguments, .cpu = options->cpu}, &process))
        return false;
    if (!read_totals(process.output, result)) {
        fprintf(stderr, "wrk said: %s\n", process.output);
        return false;
    }
    result->user_s = process.user_s;
    result->system_s = process.system_s;
    result->peak_bytes = process.peak_bytes;
    return true;
}
