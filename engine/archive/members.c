#include "engine/archive/members.h"

#include <assert.h>
#include <errno.h>
#include <isa-l.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "engine/archive/gzip_head.h"
#include "engine/archive/limits.h"
#include "engine/archive/zstd_frame.h"

const char *members_format_name(enum members_format format)
{
    static const char *const names[] = {
        [MEMBERS_PLAIN] = "plain", [MEMBERS_GZIP] = "gzip", [MEMBERS_ZSTD] = "zstd"};
    return names[format];
}

static enum members_step fail(struct members *members, enum archive_fault fault, uint64_t offset,
                              const char *what)
{
    archive_error_set(members->error, (struct archive_place){fault, members->source->name, offset}, "%s",
                      what);
    return MEMBERS_BAD;
}

static enum members_step fail_truncated(struct members *members, uint64_t offset)
{
    return fail(members, ARCHIVE_TRUNCATED, offset, "the file ends within a record");
}

static struct slice look(struct members *members, uint64_t offset, size_t want)
{
    return source_bytes(members->source, offset, want, members->error);
}

static bool has_failed(const struct members *members)
{
    return members->error->fault != ARCHIVE_OK;
}

/* Whether the file goes on up to `end`. */
static bool reaches(struct members *members, uint64_t end)
{
    return end > 0 && look(members, end - 1, 1).len > 0;
}

static bool is_gzip(struct slice bytes)
{
    return slice_starts_with(bytes, SLICE("\x1f\x8b"));
}

/* The dictionary in a skippable frame at the start of the file, if there is one: `next` is behind it. */
static bool load_dictionary(struct members *members)
{
    struct slice head = look(members, 0, ZSTD_FRAME_SKIPPABLE_HEAD_BYTES);
    if (!zstd_frame_is_dictionary(head))
        return !has_failed(members);
    if (head.len < ZSTD_FRAME_SKIPPABLE_HEAD_BYTES) {
        fail_truncated(members, head.len);
        return false;
    }
    uint32_t len = zstd_frame_skippable_bytes(head);
    if (len > MEMBERS_DICTIONARY_BYTES_MAX) {
        fail(members, ARCHIVE_BAD_DICTIONARY, 0, "the dictionary is longer than 8 MiB");
        return false;
    }
    char *bytes = malloc(len + 1);
    size_t held = 0;
    while (bytes && held < len) {
        struct slice part = look(members, ZSTD_FRAME_SKIPPABLE_HEAD_BYTES + held, 1);
        if (part.len == 0)
            break;
        size_t taken = part.len < len - held ? part.len : len - held;
        memcpy(bytes + held, part.ptr, taken);
        held += taken;
    }
    if (!bytes)
        archive_error_of_call(members->error, ENOMEM, "read", members->source->name);
    else if (held < len && !has_failed(members))
        fail_truncated(members, ZSTD_FRAME_SKIPPABLE_HEAD_BYTES + held);
    else if (held == len && !zstd_frame_load_dictionary(members->zstd, (struct slice){bytes, len}))
        fail(members, ARCHIVE_BAD_DICTIONARY, ZSTD_FRAME_SKIPPABLE_HEAD_BYTES, "this is no zstd dictionary");
    free(bytes);
    members->next = ZSTD_FRAME_SKIPPABLE_HEAD_BYTES + (uint64_t)len;
    return !has_failed(members);
}

static bool init_zstd(struct members *members)
{
    members->format = MEMBERS_ZSTD;
    members->zstd = ZSTD_createDCtx();
    if (!members->zstd)
        return archive_error_of_call(members->error, ENOMEM, "unpack", members->source->name);
    ZSTD_DCtx_setParameter(members->zstd, ZSTD_d_windowLogMax, MEMBERS_ZSTD_WINDOW_LOG_MAX);
    return load_dictionary(members);
}

static bool init_gzip(struct members *members)
{
    members->format = MEMBERS_GZIP;
    members->inflate = malloc(sizeof *members->inflate);
    if (!members->inflate)
        return archive_error_of_call(members->error, ENOMEM, "unpack", members->source->name);
    isal_inflate_init(members->inflate);
    return true;
}

