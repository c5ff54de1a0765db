#include "engine/archive/warc_head.h"

static const struct slice names[WARC_FIELDS] = {
    [WARC_FIELD_TYPE] = {"WARC-Type", 9},
    [WARC_FIELD_RECORD_ID] = {"WARC-Record-ID", 14},
    [WARC_FIELD_DATE] = {"WARC-Date", 9},
    [WARC_FIELD_TARGET_URI] = {"WARC-Target-URI", 15},
    [WARC_FIELD_BLOCK_DIGEST] = {"WARC-Block-Digest", 17},
    [WARC_FIELD_PAYLOAD_DIGEST] = {"WARC-Payload-Digest", 19},
    [WARC_FIELD_REFERS_TO] = {"WARC-Refers-To", 14},
    [WARC_FIELD_REFERS_TO_TARGET_URI] = {"WARC-Refers-To-Target-URI", 25},
    [WARC_FIELD_REFERS_TO_DATE] = {"WARC-Refers-To-Date", 19},
    [WARC_FIELD_CONTENT_TYPE] = {"Content-Type", 12},
    [WARC_FIELD_CONTENT_LENGTH] = {"Content-Length", 14},
    [WARC_FIELD_TRUNCATED] = {"WARC-Truncated", 14},
    [WARC_FIELD_CONCURRENT_TO] = {"WARC-Concurrent-To", 18},
    [WARC_FIELD_WARCINFO_ID] = {"WARC-Warcinfo-ID", 16},
    [WARC_FIELD_PROFILE] = {"WARC-Profile", 12},
    [WARC_FIELD_FILENAME] = {"WARC-Filename", 13},
};

struct slice warc_head_field_name(enum warc_field field)
{
    return names[field];
}

struct slice warc_head_uri(struct slice value)
{
    if (value.len >= 2 && value.ptr[0] == '<' && value.ptr[value.len - 1] == '>')
        return (struct slice){value.ptr + 1, value.len - 2};
    return value;
}

bool warc_head_is_type(const struct warc_head *head, struct slice type)
{
    return slice_equals_nocase(head->fields[WARC_FIELD_TYPE], type);
}

static enum parse bad(struct warc_head_fault *fault, enum archive_fault kind, size_t at, const char *what)
{
    *fault = (struct warc_head_fault){kind, at, what};
    return PARSE_BAD;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_number(struct slice text, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.ptr[i]) || *number > (UINT64_MAX / 2 - 9) / 10)
            return false;
        *number = *number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return text.len > 0;
}

/* "WARC/1.1", as far as it is there. */
static bool is_version(struct slice line)
{
    struct slice magic = SLICE("WARC/");
    size_t len = line.len < magic.len ? line.len : magic.len;
    if (memcmp(line.ptr, magic.ptr, len) != 0)
        return false;
    for (size_t i = magic.len; i < line.len; i++)
        if (!is_digit(line.ptr[i]) && line.ptr[i] != '.')
            return false;
    return true;
}

/* The line without its end, which is there. */
static struct slice take_line(struct slice *text)
{
    const char *end = memmem(text->ptr, text->len, "\r\n", 2);
    struct slice line = slice_between(text->ptr, end);
    *text = slice_skip(*text, line.len + 2);
    return line;
}

/* A field and the lines that continue it. */
static struct slice take_field(struct slice *text)
{
    struct slice field = take_line(text);
    while (text->len && slice_is_blank(text->ptr[0])) {
        struct slice more = take_line(text);
        field.len = (size_t)(more.ptr + more.len - field.ptr);
    }
    return field;
}

static bool is_name(struct slice name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] <= ' ' || name.ptr[i] == 0x7f)
            return false;
    return name.len > 0;
}

static enum warc_field find_name(struct slice name)
{
    enum warc_field field = 0;
    while (field < WARC_FIELDS && !slice_equals_nocase(name, names[field]))
        field++;
    return field;
}

