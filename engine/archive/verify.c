#include "engine/archive/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "engine/archive/dechunk.h"
#include "engine/archive/message.h"
#include "engine/archive/warc_read.h"
#include "engine/content/fingerprint.h"

enum { PROBLEM_BYTES = 1600, HEX_CHARS = 2 * FINGERPRINT_SHA1_BYTES };

struct verify {
    const struct verify_options *options;
    struct verify_report *report;
    struct warc_read reader;
    struct message message;
    struct dechunk dechunk;
    struct fingerprint_sha1 block, payload, dechunked;
};

static void problem(struct verify *verify, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void problem(struct verify *verify, const char *format, ...)
{
    char text[PROBLEM_BYTES];
    int len = snprintf(text, sizeof text, "%.1000s: byte %" PRIu64 ": ", verify->reader.members.source->name,
                       verify->reader.record.offset);
    va_list args;
    va_start(args, format);
    vsnprintf(text + len, sizeof text - (size_t)len, format, args);
    va_end(args);
    verify->report->problems++;
    verify->options->on_problem(verify->options->owner, text);
}

/* Whether the text is this digest, in base 32 or in hexadecimal digits. */
static bool is_digest(struct slice text, struct fingerprint_sha1 *sha1)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    char base32[FINGERPRINT_BASE32_CHARS], digits[HEX_CHARS];
    fingerprint_sha1_finish(sha1, digest);
    fingerprint_base32(digest, base32);
    for (size_t i = 0; i < HEX_CHARS; i++)
        digits[i] = hex[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
    return slice_equals_nocase(text, (struct slice){base32, sizeof base32}) ||
           slice_equals_nocase(text, (struct slice){digits, sizeof digits});
}

/* `other` may be NULL. */
static void check_digest(struct verify *verify, enum warc_field field, struct fingerprint_sha1 *sha1,
                         struct fingerprint_sha1 *other)
{
    struct slice value = verify->reader.record.head.fields[field], algorithm = SLICE("sha1:");
    struct slice name = warc_head_field_name(field);
    if (value.len == 0)
        return;
    if (value.len < algorithm.len ||
        !slice_equals_nocase((struct slice){value.ptr, algorithm.len}, algorithm)) {
        verify->report->digests_unknown++;
        return;
    }
    verify->report->digests++;
    value = slice_skip(value, algorithm.len);
    if (!is_digest(value, sha1) && !(other && is_digest(value, other)))
        problem(verify, "%.*s is wrong: what is stored has another digest", (int)name.len, name.ptr);
}

static void check_id(struct verify *verify, enum warc_field field)
{
    struct slice value = verify->reader.record.head.fields[field], name = warc_head_field_name(field);
    if (value.len == 0)
        return;
    struct slice uri = warc_head_uri(value);
    bool is_bad = uri.len + 2 != value.len || !memchr(uri.ptr, ':', uri.len);
    for (size_t i = 0; i < uri.len; i++)
        is_bad |= slice_is_space(uri.ptr[i]);
    if (is_bad)
        problem(verify, "%.*s is no URI in angle brackets", (int)name.len, name.ptr);
}

static void check_fields(struct verify *verify)
{
    static const enum warc_field required[] = {WARC_FIELD_TYPE, WARC_FIELD_RECORD_ID, WARC_FIELD_DATE};
    static const enum warc_field ids[] = {WARC_FIELD_RECORD_ID, WARC_FIELD_CONCURRENT_TO,
                                          WARC_FIELD_REFERS_TO, WARC_FIELD_WARCINFO_ID};
    static const enum warc_field dates[] = {WARC_FIELD_DATE, WARC_FIELD_REFERS_TO_DATE};
    const struct warc_head *head = &verify->reader.record.head;
    char timestamp[WARC_TIMESTAMP_CHARS];
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++)
        if (head->fields[required[i]].len == 0)
            problem(verify, "the record has no %s", warc_head_field_name(required[i]).ptr);
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        check_id(verify, ids[i]);
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        struct slice date = head->fields[dates[i]];
        if (date.len && !warc_head_timestamp(date, timestamp))
            problem(verify, "%s is no date: '%.*s'", warc_head_field_name(dates[i]).ptr,
                    date.len < 40 ? (int)date.len : 40, date.ptr);
    }
}

