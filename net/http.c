/*
 *     DONE --begin--> HEAD --head, no 1xx--> BODY --end--> DONE
 *                       \--------------------/--error--> FAILED --reset--> DONE
 *
 * `pieces` is allocated in HEAD only, and freed by the first call in BODY: until then event.head points into
 * it. */
#include "net/http.h"

#include <assert.h>
#include <stdlib.h>

enum reader_state {
    READER_DONE, /* no response is expected, or it was complete */
    READER_HEAD,
    READER_BODY,
    READER_FAILED,
};

void http_shared_init(struct http_shared *shared, const struct http_limits *limits)
{
    assert(limits->head_bytes_max > 0);
    memset(shared, 0, sizeof *shared);
    shared->limits = *limits;
}

void http_reader_init(struct http_reader *reader, struct http_shared *shared)
{
    *reader = (struct http_reader){.shared = shared, .state = READER_DONE};
}

static void free_pieces(struct http_reader *reader)
{
    free(reader->pieces);
    reader->shared->pieces_bytes -= reader->pieces_capacity;
    reader->pieces = NULL;
    reader->pieces_len = 0;
    reader->pieces_capacity = 0;
}

void http_reader_reset(struct http_reader *reader)
{
    free_pieces(reader);
    http_reader_init(reader, reader->shared);
}

void http_reader_begin(struct http_reader *reader, bool is_head_request)
{
    assert(reader->state == READER_DONE);
    free_pieces(reader);
    reader->state = READER_HEAD;
    reader->interim_count = 0;
    reader->error = HTTP_OK;
    reader->is_head_request = is_head_request;
    reader->keeps_alive = false;
}

bool http_reader_has_begun(const struct http_reader *reader)
{
    return reader->state != READER_HEAD || reader->pieces_len || reader->interim_count;
}

static enum http_step fail(struct http_reader *reader, struct http_event *event, enum http_error error)
{
    reader->state = READER_FAILED;
    reader->error = (uint8_t)error;
    reader->keeps_alive = false;
    event->error = error;
    return HTTP_FAILED;
}

/* Adds to the head so far. Room for `text` must be within head_bytes_max. */
static bool keep_piece(struct http_reader *reader, struct slice text)
{
    struct http_shared *shared = reader->shared;
    uint32_t needed = reader->pieces_len + (uint32_t)text.len, capacity = reader->pieces_capacity;
    if (needed > capacity) {
        capacity = capacity ? capacity : HTTP_PIECES_BYTES;
        while (capacity < needed)
            capacity *= 2;
        if (capacity > shared->limits.head_bytes_max)
            capacity = shared->limits.head_bytes_max;
        uint64_t total = shared->pieces_bytes - reader->pieces_capacity + capacity;
        char *grown = total <= HTTP_PIECES_BYTES_MAX ? realloc(reader->pieces, capacity) : NULL;
        if (!grown)
            return false;
        shared->pieces_bytes = total;
        reader->pieces = grown;
        reader->pieces_capacity = capacity;
    }
    memcpy(reader->pieces + reader->pieces_len, text.ptr, text.len);
    reader->pieces_len = needed;
    return true;
}

/* Parses a head out of what was kept and `in`, and advances `in` behind it. What is incomplete is kept. */
static enum parse parse_head(struct http_reader *reader, struct slice *in, enum http_error *error)
{
    struct http_head *head = &reader->shared->head;
    uint32_t head_bytes_max = reader->shared->limits.head_bytes_max, before = reader->pieces_len;
    struct slice fresh = {in->ptr, in->len};
    if (fresh.len > head_bytes_max - before)
        fresh.len = head_bytes_max - before;
    struct slice text = fresh;
    *error = HTTP_ERROR_NO_MEMORY;
    if (before) {
        if (!keep_piece(reader, fresh))
            return PARSE_BAD;
        text = (struct slice){reader->pieces, reader->pieces_len};
    }
    enum parse parse = http_head_parse(head, text, before, error);
    if (parse == PARSE_DONE) {
        assert(head->raw.len > before);
        *in = slice_skip(*in, head->raw.len - before);
        reader->pieces_len = 0;
    } else if (parse == PARSE_PARTIAL && text.len == head_bytes_max) {
        *error = HTTP_ERROR_HEAD_TOO_LONG;
        return PARSE_BAD;
    } else if (parse == PARSE_PARTIAL) {
        *error = HTTP_ERROR_NO_MEMORY;
        if (!before && !keep_piece(reader, fresh))
            return PARSE_BAD;
        *in = slice_skip(*in, fresh.len);
    }
    return parse;
}

