/* Every bound of engine/url, with the reason for its value. */
#pragma once

/* url: servers refuse longer request lines (nginx and Apache stop at 8 KiB by default), and RFC 9110
 * section 4.1 asks for at least 8,000 octets. Offsets within a URL fit 16 bits. */
#define URL_BYTES_MAX 8192
/* url: a host name as text. DNS allows 253 characters; browsers leave it to DNS to reject longer ones, and
 * the URL standard's test cases have names of 258. */
#define URL_HOST_BYTES_MAX 1024
/* idna: bytes of a non-ASCII name before it is mapped, which takes up to a microsecond per character. The
 * longest name in DNS has 253 characters; the URL standard's test cases have 258. */
#define URL_IDNA_BYTES_MAX 512
