/* Punycode (RFC 3492): a label of Unicode code points as letters, digits and hyphens. Without the "xn--". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/slice.h"

struct punycode_label {
    uint32_t *points;
    size_t len, size;
};

/* Appends the encoding to `text` at `*len`; false if it does not fit `size` or the arithmetic overflows. */
bool punycode_encode(const struct punycode_label *label, char *text, size_t size, size_t *len);

/* Fills `label`, whose points and size the caller sets; false if `text` is not Punycode or does not fit. */
bool punycode_decode(struct punycode_label *label, struct slice text);
