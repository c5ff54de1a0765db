#include "engine/archive/payload.h"

#include <stdlib.h>

#include "engine/archive/dechunk.h"
#include "engine/archive/limits.h"
#include "engine/content/decode.h"

/* The longest list of codings that is undone. */
enum { CODINGS_BYTES = 128 };

bool payload_init(struct payload *payload)
{
    *payload = (struct payload){.decode = decode_create(&(struct decode_options){0}),
                                .room = malloc(MEMBERS_PIECE_BYTES)};
    if (payload->decode && payload->room && message_init(&payload->message))
        return true;
    payload_fini(payload);
    return false;
}

void payload_fini(struct payload *payload)
{
    if (payload->decode)
        decode_destroy(payload->decode);
    free(payload->room);
    message_fini(&payload->message);
    *payload = (struct payload){0};
}

/* One record on its way. */
struct passage {
    struct payload *payload;
    struct warc_read *reader;
    const struct payload_options *options;
    struct dechunk dechunk;
    bool is_decoded;
    bool has_ended; /* the coding is at its end; what follows is no part of the body */
};

static bool take(struct passage *passage, struct slice bytes)
{
    return bytes.len == 0 || passage->options->take(passage->options->owner, bytes);
}

static bool fail_coding(struct passage *passage, const char *what)
{
    struct archive_place place = {ARCHIVE_BAD_CODING, passage->reader->members.source->name,
                                  passage->reader->record.offset};
    return archive_error_set(
        passage->reader->error, place,
        "the body is not in the coding that its head claims (%s); --raw gives it as it is stored", what);
}

static bool take_coded(struct passage *passage, struct slice bytes)
{
    enum decode_result result = DECODE_FULL;
    if (!passage->is_decoded)
        return take(passage, bytes);
    while (!passage->has_ended && (bytes.len || result == DECODE_FULL)) {
        struct decode_output output = {passage->payload->room, MEMBERS_PIECE_BYTES, 0};
        result = decode_push(passage->payload->decode, &bytes, &output);
        if (!take(passage, (struct slice){output.ptr, output.written}))
            return false;
        if (result != DECODE_MORE && result != DECODE_FULL && result != DECODE_DONE)
            return fail_coding(passage, decode_result_name(result));
        passage->has_ended = result == DECODE_DONE;
    }
    return true;
}

static bool take_body(struct passage *passage, struct slice bytes)
{
    while (bytes.len)
        if (!take_coded(passage, dechunk_next(&passage->dechunk, &bytes)))
            return false;
    return true;
}

/* The head is complete, or it is known that there is none. */
static bool begin_body(struct passage *passage)
{
    char codings[CODINGS_BYTES];
    const struct message *message = &passage->payload->message;
    if (!message->has_head)
        return take_body(passage, message_kept(message));
    if (passage->options->has_head && !take(passage, message->head->raw))
        return false;
    if (passage->options->is_raw)
        return true;
    struct slice list = http_head_join(message->head, SLICE("Content-Encoding"), codings, sizeof codings);
    passage->is_decoded = decode_has_codings(list);
    dechunk_begin(&passage->dechunk, message->head->is_chunked);
    if (passage->is_decoded && decode_begin(passage->payload->decode, list) != DECODE_MORE)
        return fail_coding(passage, "too many codings");
    return true;
}

static bool end_body(struct passage *passage)
{
    if (passage->payload->message.is_open) {
        message_finish(&passage->payload->message);
        if (!begin_body(passage))
            return false;
    }
    bool is_cut = passage->reader->record.head.fields[WARC_FIELD_TRUNCATED].len > 0;
    enum decode_result result = passage->is_decoded ? decode_finish(passage->payload->decode) : DECODE_DONE;
    return result == DECODE_DONE || is_cut || fail_coding(passage, decode_result_name(result));
}

bool payload_read(struct payload *payload, struct warc_read *reader, const struct payload_options *options)
{
    struct passage passage = {.payload = payload, .reader = reader, .options = options};
    struct slice piece;
    enum warc_read_step step;
    bool is_response = warc_head_is_type(&reader->record.head, SLICE("response")) ||
                       warc_head_is_type(&reader->record.head, SLICE("revisit"));
    message_begin(&payload->message);
    if (!is_response)
        message_finish(&payload->message);
    while ((step = warc_read_block(reader, &piece)) == WARC_READ_DONE) {
        bool was_open = payload->message.is_open;
        message_push(&payload->message, &piece);
        if (was_open && !payload->message.is_open && !begin_body(&passage))
            return false;
        if (!take_body(&passage, piece))
            return false;
    }
    return step == WARC_READ_END && end_body(&passage);
}
