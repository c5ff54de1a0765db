/* A head parsed at once and byte by byte must come to the same end, and stay within its bytes. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "net/http_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(struct slice part, struct slice raw)
{
    assert(part.ptr == NULL || (part.ptr >= raw.ptr && part.ptr + part.len <= raw.ptr + raw.len));
}

static void check_head(const struct http_head *head, struct slice text)
{
    assert(head->raw.ptr == text.ptr && head->raw.len <= text.len);
    assert(head->raw.ptr[head->raw.len - 1] == '\n');
    assert(head->status >= 100 && head->status <= 999);
    assert(head->field_count <= HTTP_FIELDS_MAX);
    check_within(head->reason, head->raw);
    for (size_t i = 0; i < head->field_count; i++) {
        assert(head->fields[i].name.len > 0);
        check_within(head->fields[i].name, head->raw);
        check_within(head->fields[i].value, head->raw);
    }
    for (int i = 0; i < HTTP_KNOWN_COUNT; i++)
        check_within(head->known[i], head->raw);
    assert(!head->keeps_alive || !head->tolerated);
    assert(head->content_length < 0 || !head->is_chunked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct http_head whole, grown;
    enum http_error error = HTTP_OK, error_grown = HTTP_OK;
    /* Exactly as long as it is: the sanitizer sees the first byte read too far. */
    char *copy = malloc(size ? size : 1);
    if (size)
        memcpy(copy, data, size);
    struct slice text = {copy, size};
    enum parse at_once = http_head_parse(&whole, text, 0, &error), stepwise = PARSE_PARTIAL;
    for (size_t len = 0; len <= size && stepwise == PARSE_PARTIAL; len++)
        stepwise = http_head_parse(&grown, (struct slice){copy, len}, len ? len - 1 : 0, &error_grown);
    assert(at_once == stepwise);
    if (at_once == PARSE_BAD)
        assert(error == error_grown);
    if (at_once == PARSE_DONE) {
        check_head(&whole, text);
        assert(whole.raw.len == grown.raw.len && whole.status == grown.status);
        assert(whole.field_count == grown.field_count && whole.content_length == grown.content_length);
        assert(whole.is_chunked == grown.is_chunked && whole.keeps_alive == grown.keeps_alive);
    }
    free(copy);
    return 0;
}
