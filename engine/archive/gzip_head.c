#include "engine/archive/gzip_head.h"

enum {
    FIXED_BYTES = 10,
    FLAG_CHECKSUM = 1 << 1,
    FLAG_EXTRA = 1 << 2,
    FLAG_NAME = 1 << 3,
    FLAG_COMMENT = 1 << 4,
    FLAGS_RESERVED = 0xe0,
    SUBFIELD_HEAD_BYTES = 4,
    LENGTHS_BYTES = 8,
};

static unsigned le16(const char *bytes)
{
    return (unsigned char)bytes[0] | (unsigned)(unsigned char)bytes[1] << 8;
}

uint32_t gzip_head_le32(const char *bytes)
{
    return le16(bytes) | (uint32_t)le16(bytes + 2) << 16;
}

static void read_extra(struct gzip_head *head, struct slice extra)
{
    while (extra.len >= SUBFIELD_HEAD_BYTES) {
        size_t len = le16(extra.ptr + 2);
        if (len > extra.len - SUBFIELD_HEAD_BYTES)
            return;
        const char *data = extra.ptr + SUBFIELD_HEAD_BYTES;
        if (extra.ptr[0] == 's' && extra.ptr[1] == 'l' && len == LENGTHS_BYTES) {
            head->has_lengths = true;
            head->packed_bytes = gzip_head_le32(data);
            head->content_bytes = gzip_head_le32(data + 4);
        }
        extra = slice_skip(extra, SUBFIELD_HEAD_BYTES + len);
    }
}

/* Passes over a text that ends with a NUL. */
static bool pass_text(struct slice bytes, size_t *at)
{
    const char *end = memchr(bytes.ptr + *at, '\0', bytes.len - *at);
    if (end)
        *at = (size_t)(end - bytes.ptr) + 1;
    return end;
}

static bool is_beginning(struct slice bytes)
{
    static const char magic[] = "\x1f\x8b\x08";
    for (size_t i = 0; i < 3 && i < bytes.len; i++)
        if (bytes.ptr[i] != magic[i])
            return false;
    return bytes.len < 4 || !((unsigned char)bytes.ptr[3] & FLAGS_RESERVED);
}

enum parse gzip_head_parse(struct gzip_head *head, struct slice bytes)
{
    *head = (struct gzip_head){0};
    if (!is_beginning(bytes))
        return PARSE_BAD;
    if (bytes.len < FIXED_BYTES)
        return PARSE_PARTIAL;
    unsigned flags = (unsigned char)bytes.ptr[3];
    size_t at = FIXED_BYTES;
    if (flags & FLAG_EXTRA) {
        if (bytes.len - at < 2 || bytes.len - at - 2 < le16(bytes.ptr + at))
            return PARSE_PARTIAL;
        size_t len = le16(bytes.ptr + at);
        read_extra(head, (struct slice){bytes.ptr + at + 2, len});
        at += 2 + len;
    }
    if (((flags & FLAG_NAME) && !pass_text(bytes, &at)) || ((flags & FLAG_COMMENT) && !pass_text(bytes, &at)))
        return PARSE_PARTIAL;
    if (flags & FLAG_CHECKSUM)
        at += 2;
    if (at > bytes.len)
        return PARSE_PARTIAL;
    head->len = at;
    return PARSE_DONE;
}
