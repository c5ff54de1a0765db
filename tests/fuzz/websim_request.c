/* The simulated web's own requests: no prefix of one is done or bad before its end, and what is done lies within. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/websim/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(struct slice part, struct slice all)
{
    assert(part.len == 0 || (part.ptr >= all.ptr && part.ptr + part.len <= all.ptr + all.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1); /* of its exact size, for the sanitizer */
    struct slice all = {copy, size};
    struct websim_request request;
    size_t used = 0;
    memcpy(copy, data, size);
    if (websim_request_parse(&request, all, &used) == PARSE_DONE) {
        struct slice head = {copy, used};
        assert(used > 0 && used <= size && used <= WEBSIM_REQUEST_BYTES_MAX);
        check_within(request.method, head);
        if (!slice_equals(request.target, SLICE("/"))) /* an absolute form without a path has ours */
            check_within(request.target, head);
        check_within(request.host, head);
        assert(websim_request_parse(&request, (struct slice){copy, used - 1}, &used) == PARSE_PARTIAL);
    }
    free(copy);
    return 0;
}
