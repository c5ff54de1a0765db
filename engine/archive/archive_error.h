/* What is wrong with a file of an archive: a name, the file, the place of the first bad byte, a sentence for the
 * operator. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum archive_fault {
    ARCHIVE_OK,
    ARCHIVE_SYSTEM,         /* a call failed: `code` is the errno */
    ARCHIVE_NO_MEMORY,      /* a decompressor or a buffer got none */
    ARCHIVE_STOPPED,        /* somebody asked for it */
    ARCHIVE_TRUNCATED,      /* the file ends within a record */
    ARCHIVE_BAD_GZIP,       /* what should be a gzip member is none, or is damaged */
    ARCHIVE_BAD_ZSTD,       /* what should be a zstd frame is none, or is damaged */
    ARCHIVE_BAD_CHECKSUM,   /* a member or a frame can be unpacked, and its checksum or its length is wrong */
    ARCHIVE_BAD_DICTIONARY, /* the dictionary is damaged, missing, or another one */
    ARCHIVE_LARGE_WINDOW,   /* a frame asks for more than MEMBERS_ZSTD_WINDOW_LOG_MAX */
    ARCHIVE_NOT_WARC,       /* no "WARC/1.1" where a record should begin */
    ARCHIVE_BAD_HEAD,       /* a line of a record's header is no field */
    ARCHIVE_LONG_HEAD,      /* a header that does not end within WARC_READ_HEAD_BYTES_MAX */
    ARCHIVE_BAD_LENGTH,     /* Content-Length is missing, no number, or there twice with different values */
    ARCHIVE_SHORT_BLOCK,    /* the member ends before the block does: Content-Length is too large */
    ARCHIVE_NO_END,         /* the block is not followed by two line ends: Content-Length is wrong */
    ARCHIVE_NOT_SEEKABLE,   /* several records share a member: there is no way to read one of them alone */
    ARCHIVE_BAD_LINE,       /* a line of a CDXJ file is none */
    ARCHIVE_UNSORTED,       /* a line of a CDXJ file comes before the line above it */
    ARCHIVE_EXISTS,         /* a file is there already and was not to be overwritten */
    ARCHIVE_BAD_CODING,     /* a stored body is not in the coding that its head claims */
    ARCHIVE_NOT_FOUND,      /* the index leads to a place where there is no such record */
    ARCHIVE_FAULTS,
};

enum { ARCHIVE_ERROR_TEXT_BYTES = 1600 };

/* All zero: nothing is wrong. */
struct archive_error {
    enum archive_fault fault;
    int code;        /* the errno of ARCHIVE_SYSTEM */
    uint64_t offset; /* in the file */
    char text[ARCHIVE_ERROR_TEXT_BYTES];
};

/* What is wrong, the file, and the place in it. */
struct archive_place {
    enum archive_fault fault;
    const char *name;
    uint64_t offset;
};

/* Only the first error is kept, because the others follow from it. Returns false, for `return`. */
bool archive_error_set(struct archive_error *error, struct archive_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "NAME: cannot VERB: what the system says". `code` is an errno, positive or negative. */
bool archive_error_of_call(struct archive_error *error, int code, const char *verb, const char *name);

/* "truncated", "bad-gzip", ... */
const char *archive_fault_name(enum archive_fault fault);
