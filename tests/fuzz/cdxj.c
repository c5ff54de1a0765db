/* Any bytes as a line of an index, and as a URL. A line that can be read is the same after it was written and read once
 * more. */
#include <stdint.h>
#include <stdlib.h>

#include "engine/archive/cdxj.h"
#include "engine/archive/cdxj_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check_key(struct slice url)
{
    static char buffer[CDXJ_KEY_BYTES_MAX];
    struct slice key = cdxj_key_write(buffer, url);
    require(key.len <= sizeof buffer);
    for (size_t i = 0; i < key.len; i++)
        require(!slice_is_space(key.ptr[i]));
}

static void check_line(struct slice line)
{
    static char first[CDXJ_LINE_BYTES_MAX], second[CDXJ_LINE_BYTES_MAX];
    struct cdxj entry, again;
    char *room = malloc(line.len + 1), *other = malloc(CDXJ_LINE_BYTES_MAX);
    if (cdxj_parse(&entry, line, room)) {
        size_t len = cdxj_write(first, &entry);
        if (len) {
            require(cdxj_parse(&again, (struct slice){first, len}, other));
            require(slice_equals(entry.key, again.key) && entry.offset == again.offset);
            require(cdxj_write(second, &again) == len && memcmp(first, second, len) == 0);
        }
    }
    free(room);
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size + 1);
    struct slice bytes = {memcpy(copy, data, size), size};
    check_line(bytes);
    check_key(bytes);
    free(copy);
    return 0;
}
