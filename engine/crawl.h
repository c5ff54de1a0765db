/* A crawl from its seeds to its end: what the loops share, and the housekeeper that looks after them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/frontier.h"
#include "engine/scope.h"
#include "engine/seeds.h"
#include "engine/sieve.h"
#include "engine/tuning.h"
#include "net/tls_trust.h"

struct loop;

enum crawl_phase {
    CRAWL_RUNNING,
    CRAWL_STOPPING, /* no new requests; what is in flight may finish */
    CRAWL_ENDING,   /* what is in flight is cut off */
};

/* Why a crawl came to its end. */
enum crawl_end {
    CRAWL_END_NONE,
    CRAWL_END_COMPLETE, /* nothing is left to fetch */
    CRAWL_END_PAGES,
    CRAWL_END_TIME,
    CRAWL_END_SIGNAL,
    CRAWL_END_DISK_FULL,
    CRAWL_END_FAILED,
    CRAWL_END_BAD_TUNING, /* never begun: a value in the tuning file cannot be used */
};

/* A tuning file that was read while the crawl ran. Never changed once the loops know of it. */
struct crawl_reload {
    struct crawl_reload *next;
    struct tuning tuning;
};

/* What the command line says over the tuning file, also when that is read again. 0: as the file says. */
struct crawl_overrides {
    uint64_t max_pages;
    uint64_t max_time_ns;
    uint64_t threads;
};

struct crawl {
    struct tuning tuning;                /* as it was at the start */
    _Atomic(const struct tuning *) live; /* what the loops go by: `tuning`, or the last that was read again */
    struct crawl_reload *reloads;        /* all that were read again: a loop may be at any of them */
    const char *tuning_path;             /* read again on SIGHUP; NULL: none */
    struct crawl_overrides overrides;
    const char *directory;
    char warc_directory[1024];
    char user_agent[1024];
    struct slice agent; /* the product token */
    unsigned canonical; /* enum canonical_rule */
    struct frontier frontier;
    struct sieve sieve;
    struct scope *scope;
    struct tls_trust *trust;
    struct loop *loops;
    unsigned loop_count;
    uint64_t begin_ns;
    int64_t begin_us; /* wall clock */
    enum crawl_end end;
    bool is_live;                                 /* the status is a block on a terminal */
    int signals;                                  /* signalfd */
    int error;                                    /* of the disk: negative errno */
    LF_ISOLATED _Atomic(int) phase;               /* enum crawl_phase */
    LF_ISOLATED _Atomic(uint64_t) pages_reserved; /* with max-pages: requests that may become a page */
};

struct crawl_options {
    const struct tuning *tuning;
    const char *tuning_path;
    struct crawl_overrides overrides;
    const char *directory; /* made if it is not there; must be empty */
    char *const *seeds;    /* URLs and files */
    unsigned seed_count;
    bool is_live;
};

/* Runs a crawl in the calling thread. False: it could not begin; error->message is one line that says why,
 * crawl->end may be CRAWL_END_BAD_TUNING, and nothing is left behind. */
bool crawl_run(struct crawl *crawl, const struct crawl_options *options, struct tuning_error *error);

/* The rules (enum canonical_rule) that a crawl with this tuning file applies to every URL. */
bool crawl_canonical_rules(const struct tuning *tuning, unsigned *rules, struct tuning_error *error);

/* "complete", "pages", "time", "signal", "disk-full", "failed" */
const char *crawl_end_name(enum crawl_end end);
