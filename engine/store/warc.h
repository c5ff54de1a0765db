/* The text of WARC/1.1 records (ISO 28500:2017). No I/O: a header is written in front of a block that is
 * already in memory, so that a record is contiguous. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/content/fingerprint.h"
#include "engine/url/limits.h"
#include "net/slice.h"

enum {
    WARC_ID_CHARS = 45,                           /* "urn:uuid:" and the UUID */
    WARC_HEADER_BYTES_MAX = URL_BYTES_MAX + 1024, /* the longest URL and the other fields */
    WARC_REVISIT_BYTES_MAX = WARC_HEADER_BYTES_MAX + URL_BYTES_MAX + 256, /* of a revisit: two URLs */
    WARC_TRAILER_BYTES = 4,                                               /* two line ends after the block */
    WARC_DATE_CHARS = 27,                                                 /* 2026-11-16T07:19:47.123456Z */
    WARC_SECONDS_CHARS = 19, /* of these, up to the seconds */
    WARC_DATE_DIGITS = 20,                                                /* of these */
};

enum warc_type {
    WARC_INFO,
    WARC_RESPONSE,
    WARC_REQUEST,
    WARC_METADATA,
    WARC_REVISIT,      /* the payload of `refers_to_uri` again: the block is the head of the response */
    WARC_NOT_MODIFIED, /* a revisit, too: the server said 304 */
    WARC_DNS,          /* what a name server answered, as text/dns */
};

struct warc_id {
    char text[WARC_ID_CHARS + 1];
};

/* Random version 4 UUIDs; one source per loop. */
struct warc_ids {
    uint64_t state[2];
};
void warc_ids_init(struct warc_ids *ids);
struct warc_id warc_ids_next(struct warc_ids *ids);

/* A field whose slice is empty or whose pointer is NULL is left out. */
struct warc_record {
    enum warc_type type;
    bool is_1_0; /* WARC/1.0: dates without fractions, no WARC-Protocol or WARC-Cipher-Suite */
    struct warc_id id;
    uint64_t date_us; /* microseconds since 1970: when the capture began */
    struct slice target_uri;
    struct slice address;                /* "127.0.0.1" */
    struct slice filename;               /* of a warcinfo */
    const struct warc_id *warcinfo;      /* of the file it is in */
    const struct warc_id *concurrent_to; /* the response that a request belongs to */
    struct slice refers_to_uri;          /* of a revisit: the first copy */
    uint64_t refers_to_date_us;          /* likewise; 0: not known */
    struct slice truncated;              /* "length", "time", "disconnect" */
    struct slice tls_protocol;           /* "tls/1.2"; empty: plain */
    struct slice tls_suite;              /* IANA's name */
    struct slice block;                  /* what follows the header */
    struct slice payload;                /* the part of the block that is the entity; only of a response */
    const unsigned char *payload_digest; /* SHA-1, if the caller has it already */
    const unsigned char *block_digest;   /* likewise */
    bool omits_block_digest;             /* the field is left out */
};

/* Writes the header to `buffer` of WARC_HEADER_BYTES_MAX bytes (a revisit: WARC_REVISIT_BYTES_MAX), digests computed, and
 * returns its length. */
size_t warc_write_header(char *buffer, const struct warc_record *record);

/* Writes a date of WARC_DATE_CHARS. */
void warc_write_date(char *buffer, uint64_t date_us);
/* Writes the first `count` digits of a date: 14 of them are 20261116071947. */
void warc_write_date_digits(char *buffer, size_t count, uint64_t date_us);
