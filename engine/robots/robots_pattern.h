/* Patterns of robots.txt and paths of URLs in the normal form in which they are compared (RFC 9309, 2.2.2 and
 * 2.2.3). Private to robots.
 *
 * The unreserved characters of RFC 3986 stand for themselves, all others that are not reserved are escapes
 * with upper-case digits. Reserved characters stay as they are, literal or escaped, since the two differ:
 * "/a%2Fb" is not "/a/b". Two exceptions: '*' and '$' that stand for themselves are escapes, so that they
 * differ from the special characters; and in a query an escaped general delimiter equals the literal one, as
 * the RFC's table has it ("?baz=https%3A%2F%2Ffoo.bar" and "?baz=https://foo.bar"). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/slice.h"

/* Any byte becomes at most an escape of three. */
#define ROBOTS_PATTERN_GROWTH 3

/* Writes the pattern's normal form to `to`; runs of '*' become one. Returns its length. */
size_t robots_pattern_normalise(char *to, struct slice pattern);

/* Whether `path` is in normal form already, as most are. */
bool robots_path_is_normal(struct slice path);

enum robots_query { ROBOTS_QUERY_AS_IS, ROBOTS_QUERY_DECODED };

/* Writes the path's normal form to `to`; the query's escaped general delimiters as they are, or decoded. */
size_t robots_path_normalise(char *to, struct slice path, enum robots_query query);

/* The pairs of neighbouring bytes in `text`, each as one of 64 bits: a pattern whose pairs are not all in a
 * path cannot match it. */
static inline uint64_t robots_pairs(struct slice text)
{
    uint64_t pairs = 0;
    for (size_t i = 0; i + 1 < text.len; i++) {
        unsigned pair = (uint8_t)text.ptr[i] * 29u + (uint8_t)text.ptr[i + 1];
        pairs |= UINT64_C(1) << (pair & 63);
    }
    return pairs;
}
