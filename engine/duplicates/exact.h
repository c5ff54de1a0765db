/* The first copy of each payload, by its SHA-1: for revisit records.
 *
 * | call            | by whom                                | at the same time as        |
 * |-----------------|----------------------------------------|----------------------------|
 * | find            | any thread                             | anything but init and fini |
 * | add             | for each `loop` one thread at a time   | anything but init and fini |
 * | count, ...      | any thread                             | anything but init and fini |
 * | init, fini      | one thread                             | nothing                    |
 *
 * Progress: find is wait-free, add is lock-free.
 *
 * find sees each copy whose add returned before (in the order that the program establishes between threads), unless it
 * was forgotten since. Two loops that add the same payload at the same moment both do; find tells one of them.
 *
 * Memory is fixed at init. Each loop writes its copies into a log of its own, which begins again at the front when it
 * is full: its oldest copies are overwritten, and counted. An eighth of the memory is a table that leads from
 * digests to copies; where too many digests meet in a line of it, the oldest is displaced, and counted too. A copy
 * that was forgotten is not found, never mistaken: the digest stands in the copy, and is compared as a whole. */
#pragma once

#include "engine/duplicates/limits.h"
#include "engine/url/limits.h"
#include "lockfree/arena.h"
#include "lockfree/atomic.h"
#include "net/slice.h"

#define EXACT_DIGEST_BYTES 20

struct exact_options {
    uint64_t bytes; /* at least EXACT_LOOP_BYTES_MIN per loop */
    unsigned loops; /* 1 to EXACT_LOOPS_MAX */
};

/* What is known of a first copy. */
struct exact_copy {
    uint64_t date_us;
    uint32_t url_len;
    _Alignas(8) char url[URL_BYTES_MAX]; /* not terminated */
};

/* What is known of a copy that is added. */
struct exact_source {
    struct slice url;
    uint64_t date_us;
};

/* The log of one loop. Positions count words from the beginning of the crawl and never come back. */
struct exact_log {
    _Atomic(uint64_t) *words;
    uint64_t words_count;
    LF_ISOLATED _Atomic(uint64_t) reserved; /* the position up to which words are or may be being written */
    _Atomic(uint64_t) added;
    _Atomic(uint64_t) overwritten;
    uint64_t oldest; /* the writer's own: the position of the oldest copy that is whole */
};

struct exact {
    _Atomic(uint64_t) *cells; /* in buckets of one line */
    uint64_t buckets_count;
    unsigned loops;
    struct exact_log *logs;
    struct arena arena;
    LF_ISOLATED _Atomic(uint64_t) displaced;
};

/* 0, or a negative errno: -ENOMEM. */
int exact_init(struct exact *exact, const struct exact_options *options);
void exact_fini(struct exact *exact);

/* True: there is a copy, and *copy is filled in. */
bool exact_find(struct exact *exact, const unsigned char digest[EXACT_DIGEST_BYTES], struct exact_copy *copy);
/* Adds a copy, without asking whether there is one: find first. A URL of more than URL_BYTES_MAX bytes is a
 * programmer's error. */
void exact_add(struct exact *exact, unsigned loop, const unsigned char digest[EXACT_DIGEST_BYTES],
               struct exact_source source);

/* Copies that were added; those of them that were overwritten when a log was full; those displaced from the table. */
uint64_t exact_added(struct exact *exact);
uint64_t exact_overwritten(struct exact *exact);
uint64_t exact_displaced(struct exact *exact);
