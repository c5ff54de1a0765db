/* The head of a gzip member (RFC 1952) that tells how long the member is.
 *
 * Its extra field holds the subfield "sl", the skip lengths of WARC 0.9: four bytes for the length of the whole
 * member and four for that of the record in it, the lower byte first. A reader that looks for one record can skip the
 * others without unpacking them; readers that do not know the subfield ignore it. A record and its member have less
 * than 4 GiB, because net.body-bytes is at most 4e9. */
#pragma once

#include <assert.h>
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    GZIP_HEAD_EXTRA_BYTES = 12, /* "sl", its length, the two lengths */
    GZIP_HEAD_BYTES = 12 + GZIP_HEAD_EXTRA_BYTES,
    GZIP_HEAD_LENGTHS_AT = 16, /* of all members whose extra field begins with "sl" */
    GZIP_TRAILER_BYTES = 8,
};

/* The extra field with lengths that are not known yet. */
#define GZIP_HEAD_EXTRA "sl\x08\0\0\0\0\0\0\0\0"

/* Writes GZIP_HEAD_BYTES: deflate, an extra field, no time, unknown system. */
static inline void gzip_head_write(char *member)
{
    static const char head[GZIP_HEAD_BYTES] = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x0c\0" GZIP_HEAD_EXTRA;
    memcpy(member, head, sizeof head);
}

/* Once both lengths are known. */
static inline void gzip_head_fill(char *member, size_t member_bytes, size_t record_bytes)
{
    assert(member_bytes <= UINT32_MAX && record_bytes <= UINT32_MAX);
    uint32_t lengths[2] = {htole32((uint32_t)member_bytes), htole32((uint32_t)record_bytes)};
    memcpy(member + GZIP_HEAD_LENGTHS_AT, lengths, sizeof lengths);
}
