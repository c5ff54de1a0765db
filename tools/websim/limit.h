/* Connections that hosts with a limit have open, over all threads. A host is in the table only while it has
 * some. Lock-free; any thread may call anything at any time. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Hosts with a limit that are connected at a time: far below. Two megabytes at most. */
#define WEBSIM_LIMIT_SLOTS 65536
#define WEBSIM_LIMIT_NONE  UINT32_MAX

struct websim_limits {
    atomic_uint_least64_t slots[WEBSIM_LIMIT_SLOTS]; /* host << 32 | connections; free at 0 connections */
};

/* Counts a connection of `host`: its slot, to be given back, and the count including this one. A full
 * neighbourhood gives WEBSIM_LIMIT_NONE and count 0: the limit then is not enforced. */
uint32_t websim_limit_acquire(struct websim_limits *limits, uint32_t host, uint32_t *count);
void websim_limit_release(struct websim_limits *limits, uint32_t slot);
