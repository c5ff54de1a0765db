/* Every bound of engine/robots, with the reason for its value. */
#pragma once

/* robots: RFC 9309 section 2.5 asks to parse at least this much. */
#define ROBOTS_BYTES_MAX (500u * 1024)
/* robots: RFC 9309 section 2.3.1.2 asks to follow at least this many, and lets a crawler stop there. */
#define ROBOTS_REDIRECTS_MAX 5
/* robots: a Crawl-delay above a day is a mistake in the file or a refusal; it is kept as a day. */
#define ROBOTS_DELAY_MS_MAX (24u * 3600 * 1000)
/* robots_match: bytes of a path compared with patterns that have a '*', about a nanosecond each. Enough for
 * 16,000 such rules with 64 bytes each, while real files have a few hundred rules at most; and it keeps a
 * match near a millisecond for any file. Beyond this the URL counts as forbidden. */
#define ROBOTS_STEPS_MAX (1u << 20)
/* robots: bytes of the compiled rules of one host, about twice the longest file that is read. Patterns of
 * bytes that have to be escaped grow threefold; if a file has nothing else, the rules beyond this limit
 * are left out. */
#define ROBOTS_COMPILED_BYTES_MAX (1u << 20)
/* robots_cache: enough for a few of the largest files. */
#define ROBOTS_CACHE_BYTES_MIN (4 * (size_t)ROBOTS_COMPILED_BYTES_MAX)
/* robots_cache: slots searched for one that can be reused, a few nanoseconds each. */
#define ROBOTS_CACHE_STEPS_MAX 16384
