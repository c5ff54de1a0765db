/* Fetches a list of URLs over a few connections of one loop: the part of `lycosa fetch` that is not its
 * command line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/url/url.h"
#include "net/conn.h"

struct lycosa_fetch_options {
    const char
        *directory; /* bodies become files 1, 2, ... in it; NULL: they go to stdout, or nowhere with json */
    unsigned connections;
    unsigned repeat;      /* each URL this many times */
    const char *dns;      /* "ADDRESS[:PORT],..."; NULL: the system's */
    const char *cacert;   /* PEM file; NULL: the system's */
    const char *contact;  /* URL for the User-Agent; NULL: only loopback addresses are fetched from */
    uint32_t max_time_ms; /* per fetch, from the look-up to the last byte; 0: none */
    bool insecure;
    bool json;
    bool verbose;   /* the exchange on stderr */
    bool head_only; /* by HEAD; the head goes where the body would */
};

struct lycosa_fetch_url {
    struct url url;
    struct lycosa_fetch_url *host; /* the first URL of the same host, which keeps its TLS session */
    struct tls_session session;
};

/* Fetches all, reports each on stdout and stderr. Returns the exit code. */
int lycosa_fetch_run(const struct lycosa_fetch_options *options, struct lycosa_fetch_url *urls, size_t count);
