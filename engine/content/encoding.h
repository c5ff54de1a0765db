/* Which character encoding a document is in, and what that does to its URLs.
 *
 * In every encoding of the web but UTF-16 and ISO-2022-JP the bytes of markup are those of ASCII, so a page
 * is scanned as it is and only URLs with other bytes are converted: to UTF-8, except their query, which the
 * URL standard encodes in the document's own encoding. UTF-16 and ISO-2022-JP documents are converted
 * whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "net/slice.h"

/* One encoding of the Encoding Standard. Static, shared by all threads. */
struct encoding {
    const char *name;  /* the standard's name */
    const char *iconv; /* what iconv calls it; NULL for UTF-8 */
    bool is_wide;      /* must be converted whole before it is scanned */
};

extern const struct encoding *const encoding_utf8;
extern const struct encoding *const encoding_windows_1252;

/* By one of the standard's labels ("latin1", "utf8", " GBK "), or NULL if it has no such label. */
const struct encoding *encoding_find(struct slice label);

/* As browsers decide: byte order mark, then the charset of the Content-Type header, then the document's meta
 * elements within its first ENCODING_PRESCAN_BYTES, then its XML declaration, then UTF-8 if the bytes are
 * valid UTF-8 as far as ENCODING_GUESS_BYTES, else windows-1252. Never NULL. */
const struct encoding *encoding_detect(struct slice content_type, struct slice document);

/* The encoding by byte order mark, by header, or by the first bytes of UTF-16 without a mark; NULL if none
 * of them decides: then look into the document. */
const struct encoding *encoding_stated(struct slice content_type, struct slice document);

/* The encoding of XML, or of other text without meta elements: what its declaration (<?xml encoding="..."?>) says,
 * else UTF-8. */
const struct encoding *encoding_of_xml(struct slice document);

/* The charset parameter of a Content-Type (or the `charset=` of a meta's content); empty if none. */
struct slice encoding_charset(struct slice content_type);

/* Length of a byte order mark at the start: 0, 2 or 3. */
size_t encoding_bom(struct slice document);

/* Whether the bytes are valid UTF-8. A character cut off at the end counts as valid. */
bool encoding_is_utf8(struct slice text);

/* Room that `len` bytes of any encoding need at most in UTF-8. */
static inline size_t encoding_utf8_bytes_max(size_t len)
{
    return 3 * len + 4;
}

/* Whether all bytes are ASCII. */
bool encoding_is_ascii(struct slice text);

/* Room for a whole document in an encoding with is_wide, converted part by part: a character of two bytes
 * becomes three. Only malformed input needs more, and is cut off. */
size_t encoding_wide_bytes_max(size_t len);

/* The part of `document`, in an encoding with is_wide, that can be converted by itself: no character and no
 * run of escaped characters is cut. It is not empty unless the document is. */
struct slice encoding_wide_part(const struct encoding *encoding, struct slice document);

/* Converts `text` to UTF-8 at `out`, which has encoding_utf8_bytes_max(text.len) bytes; malformed input
 * becomes U+FFFD. Returns the length. */
size_t encoding_to_utf8(const struct encoding *encoding, struct slice text, char *out);

/* The first SNIFF_BYTES_MAX of a document, in an encoding whose markup is ASCII: as they are if `wide` is NULL, else
 * converted to `room` of encoding_utf8_bytes_max(SNIFF_BYTES_MAX) bytes, without a byte order mark. */
struct slice encoding_readable_start(const struct encoding *wide, struct slice document, char *room);

/* A URL's UTF-8 text as the URL standard reads it in a document of this encoding: what is not ASCII in the
 * query is percent-encoded in `encoding`, characters that it lacks as %26%23NNN%3B. `out` has room for
 * ENCODING_QUERY_GROWTH * url.len bytes. Returns the length. */
size_t encoding_query(const struct encoding *encoding, struct slice url, char *out);

/* Closes the converters of this thread. */
void encoding_fini(void);
