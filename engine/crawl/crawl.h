/* A crawl from its seeds to its end: what the loops share, and the two threads that look after them.
 *
 *   the watch         the caller's thread: decides when the crawl ends and reports progress to the caller.
 *                     It never touches a file, so that a slow disk cannot keep it from noticing
 *                     crawl_stop or the time limit
 *   the housekeeper   a thread of its own for whatever may block: writes the loops' output and
 *                     summary.json, and reads the tuning file again
 *
 * Nothing here is static, prints or handles signals: several crawls may run in one process. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/crawl/added.h"
#include "engine/crawl/bandwidth.h"
#include "engine/crawl/end.h"
#include "engine/crawl/gate.h"
#include "engine/crawl/housekeeper.h"
#include "engine/crawl/inquiry.h"
#include "engine/crawl/indexer.h"
#include "engine/crawl/unpacker.h"
#include "engine/crawl/page.h"
#include "engine/crawl/past.h"
#include "engine/crawl/progress.h"
#include "engine/crawl/repeats.h"
#include "engine/crawl/status.h"
#include "engine/frontier/frontier.h"
#include "engine/frontier/scope.h"
#include "engine/frontier/seeds.h"
#include "engine/frontier/sieve.h"
#include "engine/frontier/sources.h"
#include "engine/robots/robots_cache.h"
#include "engine/sieve/mill.h"
#include "engine/state/commit.h"
#include "engine/state/resume.h"
#include "engine/store/warcinfo.h"
#include "engine/tuning/tuning.h"
#include "net/tls_trust.h"

struct loop;
struct crawl;
struct crawl_reload;

/* In the directory of a crawl: the seeds that were added while it ran, a URL per line. */
#define CRAWL_ADDED_NAME "seeds-added.txt"

/* Values of the command line. They override the tuning file, also after a reload. 0: use the file's value. */
struct crawl_overrides {
    uint64_t max_pages;
    uint64_t max_time_ns;
    uint64_t threads;
};

/* Callbacks of the program that runs a crawl. Each may be NULL. */
struct crawl_hooks {
    void *owner;
    /* On the watch, every few milliseconds, from the reading of the seeds to the end. It may call crawl_stop
     * and crawl_reload. Like every callback on the watch, it must not block. */
    void (*on_tick)(void *owner, struct crawl *crawl);
    /* On the watch, before on_begin, when a crawl is resumed: a sample of an earlier process, from DIR/progress.tsv. */
    void (*on_past)(void *owner, const struct sample *sample);
    /* On the watch. on_begin: the threads run from here on. on_end: all threads have ended, and what they leave is
     * still there. Between the two, another thread may call status_update and the functions of this file. */
    void (*on_begin)(void *owner, struct crawl *crawl);
    void (*on_end)(void *owner, struct crawl *crawl);
    /* On the housekeeper, every few milliseconds: it may wait for the disk, as all that the housekeeper does. */
    void (*on_keep)(void *owner, const struct crawl *crawl);
    /* On the watch, every status interval and at the end. */
    void (*on_status)(void *owner, const struct status *status);
    /* On the watch: one line for the operator, for example that the tuning file was reloaded. */
    void (*on_note)(void *owner, const char *line);
    /* On the thread of the loop that fetched the page, in parallel with other loops: it must not block. */
    void (*on_page)(void *owner, const struct crawl_page *page);
};

struct crawl_options {
    const struct tuning *tuning;
    const char *tuning_path; /* for crawl_reload; NULL: there is no file */
    struct crawl_overrides overrides;
    const char *directory; /* created if missing; must be empty, unless the crawl is resumed */
    bool resumes;          /* goes on with the crawl that is in the directory */
    bool trusts_synced;    /* resumes from the last sync, whatever was committed after it */
    char *const *seeds;    /* URLs and files */
    unsigned seed_count;
    uint64_t status_interval_ns; /* between calls of on_status; 0: as the tuning file says */
    struct crawl_hooks hooks;
};

/* How fast URLs are finished, as the watch sees it. */
struct crawl_pace {
    uint64_t out;    /* at the last look */
    double per_look; /* on average, lately */
};

/* What is permanent, and how far checkpoints are: one is made at a time. The housekeeper writes this, any thread may
 * read it. */
struct crawl_durable {
    _Atomic(uint64_t) committed, synced; /* epochs */
    _Atomic(uint64_t) asked;             /* calls of crawl_checkpoint */
    _Atomic(uint64_t) done;              /* of these, those that were answered */
    _Atomic(uint64_t) done_epoch;        /* of the last one */
    _Atomic(uint64_t) done_took_ns;

