/* wrk with one thread: the load that a server and a transport can bear when nobody looks at the pages. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct wrk_options {
    const char *url;
    const char *host; /* "Host: NAME"; NULL: as the URL has it */
    unsigned connections;
    unsigned seconds;
    int cpu;
};

struct wrk_result {
    double requests;
    double per_second;
    double bytes; /* received, heads included */
    double user_s, system_s;
    uint64_t peak_bytes;
};

/* False, with a message, if it is not installed, fails, or gets an answer other than 2xx or 3xx. */
bool wrk_run(const struct wrk_options *options, struct wrk_result *result);
