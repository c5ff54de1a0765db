/* Character references (&amp; &#x41;) in attribute values, in the text of elements, and in XML. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "net/slice.h"

/* Room that a decoded value needs at most per byte of the written one: a NUL becomes the 3 bytes of
 * U+FFFD. */
#define ENTITY_GROWTH 3

/* Decodes an HTML attribute's value to `out`, which has ENTITY_GROWTH * value.len bytes. A NUL becomes
 * U+FFFD. A reference without a semicolon counts as the HTML standard says for attributes: `?a=1&copy=2`
 * stays. Returns the length. */
size_t entity_decode_attribute(struct slice value, char *out);

/* Room for one decoded reference. */
#define ENTITY_TEXT_BYTES_MAX 8

/* Decodes the reference that `text` begins with, its '&' included, as in the text of an element: names that may lack
 * their semicolon do so whatever follows (`&copy2` is (c)2). Writes up to ENTITY_TEXT_BYTES_MAX to `out` and sets
 * `used`, the bytes of the reference. Returns the length, 0 if it is none. */
size_t entity_decode_text(struct slice text, char *out, size_t *used);

/* Decodes XML text: the five predefined entities, numeric references and CDATA sections. Others stay as they
 * are. `out` has at least text.len bytes. Returns the length. */
size_t entity_decode_xml(struct slice text, char *out);

/* The code points of a named reference, name without & and ; and its spelling exact. The number of code
 * points (1 or 2), or 0 if there is no such name. `legacy` is set for those that may lack the semicolon. */
int entity_find(struct slice name, unsigned code[2], bool *legacy);

/* Writes a code point as UTF-8 (at most 4 bytes), U+FFFD for what is none. Returns the length. */
size_t entity_put_utf8(unsigned code, char *out);

/* The code point of a byte in windows-1252, which is also what numeric references to C1 controls mean. */
unsigned entity_windows_1252(unsigned char byte);
