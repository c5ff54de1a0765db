#include "engine/content/unpack.h"

#include <stdint.h>

#include "engine/content/sniff.h"

static struct slice codings_of(const struct unpack *unpack)
{
    return (struct slice){unpack->codings, unpack->codings_len};
}

/* Estimates the decoded size: gzip states it in its last bytes, which is believed within limits; other
 * codings grow by a typical factor. If the estimate is too small, the buffer grows; if too large, memory is
 * idle for a while. */
static size_t expected_bytes(const struct unpack *unpack)
{
    enum { USUAL_RATIO = 6, STATED_RATIO_MAX = 32 };
    struct slice body = unpack->body.bytes;
    const unsigned char *end = (const unsigned char *)body.ptr + body.len;
    if (!slice_starts_with(body, SLICE("\x1f\x8b")) || body.len < 18)
        return body.len * USUAL_RATIO;
    size_t stated = end[-4] | end[-3] << 8 | end[-2] << 16 | (size_t)end[-1] << 24;
    return stated <= body.len * STATED_RATIO_MAX ? stated : body.len * USUAL_RATIO;
}

static bool is_gzip(struct slice bytes)
{
    return slice_starts_with(bytes, SLICE("\x1f\x8b\x08"));
}

/* Whether gzipped bytes are to be unpacked as a document, rather than kept as an archive. */
static bool is_wanted(const struct unpack *unpack, struct slice bytes)
{
    return is_gzip(bytes) && !unpack->is_unasked &&
           (unpack->body.is_sitemap || sniff_is_text(unpack->body.content_type));
}

static void use_codings(struct unpack *unpack, struct slice codings)
{
    memmove(unpack->codings, codings.ptr, codings.len);
    unpack->codings_len = codings.len;
    unpack->is_begun = false;
}

/* Adds gzip as the innermost coding. */
static void add_gzip(struct unpack *unpack)
{
    char codings[UNPACK_CODINGS_BYTES];
    struct slice before = codings_of(unpack);
    const struct slice gzip = SLICE("gzip,");
    unpack->is_unasked = true;
    if (before.len + gzip.len > sizeof(codings))
        return;
    memcpy(codings, gzip.ptr, gzip.len);
    memcpy(codings + gzip.len, before.ptr, before.len);
    use_codings(unpack, (struct slice){codings, gzip.len + before.len});
}

/* Removes the first of the list, the innermost coding. False if there is none. */
static bool drop_coding(struct unpack *unpack)
{
    struct slice codings = codings_of(unpack);
    const char *comma = codings.len ? memchr(codings.ptr, ',', codings.len) : NULL;
    size_t len = comma ? (size_t)(comma - codings.ptr) + 1 : codings.len;
    use_codings(unpack, slice_skip(codings, len));
    return codings.len > 0;
}

void unpack_begin(struct unpack *unpack, const struct unpack_body *body, struct decode *decode,
                  struct unpack_room *room)
{
    unpack->body = *body;
    unpack->decode = decode;
    unpack->room = room;
    unpack->document = (struct slice){"", 0};
    unpack->used = 0;
    unpack->is_unasked = false;
    use_codings(unpack, (struct slice){body->codings.ptr,
                                       body->codings.len <= UNPACK_CODINGS_BYTES ? body->codings.len : 0});
    if (!decode_has_codings(codings_of(unpack)) && is_wanted(unpack, body->bytes))
        add_gzip(unpack);
}

static enum unpack_result take_body(struct unpack *unpack)
{
    unpack->document = unpack->body.bytes;
    return UNPACK_WHOLE;
}

/* Decides what to do with a body that could not be decoded to its end. */
static enum unpack_result settle_failure(struct unpack *unpack, bool is_truncated)
{
    struct slice body = unpack->body.bytes;
    if (sniff_looks_like_text(body))
        return take_body(unpack);
    if (unpack->used) {
        unpack->document = (struct slice){unpack->room->bytes, unpack->used};
        return UNPACK_CUT;
    }
    if (!is_truncated && drop_coding(unpack) && decode_has_codings(codings_of(unpack)))
        return UNPACK_MORE; /* a coding that is named twice but was applied once */
    return unpack->is_unasked ? take_body(unpack) : UNPACK_BAD;
}

