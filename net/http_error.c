#include "net/http_error.h"

#include <assert.h>

const char *http_error_text(enum http_error error)
{
    static const char *const texts[HTTP_ERROR_COUNT] = {
        [HTTP_OK] = "ok",
        [HTTP_ERROR_REQUEST_TOO_LONG] = "request-too-long",
        [HTTP_ERROR_REQUEST_BAD] = "request-bad",
        [HTTP_ERROR_CLOSED_EARLY] = "closed-early",
        [HTTP_ERROR_HEAD_TRUNCATED] = "head-truncated",
        [HTTP_ERROR_STATUS_LINE_BAD] = "status-line-bad",
        [HTTP_ERROR_HEAD_TOO_LONG] = "head-too-long",
        [HTTP_ERROR_TOO_MANY_INTERIM] = "too-many-interim",
        [HTTP_ERROR_UPGRADED] = "upgraded",
        [HTTP_ERROR_CHUNK_BAD] = "chunk-bad",
        [HTTP_ERROR_CHUNK_OVERHEAD] = "chunk-overhead",
        [HTTP_ERROR_BODY_TRUNCATED] = "body-truncated",
        [HTTP_ERROR_BODY_TOO_LONG] = "body-too-long",
        [HTTP_ERROR_NO_MEMORY] = "no-memory",
    };
    assert((unsigned)error < HTTP_ERROR_COUNT);
    return texts[error];
}
