#include "engine/store/warc.h"

#include <assert.h>
#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "lockfree/clock.h"

void warc_ids_init(struct warc_ids *ids)
{
    if (getrandom(ids->state, sizeof ids->state, 0) != sizeof ids->state) {
        ids->state[0] = clock_now_ns();
        ids->state[1] = (uintptr_t)ids;
    }
    ids->state[0] |= 1; /* the generator must not start from zero */
}

/* xorshift128+: ids must be different, but need not be secret. */
static uint64_t next_random(struct warc_ids *ids)
{
    uint64_t x = ids->state[0], y = ids->state[1];
    ids->state[0] = y;
    x ^= x << 23;
    ids->state[1] = x ^ y ^ (x >> 17) ^ (y >> 26);
    return ids->state[1] + y;
}

/* Eight hexadecimal digits at once: each takes a byte of a word, and those above nine are moved on to the letters. */
static void write_hex(char *out, uint32_t value)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t word = value;
    word = (word | word << 16) & UINT64_C(0x0000ffff0000ffff);
    word = (word | word << 8) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word | word << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    uint64_t letters = (word + 6 * ones) >> 4 & ones;
    word = htobe64(word + '0' * ones + ('a' - '0' - 10) * letters);
    memcpy(out, &word, sizeof word);
}

struct warc_id warc_ids_next(struct warc_ids *ids)
{
    uint64_t high = next_random(ids), low = next_random(ids);
    high = (high & ~UINT64_C(0xf000)) | 0x4000;             /* version 4 */
    low = (low & ~(UINT64_C(3) << 62)) | UINT64_C(2) << 62; /* variant 1 */
    struct warc_id id = {"urn:uuid:........-....-....-....-............"};
    char hex[32];
    write_hex(hex, (uint32_t)(high >> 32));
    write_hex(hex + 8, (uint32_t)high);
    write_hex(hex + 16, (uint32_t)(low >> 32));
    write_hex(hex + 24, (uint32_t)low);
    memcpy(id.text + 9, hex, 8);
    memcpy(id.text + 18, hex + 8, 4);
    memcpy(id.text + 23, hex + 12, 4);
    memcpy(id.text + 28, hex + 16, 4);
    memcpy(id.text + 33, hex + 20, 12);
    return id;
}

static void write_digits(char *out, unsigned digits, unsigned value)
{
    while (digits > 0) {
        out[--digits] = (char)('0' + value % 10);
        value /= 10;
    }
}

/* Years of the Gregorian calendar begin in March here, so that the leap day is the last day of its year. An
 * era has 400 years, day 0 is 0000-03-01. Not gmtime_r, which takes a lock of the C library. */
static void write_day(char *out, unsigned days_since_1970)
{
    unsigned days = days_since_1970 + 719468, era = days / 146097, of_era = days % 146097;
    unsigned year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * of_year + 2) / 153, day = of_year - (153 * month + 2) / 5 + 1;
    bool is_next = month >= 10; /* January and February */
    write_digits(out, 4, era * 400 + year + is_next);
    write_digits(out + 5, 2, is_next ? month - 9 : month + 3);
    write_digits(out + 8, 2, day);
    out[4] = out[7] = '-';
}

void warc_write_date(char *buffer, uint64_t date_us)
{
    unsigned seconds = (unsigned)(date_us / 1000000 % 86400);
    write_day(buffer, (unsigned)(date_us / 1000000 / 86400));
    write_digits(buffer + 11, 2, seconds / 3600);
    write_digits(buffer + 14, 2, seconds / 60 % 60);
    write_digits(buffer + 17, 2, seconds % 60);
    write_digits(buffer + 20, 6, (unsigned)(date_us % 1000000));
    buffer[10] = 'T';
    buffer[13] = buffer[16] = ':';
    buffer[19] = '.';
    buffer[26] = 'Z';
}

void warc_write_date_digits(char *buffer, size_t count, uint64_t date_us)
{
    char date[WARC_DATE_CHARS];
    assert(count <= WARC_DATE_DIGITS);
    warc_write_date(date, date_us);
    for (size_t i = 0, len = 0; len < count; i++)
        if (date[i] >= '0' && date[i] <= '9')
            buffer[len++] = date[i];
}

/* Where the next field goes. */
struct writer {
    char *at, *end;
};

static void put(struct writer *writer, struct slice text)
{
    assert((size_t)(writer->end - writer->at) >= text.len);
    memcpy(writer->at, text.ptr, text.len);
    writer->at += text.len;
}

static void put_field(struct writer *writer, struct slice name, struct slice value)
{
    if (value.len == 0)
        return;
    put(writer, name);
    put(writer, SLICE(": "));
    put(writer, value);
    put(writer, SLICE("\r\n"));
}

/* Record ids stand in angle brackets, URIs do not. */
static void put_id(struct writer *writer, struct slice name, const struct warc_id *id)
{
    if (!id)
        return;
    put(writer, name);
    put(writer, SLICE(": <"));
    put(writer, (struct slice){id->text, WARC_ID_CHARS});
    put(writer, SLICE(">\r\n"));
}

