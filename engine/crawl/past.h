/* What the journal tells of the hosts that were visited before a crawl was resumed: when each, and its address, may be
 * visited again, and how much of its limits is used up. Built record by record, then asked host by host.
 *
 * A crawl that was killed may have begun visits that were never committed. With c the moment up to which the last commit
 * has them all, and e the last moment at which a server can have been busy with the old process:
 *
 *   the journal says of a host                       it may be visited again at
 *   a visit began at b, and has not ended            e + rest(e - b)
 *   it may be visited from m on, and m is past e     m
 *   anything else                                    e + rest(e - c), as all hosts
 *
 * rest(x) is what politeness asks for after a visit of length x. If the wall clock was set back meanwhile, so that x would be
 * negative, it is that after the longest visit there can have been. Pure: the clock is the caller's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/state/record.h"
#include "engine/tuning/tuning.h"

struct past_host {
    uint64_t signature; /* record_host_signature; 0: the place is free */
    bool is_open;       /* a visit has begun and not ended */
    uint8_t dead_why;   /* enum fetch_outcome */
    uint16_t failures;
    uint16_t key_len;
    uint32_t crawl_delay_ms;
    struct ip address;
    uint64_t begin_us;   /* of the visit that is open */
    uint64_t host_us;    /* when it may be visited next, after its last visit that ended */
    uint64_t address_us; /* likewise */
    uint64_t pages, bytes, spent_ns;
    char *key;
};

struct past_options {
    const struct politeness_tuning_live *politeness;
    const struct limits_tuning_live *limits;
    uint64_t longest_us; /* a visit cannot be longer */
    uint64_t commit_us;  /* c, by the wall clock */
    uint64_t end_us;     /* e */
    uint64_t opens_us;   /* the last process had to wait for this moment itself */
};

struct past {
    struct past_options options;
    bool has_limits; /* pages, bytes or time per host are limited, so every host counts */
    struct past_host *hosts;
    size_t count, room;
    bool is_short_of_memory;
};

void past_init(struct past *past, const struct past_options *options);
void past_fini(struct past *past);

void past_note_visit(struct past *past, const struct record_visit *visit);
/* Another process went on: what the one before it had left open ended with it. */
void past_note_session(struct past *past, const struct record_session *session);
void past_note_done(struct past *past, const struct record_done *done);

/* The moment from which every host and address may be visited that the journal says nothing else about. */
uint64_t past_everybody_us(const struct past *past);
/* The moments from which a host and its address may be visited. */
uint64_t past_host_us(const struct past *past, const struct past_host *host);
uint64_t past_address_us(const struct past *past, const struct past_host *host);

/* The hosts one after the other, in no order; begins with *cursor 0. NULL: there are no more. */
const struct past_host *past_next(const struct past *past, size_t *cursor);
