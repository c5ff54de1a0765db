/* A Content-Type up to the first line end, then the first bytes of a body: any type may come out, but one
 * that has a name, and the same for any longer body. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/limits.h"
#include "engine/content/sniff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t head = end ? (size_t)(end - data) : 0, body = size - head;
    char *type = malloc(head + 1), *first = malloc(body + 1);
    struct slice content_type = {memcpy(type, data, head), head},
                 bytes = {memcpy(first, data + head, body), body};
    enum sniff_type found = sniff_body(content_type, bytes);
    if (found >= SNIFF_TYPES)
        abort();
    if (body > SNIFF_BYTES_MAX) {
        bytes.len = SNIFF_BYTES_MAX;
        if (sniff_body(content_type, bytes) != found)
            abort();
    }
    free(type);
    free(first);
    return 0;
}
