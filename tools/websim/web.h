/* The web: which hosts there are, where they live, and how the URL of everything is written and read back.
 *
 * All of it is a pure function of the parameters: the struct holds derived constants only, and is the same
 * size for a thousand hosts and for a million. Names are h<number>.d<number>.<tld> under top-level domains
 * that nobody can register; four hosts share a registrable domain. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"
#include "tools/websim/parameters.h"
#include "tools/websim/random.h"

enum websim_kind {
    WEBSIM_KIND_PAGE,     /* index: the page; 0 is the root */
    WEBSIM_KIND_SESSION,  /* the page again, with a session id: variant */
    WEBSIM_KIND_GONE,     /* index: a page that never was */
    WEBSIM_KIND_IMAGE,    /* index: an image */
    WEBSIM_KIND_STYLE,    /* the style sheet */
    WEBSIM_KIND_CALENDAR, /* index: a month of the endless calendar */
    WEBSIM_KIND_HOP,      /* index: the page that a chain of redirects began at; variant: the hop */
    WEBSIM_KIND_LOOP,     /* the same for a loop */
    WEBSIM_KIND_ROBOTS,   /* /robots.txt; variant 1: where it has moved to */
    WEBSIM_KIND_SITEMAP,
    WEBSIM_KIND_OTHER, /* anything else; index: a hash of the path */
    WEBSIM_KIND_COUNT,
};

struct websim_url {
    uint32_t host;
    uint32_t index;
    uint8_t kind;
    uint8_t variant;
};

struct websim_web {
    struct websim_parameters parameters;
    uint64_t rank_step, rank_start; /* rank of host h by size: (h * step + start) mod hosts */
    int64_t pages_q16;              /* log2 of the scale of the law of sizes */
    uint64_t domains;
    bool has_host_faults, has_page_faults;
    struct websim_lognormal links_law, size_law;
};

/* What is asked about a host again and again. */
struct websim_site {
    const struct websim_web *web;
    uint32_t host;
    uint32_t pages;
    uint32_t branch; /* page k has the children k * branch + 1 ... k * branch + branch, where they exist */
};

/* Sizes of pages are log-normal, with a tail: one in so many is so many times as large. */
#define WEBSIM_LARGE_ONE_IN     1024
#define WEBSIM_LARGE_TIMES_MIN  16
#define WEBSIM_LARGE_TIMES_MORE 112

#define WEBSIM_SESSIONS 4 /* session ids that one page is seen under */
/* Longest host name, path and URL, terminator included. */
#define WEBSIM_NAME_BYTES 48
#define WEBSIM_PATH_BYTES 160
#define WEBSIM_URL_BYTES  (8 + WEBSIM_NAME_BYTES + 6 + WEBSIM_PATH_BYTES)

void websim_web_init(struct websim_web *web, const struct websim_parameters *parameters);

/* Independent bits for each (host, purpose). */
static inline uint64_t websim_host_bits(const struct websim_web *web, uint32_t host, unsigned purpose)
{
    return websim_hash(websim_hash(web->parameters.seed, host), purpose);
}

/* IPv4 address in host byte order. */
uint32_t websim_host_address(const struct websim_web *web, uint32_t host);
/* Number of pages, at least 1. */
uint32_t websim_host_pages(const struct websim_web *web, uint32_t host);
struct websim_site websim_site(const struct websim_web *web, uint32_t host);
enum websim_fault websim_host_fault(const struct websim_web *web, uint32_t host);
bool websim_host_is_https(const struct websim_web *web, uint32_t host);
uint16_t websim_host_port(const struct websim_web *web, uint32_t host);

/* Writers return the length without the terminator, which they add; `out` has room for WEBSIM_NAME_BYTES,
 * WEBSIM_PATH_BYTES or WEBSIM_URL_BYTES. */
size_t websim_host_name(const struct websim_web *web, uint32_t host, char *out);
/* Without regard to case. False: there is no such host. */
bool websim_host_find(const struct websim_web *web, struct slice name, uint32_t *host);

/* "scheme://name[:port]", at most WEBSIM_URL_BYTES. */
size_t websim_host_origin(const struct websim_web *web, uint32_t host, char *out);

static inline bool websim_site_is_leaf(const struct websim_site *site, uint32_t page)
{
    return page > 0 && (uint64_t)page * site->branch + 1 >= site->pages;
}

/* The path and query of a URL of any kind but OTHER, of which there is none. In websim_path.c. */
size_t websim_path_write(const struct websim_site *site, struct websim_url url, char *out);
/* What a request target names on this host. Never fails: what is unknown is OTHER. */
struct websim_url websim_path_read(const struct websim_site *site, struct slice target);

size_t websim_url_write(const struct websim_web *web, struct websim_url url, char *out);
/* False: not a URL of this web (other host, scheme or port, unknown path). */
bool websim_url_read(const struct websim_web *web, struct slice text, struct websim_url *url);

static inline uint64_t websim_url_pack(struct websim_url url)
{
    return (uint64_t)url.host << 40 | (uint64_t)url.kind << 36 | (uint64_t)(url.variant & 15) << 32 |
           url.index;
}

static inline struct websim_url websim_url_unpack(uint64_t packed)
{
    return (struct websim_url){.host = (uint32_t)(packed >> 40),
                               .kind = packed >> 36 & 15,
                               .variant = packed >> 32 & 15,
                               .index = (uint32_t)packed};
}

/* Decimal digits of `value`; returns the end. */
char *websim_write_number(char *out, uint64_t value);
char *websim_write_text(char *out, const char *text);
