#include "engine/store/warc.h"

#include <ctype.h>
#include <stdlib.h>

#include "tests/support/check.h"

/* SHA-1 of nothing, in base 32. */
#define DIGEST_OF_NOTHING "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
/* FIPS 180: SHA-1 of "abc" is a9993e36 4706816a ba3e2571 7850c26c 9cd0d89d. */
#define DIGEST_OF_ABC "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"

static char buffer[WARC_REVISIT_BYTES_MAX + 1];

static const char *header(const struct warc_record *record)
{
    size_t len = warc_write_header(buffer, record);
    CHECK(len < sizeof buffer);
    buffer[len] = '\0';
    CHECK(len > 4 && strcmp(buffer + len - 4, "\r\n\r\n") == 0);
    CHECK(strstr(buffer, "\r\n\r\n") == buffer + len - 4); /* no empty line before the end */
    return buffer;
}

/* The value of a field; fails unless it is there once. */
static const char *field(const char *name)
{
    static char value[256];
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\r\n%s: ", name);
    const char *at = strstr(buffer, pattern);
    CHECK(at && !strstr(at + 1, pattern));
    at += strlen(pattern);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r"), at);
    return value;
}

static bool is_uuid(const char *text)
{
    static const char pattern[] = "urn:uuid:xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
    for (size_t i = 0; pattern[i]; i++) {
        bool fits = pattern[i] == 'x'   ? isxdigit((unsigned char)text[i]) && !isupper((unsigned char)text[i])
                    : pattern[i] == 'y' ? strchr("89ab", text[i]) != NULL
                                        : text[i] == pattern[i];
        if (!fits)
            return false;
    }
    return strlen(text) == sizeof pattern - 1;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

TEST(ids_are_random_uuids)
{
    enum { COUNT = 20000 };
    static struct warc_id made[COUNT];
    struct warc_ids one, two;
    warc_ids_init(&one);
    warc_ids_init(&two);
    for (int i = 0; i < COUNT; i++) {
        made[i] = warc_ids_next(i % 2 ? &one : &two);
        CHECK(is_uuid(made[i].text));
    }
    qsort(made, COUNT, sizeof made[0], compare);
    for (int i = 1; i < COUNT; i++)
        CHECK(strcmp(made[i - 1].text, made[i].text) != 0);
}

TEST(dates_are_in_utc_with_microseconds)
{
    char date[WARC_DATE_CHARS + 1] = "";
    warc_write_date(date, UINT64_C(1709210096000007)); /* a leap day */
    CHECK_STR(date, "2024-02-29T12:34:56.000007Z");
    warc_write_date(date, 0);
    CHECK_STR(date, "1970-01-01T00:00:00.000000Z");
}

TEST(dates_are_also_digits_alone)
{
    char digits[WARC_DATE_DIGITS + 1] = "";
    warc_write_date_digits(digits, 14, UINT64_C(1709210096123457));
    CHECK_STR(digits, "20240229123456");
    warc_write_date_digits(digits, WARC_DATE_DIGITS, UINT64_C(1709210096123457));
    CHECK_STR(digits, "20240229123456123457");
}

TEST(a_response_has_all_its_fields)
{
    struct warc_id info = {"urn:uuid:11111111-1111-4111-8111-111111111111"};
    struct warc_record record = {
        .type = WARC_RESPONSE,
        .id = {"urn:uuid:22222222-2222-4222-8222-222222222222"},
        .target_uri = SLICE("https://a.it/x?y=z"),
        .address = SLICE("192.0.2.1"),
        .warcinfo = &info,
        .truncated = SLICE("length"),
        .tls_protocol = SLICE("tls/1.0"),
        .tls_suite = SLICE("TLS_RSA_WITH_AES_128_CBC_SHA"),
        .block = SLICE("abc"),
        .payload = SLICE(""),
    };
    CHECK(strncmp(header(&record), "WARC/1.1\r\nWARC-Type: response\r\n", 31) == 0);
    CHECK_STR(field("WARC-Record-ID"), "<urn:uuid:22222222-2222-4222-8222-222222222222>");
    CHECK_STR(field("WARC-Target-URI"), "https://a.it/x?y=z");
    CHECK_STR(field("WARC-IP-Address"), "192.0.2.1");
    CHECK_STR(field("WARC-Warcinfo-ID"), "<urn:uuid:11111111-1111-4111-8111-111111111111>");
    CHECK_STR(field("WARC-Truncated"), "length");
    CHECK_STR(field("WARC-Block-Digest"), DIGEST_OF_ABC);
    CHECK_STR(field("WARC-Payload-Digest"), DIGEST_OF_NOTHING);
    CHECK_STR(field("Content-Type"), "application/http; msgtype=response");
    CHECK_STR(field("Content-Length"), "3");
    CHECK(strstr(buffer, "WARC-Protocol: http/1.1\r\nWARC-Protocol: tls/1.0\r\n"));
    CHECK_STR(field("WARC-Cipher-Suite"), "TLS_RSA_WITH_AES_128_CBC_SHA");
    CHECK(!strstr(buffer, "WARC-Concurrent-To") && !strstr(buffer, "WARC-Filename"));
}

TEST(a_request_names_its_response)
{
    struct warc_id response = {"urn:uuid:22222222-2222-4222-8222-222222222222"};
    struct warc_record record = {
        .type = WARC_REQUEST, .id = response, .concurrent_to = &response, .block = SLICE("abc")};
    header(&record);
    CHECK_STR(field("WARC-Type"), "request");
    CHECK_STR(field("WARC-Concurrent-To"), "<urn:uuid:22222222-2222-4222-8222-222222222222>");
    CHECK_STR(field("WARC-Protocol"), "http/1.1");
    CHECK_STR(field("Content-Type"), "application/http; msgtype=request");
    CHECK(!strstr(buffer, "Payload-Digest"));
}

TEST(a_warcinfo_is_about_its_file)
{
    struct warc_record record = {.type = WARC_INFO,
                                 .id = {"urn:uuid:22222222-2222-4222-8222-222222222222"},
                                 .filename = SLICE("x.warc.gz"),
                                 .block = SLICE("")};
    header(&record);
    CHECK_STR(field("WARC-Filename"), "x.warc.gz");
    CHECK_STR(field("WARC-Block-Digest"), DIGEST_OF_NOTHING);
    CHECK_STR(field("Content-Type"), "application/warc-fields");
    CHECK_STR(field("Content-Length"), "0");
    CHECK(!strstr(buffer, "WARC-Protocol") && !strstr(buffer, "WARC-Target-URI"));
}

TEST(the_longest_url_fits)
{
    static char url[URL_BYTES_MAX];
    struct warc_id other = {"urn:uuid:22222222-2222-4222-8222-222222222222"};
    memset(url, 'u', sizeof url);
    struct warc_record record = {.type = WARC_RESPONSE,
                                 .id = other,
                                 .date_us = UINT64_C(253402300799999999),
                                 .target_uri = {url, sizeof url},
                                 .address = SLICE("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"),
                                 .warcinfo = &other,
                                 .concurrent_to = &other,
                                 .truncated = SLICE("disconnect"),
                                 .tls_protocol = SLICE("tls/1.2"),
                                 .tls_suite = SLICE("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
                                 .block = SLICE("abc"),
                                 .payload = SLICE("abc")};
    CHECK(strlen(header(&record)) > URL_BYTES_MAX);
}

static const struct warc_id some_id = {"urn:uuid:22222222-2222-4222-8222-222222222222"};

TEST(a_revisit_names_the_first_copy)
{
    static const unsigned char digest[FINGERPRINT_SHA1_BYTES] = {0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81,
                                                                 0x6a, 0xba, 0x3e, 0x25, 0x71, 0x78, 0x50,
                                                                 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d};
    struct warc_record record = {.type = WARC_REVISIT,
                                 .id = some_id,
                                 .target_uri = SLICE("http://a.it/again"),
                                 .refers_to_uri = SLICE("http://a.it/first"),
                                 .refers_to_date_us = UINT64_C(1709210096000007),
                                 .block = SLICE("HTTP/1.1 200 OK\r\n\r\n"),
                                 .payload_digest = digest};
    header(&record);
    CHECK_STR(field("WARC-Type"), "revisit");
    CHECK_STR(field("WARC-Profile"), "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
    CHECK_STR(field("WARC-Refers-To-Target-URI"), "http://a.it/first");
    CHECK_STR(field("WARC-Refers-To-Date"), "2024-02-29T12:34:56.000007Z");
    CHECK_STR(field("WARC-Payload-Digest"), DIGEST_OF_ABC);
    CHECK_STR(field("WARC-Protocol"), "http/1.1");
    CHECK_STR(field("Content-Length"), "19");
    record.is_1_0 = true;
    header(&record);
    CHECK_STR(field("WARC-Profile"), "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest");
    CHECK_STR(field("WARC-Refers-To-Date"), "2024-02-29T12:34:56Z");
}

TEST(a_revisit_has_room_for_two_of_the_longest_urls)
{
    static char url[URL_BYTES_MAX];
    memset(url, 'a', sizeof url);
    struct warc_record record = {.type = WARC_REVISIT,
                                 .id = some_id,
                                 .target_uri = {url, sizeof url},
                                 .refers_to_uri = {url, sizeof url},
                                 .refers_to_date_us = 1,
                                 .address = SLICE("2001:0db8:0000:0000:0000:0000:192.168.100.100"),
                                 .warcinfo = &some_id,
                                 .concurrent_to = &some_id,
                                 .truncated = SLICE("disconnect"),
                                 .tls_protocol = SLICE("tls/1.2"),
                                 .tls_suite = SLICE("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
                                 .payload = SLICE("")};
    CHECK(strlen(header(&record)) > 2 * sizeof url);
}

TEST(a_304_is_a_revisit_without_a_payload)
{
    struct warc_record record = {.type = WARC_NOT_MODIFIED,
                                 .id = some_id,
                                 .target_uri = SLICE("http://a.it/"),
                                 .block = SLICE("HTTP/1.1 304 Not Modified\r\n\r\n")};
    CHECK(!strstr(header(&record), "WARC-Payload-Digest") && !strstr(buffer, "WARC-Refers-To"));
    CHECK_STR(field("WARC-Type"), "revisit");
    CHECK_STR(field("WARC-Profile"), "http://netpreserve.org/warc/1.1/revisit/server-not-modified");
}

TEST(an_answer_of_a_name_server_is_text)
{
    struct warc_record record = {
        .type = WARC_DNS, .id = some_id, .target_uri = SLICE("dns:a.it"), .block = SLICE("x")};
    CHECK(!strstr(header(&record), "WARC-Protocol"));
    CHECK_STR(field("WARC-Type"), "response");
    CHECK_STR(field("Content-Type"), "text/dns");
}
