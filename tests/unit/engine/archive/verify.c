#include "engine/archive/verify.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/engine/archive/warc_file.h"

#define HTTP    "Content-Type: application/http\r\nWARC-Target-URI: http://a/\r\n"
#define HEAD    "HTTP/1.1 200 OK\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
/* FIPS 180: SHA-1 of "abc". */
#define ABC     "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"
#define ABC_HEX "sha1:A9993e364706816aba3e25717850c26c9cd0d89d"

static char problems[4000];

static void note(void *owner, const char *what)
{
    (void)owner;
    snprintf(problems + strlen(problems), sizeof problems - strlen(problems), "%s\n", what);
}

static struct verify_report check(const struct warc_file *file, enum archive_fault fault)
{
    char directory[] = "/tmp/lycosa-verify-XXXXXX";
    struct archive_error error = {0};
    struct verify_report report;
    CHECK(mkdtemp(directory));
    const char *path = warc_file_save(directory, "a.warc", warc_file_all(file));
    problems[0] = '\0';
    CHECK(verify_file(path, &(struct verify_options){.on_problem = note}, &report, &error) == !fault);
    CHECK_STR(archive_fault_name(error.fault), archive_fault_name(fault));
    CHECK(unlink(path) == 0 && rmdir(directory) == 0);
    return report;
}

TEST(digests_of_blocks_and_payloads_are_compared)
{
    for (enum warc_packing packing = 0; packing < PACKINGS; packing++) {
        struct warc_file *file = warc_file_new(packing);
        warc_file_add(file, "response", HTTP "WARC-Payload-Digest: " ABC "\r\n", SLICE(HEAD "abc"));
        warc_file_add(file, "response", HTTP "WARC-Payload-Digest: " ABC "\r\n", SLICE(CHUNKED));
        warc_file_add(file, "metadata", "WARC-Block-Digest: " ABC_HEX "\r\nWARC-Payload-Digest: " ABC "\r\n",
                      SLICE("abc"));
        warc_file_add(file, "revisit", HTTP "WARC-Payload-Digest: sha1:OF ANOTHER\r\n", SLICE(HEAD));
        warc_file_add(file, "metadata", "WARC-Block-Digest: md5:x\r\n", SLICE("abc"));
        warc_file_end(file);
        struct verify_report report = check(file, ARCHIVE_OK);
        CHECK_STR(problems, "");
        CHECK(report.records == 5 && report.digests == 4 && report.digests_unknown == 1 &&
              report.problems == 0);
        CHECK(report.is_shared == (packing == PACK_GZIP_WHOLE) && report.bytes == file->len);
    }
}

TEST(wrong_digests_are_told_with_their_place)
{
    struct warc_file *file = warc_file_new(PACK_GZIP);
    warc_file_add(file, "warcinfo", "", SLICE(""));
    warc_file_add(file, "response", HTTP "WARC-Payload-Digest: " ABC "\r\nWARC-Block-Digest: " ABC "\r\n",
                  SLICE(HEAD "abd"));
    struct verify_report report = check(file, ARCHIVE_OK);
    char place[50];
    snprintf(place, sizeof place, ": byte %zu: WARC-Payload-Digest is wrong", file->offsets[1]);
    CHECK(report.problems == 2 && strstr(problems, place) && strstr(problems, "WARC-Block-Digest is wrong"));
}

TEST(fields_must_be_there_and_have_their_form)
{
    struct warc_file *file = warc_file_new(PACK_PLAIN);
    warc_file_add_text(file, SLICE("WARC/1.1\r\nWARC-Concurrent-To: urn:a\r\nWARC-Date: yesterday\r\n"
                                   "Content-Length: 0\r\n\r\n\r\n\r\n"));
    CHECK_INT(check(file, ARCHIVE_OK).problems, 4);
    CHECK(strstr(problems, "no WARC-Type") && strstr(problems, "no WARC-Record-ID"));
    CHECK(strstr(problems, "WARC-Date is no date: 'yesterday'"));
    CHECK(strstr(problems, "WARC-Concurrent-To is no URI in angle brackets"));
}

TEST(lengths_that_lie_are_told)
{
    struct warc_file *file = warc_file_new(PACK_GZIP);
    warc_file_gzip(file,
                   SLICE("WARC/1.1\r\nWARC-Type: x\r\nWARC-Record-ID: <a:b>\r\nWARC-Date: 2026\r\n"
                         "Content-Length: 0\r\n\r\n\r\n\r\n"),
                   true, 1);
    CHECK_INT(check(file, ARCHIVE_OK).problems, 1);
    CHECK(strstr(problems, "lengths in the header of the gzip member"));
}

TEST(a_file_that_cannot_be_read_to_its_end_is_bad)
{
    struct warc_file *file = warc_file_new(PACK_GZIP);
    warc_file_add(file, "warcinfo", "", SLICE("a"));
    warc_file_add(file, "warcinfo", "", SLICE("b"));
    file->len--;
    CHECK_INT(check(file, ARCHIVE_TRUNCATED).records, 1);
}
