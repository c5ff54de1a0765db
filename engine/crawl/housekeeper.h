/* A list of jobs that one thread runs, each when it is due. A job returns when it wants to run again, so
 * that its period can follow the tuning file. It does a bounded amount of work per call, so that the others
 * do not wait. */
#pragma once

#include <stdint.h>

#include "engine/crawl/limits.h"

/* Does some work; returns the nanoseconds until it is due again. 0: in the next turn. */
typedef uint64_t housekeeper_job(void *owner, uint64_t now_ns);

struct housekeeper {
    void *owner;
    unsigned count;
    struct {
        housekeeper_job *run;
        uint64_t due_ns;
    } jobs[HOUSEKEEPER_JOBS_MAX];
};

void housekeeper_init(struct housekeeper *housekeeper, void *owner);
/* The job is due at once. */
void housekeeper_add(struct housekeeper *housekeeper, housekeeper_job *run);
/* Runs the jobs that are due, in the order of housekeeper_add; returns the nanoseconds until the next one. */
uint64_t housekeeper_turn(struct housekeeper *housekeeper, uint64_t now_ns);
