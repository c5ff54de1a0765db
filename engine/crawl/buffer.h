/* Memory of the pages in flight: buffers that double as a page grows, within a budget. Belongs to one loop.
 *
 * Sizes are powers of two; released buffers are kept for the next page. When the budget is used up, the loop
 * begins no visits until pages are finished. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Room for the head of a WARC record, a response head and a page of ordinary size. */
enum { BUFFER_BYTES_MIN_LOG2 = 15, BUFFER_CLASSES = 20 };
/* Bytes that must be free before a page is begun: its buffer may double, and it needs room for decoding. */
enum { BUFFER_ROOM_BYTES = 4 << BUFFER_BYTES_MIN_LOG2 };
/* What a server promises is believed up to this length. Most pages are shorter; servers that promise and do not send
 * get one more doubling at most. */
enum { BUFFER_PROMISE_BYTES = 1 << BUFFER_BYTES_MIN_LOG2 };

/* From this size on, copying takes longer than a system call. */
enum { BUFFER_LONG_BYTES = 1 << 20 };

struct buffer_pool {
    size_t bytes_max;
    size_t bytes_used; /* in buffers in use */
    size_t bytes_kept; /* in buffers kept for reuse */
    void *kept[BUFFER_CLASSES];
};

struct buffer {
    char *bytes; /* NULL: none */
    size_t size;
};

void buffer_pool_init(struct buffer_pool *pool, size_t bytes_max);
void buffer_pool_fini(struct buffer_pool *pool);

/* True if the budget allows for another page of ordinary size. */
bool buffer_pool_has_room(const struct buffer_pool *pool);
/* Bytes to reserve for a page that promises to be this long: promises count up to BUFFER_PROMISE_BYTES, and only while
 * most of the budget is free. */
size_t buffer_pool_trusts(const struct buffer_pool *pool, size_t promised);
/* True if a buffer of this size fits the budget beside `beside` bytes, once all others are released. */
bool buffer_pool_could_fit(const struct buffer_pool *pool, size_t size, size_t beside);

/* Makes the buffer at least `size` bytes, keeping its first `used` bytes. False: the budget is full; the
 * buffer is as it was. */
bool buffer_reserve(struct buffer_pool *pool, struct buffer *buffer, size_t size, size_t used);
void buffer_release(struct buffer_pool *pool, struct buffer *buffer);
