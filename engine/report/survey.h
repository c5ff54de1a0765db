/* What there is to say of a crawl: everything that is counted while its crawl.log is read, line by line, once. Memory is
 * bounded whatever the length of the log: 1 million hosts, 65,536 seeds and 4,096 MIME types are counted by name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/outcome/fetch_outcome.h"
#include "engine/report/log_line.h"
#include "engine/report/roster.h"
#include "engine/report/samples.h"
#include "engine/report/spread.h"
#include "engine/report/tasks.h"
#include "engine/report/timeline.h"

enum survey_task {
    SURVEY_TASK_VISIT,
    SURVEY_TASK_HOST,
};

enum {
    SURVEY_CODE_MIN = -9999, /* Heritrix's lowest */
    SURVEY_CODE_MAX = 999,
    SURVEY_CODES = SURVEY_CODE_MAX - SURVEY_CODE_MIN + 1,
    SURVEY_DEPTHS = 64,  /* the last one is for all that is deeper */
    SURVEY_WEIGHTS = 64, /* likewise */
    SURVEY_LEVELS = 2,
    SURVEY_WEEK_HOURS = 7 * 24,
    SURVEY_OUTCOMES_MAX = 512,
};

struct survey_count {
    uint64_t urls;
    uint64_t bytes;
};

struct survey {
    const char *name; /* of the crawl, for legends */
    enum survey_task task;

    uint64_t lines;
    uint64_t bad_lines;
    uint64_t prerequisites; /* lines of robots.txt and of names; counted here and nowhere else */
    uint64_t first_ms, last_ms;
    uint64_t urls;
    uint64_t pages; /* URLs that had a response */
    uint64_t bytes;
    uint64_t failed; /* URLs without one */
    uint64_t redirects, duplicates, near_duplicates;
    uint64_t outlinks;
    uint64_t visited; /* pages whose visit is known */
    uint64_t done;    /* URLs with the outcome "done"; survey_finish adds them to `outcomes` */

    struct survey_count codes[SURVEY_CODES];
    uint64_t depths[SURVEY_DEPTHS];
    uint64_t weights[SURVEY_WEIGHTS];       /* of pages of level 0 */
    struct spread took_ms[SURVEY_LEVELS];   /* of single pages */
    struct spread size[SURVEY_LEVELS];      /* likewise */
    uint64_t week_bytes[SURVEY_WEEK_HOURS]; /* from Monday, 0:00 UTC */
    struct timeline timeline;
    struct tasks tasks;
    struct roster hosts, mimes, seeds, outcomes;
    struct samples samples;

    /* Of summary.json; -1 or empty: not known. */
    char end[32];
    int64_t queued;
    double seconds;
};

/* 0, or a negative errno. */
int survey_init(struct survey *survey, const char *name, enum survey_task task);
void survey_fini(struct survey *survey);

/* The next line of crawl.log, without its newline. */
void survey_take(struct survey *survey, struct slice line);
/* The whole of summary.json. */
void survey_take_summary(struct survey *survey, struct slice json);
/* After the last line: ends the tasks, sorts the names. */
void survey_finish(struct survey *survey);

/* Whether tasks are visits; if not, they are hosts because that was asked for or because the log does not tell visits. */
static inline bool survey_has_visits(const struct survey *survey)
{
    return survey->task == SURVEY_TASK_VISIT && survey->visited;
}
