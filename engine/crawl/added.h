/* Seeds for a crawl that runs: lines of text, and what became of each of them.
 *
 *     made and freed by who adds them -> the housekeeper keeps them in a file, numbers them, widens the scope
 *     -> loop 0 takes them, as links -> the housekeeper, once that is committed -> back to who made it
 *
 * Each of these may touch it only in its turn (crawl_added.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/frontier/scope.h"
#include "engine/url/url.h"
#include "lockfree/atomic.h"
#include "net/slice.h"

enum added_fate {
    ADDED_UNDECIDED,
    ADDED_ACCEPTED,
    ADDED_KNOWN, /* it was found before */
    ADDED_OUT_OF_SCOPE,
    ADDED_BAD,      /* no URL */
    ADDED_STRANGER, /* without crawl.contact-url only this machine is visited */
    ADDED_LOST,     /* there is no room for it */
    ADDED_KEPT,     /* the crawl ended before it was taken; a resumed crawl takes it */
    ADDED_FATES,
};

enum added_state {
    ADDED_PENDING, /* not all lines have a fate, or it is not committed */
    ADDED_DONE,    /* what was accepted survives the process; without a journal it does not */
    ADDED_FAILED,  /* the disk failed: nothing is sure */
};

struct added_line {
    uint32_t at, len; /* in the text */
    uint32_t number;  /* from 1 */
    uint32_t source;  /* as in struct host_item */
    uint8_t fate;     /* enum added_fate */
    uint8_t rule;     /* enum scope_rule, if it is out of scope */
};

struct added {
    char *text;
    struct added_line *lines; /* without those that are empty or remarks */
    size_t count;
    size_t prepared, taken; /* lines that the housekeeper, and loop 0, are done with */
    uint64_t epoch;         /* with which all that was accepted is committed; once it is taken */
    bool is_handed, is_hurried; /* by the housekeeper: to loop 0; and the commit is on its way */
    _Atomic(bool) is_taken;
    _Atomic(int) state; /* enum added_state */
};

/* A copy of the text, in lines; those that are no URLs have their fate already. NULL: no memory. */
struct added *added_create(struct slice text);
void added_destroy(struct added *added);

/* The line as it came, without blanks around it. */
struct slice added_text(const struct added *added, const struct added_line *line);
/* The URL of a line. False: it is none; `error` says why. */
bool added_parse(const struct added *added, const struct added_line *line, struct url *url, struct tuning_error *error);

/* Lines with this fate. */
uint64_t added_count(const struct added *added, enum added_fate fate);
/* "accepted", "known", "out_of_scope", "bad", "lost", "kept" */
const char *added_fate_name(enum added_fate fate);
