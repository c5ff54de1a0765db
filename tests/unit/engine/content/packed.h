/* For tests of decoding: bodies in content codings, made by others' encoders. */
#pragma once

#include <libdeflate.h>
#include <stdlib.h>
#include <zstd.h>

#include "net/slice.h"
#include "tests/support/check.h"

/* Memory that lives as long as the program. */
static inline char *packed_memory(size_t size)
{
    static char *blocks[256];
    static size_t count;
    CHECK(count < sizeof blocks / sizeof blocks[0]);
    return blocks[count++] = malloc(size);
}

/* `coding`: "gzip", "zlib", "raw" (deflate without a frame) or "zstd". */
static inline struct slice packed(const char *coding, struct slice text)
{
    size_t max = 2 * text.len + 1000, len = 0;
    char *bytes = packed_memory(max);
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    if (strcmp(coding, "gzip") == 0)
        len = libdeflate_gzip_compress(compressor, text.ptr, text.len, bytes, max);
    else if (strcmp(coding, "zlib") == 0)
        len = libdeflate_zlib_compress(compressor, text.ptr, text.len, bytes, max);
    else if (strcmp(coding, "raw") == 0)
        len = libdeflate_deflate_compress(compressor, text.ptr, text.len, bytes, max);
    else if (strcmp(coding, "zstd") == 0)
        len = ZSTD_compress(bytes, max, text.ptr, text.len, 3);
    libdeflate_free_compressor(compressor);
    CHECK(len > 0);
    return (struct slice){bytes, len};
}
