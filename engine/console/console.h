/* The operator's door to a running crawl: state, history and metrics over HTTP, and orders.
 *
 * A thread of its own, which takes no lock and touches no structure that a loop changes: it reads atomic counters, and
 * hands orders over as signals and the tuning file do. So it can do nothing that those cannot, and a slow disk or a slow
 * reader holds up nobody. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/console/guard.h"
#include "engine/console/recent.h"
#include "engine/console/page.h"
#include "engine/console/server.h"
#include "engine/crawl/crawl.h"
#include "engine/crawl/pulse.h"

struct console {
    struct crawl *crawl;
    struct guard guard;
    struct server server;
    struct page page;
    struct recent history;
    struct status status; /* of the last second */
    struct pulse pulse;
    bool is_alive; /* as the pulse says; `why` if not */
    char why[PULSE_WHY_BYTES];
    char url[160]; /* for a browser, with the token; empty: no TCP */
    FILE *events;  /* DIR/events.log: every order; NULL before the first */
    pthread_t thread;
    bool is_running;
    _Atomic(bool) is_ending;
};

/* Opens the TCP listener that the tuning file asks for, if it asks for one, before the crawl begins. False: error->message
 * says why. console_close in either case. */
bool console_open(struct console *console, const struct control_tuning_fixed *tuning, struct tuning_error *error);
/* Opens DIR/control.sock, writes DIR/control.json and starts the thread; by the hook on_begin. A crawl goes on without a
 * console if that fails: `error` says why. */
bool console_start(struct console *console, struct crawl *crawl, struct tuning_error *error);
/* Ends the thread; by the hook on_end. No-op if it does not run. */
void console_stop(struct console *console);
void console_close(struct console *console);
