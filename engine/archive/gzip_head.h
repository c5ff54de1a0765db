/* The header of a gzip member (RFC 1952), and the lengths that it may tell: the extra field "sl" of archives, which comes
 * from the drafts of WARC 0.9. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/parse.h"
#include "net/slice.h"

struct gzip_head {
    size_t len; /* of the header: what is packed begins there */
    bool has_lengths;
    uint32_t packed_bytes;  /* of the whole member, header and trailer included */
    uint32_t content_bytes; /* unpacked */
};

/* Parses the header at the beginning of `bytes`. */
enum parse gzip_head_parse(struct gzip_head *head, struct slice bytes);

/* Four bytes, the lowest first. */
uint32_t gzip_head_le32(const char *bytes);
