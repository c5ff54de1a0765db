#include "engine/archive/warc_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/archive/limits.h"

/* Two line ends follow each block. */
enum { TRAILER_BYTES = 4 };
/* A header is looked for in parts of this size; nearly all fit the first. */
enum { HEAD_PART_BYTES = 4096 };

bool warc_read_init(struct warc_read *reader, struct source *source, struct archive_error *error)
{
    *reader = (struct warc_read){.error = error};
    if (!members_init(&reader->members, source, error))
        return false;
    reader->head = malloc(WARC_READ_HEAD_BYTES_MAX);
    if (!reader->head) {
        members_fini(&reader->members);
        return archive_error_of_call(error, ENOMEM, "read", source->name);
    }
    return true;
}

void warc_read_fini(struct warc_read *reader)
{
    members_fini(&reader->members);
    free(reader->head);
    reader->head = NULL;
}

void warc_read_seek(struct warc_read *reader, uint64_t offset)
{
    members_seek(&reader->members, offset);
    reader->pending.len = 0;
    reader->is_in_member = reader->is_in_record = reader->is_shared = false;
}

static bool is_plain(const struct warc_read *reader)
{
    return reader->members.format == MEMBERS_PLAIN;
}

/* In a plain file, where the next byte of content stands. */
static uint64_t position(const struct warc_read *reader)
{
    return reader->members.next - reader->pending.len;
}

/* Sets an error about the content at hand, `back` bytes before the next one. */
static enum warc_read_step fail(struct warc_read *reader, enum archive_fault fault, uint64_t back,
                                const char *what)
{
    const char *name = reader->members.source->name;
    if (is_plain(reader))
        archive_error_set(reader->error, (struct archive_place){fault, name, position(reader) - back}, "%s",
                          what);
    else
        archive_error_set(reader->error, (struct archive_place){fault, name, reader->record.offset},
                          "%s (byte %" PRIu64 " of what is packed here)", what, reader->used - back);
    return WARC_READ_BAD;
}

static void use(struct warc_read *reader, size_t len)
{
    reader->pending = slice_skip(reader->pending, len);
    reader->used += len;
}

/* Content to look at, unless the member has ended; in zstd files a record goes on in the next frame. MEMBERS_END is the end
 * of the member, or of the file: then is_in_member is false. */
static enum members_step fill(struct warc_read *reader, bool is_between)
{
    while (reader->pending.len == 0) {
        enum members_step step;
        if (!reader->is_in_member) {
            step = members_begin(&reader->members);
            if (step != MEMBERS_PIECE)
                return step;
            reader->is_in_member = true;
            reader->used = is_between ? 0 : reader->used;
        }
        step = members_next(&reader->members, &reader->pending);
        if (step == MEMBERS_BAD)
            return step;
        if (step == MEMBERS_END) {
            reader->is_in_member = reader->is_shared = false;
            reader->record.has_lied |= !is_between && reader->members.has_lied;
            if (is_plain(reader) || (!is_between && reader->members.format == MEMBERS_GZIP))
                return step;
        }
    }
    return MEMBERS_PIECE;
}

/* The content has ended within a record. */
static enum warc_read_step fail_short(struct warc_read *reader, enum archive_fault fault, const char *what)
{
    if (reader->error->fault != ARCHIVE_OK)
        return WARC_READ_BAD;
    if (reader->members.format == MEMBERS_GZIP)
        return fail(reader, fault, 0, what);
    archive_error_set(
        reader->error,
        (struct archive_place){ARCHIVE_TRUNCATED, reader->members.source->name, reader->members.next},
        "the file ends within a record");
    return WARC_READ_BAD;
}

static enum warc_read_step read_head(struct warc_read *reader)
{
    size_t held = 0;
    for (;;) {
        struct warc_head_fault fault;
        size_t room = WARC_READ_HEAD_BYTES_MAX - held, part = reader->pending.len;
        part = part < HEAD_PART_BYTES ? part : HEAD_PART_BYTES;
        part = part < room ? part : room;
        memcpy(reader->head + held, reader->pending.ptr, part);
        switch (warc_head_parse(&reader->record.head, (struct slice){reader->head, held + part}, &fault)) {
        case PARSE_DONE:
            use(reader, reader->record.head.raw.len - held);
            return WARC_READ_DONE;
        case PARSE_BAD:
            use(reader, part);
            return fail(reader, fault.fault, held + part - fault.at, fault.what);
        case PARSE_PARTIAL:
            break;
        }
        use(reader, part);
        held += part;
        if (held == WARC_READ_HEAD_BYTES_MAX)
            return fail(reader, ARCHIVE_LONG_HEAD, held,
                        "the header of the record does not end within 64 KiB");
        if (fill(reader, false) != MEMBERS_PIECE)
            return fail_short(reader, ARCHIVE_BAD_HEAD, "the member ends within the header of a record");
    }
}

