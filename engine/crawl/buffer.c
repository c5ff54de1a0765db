#include "engine/crawl/buffer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void buffer_pool_init(struct buffer_pool *pool, size_t bytes_max)
{
    *pool = (struct buffer_pool){.bytes_max = bytes_max};
}

/* The kept buffers of a size form a list: each begins with a pointer to the next. */
static void *pop_kept(struct buffer_pool *pool, unsigned class)
{
    void *bytes = pool->kept[class];
    if (bytes) {
        memcpy(&pool->kept[class], bytes, sizeof bytes);
        pool->bytes_kept -= (size_t)1 << (class + BUFFER_BYTES_MIN_LOG2);
    }
    return bytes;
}

static void push_kept(struct buffer_pool *pool, unsigned class, void *bytes)
{
    memcpy(bytes, &pool->kept[class], sizeof bytes);
    pool->kept[class] = bytes;
    pool->bytes_kept += (size_t)1 << (class + BUFFER_BYTES_MIN_LOG2);
}

void buffer_pool_fini(struct buffer_pool *pool)
{
    assert(pool->bytes_used == 0);
    for (unsigned class = 0; class < BUFFER_CLASSES; class ++)
        for (void *bytes; (bytes = pop_kept(pool, class));)
            free(bytes);
}

bool buffer_pool_has_room(const struct buffer_pool *pool)
{
    return pool->bytes_used + BUFFER_ROOM_BYTES <= pool->bytes_max;
}

size_t buffer_pool_trusts(const struct buffer_pool *pool, size_t promised)
{
    if (pool->bytes_used > pool->bytes_max / 4)
        return 0;
    return promised < BUFFER_PROMISE_BYTES ? promised : BUFFER_PROMISE_BYTES;
}

static unsigned class_of(size_t size)
{
    unsigned class = 0;
    while ((size_t)1 << (class + BUFFER_BYTES_MIN_LOG2) < size)
        class ++;
    return class;
}

bool buffer_pool_could_fit(const struct buffer_pool *pool, size_t size, size_t beside)
{
    return ((size_t)1 << (class_of(size) + BUFFER_BYTES_MIN_LOG2)) + beside <= pool->bytes_max;
}

/* Frees the largest kept buffers until `size` more bytes fit the budget. */
static void make_room(struct buffer_pool *pool, size_t size)
{
    for (unsigned class = BUFFER_CLASSES; class -- > 0;)
        while (pool->bytes_used + pool->bytes_kept + size > pool->bytes_max && pool->kept[class])
            free(pop_kept(pool, class));
}

/* Grows a long buffer with realloc, which has the kernel move its pages and copies nothing. */
static bool extend(struct buffer_pool *pool, struct buffer *buffer, size_t size)
{
    make_room(pool, size - buffer->size);
    void *bytes = realloc(buffer->bytes, size);
    if (!bytes)
        return false;
    pool->bytes_used += size - buffer->size;
    *buffer = (struct buffer){bytes, size};
    return true;
}

bool buffer_reserve(struct buffer_pool *pool, struct buffer *buffer, size_t size, size_t used)
{
    if (buffer->size >= size)
        return true;
    unsigned class = class_of(size);
    if (class >= BUFFER_CLASSES)
        return false;
    size_t rounded = (size_t)1 << (class + BUFFER_BYTES_MIN_LOG2);
    if (pool->bytes_used - buffer->size + rounded > pool->bytes_max)
        return false;
    void *bytes = pop_kept(pool, class);
    if (!bytes && buffer->size >= BUFFER_LONG_BYTES)
        return extend(pool, buffer, rounded);
    if (!bytes) {
        make_room(pool, rounded);
        bytes = malloc(rounded);
    }
    if (!bytes)
        return false;
    pool->bytes_used += rounded;
    memcpy(bytes, buffer->bytes ? buffer->bytes : "", used);
    buffer_release(pool, buffer);
    make_room(pool, 0); /* the one that was copied from may be too much */
    *buffer = (struct buffer){bytes, rounded};
    return true;
}

void buffer_release(struct buffer_pool *pool, struct buffer *buffer)
{
    if (!buffer->bytes)
        return;
    pool->bytes_used -= buffer->size;
    push_kept(pool, class_of(buffer->size), buffer->bytes);
    *buffer = (struct buffer){NULL, 0};
}
