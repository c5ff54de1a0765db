#include "engine/archive/message.h"

#include <stdlib.h>

#include "engine/archive/limits.h"

_Static_assert(MESSAGE_HEAD_BYTES_MAX == HTTP_HEAD_BYTES_MAX, "what was fetched can be read");

bool message_init(struct message *message)
{
    *message =
        (struct message){.bytes = malloc(MESSAGE_HEAD_BYTES_MAX), .head = malloc(sizeof *message->head)};
    if (message->bytes && message->head)
        return true;
    message_fini(message);
    return false;
}

void message_fini(struct message *message)
{
    free(message->bytes);
    free(message->head);
    *message = (struct message){0};
}

void message_begin(struct message *message)
{
    message->len = 0;
    message->is_open = true;
    message->has_head = false;
}

void message_push(struct message *message, struct slice *piece)
{
    enum http_error error;
    if (!message->is_open)
        return;
    size_t before = message->len, room = MESSAGE_HEAD_BYTES_MAX - before;
    size_t part = piece->len < room ? piece->len : room;
    memcpy(message->bytes + before, piece->ptr, part);
    message->len += part;
    switch (http_head_parse(message->head, (struct slice){message->bytes, message->len}, before, &error)) {
    case PARSE_DONE:
        message->is_open = false;
        message->has_head = true;
        message->len = message->head->raw.len;
        *piece = slice_skip(*piece, message->len - before);
        return;
    case PARSE_BAD:
        message->is_open = false;
        break;
    case PARSE_PARTIAL:
        message->is_open = message->len < MESSAGE_HEAD_BYTES_MAX;
        break;
    }
    *piece = slice_skip(*piece, part);
}

void message_finish(struct message *message)
{
    message->is_open = false;
}

struct slice message_kept(const struct message *message)
{
    bool is_body = !message->is_open && !message->has_head;
    return (struct slice){message->bytes, is_body ? message->len : 0};
}
