/* What the files of the frontier share with each other and with nobody else. */
#pragma once

#include "engine/frontier/frontier.h"

static inline void frontier_gauge(struct frontier_loop *loop, enum host_state state, int64_t change)
{
    lf_store(&loop->states[state], lf_load(&loop->states[state], relaxed) + change, relaxed);
}

static inline void frontier_set_state(struct frontier_loop *loop, struct host *host, enum host_state state)
{
    frontier_gauge(loop, host_state(host), -1);
    frontier_gauge(loop, state, 1);
    lf_store(&host->state, (uint8_t)state, relaxed);
}

/* Notes that the host is this loop's until frontier_let_go: nobody visits it, and it is in no inbox. */
static inline void frontier_keep(struct frontier_loop *loop, const struct host *host)
{
    loop->stock.at_home[host->id / 64] |= UINT64_C(1) << (host->id % 64);
}
static inline void frontier_let_go(struct frontier_loop *loop, const struct host *host)
{
    loop->stock.at_home[host->id / 64] &= ~(UINT64_C(1) << (host->id % 64));
}

static inline bool frontier_is_at_home(const struct frontier_loop *loop, uint64_t id)
{
    return loop->stock.at_home[id / 64] >> (id % 64) & 1;
}

/* Hands a host of the caller over to its home. */
void frontier_send_home(struct frontier_loop *loop, struct host *host, enum host_state state);
/* Schedules a host that is at home and not being visited, or makes it idle. */
void frontier_place_host(struct frontier_loop *loop, struct host *host, uint64_t now_ns);
/* Removes the host from the count of its address, whose home is this loop. */
void frontier_discount_host(struct frontier_loop *loop, struct host *host);

/* frontier_slots.c: URLs on disk. */
/* Memory of the buffers, which is part of memory.frontier. */
size_t frontier_slots_bytes(const struct tuning *tuning);
/* The bytes that a loop takes from its arena. */
size_t frontier_stock_bytes(const struct frontier *frontier);
void frontier_stock_init(struct frontier_loop *loop);
/* Once per turn. */
void frontier_stock_turn(struct frontier_loop *loop, uint64_t now_ns);
/* Begins to bring URLs of a host at home back to memory if it has few there. False: it needs none, or can
 * be visited meanwhile. */
bool frontier_load(struct frontier_loop *loop, struct host *host, uint64_t now_ns);
/* The same however many URLs it has in memory, so that all of them can be dropped. False: none are on disk. */
bool frontier_load_on(struct frontier_loop *loop, struct host *host);
/* Tells the home of a host, now and then, that the host has reached its share of the memory. After each push to such
 * a host; `queued` is its count then. */
void frontier_nudge(struct frontier_loop *loop, struct host *host, uint32_t queued);

/* Retires some idle hosts and unused addresses if their table is crowded. Once per turn. */
void frontier_retire_some(struct frontier_loop *loop, uint64_t now_ns);

/* frontier_holds.c: what the operator wants of hosts. */
/* Notes whether a host that was just made is held. By the loop that made it. */
void frontier_greet(struct frontier_loop *loop, struct host *host);
/* Looks the host up if there is a list that its home has not looked at. By the home. */
void frontier_look_up(struct frontier_loop *loop, struct host *host);
/* Drops the URLs of a host that is not scheduled. False: there are more; the host will be placed again. */
bool frontier_drop(struct frontier_loop *loop, struct host *host);
/* Once per turn. */
void frontier_holds_turn(struct frontier_loop *loop, uint64_t now_ns);
