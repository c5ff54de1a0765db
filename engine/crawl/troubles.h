/* The hosts that fail, and why, for the operator: reported at once, long before a host is given up. One per
 * loop.
 *
 * | call               | by whom   |
 * |--------------------|-----------|
 * | note, forget, turn | the loop  |
 * | read, ask          | the watch |
 *
 * The number of failing hosts per reason is meaningful only summed over all loops: a host may fail on one
 * loop and recover on another, so a single loop's number may be negative. The watch gets the last failing
 * hosts as a copy when it asks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/crawl/limits.h"
#include "engine/frontier/host.h"
#include "engine/outcome/fetch_outcome.h"
#include "lockfree/atomic.h"

struct troubles_host {
    uint32_t id; /* 0: none */
    enum fetch_outcome why;
    uint64_t retry_ns; /* when it is tried again */
    char name[TROUBLES_NAME_BYTES];
};

struct troubles {
    struct troubles_host recent[TROUBLES_HOSTS]; /* hosts that will be tried again; used by the loop alone */
    unsigned next;                               /* the entry to be overwritten next */
    struct troubles_host copy[TROUBLES_HOSTS];   /* the loop owns it while is_asked, else the watch */
    _Atomic(bool) is_asked;
    _Atomic(int64_t) hosts[FETCH_OUTCOME_COUNT];
};

/* The host failed and will be tried again at retry_ns; 0: never. By the host's holder or home. */
void troubles_note(struct troubles *troubles, struct host *host, enum fetch_outcome why, uint64_t retry_ns);

void troubles_remove(struct troubles *troubles, struct host *host);
/* The host works again. By its holder. */
static inline void troubles_forget(struct troubles *troubles, struct host *host)
{
    if (host->trouble != FETCH_DONE)
        troubles_remove(troubles, host);
}

/* Makes the copy if the watch has asked. Once per turn. */
void troubles_turn(struct troubles *troubles);

/* The copy of TROUBLES_HOSTS entries, valid until troubles_ask; NULL if the loop has not made it yet. */
const struct troubles_host *troubles_read(struct troubles *troubles);
/* Asks for a new copy. Only after troubles_read has returned the last one. */
void troubles_ask(struct troubles *troubles);