static void put_digest(struct writer *writer, struct slice name, const unsigned char *digest)
{
    char text[5 + FINGERPRINT_BASE32_CHARS];
    memcpy(text, "sha1:", 5);
    fingerprint_base32(digest, text + 5);
    put_field(writer, name, (struct slice){text, sizeof text});
}

static void put_digest_of(struct writer *writer, struct slice name, struct slice bytes)
{
    struct fingerprint_sha1 sha1;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, bytes);
    fingerprint_sha1_finish(&sha1, digest);
    put_digest(writer, name, digest);
}

static void put_number(struct writer *writer, struct slice name, size_t value)
{
    char text[20];
    size_t at = sizeof text;
    do
        text[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put_field(writer, name, (struct slice){text + at, sizeof text - at});
}

static const struct {
    struct slice type, content;
} types[] = {
    [WARC_INFO] = {{"warcinfo", 8}, {"application/warc-fields", 23}},
    [WARC_RESPONSE] = {{"response", 8}, {"application/http; msgtype=response", 34}},
    [WARC_REQUEST] = {{"request", 7}, {"application/http; msgtype=request", 33}},
    [WARC_METADATA] = {{"metadata", 8}, {"application/warc-fields", 23}},
    [WARC_REVISIT] = {{"revisit", 7}, {"application/http; msgtype=response", 34}},
    [WARC_NOT_MODIFIED] = {{"revisit", 7}, {"application/http; msgtype=response", 34}},
    [WARC_DNS] = {{"response", 8}, {"text/dns", 8}},
};

/* WARC/1.0 dates have no fractions. Returns the length. */
static struct slice write_date(const struct warc_record *record, uint64_t date_us, char *buffer)
{
    warc_write_date(buffer, date_us);
    if (record->is_1_0)
        buffer[WARC_SECONDS_CHARS] = 'Z';
    return (struct slice){buffer, record->is_1_0 ? WARC_SECONDS_CHARS + 1 : WARC_DATE_CHARS};
}

static bool is_revisit(const struct warc_record *record)
{
    return record->type == WARC_REVISIT || record->type == WARC_NOT_MODIFIED;
}

/* Why the payload is not here, and where it is. */
static void put_revisit(struct writer *writer, const struct warc_record *record)
{
    char date[WARC_DATE_CHARS];
    put(writer, SLICE("WARC-Profile: http://netpreserve.org/warc/"));
    put(writer, record->is_1_0 ? SLICE("1.0") : SLICE("1.1"));
    put(writer, record->type == WARC_REVISIT ? SLICE("/revisit/identical-payload-digest\r\n")
                                             : SLICE("/revisit/server-not-modified\r\n"));
    put_field(writer, SLICE("WARC-Refers-To-Target-URI"), record->refers_to_uri);
    if (record->refers_to_date_us)
        put_field(writer, SLICE("WARC-Refers-To-Date"), write_date(record, record->refers_to_date_us, date));
}

static bool has_protocol(const struct warc_record *record)
{
    return !record->is_1_0 &&
           (record->type == WARC_RESPONSE || record->type == WARC_REQUEST || is_revisit(record));
}

size_t warc_write_header(char *buffer, const struct warc_record *record)
{
    struct writer writer = {buffer,
                            buffer + (is_revisit(record) ? WARC_REVISIT_BYTES_MAX : WARC_HEADER_BYTES_MAX)};
    char date[WARC_DATE_CHARS];
    put(&writer, record->is_1_0 ? SLICE("WARC/1.0\r\n") : SLICE("WARC/1.1\r\n"));
    put_field(&writer, SLICE("WARC-Type"), types[record->type].type);
    put_id(&writer, SLICE("WARC-Record-ID"), &record->id);
    put_field(&writer, SLICE("WARC-Date"), write_date(record, record->date_us, date));
    put_field(&writer, SLICE("WARC-Target-URI"), record->target_uri);
    put_field(&writer, SLICE("WARC-IP-Address"), record->address);
    put_field(&writer, SLICE("WARC-Filename"), record->filename);
    put_id(&writer, SLICE("WARC-Warcinfo-ID"), record->warcinfo);
    put_id(&writer, SLICE("WARC-Concurrent-To"), record->concurrent_to);
    if (is_revisit(record))
        put_revisit(&writer, record);
    put_field(&writer, SLICE("WARC-Truncated"), record->truncated);
    if (has_protocol(record)) {
        put_field(&writer, SLICE("WARC-Protocol"), SLICE("http/1.1"));
        put_field(&writer, SLICE("WARC-Protocol"), record->tls_protocol);
        put_field(&writer, SLICE("WARC-Cipher-Suite"), record->tls_suite);
    }
    if (record->block_digest)
        put_digest(&writer, SLICE("WARC-Block-Digest"), record->block_digest);
    else if (!record->omits_block_digest)
        put_digest_of(&writer, SLICE("WARC-Block-Digest"), record->block);
    if (record->payload_digest)
        put_digest(&writer, SLICE("WARC-Payload-Digest"), record->payload_digest);
    else if (record->payload.ptr)
        put_digest_of(&writer, SLICE("WARC-Payload-Digest"), record->payload);
    put_field(&writer, SLICE("Content-Type"), types[record->type].content);
    put_number(&writer, SLICE("Content-Length"), record->block.len);
    put(&writer, SLICE("\r\n"));
    return (size_t)(writer.at - buffer);
}
