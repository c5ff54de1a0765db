/* What the index of a WARC file tells of a record, noted when the record is written: so nobody has to read the file again to index
 * it. Notes go through an outlet to the thread that makes indexes (crawl/index_notes.h). Does no I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/content/fingerprint.h"
#include "net/slice.h"

enum note_kind {
    NOTE_RESPONSE,
    NOTE_REVISIT,
    NOTE_END, /* the file is complete: `offset` is its length, and the rest is empty */
};

struct note {
    enum note_kind kind;
    int status;              /* of a response */
    uint64_t offset, length; /* of the record in its file */
    uint64_t date_us;        /* microseconds since 1970 */
    bool has_digest;
    unsigned char digest[FINGERPRINT_SHA1_BYTES]; /* of the payload */
    struct slice url, type;                       /* the Content-Type as received; of a response */
};

/* Bytes that note_write takes. */
size_t note_bytes(const struct note *note);
void note_write(char *buffer, const struct note *note);
/* Reads the first of the notes and moves on. Its texts stay where they are. False: there are no more. */
bool note_read(struct note *note, struct slice *notes);
