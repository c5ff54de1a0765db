#include "tools/lycosa/text.h"

#include <stdarg.h>
#include <stdio.h>

struct text text_in(char *buffer, size_t size)
{
    buffer[0] = '\0';
    return (struct text){.bytes = buffer, .size = size};
}

void text_put(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text->bytes + text->len, text->size - text->len, format, args);
    va_end(args);
    text->len += len < 0 ? 0 : (size_t)len;
    if (text->len >= text->size)
        text->len = text->size - 1;
}
