/* The head of a response: status line and fields, as slices of the bytes it was parsed from.
 *
 * A head that picohttpparser refuses gets a second look by the rules that browsers use: an empty line before
 * the status line, an odd version, a space before the colon are taken; a line that is no field is dropped.
 * What was tolerated is counted, and the connection that sent such a head is not used again.
 *
 * struct http_head is large (the table of fields): one per loop, filled anew by each parse. To keep a head,
 * copy `raw` and parse the copy again when it is wanted. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/http_error.h"
#include "net/limits.h"
#include "net/parse.h"
#include "net/slice.h"

/* How the end of a body is found. */
enum http_framing {
    HTTP_FRAMING_NONE,    /* there is no body */
    HTTP_FRAMING_LENGTH,  /* Content-Length */
    HTTP_FRAMING_CHUNKED, /* Transfer-Encoding: chunked */
    HTTP_FRAMING_CLOSE,   /* until the peer closes */
};

/* Fields found during the parse; any other through http_head_find. */
enum http_known {
    HTTP_KNOWN_CONTENT_TYPE,
    HTTP_KNOWN_CONTENT_ENCODING,
    HTTP_KNOWN_LOCATION,
    HTTP_KNOWN_RETRY_AFTER,
    HTTP_KNOWN_ETAG,
    HTTP_KNOWN_LAST_MODIFIED,
    HTTP_KNOWN_COUNT,
};

struct http_field {
    struct slice name;
    struct slice value; /* without outer white space; a folded value keeps its line ends inside */
};

struct http_head {
    struct slice raw; /* from the first byte to the end of the empty line */
    int minor_version;
    int status;
    struct slice reason;
    size_t field_count;
    uint32_t tolerated;     /* lines that were mended or dropped; 0 for a head that keeps to the standard */
    int64_t content_length; /* -1: none, or none that counts */
    bool is_chunked;
    bool keeps_alive;                     /* by version and Connection, and nothing odd in the head */
    struct slice known[HTTP_KNOWN_COUNT]; /* first occurrence; ptr == NULL: absent */
    uint32_t repeated;                    /* bit by enum http_known: there are several fields of the name */
    struct http_field fields[HTTP_FIELDS_MAX];
};

/* Parses the head at the beginning of `text`. `seen` is the length of `text` at the previous call with the
 * same beginning (0 at the first), which spares looking at the same bytes again for the end of the head.
 * PARSE_DONE: head->raw.len bytes were the head; the rest is not looked at. PARSE_BAD: *error says why. */
enum parse http_head_parse(struct http_head *head, struct slice text, size_t seen, enum http_error *error);

/* Value of the first field of that name (case does not matter), or ptr == NULL. */
struct slice http_head_find(const struct http_head *head, struct slice name);

/* The values of all fields of that name as one list (RFC 9110, 5.3), in `room` of `size` bytes. Empty if there is none,
 * or if they are too long together. */
struct slice http_head_join(const struct http_head *head, struct slice name, char *room, size_t size);

/* Whether a field of this name decides something: framing, what the body is, where it leads, what may be done
 * with it. */
bool http_head_is_weighty(struct slice name);

/* How the body ends in answer to a request by HEAD or another method. As in browsers, a length that cannot be
 * relied on counts for nothing: the body goes on until the peer closes. */
enum http_framing http_head_framing(const struct http_head *head, bool is_head_request);
