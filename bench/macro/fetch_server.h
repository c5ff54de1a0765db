/* nginx for a benchmark: a configuration and files of its own in a temporary directory, on free loopback
 * ports. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fetch_server_options {
    unsigned workers;
    const char *cpus;   /* worker_cpu_affinity: "01", "01 10" */
    unsigned addresses; /* it listens on 127.0.0.1 to 127.0.0.N */
    bool tls;           /* on a second port, with a certificate made for the run */
};

struct fetch_server {
    char directory[64];
    uint16_t port;
    uint16_t tls_port;
    pid_t pid;
};

/* Files /1k, /10k and /16m are served. False, with a message, if nginx does not come up. */
bool fetch_server_begin(struct fetch_server *server, const struct fetch_server_options *options);
void fetch_server_finish(struct fetch_server *server);