bool members_init(struct members *members, struct source *source, struct archive_error *error)
{
    *members = (struct members){.source = source, .error = error};
    struct slice head = look(members, 0, ZSTD_FRAME_SKIPPABLE_HEAD_BYTES);
    bool good = !has_failed(members);
    if (good && is_gzip(head))
        good = init_gzip(members);
    else if (good && (zstd_frame_is_frame(head) || zstd_frame_is_dictionary(head)))
        good = init_zstd(members);
    members->piece = good ? malloc(MEMBERS_PIECE_BYTES) : NULL;
    if (good && !members->piece)
        good = archive_error_of_call(error, ENOMEM, "unpack", source->name);
    if (!good)
        members_fini(members);
    return good;
}

void members_fini(struct members *members)
{
    free(members->inflate);
    free(members->piece);
    ZSTD_freeDCtx(members->zstd);
    members->inflate = NULL;
    members->piece = NULL;
    members->zstd = NULL;
}

void members_seek(struct members *members, uint64_t offset)
{
    members->next = offset;
}

static enum members_step begin_gzip(struct members *members)
{
    struct gzip_head head;
    struct slice bytes = look(members, members->offset, MEMBERS_GZIP_HEAD_BYTES);
    enum parse parsed = gzip_head_parse(&head, bytes);
    if (parsed == PARSE_PARTIAL && bytes.len >= MEMBERS_GZIP_HEAD_BYTES) {
        bytes = look(members, members->offset, MEMBERS_GZIP_HEAD_BYTES_MAX);
        parsed = gzip_head_parse(&head, bytes);
    }
    if (has_failed(members))
        return MEMBERS_BAD;
    if (parsed == PARSE_PARTIAL && bytes.len < MEMBERS_GZIP_HEAD_BYTES_MAX)
        return fail_truncated(members, members->offset + bytes.len);
    if (parsed != PARSE_DONE)
        return fail(
            members, ARCHIVE_BAD_GZIP, members->offset,
            "there is no gzip member where one should begin; what follows is not part of the archive");
    members->has_lengths = head.has_lengths;
    members->packed_promised = head.packed_bytes;
    members->content_promised = head.content_bytes;
    members->next = members->offset + head.len;
    isal_inflate_reset(members->inflate);
    members->inflate->crc_flag = ISAL_GZIP_NO_HDR_VER;
    members->inflate->hist_bits = 0;
    return MEMBERS_PIECE;
}

/* Frames that hold nothing of the archive are passed over. */
static enum members_step pass_skippable(struct members *members)
{
    struct slice bytes;
    while (zstd_frame_is_skippable(bytes = look(members, members->next, ZSTD_FRAME_SKIPPABLE_HEAD_BYTES))) {
        uint64_t end = members->next + ZSTD_FRAME_SKIPPABLE_HEAD_BYTES;
        if (zstd_frame_is_dictionary(bytes))
            return fail(members, ARCHIVE_BAD_DICTIONARY, members->next,
                        "a dictionary that is not at the start of the file");
        if (bytes.len < ZSTD_FRAME_SKIPPABLE_HEAD_BYTES)
            return fail_truncated(members, members->next + bytes.len);
        end += zstd_frame_skippable_bytes(bytes);
        if (!reaches(members, end))
            return has_failed(members) ? MEMBERS_BAD : fail_truncated(members, members->next);
        members->next = end;
    }
    return has_failed(members) ? MEMBERS_BAD : bytes.len == 0 ? MEMBERS_END : MEMBERS_PIECE;
}

