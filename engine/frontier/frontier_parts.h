/* What the files of the frontier share with each other and with nobody else. */
#pragma once

#include "engine/frontier/frontier.h"

static inline void frontier_gauge(struct frontier_loop *loop, enum host_state state, int64_t change)
{
    lf_store(&loop->states[state], lf_load(&loop->states[state], relaxed) + change, relaxed);
}

/* Hands a host of the caller over to its home. */
void frontier_send_home(struct frontier_loop *loop, struct host *host, enum host_state state);
/* Schedules a host that is at home and not being visited, or makes it idle. */
void frontier_place_host(struct frontier_loop *loop, struct host *host, uint64_t now_ns);
/* Removes the host from the count of its address, whose home is this loop. */
void frontier_discount_host(struct frontier_loop *loop, struct host *host);

/* Retires some idle hosts and unused addresses if their table is crowded. Once per turn. */
void frontier_retire_some(struct frontier_loop *loop, uint64_t now_ns);
