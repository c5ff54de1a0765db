/* The operator's door to a running crawl: state, history and metrics over HTTP, and orders.
 *
 * A thread of its own, which takes no lock and touches no structure that a loop changes: it reads atomic counters, and
 * hands orders over as signals and the tuning file do, or, about single hosts, to the housekeeper and the loops. A slow disk
 * or a slow reader holds up nobody. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/console/guard.h"
#include "engine/console/order_log.h"
#include "engine/console/recent.h"
#include "engine/console/page.h"
#include "engine/console/router_why.h"
#include "engine/console/server.h"
#include "engine/crawl/crawl.h"
#include "engine/crawl/pulse.h"
#include "lockfree/ring_spsc.h"

/* Notes that wait for the console's thread; more are not told. */
enum { CONSOLE_NOTES = 32, CONSOLE_NOTES_BYTES = CONSOLE_NOTES * sizeof(uint64_t) };

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
    char url[400]; /* for a browser, with the token; empty: no TCP */
    struct added *added;     /* seeds that were handed over; NULL: none */
    uint64_t added_asked_ns; /* when somebody last asked what became of them */
    uint64_t lists;          /* of seeds, so far */
    struct why question;     /* where a URL is */
    struct pending *orderer;  /* whose order about hosts the housekeeper has; NULL: nobody waits for one */
    enum crawl_phase phase;  /* that readers of events were told */
    uint64_t spoke_ns;       /* when they were last sent a comment */
    bool is_closing;         /* what cannot be answered now will not be */
    pthread_t thread;
    bool is_running;
    _Atomic(bool) is_ending;
    struct order_log orders;
    struct ring_spsc notes; /* lines for readers of events, from the watch */
    _Alignas(LF_CACHE_LINE) char notes_memory[CONSOLE_NOTES_BYTES];
};

/* Opens the TCP listener that the tuning file asks for, if it asks for one, before the crawl begins. False: error->message
 * says why. console_close in either case. */
bool console_open(struct console *console, const struct control_tuning_fixed *tuning, struct tuning_error *error);
/* A sample of an earlier process; by the hook on_past. */
void console_past(struct console *console, const struct sample *sample);
/* Opens DIR/control.sock, writes DIR/control.json and starts the thread; by the hook on_begin. A crawl goes on without a
 * console if that fails: `error` says why. */
bool console_start(struct console *console, struct crawl *crawl, struct tuning_error *error);
/* What has to wait for the disk; by the hook on_keep. */
void console_keep(struct console *console, const struct crawl *crawl);
/* One line for readers of events; by the hook on_note. */
void console_note(struct console *console, const char *line);
/* Ends the thread; by the hook on_end. No-op if it does not run. */
void console_stop(struct console *console);
void console_close(struct console *console);