static enum members_step begin_zstd(struct members *members)
{
    struct zstd_frame frame;
    enum members_step step = pass_skippable(members);
    if (step != MEMBERS_PIECE)
        return step;
    members->offset = members->next;
    struct slice bytes = look(members, members->offset, ZSTD_FRAME_HEAD_BYTES_MAX);
    switch (zstd_frame_parse(&frame, bytes)) {
    case PARSE_PARTIAL:
        return has_failed(members) ? MEMBERS_BAD : fail_truncated(members, members->offset + bytes.len);
    case PARSE_BAD:
        return fail(members, ARCHIVE_BAD_ZSTD, members->offset,
                    "there is no zstd frame where one should begin; what follows is not part of the archive");
    case PARSE_DONE:
        break;
    }
    members->has_lengths = frame.has_content_bytes;
    members->content_promised = frame.content_bytes;
    members->has_checksum = frame.has_checksum;
    members->body = members->offset + frame.head_len;
    members->is_unpacked = false;
    ZSTD_DCtx_reset(members->zstd, ZSTD_reset_session_only);
    return MEMBERS_PIECE;
}

enum members_step members_begin(struct members *members)
{
    members->offset = members->next;
    members->given = 0;
    members->has_lied = members->has_lengths = false;
    if (has_failed(members))
        return MEMBERS_BAD;
    if (members->format == MEMBERS_ZSTD)
        return begin_zstd(members);
    if (look(members, members->next, 1).len == 0)
        return has_failed(members) ? MEMBERS_BAD : MEMBERS_END;
    return members->format == MEMBERS_GZIP ? begin_gzip(members) : MEMBERS_PIECE;
}

static enum members_step give(struct members *members, struct slice *piece, size_t len)
{
    *piece = (struct slice){members->piece, len};
    members->given += len;
    return MEMBERS_PIECE;
}

static enum members_step end_gzip(struct members *members)
{
    members->has_lied =
        members->has_lengths && (members->packed_promised != members->next - members->offset ||
                                 members->content_promised != members->given);
    return MEMBERS_END;
}

static enum members_step fail_gzip(struct members *members, int result)
{
    enum { TRAILER_BYTES = 8 };
    if (result == ISAL_INCORRECT_CHECKSUM)
        return fail(members, ARCHIVE_BAD_CHECKSUM, members->next - TRAILER_BYTES,
                    "the checksum or the length of the gzip member is wrong: its content is damaged");
    return fail(members, ARCHIVE_BAD_GZIP, members->next,
                "the gzip member is damaged here or shortly before");
}

static enum members_step next_gzip(struct members *members, struct slice *piece)
{
    struct inflate_state *inflate = members->inflate;
    while (inflate->block_state != ISAL_BLOCK_FINISH) {
        struct slice bytes = look(members, members->next, 1);
        if (has_failed(members))
            return MEMBERS_BAD;
        if (members->given == 0 && members->has_lengths && bytes.len > MEMBERS_FIRST_BYTES)
            bytes.len = MEMBERS_FIRST_BYTES;
        inflate->next_in = (uint8_t *)(uintptr_t)bytes.ptr;
        inflate->avail_in = (uint32_t)bytes.len;
        inflate->next_out = (uint8_t *)members->piece;
        inflate->avail_out = MEMBERS_PIECE_BYTES;
        int result = isal_inflate(inflate);
        size_t made = MEMBERS_PIECE_BYTES - inflate->avail_out;
        /* ISA-L may give back bytes of a call before; and after an error it may count more than there were. */
        ptrdiff_t taken = (const char *)inflate->next_in - bytes.ptr;
        taken = taken > (ptrdiff_t)bytes.len ? (ptrdiff_t)bytes.len : taken;
        members->next += (uint64_t)taken;
        if (result < 0)
            return fail_gzip(members, result);
        if (made)
            return give(members, piece, made);
        if (bytes.len == 0)
            return fail_truncated(members, members->next);
        if (taken == 0 && inflate->block_state != ISAL_BLOCK_FINISH)
            return fail_gzip(members, ISAL_INVALID_BLOCK); /* no decoder that stands still gets anywhere */
    }
    return end_gzip(members);
}

