/* Bytes that grow: room is asked for once, then filled through plain pointers. */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct websim_buffer {
    char *data;
    size_t len;
    size_t capacity;
};

/* Room for `more` bytes after data + len. There is no way on without memory: ends the program. */
static inline char *websim_buffer_room(struct websim_buffer *buffer, size_t more)
{
    if (buffer->capacity - buffer->len < more) {
        buffer->capacity = (buffer->len + more) * 5 / 4;
        buffer->data = realloc(buffer->data, buffer->capacity);
        if (!buffer->data) {
            fprintf(stderr, "websim: no memory for %zu bytes\n", buffer->capacity);
            exit(1);
        }
    }
    return buffer->data + buffer->len;
}

static inline void websim_buffer_fini(struct websim_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct websim_buffer){0};
}
