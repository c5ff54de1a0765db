/* A connection's bytes through the reader: however they are cut, the same events must come, and no byte may
 * be taken behind the end of the response. The first byte chooses the pieces and the method. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "net/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct trace {
    enum http_step step;
    enum http_error error;
    bool keeps_alive;
    int status;
    char *body;
    size_t body_len;
    size_t taken;
};

static struct http_shared shared;

static void on_event(struct trace *trace, const struct http_event *event)
{
    switch (trace->step) {
    case HTTP_HEAD:
        assert(trace->status == 0);
        trace->status = event->head->status;
        break;
    case HTTP_BODY:
        assert(event->body.len > 0 && trace->status);
        memcpy(trace->body + trace->body_len, event->body.ptr, event->body.len);
        trace->body_len += event->body.len;
        break;
    case HTTP_END:
        trace->keeps_alive = event->keeps_alive;
        break;
    case HTTP_FAILED:
        trace->error = event->error;
        break;
    case HTTP_MORE:
        break;
    }
}

static struct trace run(struct slice text, size_t step, bool is_head_request)
{
    struct trace trace = {.body = malloc(text.len + 1)};
    struct http_reader reader;
    struct http_event event;
    http_reader_init(&reader, &shared);
    http_reader_begin(&reader, is_head_request);
    size_t fed = 0;
    trace.step = HTTP_MORE;
    while (trace.step == HTTP_MORE && fed < text.len) {
        size_t len = text.len - fed < step ? text.len - fed : step;
        char *piece = malloc(len);
        memcpy(piece, text.ptr + fed, len);
        struct slice in = {piece, len};
        do {
            trace.step = http_reader_pull(&reader, &in, &event);
            on_event(&trace, &event);
        } while (trace.step == HTTP_HEAD || trace.step == HTTP_BODY);
        fed += len - in.len;
        free(piece);
    }
    trace.taken = fed;
    if (trace.step == HTTP_MORE) {
        trace.step = http_reader_on_eof(&reader, &event);
        on_event(&trace, &event);
    }
    http_reader_reset(&reader);
    return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    http_shared_init(&shared, &(struct http_limits){.head_bytes_max = 1024, .body_bytes_max = 512});
    struct slice text = {(const char *)data + 1, size - 1};
    bool is_head_request = data[0] & 1;
    struct trace at_once = run(text, SIZE_MAX, is_head_request);
    struct trace stepwise = run(text, (data[0] >> 1) + 1U, is_head_request);
    assert(at_once.step == stepwise.step && at_once.status == stepwise.status);
    assert(at_once.body_len == stepwise.body_len);
    assert(memcmp(at_once.body, stepwise.body, at_once.body_len) == 0);
    if (at_once.step == HTTP_FAILED)
        assert(at_once.error == stepwise.error);
    if (at_once.step == HTTP_END)
        assert(at_once.taken == stepwise.taken);
    /* Cut between the two, the surplus is not seen yet; with it in sight there is no keep-alive. */
    assert(!at_once.keeps_alive || at_once.taken == text.len);
    free(at_once.body);
    free(stepwise.body);
    return 0;
}
