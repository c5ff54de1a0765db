/* Every bound of the engine, with the reason for its value. One section per noun. */
#pragma once

/* url: servers refuse longer request lines (nginx and Apache stop at 8 KiB by default), and RFC 9110
 * section 4.1 asks for at least 8,000 octets. Offsets within a URL fit 16 bits. */
#define URL_BYTES_MAX 8192
/* url: a host name in text. DNS stops at 253; browsers let longer ones through to fail there, and the URL
 * standard's own cases hold names of 258. Beyond this it is no name of anything. */
#define URL_HOST_BYTES_MAX 1024

/* links: room in the text buffer per link. Most links need none: only those with an entity, a byte that is not
 * ASCII in a legacy encoding, or a CSS escape are copied. */
#define LINKS_TEXT_PER_LINK 128
/* encoding: the HTML standard lets browsers look for a meta charset in the first 1024 bytes. */
#define ENCODING_PRESCAN_BYTES 1024
/* encoding: a query's character of up to 4 bytes in UTF-8 becomes at most %26%23NNNNNNN%3B, 16 bytes; one of
 * 2 bytes %26%23NNNN%3B, 13 bytes: 7 for 1 covers all. */
#define ENCODING_QUERY_GROWTH 7
/* decode: no server stacks more than two codings on purpose; each one multiplies the ratio. */
#define DECODE_CODINGS_MAX 4
/* decode: below this size a high ratio harms nobody: an empty page of 1 MiB compresses a thousandfold. */
#define DECODE_RATIO_FREE_BYTES (1u << 20)
/* sniff: the MIME Sniffing standard reads up to 1445 bytes; feeds and sitemaps may start with long comments. */
#define SNIFF_BYTES_MAX 2048
/* html: how deep svg, math and the HTML inside them are followed. Real pages stay below 5. */
#define HTML_FOREIGN_DEPTH_MAX 32

/* robots: RFC 9309 section 2.5 asks to parse at least this much. */
#define ROBOTS_BYTES_MAX (500u * 1024)
/* robots: RFC 9309 section 2.3.1.2 asks to follow at least this many, and lets a crawler stop there. */
#define ROBOTS_REDIRECTS_MAX 5
/* robots: a Crawl-delay above a day is a mistake in the file or a refusal; it is kept as a day. */
#define ROBOTS_DELAY_MS_MAX (24u * 3600 * 1000)
/* decode: what passes from one coding of a stack to the next at a time. Fits the first-level cache with room. */
#define DECODE_BUFFER_BYTES 16384
/* decode: RFC 9659 lets a zstd body ask for a window of 8 MiB at most. */
#define DECODE_ZSTD_WINDOW_LOG_MAX 23

/* loop: names asked for at a time. With no bound, a million seeds kept a crawl from its first page for minutes. */
#define LOOP_LOOKUPS_MAX 256
/* loop: addresses that may wait, ready to be visited, for each connection before names are looked up one per visit
 * only. More are answers that grow old; of a million hosts, looking up all at once took a third of the time. */
#define LOOP_DUE_PER_CONNECTION 2
/* loop: and no fewer for all of them: of few names ahead all may be such that nobody answers for, which takes many
 * seconds each, and the others would wait. */
#define LOOP_DUE_MIN 32
