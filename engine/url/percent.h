/* Percent-encoded bytes (%2F) in URLs and in patterns of robots.txt. */
#pragma once

#include <stdbool.h>

#include "net/slice.h"

/* Whether `text` begins with '%' and two hexadecimal digits. */
static inline bool percent_is_escape(struct slice text)
{
    return text.len >= 3 && text.ptr[0] == '%' && slice_hex_value(text.ptr[1]) >= 0 &&
           slice_hex_value(text.ptr[2]) >= 0;
}

/* The byte that the escape at the start of `text` stands for. */
static inline char percent_byte(struct slice text)
{
    return (char)(slice_hex_value(text.ptr[1]) * 16 + slice_hex_value(text.ptr[2]));
}
