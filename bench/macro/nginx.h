/* nginx for a benchmark: a configuration and files of its own in a temporary directory, on free loopback
 * ports. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct nginx_options {
    unsigned workers;
    const char *cpus;   /* worker_cpu_affinity: "01", "01 10" */
    unsigned addresses; /* it listens on 127.0.0.1 to 127.0.0.N */
    bool tls;           /* on a second port, with a certificate made for the run */
};

struct nginx {
    char directory[64];
    uint16_t port;
    uint16_t tls_port;
    pid_t pid;
};

/* In PATH or where Debian has it. */
bool nginx_is_installed(void);

/* Files /1k, /10k and /16m are served. False, with a message, if nginx does not come up. */
bool nginx_begin(struct nginx *server, const struct nginx_options *options);
void nginx_finish(struct nginx *server);

/* Processor time of its workers so far. */
double nginx_cpu_s(const struct nginx *server);
