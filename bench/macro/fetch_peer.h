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

struct fetch_peer_tls {
    double connections; /* made */
    double bytes;       /* read over each */
    double cpu_us;      /* of all */
    double seconds;
};

/* openssl s_time with TLS 1.2 against load->port: new sessions, or one session resumed. `path` NULL: nothing
 * is asked for. */
bool fetch_peer_openssl(const struct fetch_load *load, bool resumes, const char *path,
                        struct fetch_peer_tls *result);
