#include "tools/websim/answer.h"

#include <stdio.h>

#include "lockfree/clock.h"
#include "tools/websim/personality.h"

/* Room that is kept free before the body, for the head: the longest head has a location of
 * WEBSIM_URL_BYTES. */
#define HEAD_ROOM (512 + WEBSIM_URL_BYTES)
/* A host with a bandwidth sends a hundred times a second, but never less than a segment. */
#define SLICES_PER_S  100
#define SLICE_MIN     1460
#define CHUNK_MIN     512
#define CHUNK_SPREAD  4096
#define SHORT_BY      1000
#define ENDLESS_BYTES 16384
#define PADDING_LINE  "X-Padding: 0123456789abcdef0123456789abcdef0123456789abcdef\r\n"

static const char *reason_of(unsigned status)
{
    switch (status) {
    case 200:
        return "OK";
    case 301:
        return "Moved Permanently";
    case 302:
        return "Found";
    case 303:
        return "See Other";
    case 307:
        return "Temporary Redirect";
    case 308:
        return "Permanent Redirect";
    case 400:
        return "Bad Request";
    case 404:
        return "Not Found";
    case 405:
        return "Method Not Allowed";
    case 421:
        return "Misdirected Request";
    case 429:
        return "Too Many Requests";
    case 500:
        return "Internal Server Error";
    default:
        return "Service Unavailable";
    }
}

/* What goes into a head. */
struct head {
    unsigned status;
    const char *type;
    const char *location;
    enum websim_encoding encoding;
    uint64_t length;
    uint32_t retry_after_s;
    bool chunked;
    bool no_length; /* until the connection closes */
    bool close;
    bool nofollow;
};

