/* Domain names beyond ASCII: UTS 46 as the URL standard calls it (not transitional, any hyphens, any length).
 *
 * libidn2 refuses names that this standard and browsers accept (symbols such as U+2665, labels that begin
 * with a hyphen or pass 63 bytes), so the rules are here and the character data is libunistring's. */
#pragma once

#include <stddef.h>

#include "net/slice.h"

/* Writes the ASCII form of `name` (UTF-8) into `ascii`; returns its length, or 0 if the name is refused,
 * comes out empty or does not fit. */
size_t idna_to_ascii(char *ascii, size_t size, struct slice name);
