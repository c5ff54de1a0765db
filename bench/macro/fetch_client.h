/* The load that net/ makes: loops of their own in a process of their own, so that its use of the processor
 * can be told from everything else. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fetch_load {
    uint16_t port;
    const char *path;
    unsigned addresses; /* connections are spread over 127.0.0.1 to 127.0.0.N */
    unsigned loops;     /* a thread each, pinned to first_cpu, first_cpu + 1, ... */
    unsigned first_cpu;
    unsigned connections; /* in all */
    double seconds;       /* of the measured part, after all connections are open */
    unsigned interval_ms; /* between two requests of a connection; 0: at once */
    const char *cacert;   /* not NULL: TLS, and what to trust */
    bool handshakes;      /* a connection is closed as soon as it is ready, and begins again */
    bool resumes;         /* with the TLS session of an earlier one */
};

struct fetch_result {
    uint64_t requests; /* answered within the measured part; with handshakes: connections that became ready */
    uint64_t failures; /* connections or requests, at any time */
    uint64_t enters;
    uint64_t bytes;
    uint64_t open; /* connections open at the end of the measured part */
    double seconds;
    double user_us; /* of processor time, of all loops */
    double system_us;
    double tls_bytes;        /* of the pool's contexts, per connection */
    double connection_bytes; /* growth of the process's resident memory per connection */
};

/* False if the process did not end well; it has said why. */
bool fetch_client_run(const struct fetch_load *load, struct fetch_result *result);
