/* Text that grows in a buffer; what does not fit is left out. */
#pragma once

#include <stddef.h>

struct text {
    char *bytes; /* NUL-terminated */
    size_t size;
    size_t len;
};

struct text text_in(char *buffer, size_t size);
void text_put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