/* The head of the final response is there. */
static enum http_step begin_body(struct http_reader *reader, struct http_event *event)
{
    const struct http_head *head = &reader->shared->head;
    enum http_framing framing = http_head_framing(head, reader->is_head_request);
    /* Some servers send a body where there must be none (204, 304, HEAD). It may come late, and would be
     * taken for the answer to the next request. */
    bool is_certain = framing == HTTP_FRAMING_LENGTH || framing == HTTP_FRAMING_CHUNKED;
    reader->keeps_alive = head->keeps_alive && is_certain;
    reader->state = READER_BODY;
    http_body_init(&reader->body, framing, head->content_length > 0 ? (uint64_t)head->content_length : 0);
    event->head = head;
    return HTTP_HEAD;
}

static enum http_step pull_head(struct http_reader *reader, struct slice *in, struct http_event *event)
{
    struct http_shared *shared = reader->shared;
    while (in->len) {
        enum http_error error;
        enum parse parse = parse_head(reader, in, &error);
        if (parse == PARSE_BAD)
            return fail(reader, event, error);
        if (parse == PARSE_PARTIAL)
            return HTTP_MORE;
        shared->tolerated_heads += shared->head.tolerated != 0;
        if (shared->head.status >= 200)
            return begin_body(reader, event);
        if (shared->head.status == 101)
            return fail(reader, event, HTTP_ERROR_UPGRADED);
        if (++reader->interim_count > HTTP_INTERIM_MAX)
            return fail(reader, event, HTTP_ERROR_TOO_MANY_INTERIM);
        shared->interim_heads++;
    }
    return HTTP_MORE;
}

static enum http_step end(struct http_reader *reader, const struct slice *in, struct http_event *event)
{
    reader->state = READER_DONE;
    reader->keeps_alive &= in->len == 0 && !reader->body.is_odd;
    event->keeps_alive = reader->keeps_alive;
    return HTTP_END;
}

/* Cuts what is beyond the limit off the piece; true if that was so. */
static bool cut_to_limit(const struct http_reader *reader, struct slice *piece)
{
    uint64_t body_bytes_max = reader->shared->limits.body_bytes_max;
    if (reader->body.received <= body_bytes_max)
        return false;
    uint64_t beyond = reader->body.received - body_bytes_max;
    piece->len -= beyond < piece->len ? (size_t)beyond : piece->len;
    return true;
}

static enum http_step pull_body(struct http_reader *reader, struct slice *in, struct http_event *event)
{
    enum parse parse;
    do {
        enum http_error error;
        parse = http_body_feed(&reader->body, in, &event->body, &error);
        if (parse == PARSE_BAD)
            return fail(reader, event, error);
        if (cut_to_limit(reader, &event->body)) {
            fail(reader, event, HTTP_ERROR_BODY_TOO_LONG);
            return event->body.len ? HTTP_BODY : HTTP_FAILED;
        }
        if (event->body.len) {
            if (parse == PARSE_DONE)
                end(reader, in, event);
            return HTTP_BODY;
        }
    } while (parse == PARSE_PARTIAL && in->len);
    return parse == PARSE_DONE ? end(reader, in, event) : HTTP_MORE;
}

enum http_step http_reader_pull(struct http_reader *reader, struct slice *in, struct http_event *event)
{
    switch ((enum reader_state)reader->state) {
    case READER_HEAD:
        return pull_head(reader, in, event);
    case READER_BODY:
        free_pieces(reader);
        return pull_body(reader, in, event);
    case READER_DONE:
        return end(reader, in, event);
    case READER_FAILED:
        break;
    }
    event->error = (enum http_error)reader->error;
    return HTTP_FAILED;
}

bool http_reader_awaits_eof(const struct http_reader *reader)
{
    return reader->state == READER_BODY && reader->body.framing == HTTP_FRAMING_CLOSE;
}

enum http_step http_reader_on_eof(struct http_reader *reader, struct http_event *event)
{
    event->keeps_alive = false;
    switch ((enum reader_state)reader->state) {
    case READER_HEAD:
        return fail(reader, event,
                    http_reader_has_begun(reader) ? HTTP_ERROR_HEAD_TRUNCATED : HTTP_ERROR_CLOSED_EARLY);
    case READER_BODY:
        if (http_body_on_eof(&reader->body) == PARSE_BAD)
            return fail(reader, event, HTTP_ERROR_BODY_TRUNCATED);
        break;
    case READER_DONE:
        break;
    case READER_FAILED:
        event->error = (enum http_error)reader->error;
        return HTTP_FAILED;
    }
    reader->state = READER_DONE;
    reader->keeps_alive = false;
    return HTTP_END;
}
