#include "net/http_head.h"

#include <assert.h>
#include <picohttpparser.h>

#include "net/http_lenient.h"

/* picohttpparser fills the table of fields in place. */
_Static_assert(sizeof(struct http_field) == sizeof(struct phr_header) &&
                   offsetof(struct http_field, name.len) == offsetof(struct phr_header, name_len) &&
                   offsetof(struct http_field, value.ptr) == offsetof(struct phr_header, value) &&
                   offsetof(struct http_field, value.len) == offsetof(struct phr_header, value_len),
               "a field is laid out like picohttpparser's header");

#define VERSION_BYTES sizeof("HTTP/1.1 ")

/* What the fields say about framing and keep-alive, gathered in one pass. */
struct survey {
    bool has_length;
    bool has_bad_length;   /* no number, or two that differ */
    bool has_odd_coding;   /* a transfer coding other than chunked, or chunked twice */
    bool has_other_coding; /* one that changes the bytes: neither chunked nor identity */
    bool has_close;
    bool has_keep_alive;
};

/* The next element of a comma-separated list, without white space around it; advances `list`. */
static struct slice next_element(struct slice *list)
{
    const char *comma = list->len ? memchr(list->ptr, ',', list->len) : NULL;
    size_t len = comma ? (size_t)(comma - list->ptr) : list->len;
    struct slice element = slice_trim((struct slice){list->ptr, len});
    *list = slice_skip(*list, comma ? len + 1 : len);
    return element;
}

/* -1: not a number, or beyond what fits. */
static int64_t parse_length(struct slice text)
{
    int64_t length = 0;
    if (text.len == 0)
        return -1;
    for (size_t i = 0; i < text.len; i++) {
        int digit = text.ptr[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(length, 10, &length) ||
            __builtin_add_overflow(length, digit, &length))
            return -1;
    }
    return length;
}

static void read_content_length(struct http_head *head, struct slice value, struct survey *survey)
{
    survey->has_length = true;
    do {
        int64_t length = parse_length(next_element(&value));
        survey->has_bad_length |= length < 0;
        survey->has_bad_length |= head->content_length >= 0 && head->content_length != length;
        head->content_length = length;
    } while (value.len);
}

static void read_transfer_encoding(struct http_head *head, struct slice value, struct survey *survey)
{
    do {
        struct slice coding = next_element(&value);
        const bool is_chunked = slice_equals_nocase(coding, SLICE("chunked"));
        const bool is_nothing = coding.len == 0 || slice_equals_nocase(coding, SLICE("identity"));
        survey->has_odd_coding |= !is_chunked || head->is_chunked;
        survey->has_other_coding |= !is_chunked && !is_nothing;
        head->is_chunked |= is_chunked;
    } while (value.len);
}

static void read_connection(struct http_head *head, struct slice value, struct survey *survey)
{
    (void)head;
    while (value.len) {
        struct slice option = next_element(&value);
        survey->has_close |= slice_equals_nocase(option, SLICE("close"));
        survey->has_keep_alive |= slice_equals_nocase(option, SLICE("keep-alive"));
    }
}

/* The names that matter here all differ in length, which makes the length the key. */
struct interest {
    struct slice name;
    void (*read)(struct http_head *head, struct slice value, struct survey *survey);
    enum http_known known; /* where `read` is NULL */
};

#define LENGTH_OF(name)    (sizeof(name) - 1)
#define KNOWN(text, which) [LENGTH_OF(text)] = {.name = {text, LENGTH_OF(text)}, .known = which}
#define READ(text, reader) [LENGTH_OF(text)] = {.name = {text, LENGTH_OF(text)}, .read = reader}
static const struct interest interests[] = {
    KNOWN("etag", HTTP_KNOWN_ETAG),
    KNOWN("location", HTTP_KNOWN_LOCATION),
    READ("connection", read_connection),
    KNOWN("retry-after", HTTP_KNOWN_RETRY_AFTER),
    KNOWN("content-type", HTTP_KNOWN_CONTENT_TYPE),
    KNOWN("last-modified", HTTP_KNOWN_LAST_MODIFIED),
    READ("content-length", read_content_length),
    KNOWN("content-encoding", HTTP_KNOWN_CONTENT_ENCODING),
    READ("transfer-encoding", read_transfer_encoding),
};

static const struct interest *interest_in(struct slice name)
{
    if (name.len >= sizeof interests / sizeof *interests)
        return NULL;
    const struct interest *interest = &interests[name.len];
    return interest->name.ptr && slice_equals_nocase(name, interest->name) ? interest : NULL;
}