    /* used by the housekeeper alone */
    uint64_t begun; /* calls that the one under way answers */
    uint64_t begun_ns;
    uint64_t epoch;
};

/* Where a URL is, as far as the loops know. */
struct crawl_whereabouts {
    bool is_known;        /* the sieve has admitted it */
    bool is_sure;         /* is_known is the whole truth; false: only the sieve on disk can tell */
    bool is_in_flight;    /* it is being fetched */
    bool has_host;        /* its host is known: the members below count */
    bool is_host_visited; /* some URL of its host is being fetched */
    uint32_t host_queued; /* URLs of its host that wait or are being fetched */
};

struct crawl_question {
    _Atomic(unsigned) left; /* loops that have not answered yet; the last of them is next */
    struct url url;
    char text[URL_BYTES_MAX];
    struct crawl_whereabouts answer;
};

/* An order about single hosts, from the thread that gives it to the housekeeper and back. */
struct crawl_hold {
    _Atomic(int) state; /* 0: there was none yet; 1: asked; 2: done */
    struct holds_order order;
    enum holds_result result;
    int error;       /* negative errno of the file DIR/state/held; 0: none */
    uint32_t number; /* of the list that carries it out */
};

struct crawl {
    struct tuning tuning;                /* as at the start */
    _Atomic(const struct tuning *) live; /* in force: `tuning`, or the latest reload */
    const struct crawl_options *options;
    const char *directory;
    const struct disk *disk;
    char scratch[1100]; /* where scratch files go */
    char slots[1200];   /* path of the one with the long queues of single hosts */
    int lock;           /* descriptor of DIR/state/lock; -1: none */
    char user_agent[1024];
    struct slice agent; /* the product token */
    unsigned canonical; /* enum canonical_rule */
    struct frontier frontier;
    struct sieve sieve;
    struct mill mill; /* asks the sieve on disk, if there is one */
    char mill_directory[1200];
    struct sources sources;    /* the seeds, by number */
    struct robots_cache rules; /* of all hosts */
    struct repeats repeats;    /* what was seen before */
    size_t tuning_len; /* of tuning_text: the tuning file as it is in the directory, or its beginning */
    char tuning_text[WARCINFO_BYTES_MAX];
    struct unpacker unpacker; /* of store.kind = directory */
    struct indexer indexer;   /* of WARC files, if they are to be indexed */
    struct scope *scope;
    struct tls_trust *trust;
    struct loop *loops;
    unsigned loop_count;
    uint64_t begin_ns;
    uint64_t setup_cpu_ns; /* processor time until then */
    struct status_seeds seeds;
    struct resume resume;
    struct past_options past; /* of a resumed crawl */
    uint64_t opens_us;        /* no visit begins before this moment of the wall clock */
    bool is_stowed;           /* before the loops ran, memory was full of short queues */
    uint64_t replayed;        /* records of the journal that were read */
    struct stats before;      /* what was done before the crawl was resumed */
    uint64_t ran_before_ns;   /* how long that took */

    /* used by the watch alone */
    struct end end;
    struct crawl_pace pace;
    struct housekeeper watch;
    struct status status;
    struct crawl_reload *reloads; /* those that a loop may still use */

    /* used by the housekeeper alone */
    struct housekeeper housekeeper;
    pthread_t housekeeper_thread;
    unsigned reloads_done;
    struct commit commit;
    bool serves_slots;         /* there was something to do, so more may come soon */
    struct progress progress;  /* DIR/progress.tsv */
    struct status progressed;  /* as of its last line */
    struct added *rest;        /* seeds that were on their way when the loops ended */
    struct holds *holds;       /* the newest list, and those before it that a loop may still use */
    uint64_t dropped_ns;       /* when the last drop was published */
    uint64_t stored_committed; /* pages in the WARC files by the last commit, of this process */

