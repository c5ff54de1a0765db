/* The header of a WARC record as text: "WARC/1.1", then fields, then an empty line (ISO 28500). Pure. Any version is read.
 *
 * Lines end with CR LF. A line that begins with white space continues the one above; the line end stays in the value. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/archive/archive_error.h"
#include "net/parse.h"
#include "net/slice.h"

enum warc_field {
    WARC_FIELD_TYPE,
    WARC_FIELD_RECORD_ID,
    WARC_FIELD_DATE,
    WARC_FIELD_TARGET_URI,
    WARC_FIELD_BLOCK_DIGEST,
    WARC_FIELD_PAYLOAD_DIGEST,
    WARC_FIELD_REFERS_TO,
    WARC_FIELD_REFERS_TO_TARGET_URI,
    WARC_FIELD_REFERS_TO_DATE,
    WARC_FIELD_CONTENT_TYPE,
    WARC_FIELD_CONTENT_LENGTH,
    WARC_FIELD_TRUNCATED,
    WARC_FIELD_CONCURRENT_TO,
    WARC_FIELD_WARCINFO_ID,
    WARC_FIELD_PROFILE,
    WARC_FIELD_FILENAME,
    WARC_FIELDS,
};

/* Slices of the text that was parsed. */
struct warc_head {
    struct slice raw;                 /* from "WARC/" to the end of the empty line */
    struct slice version;             /* "1.1" */
    struct slice fields[WARC_FIELDS]; /* the first of each name, trimmed; ptr NULL: absent */
    uint64_t content_length;
};

/* What is wrong with a header, and where in it. */
struct warc_head_fault {
    enum archive_fault fault;
    size_t at;
    const char *what;
};

/* PARSE_DONE: head->raw.len bytes were the header. PARSE_BAD: `fault` says why. */
enum parse warc_head_parse(struct warc_head *head, struct slice text, struct warc_head_fault *fault);

/* "WARC-Record-ID". */
struct slice warc_head_field_name(enum warc_field field);

/* A URI without the angle brackets in which ids, and in WARC/1.0 some URIs, stand. */
struct slice warc_head_uri(struct slice value);
/* Whether the type of the record is this one. Case does not matter. */
bool warc_head_is_type(const struct warc_head *head, struct slice type);

enum { WARC_TIMESTAMP_CHARS = 14 };
/* A date of WARC ("2026-11-16T07:19:47.123Z", also with less precision) as "20261116071947". False: it is no date;
 * `timestamp` then has the digits that are there, filled up with zeros. */
bool warc_head_timestamp(struct slice date, char timestamp[WARC_TIMESTAMP_CHARS]);