enum warc_read_step warc_read_next(struct warc_read *reader)
{
    if (reader->error->fault != ARCHIVE_OK || (reader->is_in_record && !warc_read_skip(reader)))
        return WARC_READ_BAD;
    switch (fill(reader, true)) {
    case MEMBERS_BAD:
        return WARC_READ_BAD;
    case MEMBERS_END:
        return WARC_READ_END;
    case MEMBERS_PIECE:
        break;
    }
    uint64_t offset = is_plain(reader) ? position(reader) : reader->members.offset;
    reader->record = (struct warc_read_record){.offset = offset, .is_shared = reader->is_shared};
    if (read_head(reader) != WARC_READ_DONE)
        return WARC_READ_BAD;
    reader->left = reader->record.head.content_length;
    reader->is_in_record = true;
    return WARC_READ_DONE;
}

/* The record is complete; so is its member, unless another record follows in it. */
static enum warc_read_step end_record(struct warc_read *reader)
{
    reader->is_in_record = false;
    if (is_plain(reader)) {
        reader->record.length = position(reader) - reader->record.offset;
        return WARC_READ_END;
    }
    if (reader->is_in_member && reader->pending.len == 0) {
        if (members_next(&reader->members, &reader->pending) == MEMBERS_BAD)
            return WARC_READ_BAD;
        reader->is_in_member = reader->pending.len > 0;
        reader->record.has_lied |= !reader->is_in_member && reader->members.has_lied;
    }
    reader->is_shared = reader->is_in_member;
    reader->record.is_shared |= reader->is_in_member;
    reader->record.length = reader->members.next - reader->record.offset;
    return WARC_READ_END;
}

static enum warc_read_step read_end(struct warc_read *reader)
{
    for (unsigned i = 0; i < TRAILER_BYTES; i++) {
        if (fill(reader, false) != MEMBERS_PIECE)
            return fail_short(reader, ARCHIVE_NO_END, "the record does not end with two line ends");
        if (reader->pending.ptr[0] != "\r\n\r\n"[i])
            return fail(reader, ARCHIVE_NO_END, 0,
                        "the block is not followed by two line ends; Content-Length is wrong");
        use(reader, 1);
    }
    return end_record(reader);
}

enum warc_read_step warc_read_block(struct warc_read *reader, struct slice *piece)
{
    *piece = (struct slice){"", 0};
    if (reader->error->fault != ARCHIVE_OK)
        return WARC_READ_BAD;
    if (!reader->is_in_record)
        return WARC_READ_END;
    if (reader->left == 0)
        return read_end(reader);
    if (fill(reader, false) != MEMBERS_PIECE)
        return fail_short(reader, ARCHIVE_SHORT_BLOCK,
                          "the member ends before the block of the record; Content-Length is too large");
    size_t len = reader->pending.len < reader->left ? reader->pending.len : (size_t)reader->left;
    *piece = (struct slice){reader->pending.ptr, len};
    use(reader, len);
    reader->left -= len;
    return WARC_READ_DONE;
}

/* Passes over the rest of a block in a plain file; the end of the record is looked at. What is pending stands in a buffer that
 * changes with the next look at the file. */
static void drop_plain(struct warc_read *reader)
{
    members_seek(&reader->members, position(reader));
    reader->pending.len = 0;
    if (members_drop(&reader->members, reader->left))
        reader->left = 0;
}

/* Leaves the record without looking at the rest of it, if the file allows. */
static bool try_skip(struct warc_read *reader)
{
    uint64_t rest = reader->left + TRAILER_BYTES, held = reader->pending.len;
    if (rest <= held || !reader->is_in_member)
        return false;
    if (is_plain(reader)) {
        drop_plain(reader);
        return false;
    }
    if (!members_skip(&reader->members, rest - held))
        return false;
    reader->pending.len = 0;
    reader->is_in_member = reader->is_in_record = reader->is_shared = false;
    reader->record.length = reader->members.next - reader->record.offset;
    return true;
}

bool warc_read_skip(struct warc_read *reader)
{
    struct slice piece;
    enum warc_read_step step = WARC_READ_DONE;
    if (reader->error->fault != ARCHIVE_OK)
        return false;
    if (!reader->is_in_record || try_skip(reader))
        return true;
    while (step == WARC_READ_DONE)
        step = warc_read_block(reader, &piece);
    return step == WARC_READ_END;
}
