/* What browsers take although it is against the grammar:
 *
 *   - empty lines before the status line (the tail of an earlier body, off by a line end)
 *   - "http/1.1", "HTTP/1", "HTTP/2", "ICY" for the version; "200OK"
 *   - white space between a field's name and the colon
 *   - lines that are no field (no colon, a name with other than token characters, control characters):
 *     dropped
 *   - more fields than the table has places for: the rest is dropped, but for those that decide something
 */
#include "net/http_lenient.h"

#include <assert.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* RFC 9110, 5.6.2 */
static bool is_token(struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return name.len > 0;
}

static bool has_control(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return true;
    }
    return false;
}

/* The first line of `text` without its end; advances `text` behind it. A line end must be there. */
static struct slice next_line(struct slice *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    assert(end);
    struct slice line = slice_between(text->ptr, end);
    *text = slice_skip(*text, line.len + 1);
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* Length of the head up to and with its empty line, or 0. The search begins at `from`. */
static size_t find_end(struct slice text, size_t from)
{
    while (from < text.len) {
        const char *newline = memchr(text.ptr + from, '\n', text.len - from);
        if (!newline)
            return 0;
        from = (size_t)(newline - text.ptr) + 1;
        if (from < text.len && text.ptr[from] == '\n')
            return from + 1;
        if (from + 1 < text.len && text.ptr[from] == '\r' && text.ptr[from + 1] == '\n')
            return from + 2;
    }
    return 0;
}

static bool skip_prefix(struct slice *text, struct slice prefix)
{
    if (text->len < prefix.len || !slice_equals_nocase((struct slice){text->ptr, prefix.len}, prefix))
        return false;
    *text = slice_skip(*text, prefix.len);
    return true;
}

static unsigned take_number(struct slice *text)
{
    unsigned number = 0;
    for (; text->len && is_digit(text->ptr[0]); *text = slice_skip(*text, 1))
        if (number < 1000)
            number = number * 10 + (unsigned)(text->ptr[0] - '0');
    return number;
}

static bool parse_status_line(struct http_head *head, struct slice line)
{
    head->minor_version = 0;
    if (skip_prefix(&line, SLICE("HTTP/"))) {
        unsigned major = take_number(&line), minor = 0;
        if (skip_prefix(&line, SLICE(".")))
            minor = take_number(&line);
        head->minor_version = major > 1 || (major == 1 && minor > 0);
    } else if (!skip_prefix(&line, SLICE("ICY"))) {
        return false;
    }
    if (!line.len || line.ptr[0] != ' ')
        return false;
    while (line.len && line.ptr[0] == ' ')
        line = slice_skip(line, 1);
    const char *digits = line.ptr;
    head->status = (int)take_number(&line);
    head->reason = slice_trim(line);
    return line.ptr - digits == 3;
}

/* The last places of the table are for fields that decide something. */
static bool has_place(const struct http_head *head, struct slice name)
{
    if (head->field_count < HTTP_FIELDS_MAX - HTTP_FIELDS_RESERVED)
        return true;
    return head->field_count < HTTP_FIELDS_MAX && http_head_is_weighty(name);
}

/* Adds the line to the table. False: it was dropped. */
static bool take_field(struct http_head *head, struct slice line)
{
    const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;
    if (!colon || has_control(line))
        return false;
    struct slice name = slice_trim(slice_between(line.ptr, colon));
    if (!is_token(name) || !has_place(head, name))
        return false;
    head->tolerated += name.ptr + name.len != colon;
    struct slice value = slice_trim(slice_skip(line, (size_t)(colon - line.ptr) + 1));
    head->fields[head->field_count++] = (struct http_field){name, value};
    return true;
}

static void take_fields(struct http_head *head, struct slice rest)
{
    bool was_taken = false; /* the line before, which a continuation belongs to */
    for (struct slice line = next_line(&rest); line.len; line = next_line(&rest)) {
        bool is_continuation = slice_is_blank(line.ptr[0]);
        if (is_continuation && was_taken && !has_control(line)) {
            struct slice *value = &head->fields[head->field_count - 1].value;
            *value = slice_trim(slice_between(value->ptr, line.ptr + line.len));
            continue;
        }
        was_taken = !is_continuation && take_field(head, line);
        head->tolerated += !was_taken;
    }
}

static size_t leading_bytes(struct slice text)
{
    size_t lead = 0;
    while (lead < text.len && lead < HTTP_LEADING_BYTES_MAX &&
           (text.ptr[lead] == '\r' || text.ptr[lead] == '\n'))
        lead++;
    return lead;
}

bool http_lenient_may_begin(struct slice text)
{
    static const struct slice beginnings[] = {{"HTTP/", 5}, {"ICY ", 4}};
    text = slice_skip(text, leading_bytes(text));
    for (size_t i = 0; i < 2; i++) {
        size_t len = text.len < beginnings[i].len ? text.len : beginnings[i].len;
        if (slice_equals_nocase((struct slice){text.ptr, len}, (struct slice){beginnings[i].ptr, len}))
            return true;
    }
    return false;
}

enum parse http_lenient_parse(struct http_head *head, struct slice text, size_t seen, enum http_error *error)
{
    *error = HTTP_ERROR_STATUS_LINE_BAD;
    if (!http_lenient_may_begin(text))
        return PARSE_BAD;
    size_t lead = leading_bytes(text), end = find_end(text, seen > lead + 3 ? seen - 3 : lead);
    if (!end)
        return PARSE_PARTIAL;
    head->raw = (struct slice){text.ptr, end};
    head->tolerated = lead > 0;
    head->field_count = 0;
    struct slice rest = slice_skip(head->raw, lead);
    struct slice line = next_line(&rest);
    if (!parse_status_line(head, line))
        return PARSE_BAD;
    take_fields(head, rest);
    head->tolerated += head->tolerated == 0;
    return PARSE_DONE;
}