    /* shared between threads */
    _Atomic(unsigned) stops;                 /* calls of crawl_stop */
    _Atomic(bool) is_pausing;                /* crawl_pause was called, and crawl_unpause was not */
    _Atomic(uint64_t) paused_ns;             /* how long the crawl was paused, in all */
    _Atomic(uint64_t) pages_max, time_max_ns; /* crawl.max-pages and max-time that are in force, for the status */
    _Atomic(unsigned) reloads_asked;         /* calls of crawl_reload */
    _Atomic(struct crawl_reload *) reloaded; /* a file just read, for the watch */
    _Atomic(char *) patch;                   /* a piece of a tuning file, for the watch */
    _Atomic(const struct tuning *) borrowed; /* by crawl_borrow_tuning; the watch does not free it */
    _Atomic(uintptr_t) door;                 /* for seeds: a struct added, or enum crawl_door */
    _Atomic(struct added *) to_take;         /* likewise, by loop 0 */
    _Atomic(uint64_t) seeds_added;           /* those that were accepted */
    struct crawl_durable durable;
    struct crawl_question question;
    _Atomic(int) disk_error;                 /* negative errno */
    _Atomic(bool) is_disk_low;               /* less than state.reserve is left */
    _Atomic(uint64_t) disk_free, disk_size;  /* bytes, as of the last second; size 0: not known */
    _Atomic(uint64_t) kept_ns;               /* when the housekeeper last began a turn */
    _Atomic(bool) has_ended;                 /* the loops have ended; no more output will come */
    struct crawl_hold hold;                  /* the last order about hosts */
    struct inquiries inquiries;              /* questions about hosts */
    struct desk *desks[FRONTIER_LOOPS_MAX];  /* of the loops; fixed before they run */
    struct gate gate;
    struct bandwidth bandwidth;
};

/* Runs a crawl in the calling thread. False if it could not begin: error->message is one line that says why,
 * crawl->end.why is CRAWL_END_BAD_TUNING if the tuning is to blame, and no file is left behind. */
bool crawl_run(struct crawl *crawl, const struct crawl_options *options, struct tuning_error *error);

/* Ends the crawl: the first call lets requests in flight finish, the second cuts them off. Safe in any thread
 * and in signal handlers. */
void crawl_stop(struct crawl *crawl);
/* No new requests are made until crawl_unpause; what is in flight may finish. Time limits stand still. Both are safe in
 * any thread and in signal handlers. */
void crawl_pause(struct crawl *crawl);
void crawl_unpause(struct crawl *crawl);
/* Has the tuning file read again. Safe in any thread and in signal handlers. */
void crawl_reload(struct crawl *crawl);

/* Has the watch take over the keys of this text that may change while a crawl runs. False: it has not taken over the last
 * text yet, or there is no memory. Safe in any thread. */
bool crawl_patch_tuning(struct crawl *crawl, struct slice text);
/* The tuning in force, until crawl_return_tuning. By one thread besides the watch and the loops. */
const struct tuning *crawl_borrow_tuning(struct crawl *crawl);
void crawl_return_tuning(struct crawl *crawl);

/* Hands seeds over to a running crawl, which owns them until added->state says that they are taken. False: the crawl
 * is over (*is_over), or other seeds are still being taken. By one thread. */
bool crawl_add_seeds(struct crawl *crawl, struct added *added, bool *is_over);
/* Asks for all that was done so far to be committed and synced. Returns the number of this call: it is carried out
 * once durable.done has reached that number. Only with a journal. Safe in any thread. */
uint64_t crawl_checkpoint(struct crawl *crawl);

/* Asks the loops where a URL, in its canonical form, is. False: the last question is not answered yet. Once
 * crawl_is_answered, question.answer tells. By one thread. */
bool crawl_ask(struct crawl *crawl, const struct url *url);
bool crawl_is_answered(const struct crawl *crawl);

/* Orders about single hosts, and questions about them. All by one thread besides those of the crawl; no call waits. */
/* Hands an order to the housekeeper. False: the last one is not taken up yet. */
bool crawl_order_hosts(struct crawl *crawl, const struct holds_order *order);
/* What became of the last order, until the next one; NULL: nobody has taken it up yet. */
const struct crawl_hold *crawl_ordered_hosts(const struct crawl *crawl);
/* Whether the loops are through with the list of this number, or a later one: no request is begun that it forbids. */
bool crawl_is_carried_out(const struct crawl *crawl, uint32_t number);
/* What is held, valid until the next order is given; NULL: nothing was ever. An order that is not taken up yet is not in it. */
const struct holds *crawl_list_holds(const struct crawl *crawl);
/* Asks, or asks on if has_more. */
void crawl_inquire(struct crawl *crawl, struct inquiry *inquiry);

/* The rules (enum canonical_rule) that a crawl with this tuning file applies to every URL. */
bool crawl_canonical_rules(const struct scope_tuning_fixed *scope, unsigned *rules,
                           struct tuning_error *error);

/* Whether WARC files get an index. */
static inline bool crawl_has_indexes(const struct crawl *crawl)
{
    const struct store_tuning_fixed *store = &crawl->tuning.fixed.store;
    return store->kind == TUNING_STORE_WARC && store->index;
}
