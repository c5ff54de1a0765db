#include "engine/archive/archive_error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool archive_error_set(struct archive_error *error, struct archive_place place, const char *format, ...)
{
    if (error->fault != ARCHIVE_OK)
        return false;
    error->fault = place.fault;
    error->offset = place.offset;
    int len =
        snprintf(error->text, sizeof error->text, "%.1000s: byte %" PRIu64 ": ", place.name, place.offset);
    va_list args;
    va_start(args, format);
    vsnprintf(error->text + len, sizeof error->text - (size_t)len, format, args);
    va_end(args);
    return false;
}

bool archive_error_of_call(struct archive_error *error, int code, const char *verb, const char *name)
{
    if (error->fault != ARCHIVE_OK)
        return false;
    error->fault = ARCHIVE_SYSTEM;
    error->code = abs(code);
    snprintf(error->text, sizeof error->text, "%.1000s: cannot %s: %s", name, verb, strerror(error->code));
    return false;
}

const char *archive_fault_name(enum archive_fault fault)
{
    static const char *const names[ARCHIVE_FAULTS] = {
        [ARCHIVE_OK] = "ok",
        [ARCHIVE_SYSTEM] = "system",
        [ARCHIVE_NO_MEMORY] = "no-memory",
        [ARCHIVE_STOPPED] = "stopped",
        [ARCHIVE_TRUNCATED] = "truncated",
        [ARCHIVE_BAD_GZIP] = "bad-gzip",
        [ARCHIVE_BAD_ZSTD] = "bad-zstd",
        [ARCHIVE_BAD_CHECKSUM] = "bad-checksum",
        [ARCHIVE_BAD_DICTIONARY] = "bad-dictionary",
        [ARCHIVE_LARGE_WINDOW] = "large-window",
        [ARCHIVE_NOT_WARC] = "not-warc",
        [ARCHIVE_BAD_HEAD] = "bad-head",
        [ARCHIVE_LONG_HEAD] = "long-head",
        [ARCHIVE_BAD_LENGTH] = "bad-length",
        [ARCHIVE_SHORT_BLOCK] = "short-block",
        [ARCHIVE_NO_END] = "no-end",
        [ARCHIVE_NOT_SEEKABLE] = "not-seekable",
        [ARCHIVE_BAD_LINE] = "bad-line",
        [ARCHIVE_UNSORTED] = "unsorted",
        [ARCHIVE_EXISTS] = "exists",
        [ARCHIVE_BAD_CODING] = "bad-coding",
        [ARCHIVE_NOT_FOUND] = "not-found",
    };
    return fault < ARCHIVE_FAULTS ? names[fault] : "?";
}
