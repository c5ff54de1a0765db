/* Checks every record of a WARC file: its framing and lengths (warc_read), the fields that it must have and their form, and the
 * digests of its block and of its payload. The payload of a response is its body; where it was stored in chunks, the
 * digest may be that of the body with them or without.
 *
 * Digests other than SHA-1 are counted and not checked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/archive/archive_error.h"
#include "engine/archive/members.h"

struct verify_report {
    enum members_format format;
    uint64_t records, bytes;
    uint64_t digests;         /* that were checked */
    uint64_t digests_unknown; /* of algorithms that are not known here */
    uint64_t problems;        /* of records that could be read */
    bool is_shared; /* records are packed together: they can be read, but not found by their place */
};

struct verify_options {
    /* A record has a problem; `what` names the file and the place. */
    void (*on_problem)(void *owner, const char *what);
    void (*progress)(void *owner, uint64_t bytes); /* may be NULL */
    void *owner;
};

/* False: the file cannot be read to its end; the error says where and why. The report counts as far as it was read. */
bool verify_file(const char *path, const struct verify_options *options, struct verify_report *report,
                 struct archive_error *error);
