/* http and https URLs by the WHATWG URL standard: parsing, resolution against a base, serialisation.
 *
 * A URL is its serialisation in a buffer of the caller's, and the places in it where the parts begin:
 *
 *     https://user:secret@example.org:8443/a/b.html?q=1#top
 *     |       |           |          |    |         |  |   |
 *     0       userinfo    host       |    path      |  |   len
 *                                    host_end       |  fragment
 *                                                   query
 *
 * The buffer must outlive the URL and must not be the input's or the base's. Nothing is allocated, except
 * that libidn2 allocates while it converts a host name that is not ASCII. Input is UTF-8; what is not UTF-8
 * is read as U+FFFD, as browsers do. Other schemes are not parsed (URL_NOT_HTTP). All
 * functions are pure and may be called from any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/url/hash.h"
#include "engine/url/limits.h"
#include "net/slice.h"

enum url_error {
    URL_OK,
    URL_NOT_HTTP,    /* a scheme other than http and https */
    URL_RELATIVE,    /* relative, and no base was given */
    URL_EMPTY_HOST,  /* nothing where the host should be */
    URL_BAD_HOST,    /* a forbidden byte, a bad escape, or a name that IDNA refuses */
    URL_BAD_ADDRESS, /* a malformed IPv4 or IPv6 address */
    URL_BAD_PORT,    /* not a number below 65,536 */
    URL_TOO_LONG,    /* does not fit the buffer, or more than URL_BYTES_MAX bytes */
};

struct url {
    char *text;         /* the serialisation; not terminated by a NUL */
    uint16_t size;      /* bytes that `text` may hold */
    uint16_t len;       /* bytes that it holds, fragment included */
    uint16_t host;      /* first byte of the host */
    uint16_t host_end;  /* one past its last */
    uint16_t path;      /* the first '/' of the path */
    uint16_t folder;    /* one past the last '/' of the path: relative links are appended here */
    uint16_t query;     /* its '?', or where the path ends */
    uint16_t fragment;  /* its '#', or len */
    uint16_t port;      /* as written, or the scheme's default */
    uint8_t scheme_len; /* 4 or 5 */
    /* Set by the caller after url_init: bytes above 127 in the query are in the encoding of the
     * document and are escaped as they stand, as the standard asks for documents not in UTF-8. */
    bool query_raw;
};

/* `size` is limited to URL_BYTES_MAX. A URL that only receives a result needs no other set-up. */
void url_init(struct url *url, char *buffer, size_t size);

/* Parses `input` into `url`, relative to `base` unless that is NULL. White space around and tabs
 * and line ends within are dropped. After an error `url` holds no URL and may be used for the next. */
enum url_error url_parse(struct url *url, const struct url *base, struct slice input);

/* A URL whose text is a serialisation that url_parse once made: the parts are found without a check of
 * the bytes. `text` is used in place and is not written to until url_parse or a canonical rule is applied. */
void url_open(struct url *url, struct slice text);

/* Joins the parts that url_host_key and url_path_query give, in the buffer of `url`; false if that is too
 * small. Unlike resolving, this is correct for a path that begins with "//". */
bool url_join(struct url *url, struct slice host_key, struct slice path_query);
/* The same as text alone, in `buffer`. Empty: that is too small. */
struct slice url_join_text(struct slice host_key, struct slice path_query, char *buffer, size_t size);

/* `copy` is initialised with its own buffer; false if it is too small. */
bool url_copy(struct url *copy, const struct url *url);

/* For messages: "bad port". */
const char *url_error_text(enum url_error error);

static inline struct slice url_part(const struct url *url, size_t begin, size_t end)
{
    return (struct slice){url->text + begin, end - begin};
}

/* The whole serialisation. */
static inline struct slice url_text(const struct url *url)
{
    return url_part(url, 0, url->len);
}

/* Without the fragment: what identifies a page. */
static inline struct slice url_page(const struct url *url)
{
    return url_part(url, 0, url->fragment);
}

static inline uint64_t url_hash(const struct url *url)
{
    return hash_bytes(url->text, url->fragment);
}

/* "http" or "https". */
static inline struct slice url_scheme(const struct url *url)
{
    return url_part(url, 0, url->scheme_len);
}

static inline bool url_is_https(const struct url *url)
{
    return url->scheme_len == 5;
}

static inline bool url_has_userinfo(const struct url *url)
{
    return url->host > url->scheme_len + 3;
}

/* "user:secret", or empty. */
static inline struct slice url_userinfo(const struct url *url)
{
    size_t begin = url->scheme_len + 3u;
    return url_part(url, begin, url_has_userinfo(url) ? url->host - 1u : begin);
}

/* "example.org", "127.0.0.1" or "[::1]": what is resolved. */
static inline struct slice url_host(const struct url *url)
{
    return url_part(url, url->host, url->host_end);
}

/* "example.org:8443": the Host header. A scheme's own port is left out. */
static inline struct slice url_authority(const struct url *url)
{
    return url_part(url, url->host, url->path);
}

/* "https://example.org:8443": the key of a host in the dictionary's sense. The URL must have no userinfo. */
struct slice url_host_key(const struct url *url);

/* "/a/b.html?q=1": what a request line asks for, and all that a host's queue keeps. */
static inline struct slice url_path_query(const struct url *url)
{
    return url_part(url, url->path, url->fragment);
}

/* "/a/b.html". */
static inline struct slice url_path(const struct url *url)
{
    return url_part(url, url->path, url->query);
}

/* "?q=1", "?" for a query that is there and empty, or empty. */
static inline struct slice url_query(const struct url *url)
{
    return url_part(url, url->query, url->fragment);
}

/* "#top", "#", or empty. */
static inline struct slice url_fragment(const struct url *url)
{
    return url_part(url, url->fragment, url->len);
}

/* Whether the host is an IPv4 or IPv6 address rather than a name. */
bool url_host_is_address(struct slice host);
