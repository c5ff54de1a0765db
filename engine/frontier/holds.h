/* What the operator wants of single hosts, or of all hosts of a registrable domain: to hold them, so that no request goes to
 * them until they are released, or to drop what waits for them.
 *
 * A list is never changed: each order makes a new list, with the next number. A hold stays in every list until it is
 * released. A drop concerns the URLs that wait when its list is published; later lists leave it out as soon as no
 * loop can need it any more. Pure: text and plain memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net/slice.h"

enum {
    HOLDS_NAME_BYTES = 276, /* "https://", the longest name in DNS, a port */
    HOLDS_MAX = 1024,       /* in one list: a step of frontier_holds.c compares a host with all of them */
};

/* What an order is about: the key of a host, "https://example.org:8443", or a registrable domain. */
struct holds_target {
    bool is_domain;
    uint16_t len;
    char name[HOLDS_NAME_BYTES];
};

struct holds_entry {
    struct holds_target target;
    uint64_t hash;    /* of its name */
    uint32_t dropped; /* a drop: the list in which it came; 0: a hold */
};

struct holds {
    uint32_t number; /* from 1 on */
    uint32_t last_drop; /* the list of the latest drop in here; 0: none */
    uint32_t domains;   /* entries that are about a domain */
    uint32_t count;
    struct holds *older; /* for whoever frees them */
    struct holds_entry entries[];
};

enum holds_verb { HOLDS_HOLD, HOLDS_RELEASE, HOLDS_DROP };

struct holds_order {
    enum holds_verb verb;
    struct holds_target target;
    bool forgets_drops; /* all that earlier drops concern has been dropped */
};

enum holds_result {
    HOLDS_DONE,
    HOLDS_SAME,     /* it is held already */
    HOLDS_NOT_HELD, /* nothing to release */
    HOLDS_FULL,     /* HOLDS_MAX */
    HOLDS_NO_MEMORY,
};

/* A host ("https://example.org", a path of "/" at most) or a domain. NULL: good; else what is wrong with the text. */
const char *holds_parse_host(struct holds_target *target, struct slice text);
const char *holds_parse_domain(struct holds_target *target, struct slice text);

/* Makes the list that follows `last`, which may be NULL. With HOLDS_DONE, `*next` is the caller's to free. */
enum holds_result holds_follow(const struct holds *last, const struct holds_order *order, struct holds **next);

struct holds_answer {
    bool is_held;
    uint32_t dropped; /* the latest list in which it was dropped; 0: in none */
};
/* What the list says of a host with this key and name. */
struct holds_answer holds_ask(const struct holds *holds, struct slice key, struct slice name);

/* The entry that holds exactly this target; NULL: none does. */
const struct holds_entry *holds_find(const struct holds *holds, const struct holds_target *target);

/* Holds as text, one per line: "host https://example.org", "domain example.net". Drops are left out. */
void holds_write(const struct holds *holds, FILE *out);
/* Reads such a text into a first list; empty lines and comments after a # are skipped. Returns 0, or the number of
 * the first line that is wrong, and then `*why` says why. `*holds` is NULL if nothing is held. */
unsigned holds_read(struct slice text, struct holds **holds, const char **why);