static enum unpack_result settle(struct unpack *unpack, enum decode_result result)
{
    struct slice document = {unpack->room->bytes, unpack->used};
    switch (result) {
    case DECODE_DONE:
        if (is_wanted(unpack, document)) {
            add_gzip(unpack);
            return UNPACK_MORE;
        }
        unpack->document = document;
        return UNPACK_WHOLE;
    case DECODE_TRUNCATED:
        return settle_failure(unpack, true);
    case DECODE_CORRUPT:
    case DECODE_STACKED:
        return settle_failure(unpack, false);
    case DECODE_TOO_LONG:
        unpack->document = document;
        return UNPACK_TOO_LONG;
    case DECODE_BOMB:
        return UNPACK_TOO_LONG;
    case DECODE_NO_MEMORY:
        unpack->document = document;
        return UNPACK_NO_ROOM;
    case DECODE_MORE:
    case DECODE_FULL:
    case DECODE_RESULTS:
        break;
    }
    return UNPACK_BAD;
}

/* The whole body at once, if its length is known well enough. False: it has to be streamed. */
static bool decode_at_once(struct unpack *unpack, enum decode_result *result)
{
    size_t expected = expected_bytes(unpack),
           size = expected < UNPACK_BYTES_MIN ? UNPACK_BYTES_MIN : expected;
    if (unpack->body.bytes_max && size > unpack->body.bytes_max)
        return false;
    if (size > UNPACK_WHOLE_BYTES ||
        (unpack->room->size < size && !unpack->room->grow(unpack->room, size, 0)))
        return false;
    struct decode_output output = {.ptr = unpack->room->bytes, .room = unpack->room->size};
    *result = decode_whole(unpack->decode, codings_of(unpack), unpack->body.bytes, &output);
    unpack->used = output.written;
    return *result != DECODE_FULL;
}

/* Reserves the estimated size of a long body, if possible: growing takes time. */
static void reserve_stated(struct unpack *unpack)
{
    size_t expected = expected_bytes(unpack), wanted = unpack->body.bytes_max;
    if (is_gzip(unpack->body.bytes) && unpack->room->size < expected && (!wanted || expected <= wanted))
        unpack->room->grow(unpack->room, expected, 0);
}

static enum unpack_result begin(struct unpack *unpack)
{
    enum decode_result result;
    unpack->is_begun = true;
    unpack->used = 0;
    if (decode_at_once(unpack, &result))
        return settle(unpack, result);
    unpack->used = 0;
    unpack->left = unpack->body.bytes;
    reserve_stated(unpack);
    result = decode_begin(unpack->decode, codings_of(unpack));
    return result == DECODE_MORE ? UNPACK_MORE : settle(unpack, result);
}

/* Makes sure that there is free room; false if it cannot grow. */
static bool has_room(struct unpack *unpack)
{
    struct unpack_room *room = unpack->room;
    if (unpack->used < room->size)
        return true;
    size_t size = room->size ? 2 * room->size : UNPACK_BYTES_MIN;
    return room->grow(room, size, unpack->used);
}

/* Decodes the next part of a long body. */
static enum unpack_result stream(struct unpack *unpack)
{
    if (!has_room(unpack)) {
        unpack->document = (struct slice){unpack->room->bytes, unpack->used};
        return UNPACK_NO_ROOM;
    }
    size_t room = unpack->room->size - unpack->used;
    struct decode_output output = {.ptr = unpack->room->bytes + unpack->used,
                                   .room = room < UNPACK_STEP_BYTES ? room : UNPACK_STEP_BYTES};
    enum decode_result result = decode_push(unpack->decode, &unpack->left, &output);
    unpack->used += output.written;
    if (unpack->body.bytes_max && unpack->used >= unpack->body.bytes_max) {
        unpack->document = (struct slice){unpack->room->bytes, unpack->body.bytes_max};
        return UNPACK_WHOLE;
    }
    if (result == DECODE_FULL)
        return UNPACK_MORE;
    if (result == DECODE_DONE || result == DECODE_MORE)
        result = decode_finish(unpack->decode);
    return settle(unpack, result);
}

enum unpack_result unpack_step(struct unpack *unpack)
{
    if (unpack->body.bytes.len == 0 || !decode_has_codings(codings_of(unpack)))
        return take_body(unpack);
    return unpack->is_begun ? stream(unpack) : begin(unpack);
}