static enum members_step fail_zstd(struct members *members, size_t result, uint64_t offset)
{
    switch ((int)ZSTD_getErrorCode(result)) {
    case ZSTD_error_checksum_wrong:
        return fail(members, ARCHIVE_BAD_CHECKSUM, offset,
                    "the checksum of the zstd frame is wrong: its content is damaged");
    case ZSTD_error_dictionary_wrong:
    case ZSTD_error_dictionary_corrupted:
        return fail(members, ARCHIVE_BAD_DICTIONARY, members->offset,
                    "the zstd frame was made with another dictionary than the file has");
    case ZSTD_error_frameParameter_windowTooLarge:
        return fail(members, ARCHIVE_LARGE_WINDOW, members->offset,
                    "the zstd frame asks for a window of more than 128 MiB");
    case ZSTD_error_memory_allocation:
        archive_error_of_call(members->error, ENOMEM, "unpack", members->source->name);
        return MEMBERS_BAD;
    default:
        return fail(members, ARCHIVE_BAD_ZSTD, offset, "the zstd frame is damaged here or shortly before");
    }
}

static enum members_step next_zstd(struct members *members, struct slice *piece)
{
    while (!members->is_unpacked) {
        struct slice bytes = look(members, members->next, 1);
        if (has_failed(members))
            return MEMBERS_BAD;
        ZSTD_inBuffer in = {bytes.ptr, bytes.len, 0};
        ZSTD_outBuffer out = {members->piece, MEMBERS_PIECE_BYTES, 0};
        size_t result = ZSTD_decompressStream(members->zstd, &out, &in);
        members->next += in.pos;
        if (ZSTD_isError(result))
            return fail_zstd(members, result, members->next);
        members->is_unpacked = result == 0;
        if (out.pos)
            return give(members, piece, out.pos);
        if (bytes.len == 0 && !members->is_unpacked)
            return fail_truncated(members, members->next);
    }
    return MEMBERS_END;
}

enum members_step members_next(struct members *members, struct slice *piece)
{
    *piece = (struct slice){members->piece, 0};
    if (has_failed(members))
        return MEMBERS_BAD;
    if (members->format == MEMBERS_GZIP)
        return next_gzip(members, piece);
    if (members->format == MEMBERS_ZSTD)
        return next_zstd(members, piece);
    *piece = look(members, members->next, 1);
    members->next += piece->len;
    members->given += piece->len;
    return has_failed(members) ? MEMBERS_BAD : piece->len ? MEMBERS_PIECE : MEMBERS_END;
}

/* Before the end that is promised stands the length of the content, behind it another member or nothing. */
static bool skip_gzip(struct members *members)
{
    enum { LENGTH_BYTES = 4, MAGIC_BYTES = 2 };
    uint64_t end = members->offset + members->packed_promised;
    if (members->packed_promised < members->next - members->offset + LENGTH_BYTES)
        return false;
    struct slice bytes = look(members, end - LENGTH_BYTES, LENGTH_BYTES + MAGIC_BYTES);
    if (bytes.len < LENGTH_BYTES || gzip_head_le32(bytes.ptr) != members->content_promised)
        return false;
    bytes = slice_skip(bytes, LENGTH_BYTES);
    if (bytes.len && !is_gzip(bytes))
        return false;
    members->next = end;
    return true;
}

/* From block to block, each of which tells its length. */
static bool skip_zstd(struct members *members)
{
    uint64_t at = members->body;
    struct zstd_block block = {0};
    while (!block.is_last) {
        if (!zstd_block_parse(&block, look(members, at, ZSTD_BLOCK_HEAD_BYTES)))
            return false;
        at += ZSTD_BLOCK_HEAD_BYTES + block.bytes;
    }
    at += members->has_checksum ? ZSTD_FRAME_CHECKSUM_BYTES : 0;
    if (!reaches(members, at))
        return false;
    members->next = at;
    members->is_unpacked = true;
    return true;
}

bool members_skip(struct members *members, uint64_t rest)
{
    if (has_failed(members) || !members->has_lengths || members->content_promised < members->given ||
        members->content_promised - members->given != rest)
        return false;
    return members->format == MEMBERS_GZIP ? skip_gzip(members) : skip_zstd(members);
}

bool members_drop(struct members *members, uint64_t bytes)
{
    if (has_failed(members) || members->format != MEMBERS_PLAIN || bytes > UINT64_MAX / 2 ||
        !reaches(members, members->next + bytes))
        return false;
    members->next += bytes;
    members->given += bytes;
    return true;
}
