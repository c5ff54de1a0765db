/* Text for tests of wide encodings. */
#pragma once

#include <string.h>

#include "net/slice.h"

/* ASCII text in UTF-16, behind a byte order mark or none. Valid until the next call. */
static inline struct slice wide(const char *ascii, bool is_big, const char *bom)
{
    static char out[4096];
    size_t len = strlen(bom);
    memcpy(out, bom, len);
    for (; *ascii; ascii++) {
        out[len++] = is_big ? 0 : *ascii;
        out[len++] = is_big ? *ascii : 0;
    }
    return (struct slice){out, len};
}