static void push_payload(struct verify *verify, struct slice bytes)
{
    fingerprint_sha1_push(&verify->payload, bytes);
    while (bytes.len)
        fingerprint_sha1_push(&verify->dechunked, dechunk_next(&verify->dechunk, &bytes));
}

/* The head of the response is complete, or it is known that there is none. */
static void begin_payload(struct verify *verify)
{
    dechunk_begin(&verify->dechunk, verify->message.has_head && verify->message.head->is_chunked);
    push_payload(verify, message_kept(&verify->message));
}

static bool is_http(const struct warc_head *head)
{
    struct slice type = head->fields[WARC_FIELD_CONTENT_TYPE], http = SLICE("application/http");
    return type.len >= http.len && slice_equals_nocase((struct slice){type.ptr, http.len}, http);
}

static bool check_record(struct verify *verify)
{
    const struct warc_head *head = &verify->reader.record.head;
    struct slice piece;
    enum warc_read_step step;
    check_fields(verify);
    fingerprint_sha1_init(&verify->block);
    fingerprint_sha1_init(&verify->payload);
    fingerprint_sha1_init(&verify->dechunked);
    message_begin(&verify->message);
    dechunk_begin(&verify->dechunk, false);
    if (!is_http(head))
        message_finish(&verify->message);
    while ((step = warc_read_block(&verify->reader, &piece)) == WARC_READ_DONE) {
        bool was_open = verify->message.is_open;
        fingerprint_sha1_push(&verify->block, piece);
        message_push(&verify->message, &piece);
        if (was_open && !verify->message.is_open)
            begin_payload(verify);
        push_payload(verify, piece);
    }
    if (step != WARC_READ_END)
        return false;
    if (verify->message.is_open) {
        message_finish(&verify->message);
        begin_payload(verify);
    }
    check_digest(verify, WARC_FIELD_BLOCK_DIGEST, &verify->block, NULL);
    if (warc_head_is_type(head, SLICE("response")) || !is_http(head))
        if (!warc_head_is_type(head, SLICE("revisit"))) /* its digest is that of another record's payload */
            check_digest(verify, WARC_FIELD_PAYLOAD_DIGEST, &verify->payload, &verify->dechunked);
    if (verify->reader.record.has_lied)
        problem(verify, "the lengths in the header of the gzip member are wrong");
    return true;
}

static bool check_records(struct verify *verify)
{
    enum warc_read_step step;
    while ((step = warc_read_next(&verify->reader)) == WARC_READ_DONE) {
        if (!check_record(verify))
            return false;
        verify->report->records++;
        verify->report->is_shared |= verify->reader.record.is_shared;
        verify->report->bytes = verify->reader.members.next;
        if (verify->options->progress)
            verify->options->progress(verify->options->owner, verify->report->bytes);
    }
    return step == WARC_READ_END;
}

bool verify_file(const char *path, const struct verify_options *options, struct verify_report *report,
                 struct archive_error *error)
{
    struct verify verify = {.options = options, .report = report};
    struct source source;
    *report = (struct verify_report){0};
    if (!source_open(&source, path, error))
        return false;
    bool good = warc_read_init(&verify.reader, &source, error);
    if (good) {
        report->format = verify.reader.members.format;
        good = message_init(&verify.message) || archive_error_of_call(error, ENOMEM, "check", path);
        good = good && check_records(&verify);
        message_fini(&verify.message);
        warc_read_fini(&verify.reader);
    }
    source_fini(&source);
    return good;
}
