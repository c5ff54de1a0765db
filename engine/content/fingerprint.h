/* Fingerprints of pages: SHA-1 for WARC digests, and the normalised form that detects near-duplicates. The
 * 64-bit hash of the sieve is engine/url/hash.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"

#define FINGERPRINT_SHA1_BYTES   20
#define FINGERPRINT_BASE32_CHARS 32

/* SHA-1 as bytes come in. */
struct fingerprint_sha1 {
    uint32_t state[5];
    uint32_t pending; /* bytes in `block` */
    uint64_t bytes;
    unsigned char block[64];
};

void fingerprint_sha1_init(struct fingerprint_sha1 *sha1);
void fingerprint_sha1_push(struct fingerprint_sha1 *sha1, struct slice bytes);
void fingerprint_sha1_finish(struct fingerprint_sha1 *sha1, unsigned char digest[FINGERPRINT_SHA1_BYTES]);

/* The same bytes to two digests, which takes little longer than one where the CPU has SHA instructions: the rounds of
 * one fill the time in which those of the other wait. */
void fingerprint_sha1_push_both(struct fingerprint_sha1 *a, struct fingerprint_sha1 *b, struct slice bytes);
/* Both digests of a response: of head and body, and of the body alone. */
void fingerprint_sha1_pair(struct slice head, struct slice body, unsigned char block[FINGERPRINT_SHA1_BYTES],
                           unsigned char payload[FINGERPRINT_SHA1_BYTES]);

/* RFC 4648 base32 of a SHA-1 digest, upper case, no terminating NUL. */
void fingerprint_base32(const unsigned char digest[FINGERPRINT_SHA1_BYTES],
                        char text[FINGERPRINT_BASE32_CHARS]);

/* The normalised form of a page: its words in lower case, one space between two. Markup, attributes,
 * comments, scripts, styles, character references, words with digits and the names of months and weekdays are
 * left out, so that pages which differ by a date, a counter or a session id come out the same. Bytes above
 * 127 count as letters. `out` has room for html.len bytes; returns the length. */
size_t fingerprint_normalise(struct slice html, char *out);

/* SHA-1 in portable C even where the CPU has better, for tests and benchmarks; not while another thread
 * hashes. */
void fingerprint_use_plain(bool plain);