static enum parse read_field(struct warc_head *head, struct slice text, struct warc_head_fault *fault)
{
    const char *colon = memchr(text.ptr, ':', text.len);
    size_t at = (size_t)(text.ptr - head->raw.ptr);
    if (!colon || !is_name(slice_between(text.ptr, colon)))
        return bad(fault, ARCHIVE_BAD_HEAD, at, "a line of the header is no field");
    struct slice name = slice_between(text.ptr, colon), value = slice_trim(slice_skip(text, name.len + 1));
    enum warc_field field = find_name(name);
    if (field == WARC_FIELDS)
        return PARSE_DONE;
    if (field == WARC_FIELD_CONTENT_LENGTH) {
        uint64_t before = head->content_length;
        if (!read_number(value, &head->content_length))
            return bad(fault, ARCHIVE_BAD_LENGTH, at, "Content-Length is no number");
        if (head->fields[field].ptr && before != head->content_length)
            return bad(fault, ARCHIVE_BAD_LENGTH, at, "there is another Content-Length");
    }
    if (!head->fields[field].ptr)
        head->fields[field] = value;
    return PARSE_DONE;
}

enum parse warc_head_parse(struct warc_head *head, struct slice text, struct warc_head_fault *fault)
{
    *head = (struct warc_head){0};
    if (text.len == 0)
        return PARSE_PARTIAL;
    const char *cr = memchr(text.ptr, '\r', text.len);
    struct slice first = cr ? slice_between(text.ptr, cr) : text;
    if (!is_version(first) || (cr && first.len < sizeof "WARC/1.1" - 1))
        return bad(fault, ARCHIVE_NOT_WARC, 0, "no WARC record begins here");
    const char *end = memmem(text.ptr, text.len, "\r\n\r\n", 4);
    if (!end)
        return PARSE_PARTIAL;
    if (cr[1] != '\n')
        return bad(fault, ARCHIVE_NOT_WARC, first.len, "no WARC record begins here");
    head->raw = (struct slice){text.ptr, (size_t)(end + 4 - text.ptr)};
    struct slice rest = {text.ptr, head->raw.len - 2};
    head->version = slice_skip(take_line(&rest), sizeof "WARC/" - 1);
    while (rest.len)
        if (read_field(head, take_field(&rest), fault) != PARSE_DONE)
            return PARSE_BAD;
    if (!head->fields[WARC_FIELD_CONTENT_LENGTH].ptr)
        return bad(fault, ARCHIVE_BAD_LENGTH, 0, "the record has no Content-Length");
    return PARSE_DONE;
}

/* Where fields of a date end, and what stands there. */
static bool is_date(struct slice date)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd";
    size_t i = 0;
    if (date.len == 0)
        return false;
    for (; i < date.len && i < sizeof form - 1; i++)
        if (form[i] == 'd' ? !is_digit(date.ptr[i]) : date.ptr[i] != form[i])
            break;
    struct slice rest = slice_skip(date, i);
    if (rest.len == 0)
        return i == 4 || i == 7 || i == 10; /* a year, a month, a day */
    if (i == sizeof form - 1 && rest.ptr[0] == '.') {
        size_t digits = 1;
        while (digits < rest.len && is_digit(rest.ptr[digits]))
            digits++;
        if (digits == 1 || digits > 10)
            return false;
        rest = slice_skip(rest, digits);
    }
    return (i == 16 || i == sizeof form - 1) && slice_equals(rest, SLICE("Z"));
}

static unsigned two_digits(const char *at)
{
    return (unsigned)(at[0] - '0') * 10 + (unsigned)(at[1] - '0');
}

bool warc_head_timestamp(struct slice date, char timestamp[WARC_TIMESTAMP_CHARS])
{
    static const char least[] = "00000101000000";
    size_t len = 0;
    bool good = is_date(date);
    for (size_t i = 0; i < date.len && date.ptr[i] != '.' && len < WARC_TIMESTAMP_CHARS; i++)
        if (is_digit(date.ptr[i]))
            timestamp[len++] = date.ptr[i];
    memcpy(timestamp + len, least + len, WARC_TIMESTAMP_CHARS - len);
    unsigned month = two_digits(timestamp + 4), day = two_digits(timestamp + 6);
    return good && month >= 1 && month <= 12 && day >= 1 && day <= 31 && two_digits(timestamp + 8) <= 23 &&
           two_digits(timestamp + 10) <= 59 && two_digits(timestamp + 12) <= 60;
}
