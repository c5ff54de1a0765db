/* One crawl of a simulated web by lycosa, in a process of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "macro/crawl_build.h"
#include "macro/crawl_web.h"

struct crawl_run_options {
    const char *tuning;   /* lines of a tuning file, beside those that every run has */
    const char *seeds;    /* name of a file in the web's directory */
    unsigned threads;     /* 0 stands for 1 */
    unsigned seconds_max; /* the crawl ends itself; 0: when all is fetched */
    unsigned pages_max;   /* the same after so many pages; 0: no limit */
    const struct crawl_build *build; /* whose lycosa it is; NULL: that of the web's programs */
    bool watches_memory;             /* crawl_run.anonymous_bytes */
};

/* What the loops share: a key of summary.json's "lost_races_by" each. */
enum { CRAWL_RUN_SHARED = 7 };
extern const char *const crawl_run_shared[CRAWL_RUN_SHARED];

struct crawl_run {
    uint64_t pages;
    double seconds;  /* from the first request to the end, without the set-up */
    double received; /* bytes */
    double user_s, system_s;
    double cpu_s; /* of both, what summary.json tells: without the set-up */
    uint64_t peak_bytes;
    uint64_t anonymous_bytes; /* the same without pages of files, if it was watched */
    double enters;     /* calls of the kernel by the rings */
    double lost_races; /* compare-and-swaps that failed */
    double lost_races_by[CRAWL_RUN_SHARED];
    double visits, hosts, queued, urls_in, failed;
    /* Of urls_in, those that waited on disk, at least: without room in memory, or in a long queue. Some do both. */
    double on_disk;
    double late_rate; /* pages per second in the second half of a run with seconds_max */
    bool is_complete;
};

/* No rests, no robots.txt, one connection per host at a time and 16 per address: the machine is the limit. */
extern const char crawl_run_rude[];

/* Takes the processor time of `setup` off that of `run`. */
void crawl_run_without(struct crawl_run *run, const struct crawl_run *setup);

/* What the crawl in a directory says of itself in summary.json. False if there is none. */
bool crawl_run_read(const char *directory, struct crawl_run *run);

/* False, with a message, if lycosa failed. The crawl's directory is gone afterwards. */
bool crawl_run(const struct crawl_web *web, const struct crawl_run_options *options, struct crawl_run *run);
