#include "engine/console/request.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/url/json.h"
#include "engine/url/percent.h"

bool console_response_begin(struct console_response *response)
{
    *response = (struct console_response){.status = 200, .type = "application/json"};
    response->out = open_memstream(&response->text, &response->len);
    return response->out;
}

bool console_response_finish(struct console_response *response)
{
    bool good = response->out && !ferror(response->out);
    good = (!response->out || fclose(response->out) == 0) && good;
    response->out = NULL;
    return good;
}

void console_response_fail(struct console_response *response, unsigned status, const char *format, ...)
{
    char message[600];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    response->status = status;
    response->type = "application/json";
    response->is_stream = response->is_pending = false;
    rewind(response->out);
    fputs("{\"error\": ", response->out);
    json_write_string(response->out, slice_of(message));
    fputs("}\n", response->out);
}

/* False if it does not fit. */
static bool decode(struct slice value, char *buffer, size_t bytes)
{
    size_t len = 0;
    while (value.len) {
        bool is_escape = percent_is_escape(value);
        char c = is_escape ? percent_byte(value) : value.ptr[0] == '+' ? ' ' : value.ptr[0];
        if (c == '\0' || len + 1 >= bytes)
            return false;
        buffer[len++] = c;
        value = slice_skip(value, is_escape ? 3 : 1);
    }
    buffer[len] = '\0';
    return true;
}

/* The next NAME=VALUE; false: none is left. */
static bool next_pair(struct slice *rest, struct slice *name, struct slice *value)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '&', rest->len);
    struct slice pair = end ? slice_between(rest->ptr, end) : *rest;
    *rest = slice_skip(*rest, end ? pair.len + 1 : pair.len);
    const char *equals = memchr(pair.ptr, '=', pair.len);
    *name = equals ? slice_between(pair.ptr, equals) : pair;
    *value = equals ? slice_skip(pair, name->len + 1) : (struct slice){"", 0};
    return true;
}

bool console_request_value(const struct console_request *request, const char *name, char *buffer, size_t bytes)
{
    struct slice rest = request->query, at, value;
    while (next_pair(&rest, &at, &value))
        if (slice_equals(at, slice_of(name)))
            return decode(value, buffer, bytes);
    return false;
}

struct slice console_request_unknown(const struct console_request *request, const char *const *names)
{
    struct slice rest = request->query, name, value;
    while (next_pair(&rest, &name, &value)) {
        const char *const *at = names;
        while (*at && !slice_equals(name, slice_of(*at)))
            at++;
        if (!*at && name.len)
            return name;
    }
    return (struct slice){"", 0};
}
