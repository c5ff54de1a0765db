/* From a received body to the document in it: undoes the content codings as far as possible.
 *
 *     unpack_begin(&unpack, &(struct unpack_body){...}, decode, &room);
 *     while ((result = unpack_step(&unpack)) == UNPACK_MORE)
 *         ;
 *     ... unpack.document ...
 *
 * Servers state wrong codings, and a crawler has no user to show an error to. So it takes what it can read:
 *   - A body that ends early or has a wrong checksum gives what came (UNPACK_CUT).
 *   - A body that claims a coding but is plain text is taken as it is; so is one with a coding named twice.
 *   - A body that is gzip though nobody says so is unpacked where a document is expected, as the gzip of a
 *     sitemap is.
 *
 * Memory grows with what comes out, and a step is short: a body can be unpacked in many turns of a loop. */
#pragma once

#include "engine/content/decode.h"
#include "engine/content/limits.h"

enum unpack_result {
    UNPACK_MORE,     /* call again */
    UNPACK_WHOLE,    /* `document` is all of it */
    UNPACK_CUT,      /* `document` is what could be decoded; the rest is missing or damaged */
    UNPACK_BAD,      /* nothing could be decoded */
    UNPACK_TOO_LONG, /* longer than decode's bounds; `document` is the start of it, nothing of a bomb */
    UNPACK_NO_ROOM,  /* no memory for more than is in `document`; says nothing about the body */
    UNPACK_RESULTS,
};

/* Memory for the document, the caller's. */
struct unpack_room {
    char *bytes;
    size_t size;
    /* Makes room->size at least `size` and keeps the first `used` bytes. False: there is no more. */
    bool (*grow)(struct unpack_room *room, size_t size, size_t used);
};

struct unpack_body {
    struct slice codings;      /* the value of Content-Encoding, or empty */
    struct slice content_type; /* or empty */
    struct slice bytes;
    size_t bytes_max; /* the document ends here even if there is more; 0: no limit */
    bool is_sitemap;  /* it was asked for as a sitemap */
};

struct unpack {
    struct unpack_body body;
    struct decode *decode;
    struct unpack_room *room;
    struct slice document; /* in `room`, or the body itself */
    struct slice left;     /* of the body, while streaming */
    size_t used;           /* of the room */
    bool is_begun;
    bool is_unasked; /* the innermost gzip was not stated by the server */
    size_t codings_len;
    char codings[UNPACK_CODINGS_BYTES];
};

void unpack_begin(struct unpack *unpack, const struct unpack_body *body, struct decode *decode,
                  struct unpack_room *room);
enum unpack_result unpack_step(struct unpack *unpack);
