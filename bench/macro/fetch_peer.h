/* The same load by programs that others wrote, in processes whose use of the processor is measured the same
 * way. */
#pragma once

#include "macro/fetch_client.h"

struct fetch_peer_result {
    double rate;   /* requests per second */
    double cpu_us; /* per request */
    double user_us;
};

/* wrk with one thread on load->first_cpu. False if it is not installed or fails. */
bool fetch_peer_wrk(const struct fetch_load *load, struct fetch_peer_result *result);
