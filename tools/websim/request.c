#include "tools/websim/request.h"

#include <picohttpparser.h>

#include "tools/websim/personality.h"

static struct slice without_port(struct slice authority)
{
    for (size_t i = 0; i < authority.len; i++)
        if (authority.ptr[i] == ':')
            authority.len = i;
    return authority;
}

static bool next_token(struct slice *list, struct slice *token)
{
    if (list->len == 0)
        return false;
    const char *comma = memchr(list->ptr, ',', list->len);
    size_t len = comma ? (size_t)(comma - list->ptr) : list->len;
    *token = slice_trim((struct slice){list->ptr, len});
    *list = slice_skip(*list, comma ? len + 1 : len);
    return true;
}

/* True for ";q=0", ";q=0.0" and so on. */
static bool is_refused(struct slice parameters)
{
    for (size_t i = 0; i + 3 <= parameters.len; i++)
        if (memcmp(parameters.ptr + i, "q=0", 3) == 0) {
            for (i += 3; i < parameters.len; i++)
                if (parameters.ptr[i] >= '1' && parameters.ptr[i] <= '9')
                    return false;
            return true;
        }
    return false;
}

static uint8_t read_encodings(struct slice list)
{
    static const struct {
        struct slice name;
        enum websim_encoding encoding;
    } known[] = {{{"gzip", 4}, WEBSIM_ENCODING_GZIP},
                 {{"br", 2}, WEBSIM_ENCODING_BROTLI},
                 {{"zstd", 4}, WEBSIM_ENCODING_ZSTD}};
    struct slice token;
    uint8_t accepts = 0;
    while (next_token(&list, &token)) {
        const char *semicolon = memchr(token.ptr, ';', token.len);
        struct slice name = token;
        if (semicolon)
            name = slice_trim((struct slice){token.ptr, (size_t)(semicolon - token.ptr)});
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (slice_equals_nocase(name, known[i].name) && !is_refused(slice_skip(token, name.len)))
                accepts |= (uint8_t)(1 << known[i].encoding);
    }
    return accepts;
}

static void read_connection(struct websim_request *request, struct slice list)
{
    struct slice token;
    while (next_token(&list, &token)) {
        if (slice_equals_nocase(token, SLICE("close")))
            request->keep_alive = false;
        else if (slice_equals_nocase(token, SLICE("keep-alive")))
            request->keep_alive = true;
    }
}

/* http://host/path becomes /path; the host in the target counts, not the field. */
static void cut_origin(struct websim_request *request)
{
    if (!slice_starts_with(request->target, SLICE("http://")))
        return;
    struct slice rest = slice_skip(request->target, 7);
    const char *slash = memchr(rest.ptr, '/', rest.len);
    size_t len = slash ? (size_t)(slash - rest.ptr) : rest.len;
    request->host = without_port((struct slice){rest.ptr, len});
    request->target = slash ? slice_skip(rest, len) : SLICE("/");
}

static bool read_field(struct websim_request *request, struct slice name, struct slice value)
{
    if (slice_equals_nocase(name, SLICE("host")))
        request->host = without_port(value);
    else if (slice_equals_nocase(name, SLICE("connection")))
        read_connection(request, value);
    else if (slice_equals_nocase(name, SLICE("accept-encoding")))
        request->accepts = read_encodings(value);
    else if (slice_equals_nocase(name, SLICE("content-length")))
        return slice_equals(value, SLICE("0")); /* nobody posts to this web */
    else if (slice_equals_nocase(name, SLICE("transfer-encoding")))
        return false;
    return true;
}

enum parse websim_request_parse(struct websim_request *request, struct slice bytes, size_t *used)
{
    struct phr_header fields[WEBSIM_REQUEST_FIELDS_MAX];
    size_t count = WEBSIM_REQUEST_FIELDS_MAX;
    int minor;
    *request = (struct websim_request){0};
    int len = phr_parse_request(bytes.ptr, bytes.len, &request->method.ptr, &request->method.len,
                                &request->target.ptr, &request->target.len, &minor, fields, &count, 0);
    if (len == -2)
        return bytes.len < WEBSIM_REQUEST_BYTES_MAX ? PARSE_PARTIAL : PARSE_BAD;
    if (len < 0 || len > WEBSIM_REQUEST_BYTES_MAX)
        return PARSE_BAD;
    request->keep_alive = minor >= 1;
    for (size_t i = 0; i < count; i++)
        if (!fields[i].name || !read_field(request, (struct slice){fields[i].name, fields[i].name_len},
                                           (struct slice){fields[i].value, fields[i].value_len}))
            return PARSE_BAD;
    cut_origin(request);
    *used = (size_t)len;
    return PARSE_DONE;
}
