/* robots.txt by RFC 9309: what the file says to one crawler, compiled to a compact form in the caller's
 * memory.
 *
 * The compiled form holds offsets only: it may be copied with memcpy (robots->bytes of it), kept in a host's
 * record or on disk of the same kind of machine. Compile into a large buffer, copy what came out.
 *
 *     struct robots | rules, sorted | their patterns | sitemaps
 *
 * A match looks the path up among the sorted rules and walks those whose literal prefix is a prefix of the
 * path: less than 100 ns on a typical file. All functions are pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/robots/limits.h"
#include "net/slice.h"

struct robots {
    uint32_t bytes; /* of the whole compiled form */
    uint32_t rule_count;
    uint32_t text;     /* offset of the patterns */
    uint32_t sitemaps; /* offset of the sitemaps */
    uint32_t sitemap_count;
    uint32_t crawl_delay_ms; /* the longest that the crawler's groups ask for; 0 for none */
    bool disallow_all;       /* no file: everything is forbidden */
    bool for_all;            /* the rules are those of "*", no group names the crawler */
    bool truncated;          /* beyond ROBOTS_BYTES_MAX or ROBOTS_COMPILED_BYTES_MAX: the rest is left out */
};

/* Bytes that suffice to compile any file of `len` bytes. */
size_t robots_size(size_t len);

/* Compiles `text` for the crawler whose product token `agent` begins with ("lycosa", also "lycosa/1.0"), into
 * `buffer` of at least robots_size(text.len) bytes, aligned as malloc does. Any text is a valid robots.txt:
 * lines that are no rules are skipped. Takes O(n log n) time for any content. */
struct robots *robots_compile(void *buffer, struct slice text, struct slice agent);

/* A compiled form without a file: all allowed or all forbidden. `buffer` has sizeof(struct robots) bytes. */
struct robots *robots_without_file(void *buffer, bool allow);

/* What decided: the pattern in its normal form, empty if no rule did. */
struct robots_rule {
    struct slice pattern;
    bool allow;
    bool gave_up;   /* the match was not done after ROBOTS_STEPS_MAX: forbidden, to be on the safe side */
    uint32_t steps; /* what the match cost: bytes of the path compared with patterns */
};

/* Whether the crawler may fetch `path`, as url_path_query gives it. `rule` may be NULL. */
bool robots_allows(const struct robots *robots, struct slice path, struct robots_rule *rule);

/* The text after each "Sitemap:", in order: robots_sitemap(robots, &cursor, &text) until false, cursor 0
 * first. */
bool robots_sitemap(const struct robots *robots, uint32_t *cursor, struct slice *text);

/* What became of a request for robots.txt. */
struct robots_fetch {
    int status;         /* of the answer; 0 if there was none (DNS, connection, time-out, broken answer) */
    unsigned redirects; /* redirects followed before this response */
    bool has_location;  /* a Location header that is a good http(s) URL */
};

enum robots_action {
    ROBOTS_PARSE,        /* RFC 9309 2.3.1.1: compile the body */
    ROBOTS_FOLLOW,       /* 2.3.1.2: fetch the Location; the rules will be those of the first host */
    ROBOTS_ALLOW_ALL,    /* 2.3.1.3, unavailable: there are no rules */
    ROBOTS_DISALLOW_ALL, /* 2.3.1.4, unreachable: forbidden until a later try succeeds */
};

enum robots_action robots_from_status(struct robots_fetch fetch);
