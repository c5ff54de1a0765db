/* Every bound of engine/content, with the reason for its value. */
#pragma once

/* links: room in the text buffer per link. Most links need none: only those with an entity, a byte that is
 * not ASCII in a legacy encoding, or a CSS escape are copied. */
#define LINKS_TEXT_PER_LINK 128
/* encoding: the HTML standard lets browsers look for a meta charset in the first 1024 bytes, and change
 * their mind when they meet one later. Heads with long scripts put it behind 1024 bytes, hardly any behind
 * 16 KiB. */
#define ENCODING_PRESCAN_BYTES 16384
/* encoding: how far an XML declaration may reach; the standard's own examples are below 100. */
#define ENCODING_DECLARATION_BYTES 256
/* encoding: a page that states no encoding is read as UTF-8 if this much of it is valid UTF-8. */
#define ENCODING_GUESS_BYTES (1u << 18)
/* encoding: UTF-16 and ISO-2022-JP are converted in parts of this size, about half a millisecond. Must be
 * even. */
#define ENCODING_PART_BYTES (1u << 16)
/* unpack: a body up to this decoded size is decoded at once, which is faster than streaming: two
 * milliseconds. */
#define UNPACK_WHOLE_BYTES (1u << 21)
/* unpack: initial memory if the size of the body is unknown; it doubles as needed. */
#define UNPACK_BYTES_MIN (1u << 16)
/* unpack: bytes decoded per step: a millisecond with the slowest coding. */
#define UNPACK_STEP_BYTES (1u << 18)
/* unpack: the longest list of codings; all known names together take 30. */
#define UNPACK_CODINGS_BYTES 128
/* scan: bytes read per step: a twentieth of a millisecond for most pages, a millisecond for legacy
 * encodings. */
#define SCAN_STEP_BYTES (1u << 16)
/* links: the part of an iframe's srcdoc that is read. It is decoded into the text buffer. */
#define LINKS_SRCDOC_BYTES (1u << 16)
/* links: how deep srcdocs within srcdocs are followed: each is read once more. Nobody nests more than two on purpose. */
#define LINKS_SRCDOC_DEPTH_MAX 4
/* xml: a longer tag is read as text. Real tags have about a hundred bytes. */
#define XML_TAG_BYTES_MAX (1 << 16)
/* sitemap: bytes read per step if no entry is found: half a millisecond at most. */
#define SITEMAP_STEP_BYTES (1u << 16)
/* sitemap: the part of an entry that is read. The URL comes first; a thousand images behind it may be longer
 * than this. */
#define SITEMAP_ENTRY_BYTES (1u << 17)
/* feed: resolving one URL counts as reading this many bytes: it takes some microseconds. */
#define FEED_PARSE_BYTES 4096
/* css: a longer string, URL or comment is skipped in parts. Only data: URLs are that long. */
#define CSS_TOKEN_BYTES_MAX (1u << 16)
/* feed: nested xml:base attributes: of the feed, of an entry, of its content. */
#define FEED_BASES_MAX 4
/* encoding: a query's character of up to 4 bytes in UTF-8 becomes at most %26%23NNNNNNN%3B, 16 bytes; one of
 * 2 bytes %26%23NNNN%3B, 13 bytes: 7 for 1 covers all. */
#define ENCODING_QUERY_GROWTH 7
/* decode: no server stacks more than two codings on purpose; each one multiplies the ratio. */
#define DECODE_CODINGS_MAX 4
/* decode: below this size a high ratio harms nobody: an empty page of 1 MiB compresses a thousandfold. */
#define DECODE_RATIO_FREE_BYTES (1u << 20)
/* sniff: the MIME Sniffing standard reads up to 1445 bytes; feeds and sitemaps may start with long
 * comments. */
#define SNIFF_BYTES_MAX 2048
/* html: how deep svg, math and the HTML inside them are followed. Real pages stay below 5. */
#define HTML_FOREIGN_DEPTH_MAX 32
/* html: a tag with more attributes ends the document: no real page has one, and it would take long to
 * read. */
#define HTML_TAG_ATTRIBUTES_MAX 65536
/* html: how often one comment, script or the like may contain what looks like its end and is not. After that
 * the document ends. A megabyte of markup in a comment contains a tenth of this. */
#define HTML_MISSES_MAX (1u << 17)
/* json: a longer string is no URL. It is skipped in parts, and so is white space. */
#define FEED_JSON_STRING_BYTES_MAX (1u << 16)
/* decode: the buffer between two stacked codings. Fits the first-level cache. */
#define DECODE_BUFFER_BYTES 16384
/* decode: RFC 9659 lets a zstd body ask for a window of 8 MiB at most. */
#define DECODE_ZSTD_WINDOW_LOG_MAX 23
/* simhash: the part of a page that is looked at: so many bytes, tags (and comments) and letters, whichever comes first. Pages have
 * said what they are by then. The slowest megabyte that was found, empty declarations (<!>), takes 3.7 ms, in portable C 10: most of
 * it in the walk. */
#define SIMHASH_BYTES_MAX   (1u << 20)
#define SIMHASH_TAGS_MAX    (1u << 15)
#define SIMHASH_LETTERS_MAX (1u << 18)
/* simhash: fewer shingles say nothing: pages that are hardly more than a title ("Not found") would all be duplicates
 * of each other. */
#define SIMHASH_SHINGLES_MIN 16
/* text: bytes read per step: a tenth of a millisecond for most pages, two for the hardest. */
#define TEXT_STEP_BYTES (1u << 16)
/* text: bytes converted at a time, in a buffer on the stack of three times the size. Paragraphs are shorter. */
#define TEXT_PART_BYTES 8192
/* text: a longer title is cut. Search engines show 60 characters, and hardly any title has 300. */
#define TEXT_TITLE_BYTES_MAX 1024
/* text: the part of a title element that is looked at, white space included. */
#define TEXT_TITLE_SOURCE_BYTES (1u << 14)
