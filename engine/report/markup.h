/* Text of others, made harmless. Names of hosts, MIME types and annotations come from servers: they may hold markup, control
 * characters, and marks that turn the direction of a line round. */
#pragma once

#include <stdio.h>

#include "net/slice.h"

/* Into HTML or SVG, as text or within double quotes. What has no shape of its own is shown as \u202E or \xFF. At most
 * `chars_max` characters are written; if there are more, the last one is an ellipsis. */
void markup_text(FILE *out, struct slice text, size_t chars_max);
/* Into a field of a TSV file: tabs, line ends and what markup_text shows are escaped. */
void markup_field(FILE *out, struct slice text);