static char *put(char *at, const char *name, const char *value)
{
    at = websim_write_text(at, name);
    at = websim_write_text(at, value);
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

static char *put_number(char *at, const char *name, uint64_t value)
{
    at = websim_write_number(websim_write_text(at, name), value);
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

static size_t write_head(const struct head *head, char *out)
{
    char *at = websim_write_number(websim_write_text(out, "HTTP/1.1 "), head->status);
    at = put(at, " ", reason_of(head->status));
    at = put(at, "Server: ", "websim");
    at = put(at, "Content-Type: ", head->type);
    if (head->location)
        at = put(at, "Location: ", head->location);
    if (head->encoding != WEBSIM_ENCODING_NONE)
        at = put(at, "Content-Encoding: ", websim_encoding_name(head->encoding));
    if (head->retry_after_s)
        at = put_number(at, "Retry-After: ", head->retry_after_s);
    if (head->nofollow)
        at = put(at, "X-Robots-Tag: ", "nofollow");
    if (head->chunked)
        at = put(at, "Transfer-Encoding: ", "chunked");
    else if (!head->no_length)
        at = put_number(at, "Content-Length: ", head->length);
    if (head->close)
        at = put(at, "Connection: ", "close");
    *at++ = '\r';
    *at++ = '\n';
    return (size_t)(at - out);
}

/* Puts the head right before the body, which begins at HEAD_ROOM. */
static void set_head(struct websim_answer *answer, const struct head *head)
{
    char text[HEAD_ROOM];
    size_t len = write_head(head, text);
    answer->begin = HEAD_ROOM - len;
    memcpy(answer->bytes.data + answer->begin, text, len);
    answer->status = (uint16_t)head->status;
    if (head->close && answer->ending == WEBSIM_ENDING_KEEP)
        answer->ending = WEBSIM_ENDING_CLOSE;
}

static void append(struct websim_buffer *out, struct slice text)
{
    memcpy(websim_buffer_room(out, text.len), text.ptr, text.len);
    out->len += text.len;
}

/* A status and its name as the body. */
static void write_status(struct websim_answer *answer)
{
    struct head head = {.status = answer->status,
                        .type = "text/plain",
                        .retry_after_s = answer->retry_after_s,
                        .close = answer->close};
    append(&answer->bytes, slice_of(reason_of(head.status)));
    append(&answer->bytes, SLICE("\n"));
    head.length = answer->bytes.len - HEAD_ROOM;
    set_head(answer, &head);
}

static void append_chunks(struct websim_buffer *out, struct slice body, uint64_t bits)
{
    char size[24];
    while (body.len) {
        size_t len = CHUNK_MIN + (bits & (CHUNK_SPREAD - 1));
        if (len > body.len)
            len = body.len;
        append(out, (struct slice){size, (size_t)snprintf(size, sizeof size, "%zx\r\n", len)});
        append(out, (struct slice){body.ptr, len});
        append(out, SLICE("\r\n"));
        body = slice_skip(body, len);
        bits = websim_mix(bits + 1);
    }
}

/* Writes the body behind HEAD_ROOM, encoded and in chunks as the head says; sets the length in the head. */
static void write_body(struct websim_answerer *answerer, struct websim_answer *answer,
                       const struct websim_page *page, struct head *head)
{
    if (head->encoding == WEBSIM_ENCODING_NONE && !head->chunked) {
        websim_body_write(page, answerer->text, &answer->bytes);
        head->length = answer->bytes.len - HEAD_ROOM;
        return;
    }
    answerer->plain.len = answerer->packed.len = 0;
    websim_body_write(page, answerer->text, &answerer->plain);
    struct slice body = {answerer->plain.data, answerer->plain.len};
    if (head->encoding != WEBSIM_ENCODING_NONE) {
        websim_encode(answerer->encoder, head->encoding, body, &answerer->packed);
        body = (struct slice){answerer->packed.data, answerer->packed.len};
    }
    if (!head->chunked) {
        append(&answer->bytes, body);
        head->length = body.len;
        return;
    }
    append_chunks(&answer->bytes, body, page->bits);
    append(&answer->bytes, SLICE("0\r\n\r\n"));
}

static void cut(struct websim_answer *answer, size_t len, enum websim_ending ending)
{
    answer->bytes.len = len;
    answer->ending = ending;
}

/* Lines of padding between the head and its empty line. */
static void pad_head(struct websim_answer *answer, uint64_t size)
{
    struct websim_buffer padded = {0};
    size_t head = HEAD_ROOM - answer->begin - 2;
    append(&padded, (struct slice){answer->bytes.data + answer->begin, head});
    while (padded.len < size)
        append(&padded, SLICE(PADDING_LINE));
    append(&padded, (struct slice){answer->bytes.data + HEAD_ROOM - 2, answer->bytes.len - HEAD_ROOM + 2});
    websim_buffer_fini(&answer->bytes);
    answer->bytes = padded;
    answer->begin = 0;
}

/* Faults that change what the head promises, before it is written. */
static void spoil_head(struct head *head, enum websim_fault fault)
{
    if (fault == WEBSIM_FAULT_NONE)
        return;
    head->chunked = fault == WEBSIM_FAULT_BADCHUNK;
    head->encoding = fault == WEBSIM_FAULT_BOMB ? WEBSIM_ENCODING_GZIP : WEBSIM_ENCODING_NONE;
    head->no_length = fault == WEBSIM_FAULT_ENDLESS;
    head->close |= fault == WEBSIM_FAULT_ENDLESS;
}

/* The body of a page with a fault that replaces it or belies its length. */
static void spoil_body(struct websim_answerer *answerer, struct websim_answer *answer, struct head *head,
                       enum websim_fault fault)
{
    struct websim_buffer *bytes = &answer->bytes;
    if (fault == WEBSIM_FAULT_BOMB) {
        bytes->len = HEAD_ROOM;
        append(bytes, answerer->bomb);
        head->length = answerer->bomb.len;
    } else if (fault == WEBSIM_FAULT_SHORT) {
        head->length += SHORT_BY;
        head->close = true;
    } else if (fault == WEBSIM_FAULT_LONG) {
        append(bytes, SLICE("bytes beyond the length"));
    } else if (fault == WEBSIM_FAULT_BADCHUNK) {
        bytes->len -= sizeof "0\r\n\r\n" - 1;
        append(bytes, SLICE("zz\r\nno such chunk\r\n"));
        head->close = true;
    } else if (fault == WEBSIM_FAULT_ENDLESS) {
        while (bytes->len < HEAD_ROOM + ENDLESS_BYTES)
            append(bytes, SLICE("<p>and so on and on and on, without an end to it</p>\n"));
    }
}

/* Faults in how the finished bytes are sent. */
static void spoil_sending(const struct websim_parameters *p, struct websim_answer *answer,
                          enum websim_fault fault)
{
    size_t body = answer->bytes.len - HEAD_ROOM;
    if (fault == WEBSIM_FAULT_RESETHEAD) {
        cut(answer, answer->begin + 24, WEBSIM_ENDING_RESET);
    } else if (fault == WEBSIM_FAULT_RESETBODY) {
        cut(answer, HEAD_ROOM + body / 2, WEBSIM_ENDING_RESET);
    } else if (fault == WEBSIM_FAULT_ENDLESS) {
        answer->repeat_from = HEAD_ROOM;
        answer->ending = WEBSIM_ENDING_REPEAT;
    } else if (fault == WEBSIM_FAULT_DRIP) {
        answer->first = HEAD_ROOM - answer->begin + 1;
        answer->slice = 1;
        answer->gap_ns = p->drip_ms * CLOCK_NS_PER_MS;
    } else if (fault == WEBSIM_FAULT_BIGHEAD) {
        pad_head(answer, p->head_size);
    }
    answer->flawed =
        fault == WEBSIM_FAULT_SHORT || fault == WEBSIM_FAULT_BADCHUNK || fault == WEBSIM_FAULT_BIGHEAD;
}

static void write_page(struct websim_answerer *answerer, struct websim_answer *answer)
{
    char location[WEBSIM_URL_BYTES];
    struct websim_page page;
    websim_page_init(&page, answerer->web, websim_url_unpack(answer->packed));
    if (answer->head_only)
        page.fault = WEBSIM_FAULT_NONE;
    struct head head = {.status = page.status,
                        .type = websim_body_type(&page),
                        .nofollow = page.header_nofollow,
                        .chunked = answer->chunked,
                        .close = answer->close,
                        .encoding = (enum websim_encoding)answer->encoding};
    if (page.redirects) {
        websim_url_write(answerer->web, page.target, location);
        head.location = location;
    }
    if (page.body != WEBSIM_BODY_HTML && page.body != WEBSIM_BODY_SITEMAP)
        head.encoding = WEBSIM_ENCODING_NONE;
    spoil_head(&head, page.fault);
    if (page.fault != WEBSIM_FAULT_BOMB)
        write_body(answerer, answer, &page, &head);
    spoil_body(answerer, answer, &head, page.fault);
    set_head(answer, &head);
    spoil_sending(&answerer->web->parameters, answer, page.fault);
}

static void set_pace(const struct websim_web *web, struct websim_answer *answer)
{
    struct websim_personality personality;
    if (web->parameters.bandwidth == 0 || answer->packed == WEBSIM_ANSWER_NO_URL || answer->slice)
        return;
    websim_personality_init(&personality, web, websim_url_unpack(answer->packed).host);
    uint64_t slice = personality.bytes_per_s / SLICES_PER_S;
    answer->first = answer->slice = slice < SLICE_MIN ? SLICE_MIN : slice;
    answer->gap_ns = answer->slice * CLOCK_NS_PER_S / personality.bytes_per_s;
}

void websim_answer_write(struct websim_answerer *answerer, struct websim_answer *answer)
{
    answer->bytes.len = 0;
    websim_buffer_room(&answer->bytes, HEAD_ROOM);
    answer->bytes.len = HEAD_ROOM;
    if (answer->ending == WEBSIM_ENDING_HOLD) {
        answer->begin = answer->bytes.len;
        return;
    }
    if (answer->status)
        write_status(answer);
    else
        write_page(answerer, answer);
    if (answer->head_only)
        answer->bytes.len = HEAD_ROOM;
    set_pace(answerer->web, answer);
}

static void reset(struct websim_answer *answer)
{
    struct websim_buffer bytes = answer->bytes;
    *answer = (struct websim_answer){.bytes = bytes, .packed = WEBSIM_ANSWER_NO_URL};
}

void websim_answer_refuse(struct websim_answer *answer)
{
    reset(answer);
    answer->status = 400;
    answer->close = true;
}

/* A 429 or 503 that the host's mood asks for. robots.txt is always served: a crawler takes its failure for a
 * prohibition that lasts a day. */
static void apply_mood(const struct websim_web *web, struct websim_answer *answer,
                       const struct websim_personality *personality,
                       const struct websim_answer_context *context)
{
    if (context->over_limit) {
        answer->status = 503;
        answer->close = true;
        answer->retry_after_s = 1;
    } else if (personality->spells && websim_personality_spell_s(web, context->host, context->now_s)) {
        answer->status = 503;
        answer->retry_after_s = 1;
    } else if (personality->throttled &&
               context->requests % WEBSIM_THROTTLE_EVERY == WEBSIM_THROTTLE_EVERY - 1) {
        answer->status = 429;
        answer->retry_after_s = (uint32_t)web->parameters.retry_s;
    }
}

static void prepare_known(const struct websim_web *web, struct websim_answer *answer,
                          const struct websim_request *request, const struct websim_answer_context *context)
{
    struct websim_site site = websim_site(web, context->host);
    struct websim_url url = websim_path_read(&site, request->target);
    struct websim_personality personality;
    websim_personality_init(&personality, web, context->host);
    answer->packed = websim_url_pack(url);
    answer->delay_ns =
        (personality.think_ms + (context->requests ? 0 : personality.rtt_ms)) * CLOCK_NS_PER_MS;
    answer->close |= personality.close_after && context->requests + 1 >= personality.close_after;
    answer->chunked = personality.chunked;
    if (request->accepts & 1 << personality.encoding)
        answer->encoding = (uint8_t)personality.encoding;
    if (websim_host_fault(web, context->host) == WEBSIM_FAULT_SILENT)
        answer->ending = WEBSIM_ENDING_HOLD;
    else if (url.kind != WEBSIM_KIND_ROBOTS)
        apply_mood(web, answer, &personality, context);
}

void websim_answer_prepare(struct websim_answerer *answerer, struct websim_answer *answer,
                           const struct websim_request *request, const struct websim_answer_context *context)
{
    reset(answer);
    answer->head_only = slice_equals(request->method, SLICE("HEAD"));
    answer->close = !request->keep_alive;
    if (!context->has_host || websim_host_is_https(answerer->web, context->host) != context->tls) {
        answer->status = 421;
    } else if (!answer->head_only && !slice_equals(request->method, SLICE("GET"))) {
        answer->status = 405;
        answer->close = true;
    } else {
        prepare_known(answerer->web, answer, request, context);
    }
}
