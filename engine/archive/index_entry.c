#include "engine/archive/index_entry.h"

#include <stdio.h>

#include "engine/archive/cdxj_key.h"

bool index_entry_init(struct index_entry *entry)
{
    return message_init(&entry->message);
}

void index_entry_fini(struct index_entry *entry)
{
    message_fini(&entry->message);
}

/* Up to the first ';' or white space. */
static struct slice bare_type(struct slice type)
{
    size_t len = 0;
    while (len < type.len && type.ptr[len] != ';' && !slice_is_space(type.ptr[len]))
        len++;
    return (struct slice){type.ptr, len};
}

struct slice index_entry_mime(struct slice content_type)
{
    struct slice mime = bare_type(content_type);
    return mime.len ? mime : SLICE("unk");
}

bool index_entry_is_wanted(const struct warc_head *head)
{
    static const struct slice types[] = {{"response", 8}, {"revisit", 7}, {"resource", 8}, {"metadata", 8}};
    struct slice uri = warc_head_uri(head->fields[WARC_FIELD_TARGET_URI]);
    bool is_type = false;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        is_type |= warc_head_is_type(head, types[i]);
    return is_type &&
           (slice_starts_with(uri, SLICE("http:")) || slice_starts_with(uri, SLICE("https:")) ||
            slice_starts_with(uri, SLICE("urn:"))) &&
           !slice_equals_nocase(bare_type(head->fields[WARC_FIELD_CONTENT_TYPE]),
                                SLICE("application/warc-fields"));
}

/* Reads the head of the response; and all of the block, if its digest is to be made. */
static bool read_block(struct index_entry *entry, struct warc_read *reader, bool is_response,
                       bool wants_digest)
{
    struct fingerprint_sha1 sha1;
    struct slice piece;
    enum warc_read_step step = WARC_READ_DONE;
    fingerprint_sha1_init(&sha1);
    message_begin(&entry->message);
    if (!is_response)
        message_finish(&entry->message);
    while ((wants_digest || entry->message.is_open) &&
           (step = warc_read_block(reader, &piece)) == WARC_READ_DONE) {
        bool was_open = entry->message.is_open;
        message_push(&entry->message, &piece);
        if (was_open && !entry->message.is_open)
            fingerprint_sha1_push(&sha1, message_kept(&entry->message));
        fingerprint_sha1_push(&sha1, piece);
    }
    if (step == WARC_READ_BAD)
        return false;
    if (entry->message.is_open) {
        message_finish(&entry->message);
        fingerprint_sha1_push(&sha1, message_kept(&entry->message));
    }
    if (wants_digest) {
        unsigned char digest[FINGERPRINT_SHA1_BYTES];
        fingerprint_sha1_finish(&sha1, digest);
        fingerprint_base32(digest, entry->digest);
    }
    return warc_read_skip(reader);
}

static struct slice digest_of(const struct index_entry *entry, struct slice digest)
{
    struct slice sha1 = SLICE("sha1:");
    if (digest.len == 0)
        return (struct slice){entry->digest, sizeof entry->digest};
    return slice_starts_with(digest, sha1) ? slice_skip(digest, sha1.len) : digest;
}

/* What the head of a response tells. */
static void describe_response(struct index_entry *entry, struct cdxj *line)
{
    const struct http_head *head = entry->message.head;
    line->mime = SLICE("unk");
    if (!entry->message.has_head)
        return;
    line->mime = index_entry_mime(head->known[HTTP_KNOWN_CONTENT_TYPE]);
    int len = snprintf(entry->status, sizeof entry->status, "%d", head->status);
    line->status = (struct slice){entry->status, (size_t)len};
}

bool index_entry_read(struct index_entry *entry, struct warc_read *reader, struct cdxj *line)
{
    const struct warc_head *head = &reader->record.head;
    struct slice digest = head->fields[WARC_FIELD_PAYLOAD_DIGEST];
    bool is_response = warc_head_is_type(head, SLICE("response"));
    bool is_revisit = warc_head_is_type(head, SLICE("revisit"));
    if (!read_block(entry, reader, is_response, digest.len == 0 && !is_revisit))
        return false;
    warc_head_timestamp(head->fields[WARC_FIELD_DATE], entry->timestamp);
    *line = (struct cdxj){.url = warc_head_uri(head->fields[WARC_FIELD_TARGET_URI]),
                          .timestamp = {entry->timestamp, sizeof entry->timestamp},
                          .length = reader->record.length,
                          .offset = reader->record.offset};
    line->key = cdxj_key_write(entry->key, line->url);
    if (digest.len || !is_revisit)
        line->digest = digest_of(entry, digest);
    if (is_revisit)
        line->mime = SLICE("warc/revisit");
    else if (is_response)
        describe_response(entry, line);
    else
        line->mime = bare_type(head->fields[WARC_FIELD_CONTENT_TYPE]);
    return true;
}
