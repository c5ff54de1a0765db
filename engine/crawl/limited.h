/* What limits a loop: the answer to "why is the crawl not faster?".
 *
 * At the end of each turn a loop says what it waits for. The time until the next turn belongs to that. Every
 * LOOP_SETTLE_NS the loop compares with the processor time that its thread has used: this much was work, whatever the
 * turns said, because the kernel's part of receiving is done while the loop seems to wait. The rest goes to the
 * reasons by their share of the turns. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LIMITED_REASONS(X)                                                                                   \
    X(WORK, work)               /* the processor: the loop has something to do */                            \
    X(CONNECTIONS, connections) /* net.connections are all in use */                                         \
    X(POLITENESS, politeness)   /* hosts and addresses rest */                                               \
    X(SERVERS, servers)         /* every host that has URLs is being visited, and takes its time */          \
    X(NAMES, names)             /* hosts wait for name servers */                                            \
    X(STORE, store)             /* pages wait for the disk */                                                \
    X(MEMORY, memory)           /* pages wait for memory.pages */                                            \
    X(BANDWIDTH, bandwidth)     /* net.bandwidth */                                                          \
    X(PAGES, pages)             /* crawl.max-pages: the last ones are in flight */                           \
    X(PAUSED, paused)           /* the crawl is paused, or about to end */                                   \
    X(EMPTY, empty)             /* no URL waits for this loop */

enum limited_by {
#define LIMITED_MEMBER(name, word) LIMITED_##name,
    LIMITED_REASONS(LIMITED_MEMBER)
#undef LIMITED_MEMBER
    LIMITED_COUNT,
};

/* "work", "connections", ... */
const char *limited_name(enum limited_by by);

struct limited {
    enum limited_by by;   /* since the last turn */
    uint64_t turn_ns;     /* when that was; 0: there was none */
    uint64_t settled_ns;  /* the last call of limited_settle */
    uint64_t settled_cpu; /* and the thread's processor time then */
    uint64_t turns_ns[LIMITED_COUNT]; /* since then */
};

/* A turn begins: the time since the last one belonged to what that one had waited for. */
void limited_turn(struct limited *limited, uint64_t now_ns);
/* Whether it is time for limited_settle. */
static inline bool limited_is_due(const struct limited *limited, uint64_t now_ns, uint64_t period_ns)
{
    return now_ns - limited->settled_ns >= period_ns;
}
/* Divides the time since the last call, of which the thread has worked cpu_ns (its processor time so far), into
 * `shares`: the sum is the time that has passed. The first call divides nothing: false. */
bool limited_settle(struct limited *limited, uint64_t now_ns, uint64_t cpu_ns, uint64_t shares[LIMITED_COUNT]);