bool http_head_is_weighty(struct slice name)
{
    static const struct slice owners[] = {{"x-robots-tag", 12}, {"link", 4}, {"refresh", 7}};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (slice_equals_nocase(name, owners[i]))
            return true;
    return interest_in(name) != NULL;
}

static void read_field(struct http_head *head, const struct http_field *field, struct survey *survey)
{
    const struct interest *interest = interest_in(field->name);
    if (!interest)
        return;
    if (interest->read)
        interest->read(head, field->value, survey);
    else if (!head->known[interest->known].ptr)
        head->known[interest->known] = field->value;
    else
        head->repeated |= 1u << interest->known;
}

static void read_fields(struct http_head *head)
{
    struct survey survey = {0};
    head->content_length = -1;
    head->is_chunked = false;
    memset(head->known, 0, sizeof head->known);
    head->repeated = 0;
    for (size_t i = 0; i < head->field_count; i++)
        read_field(head, &head->fields[i], &survey);
    /* RFC 9112, 6.3: a transfer coding overrides the length, and one that is unknown ends with the
     * connection. */
    if (head->is_chunked || survey.has_other_coding || survey.has_bad_length)
        head->content_length = -1;
    /* RFC 9112, 6.1: chunked beside a length or from a server of HTTP/1.0 is suspect; the connection ends
     * with the message. */
    bool is_odd = head->tolerated || survey.has_bad_length || survey.has_odd_coding ||
                  (head->is_chunked && (survey.has_length || head->minor_version == 0));
    head->keeps_alive = !is_odd && !survey.has_close && (head->minor_version > 0 || survey.has_keep_alive);
}

/* Continuation lines (fields without a name) become part of the value before them. */
static void unfold(struct http_head *head)
{
    size_t kept = 0;
    for (size_t i = 0; i < head->field_count; i++) {
        const struct http_field *field = &head->fields[i];
        if (field->name.ptr) {
            head->fields[kept++] = *field;
            continue;
        }
        struct slice *value = &head->fields[kept - 1].value;
        *value = slice_trim(slice_between(value->ptr, field->value.ptr + field->value.len));
    }
    head->field_count = kept;
}

enum parse http_head_parse(struct http_head *head, struct slice text, size_t seen, enum http_error *error)
{
    assert(seen <= text.len);
    /* picohttpparser does not look at less than a version: an end of head in there has not been seen. */
    if (seen < VERSION_BYTES)
        seen = 0;
    head->field_count = HTTP_FIELDS_MAX;
    int consumed =
        phr_parse_response(text.ptr, text.len, &head->minor_version, &head->status, &head->reason.ptr,
                           &head->reason.len, (struct phr_header *)head->fields, &head->field_count, seen);
    if (consumed == -2) {
        /* Without a second look at its beginning, a server of another protocol would be listened to for long.
         */
        *error = HTTP_ERROR_STATUS_LINE_BAD;
        return http_lenient_may_begin(text) ? PARSE_PARTIAL : PARSE_BAD;
    }
    if (consumed < 0) {
        enum parse second = http_lenient_parse(head, text, seen, error);
        if (second != PARSE_DONE)
            return second;
    } else {
        head->raw = (struct slice){text.ptr, (size_t)consumed};
        head->tolerated = 0;
        unfold(head);
    }
    if (head->status < 100) {
        *error = HTTP_ERROR_STATUS_LINE_BAD;
        return PARSE_BAD;
    }
    read_fields(head);
    return PARSE_DONE;
}

struct slice http_head_find(const struct http_head *head, struct slice name)
{
    for (size_t i = 0; i < head->field_count; i++)
        if (slice_equals_nocase(head->fields[i].name, name))
            return head->fields[i].value;
    return (struct slice){NULL, 0};
}

struct slice http_head_join(const struct http_head *head, struct slice name, char *room, size_t size)
{
    const struct slice comma = SLICE(", ");
    size_t len = 0;
    for (size_t i = 0; i < head->field_count; i++) {
        struct slice value = head->fields[i].value, before = len ? comma : (struct slice){"", 0};
        if (!slice_equals_nocase(head->fields[i].name, name))
            continue;
        if (before.len + value.len > size - len)
            return (struct slice){room, 0};
        memcpy(room + len, before.ptr, before.len);
        memcpy(room + len + before.len, value.ptr, value.len);
        len += before.len + value.len;
    }
    return (struct slice){room, len};
}

enum http_framing http_head_framing(const struct http_head *head, bool is_head_request)
{
    if (is_head_request || head->status < 200 || head->status == 204 || head->status == 304)
        return HTTP_FRAMING_NONE;
    if (head->is_chunked)
        return HTTP_FRAMING_CHUNKED;
    return head->content_length >= 0 ? HTTP_FRAMING_LENGTH : HTTP_FRAMING_CLOSE;
}
