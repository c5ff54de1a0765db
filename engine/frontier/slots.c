/* Why it is correct. Four things have to hold:
 *
 * 1. A slot is read only after it was written, even if loop A asked for the write, then handed the queue to
 *    loop B, and B asked for the read. Let W be A's push to its ring of writes and R be B's push to its ring
 *    of reads. W comes before A's hand-over of the queue, and R after B has taken it over, since B finds the
 *    slot in the queue. So W happens before R. The housekeeper first empties all rings of reads, then all
 *    rings of writes, executing each write, and only then executes the reads. When it has popped R (A1 in
 *    ring_spsc_pop), what happened before R is visible to it: it finds W in A's ring, unless it popped W
 *    earlier. Of each ring of writes it takes as many as there are buffers; no more can have been in the ring
 *    when R was popped, so W is among them.
 *
 * 2. A slot is written again only after it was read. The housekeeper alone reads and writes, one after the
 *    other, and frees a slot when it has read it. A loop asks for the next write to this slot after it took
 *    the slot from the stack of free ones, so the housekeeper comes to that write after the read. A loop
 *    frees only slots that it has reserved and not asked to be written.
 *
 * 3. No two queues have the same slot or buffer: id_stack gives a number to one thread only, and that
 *    thread sees what the one before did with it (R1 and A1 in id_stack).
 *
 * 4. A push to a ring finds room. Each item is a buffer, and a buffer is in one place at a time. A ring of
 *    writes has room for all buffers that are filled; the rings of reads and answers have room for all
 *    buffers that the loop has for loading.
 *
 * The slots of a queue are a list from `first` to the one that was written last, whose `next` is `reserved`.
 * While nothing is on disk both are 0, so that an idle queue keeps no slot. */
#include "engine/frontier/slots.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* What a slot begins with. */
struct head {
    uint32_t next; /* the slot that follows, once there is one */
    uint16_t count;
    uint16_t used; /* bytes, these included */
    uint32_t host;
};

enum { LENGTH_BYTES = sizeof(uint16_t) };

static_assert(sizeof(struct slots_queue) <= 24, "a host has one");
static_assert(sizeof(struct head) + LENGTH_BYTES + SLOTS_RECORD_BYTES_MAX == SLOTS_BYTES_LARGE, "one fits");
static_assert(SLOTS_BYTES_LARGE <= UINT16_MAX, "head.used");

static struct head *head_of(const struct slots_buffer *buffer)
{
    return (struct head *)(void *)buffer->bytes;
}

/* Slots. */

/* One that was freed or never used; 0: there is none. */
static uint32_t acquire_slot(struct slots *slots, struct backoff *backoff)
{
    uint32_t slot = id_stack_pop(&slots->free, backoff);
    if (!slot && lf_load(&slots->begun, relaxed) < slots->slots_max) {
        slot = lf_fetch_add(&slots->begun, 1, relaxed) + 1;
        if (slot > slots->slots_max) {
            lf_fetch_sub(&slots->begun, 1, relaxed);
            slot = 0;
        }
    }
    if (slot)
        lf_fetch_add(&slots->in_use, 1, relaxed);
    return slot;
}

static void release_slot(struct slots *slots, uint32_t slot, struct backoff *backoff)
{
    lf_fetch_sub(&slots->in_use, 1, relaxed);
    id_stack_push(&slots->free, slot, backoff);
}

bool slots_is_full(const struct slots *slots)
{
    return (uint64_t)lf_load(&slots->in_use, relaxed) + 2 > slots->slots_max;
}

struct slots_counts slots_count(const struct slots *slots)
{
    return (struct slots_counts){.in_use = lf_load(&slots->in_use, relaxed),
                                 .begun = lf_load(&slots->begun, relaxed),
                                 .reads = lf_load(&slots->reads, relaxed),
                                 .writes = lf_load(&slots->writes, relaxed)};
}

/* A loop's side: filling. */

static void hand_over(struct ring_spsc *ring, struct slots_buffer *buffer)
{
    bool pushed = ring_spsc_push(ring, (uintptr_t)buffer);
    assert(pushed); /* point 4 above */
    (void)pushed;
}

/* The queue's buffer gets its head and is no longer the queue's. */
static struct slots_buffer *close_buffer(struct slots_loop *loop, struct slots_queue *queue, uint32_t next)
{
    struct slots_buffer *buffer = &loop->slots->buffers[queue->buffer - 1];
    *head_of(buffer) =
        (struct head){.next = next, .count = queue->in_buffer, .used = queue->used, .host = queue->host};
    queue->on_disk += queue->in_buffer;
    queue->in_buffer = 0;
    queue->buffer = 0;
    return buffer;
}

bool slots_flush(struct slots_loop *loop, struct slots_queue *queue)
{
    struct slots *slots = loop->slots;
    if (!queue->buffer)
        return true;
    uint32_t slot = queue->reserved ? queue->reserved : acquire_slot(slots, &loop->backoff);
    uint32_t next = slot ? acquire_slot(slots, &loop->backoff) : 0;
    if (!next) {
        if (slot && !queue->reserved)
            release_slot(slots, slot, &loop->backoff);
        return false;
    }
    struct slots_buffer *buffer = close_buffer(loop, queue, next);
    buffer->slot = slot;
    if (!queue->first)
        queue->first = slot;
    queue->reserved = next;
    hand_over(&loop->writes, buffer); /* W above: the buffer is the housekeeper's */
    return true;
}

/* Makes sure that the queue has a buffer with room for so many bytes. False: there is none. */
static bool make_room(struct slots_loop *loop, struct slots_queue *queue, size_t bytes)
{
    struct slots *slots = loop->slots;
    assert(sizeof(struct head) + bytes <= slots->slot_bytes);
    if (queue->buffer) {
        if (queue->used + bytes <= slots->slot_bytes)
            return true;
        if (!slots_flush(loop, queue))
            return false;
    }
    queue->buffer = id_stack_pop(&slots->idle, &loop->backoff);
    queue->used = sizeof(struct head);
    return queue->buffer;
}

bool slots_push(struct slots_loop *loop, struct slots_queue *queue, struct slice record)
{
    const struct slots *slots = loop->slots;
    uint16_t length = (uint16_t)record.len;
    if (!make_room(loop, queue, LENGTH_BYTES + record.len))
        return false;
    /* Neither the buffer's record nor its head is touched: the pushes to many queues miss the cache. */
    char *end = slots->bytes + (size_t)(queue->buffer - 1) * slots->slot_bytes + queue->used;
    memcpy(end, &length, LENGTH_BYTES);
    memcpy(end + LENGTH_BYTES, record.ptr, record.len);
    queue->used = (uint16_t)(queue->used + LENGTH_BYTES + record.len);
    queue->in_buffer++;
    return true;
}

/* A loop's side: loading. */

/* One of the loop's for the oldest slot; NULL: there is none. */
static struct slots_buffer *load_slot(struct slots_loop *loop, struct slots_queue *queue)
{
    struct slots_buffer *batch = loop->idle;
    if (batch) {
        loop->idle = batch->below;
        batch->slot = queue->first;
    }
    return batch;
}

static struct slots_buffer *load_unfinished(struct slots_loop *loop, struct slots_queue *queue)
{
    struct slots_buffer *batch = close_buffer(loop, queue, 0);
    batch->slot = 0;
    batch->error = 0;
    batch->below = loop->handed;
    loop->handed = batch;
    return batch;
}

bool slots_load(struct slots_loop *loop, struct slots_queue *queue)
{
    assert(slots_waiting(queue) && !queue->is_loading);
    struct slots_buffer *batch = queue->first ? load_slot(loop, queue) : load_unfinished(loop, queue);
    if (!batch)
        return false;
    batch->queue = queue;
    batch->host = queue->host;
    batch->read_at = sizeof(struct head);
    queue->is_loading = true;
    if (batch->slot)
        hand_over(&loop->reads, batch); /* R above: the buffer is the housekeeper's */
    return true;
}

struct slots_buffer *slots_loaded(struct slots_loop *loop)
{
    uint64_t item;
    struct slots_buffer *batch = loop->handed;
    if (batch)
        loop->handed = batch->below;
    else if (ring_spsc_pop(&loop->done, &item))
        batch = (struct slots_buffer *)(uintptr_t)item;
    return batch;
}

void slots_accept(struct slots_loop *loop, struct slots_buffer *batch)
{
    struct slots_queue *queue = batch->queue;
    assert(queue->is_loading);
    queue->is_loading = false;
    if (batch->error)
        return;
    queue->on_disk -= head_of(batch)->count;
    if (!batch->slot)
        return;
    queue->first = head_of(batch)->next;
    if (queue->first == queue->reserved) {
        release_slot(loop->slots, queue->reserved, &loop->backoff);
        queue->first = queue->reserved = 0;
    }
}

/* The record at this place, which is below `used`. */
static struct slice record_at(const struct slots_buffer *buffer, uint32_t at)
{
    uint16_t length;
    memcpy(&length, buffer->bytes + at, LENGTH_BYTES);
    return (struct slice){buffer->bytes + at + LENGTH_BYTES, length};
}

bool slots_next(struct slots_buffer *batch, struct slice *record)
{
    if (batch->error || batch->read_at == head_of(batch)->used)
        return false;
    *record = record_at(batch, batch->read_at);
    batch->read_at += LENGTH_BYTES + (uint32_t)record->len;
    return true;
}

void slots_release(struct slots_loop *loop, struct slots_buffer *batch)
{
    if (!batch->loop) {
        id_stack_push(&loop->slots->idle, (uint32_t)(batch - loop->slots->buffers) + 1, &loop->backoff);
        return;
    }
    assert(batch->loop == loop);
    batch->below = loop->idle;
    loop->idle = batch;
}

/* The housekeeper's side. */

static uint64_t place_of(const struct slots *slots, uint32_t slot)
{
    return (uint64_t)(slot - 1) * slots->slot_bytes;
}

static void count(_Atomic(uint64_t) *counter)
{
    lf_store(counter, lf_load(counter, relaxed) + 1, relaxed);
}

static void serve_write(struct slots *slots, struct slots_buffer *buffer)
{
    if (!slots->error) {
        struct slice bytes = {buffer->bytes, slots->slot_bytes};
        slots->error = disk_write_all_at(slots->disk, slots->fd, place_of(slots, buffer->slot), bytes);
        count(&slots->writes);
    }
    id_stack_push(&slots->idle, (uint32_t)(buffer - slots->buffers) + 1, &slots->backoff);
}

/* Whether a slot is what was once written for this queue. */
static bool is_sound(const struct slots *slots, const struct slots_buffer *buffer)
{
    const struct head *head = head_of(buffer);
    uint32_t at = sizeof *head, records = 0;
    if (head->host != buffer->host || head->used > slots->slot_bytes || !head->next ||
        head->next > slots->slots_max)
        return false;
    for (; at + LENGTH_BYTES <= head->used; records++)
        at += LENGTH_BYTES + (uint32_t)record_at(buffer, at).len;
    return at == head->used && records == head->count;
}

static int read_slot(struct slots *slots, struct slots_buffer *buffer)
{
    struct disk_room room = {buffer->bytes, slots->slot_bytes};
    int64_t got = disk_read_all(slots->disk, slots->fd, place_of(slots, buffer->slot), room);
    count(&slots->reads);
    if (got < 0)
        return (int)got;
    return (size_t)got == room.size && is_sound(slots, buffer) ? 0 : -EBADMSG;
}

static void serve_read(struct slots *slots, struct slots_buffer *buffer)
{
    if (!slots->error)
        slots->error = read_slot(slots, buffer);
    if (!slots->error)
        release_slot(slots, buffer->slot, &slots->backoff);
    buffer->error = slots->error;
    hand_over(&buffer->loop->done, buffer); /* the buffer is its loop's again */
}

int slots_serve(struct slots *slots)
{
    uint64_t item;
    unsigned reads = 0, writes = 0;
    /* The order of the three is what point 1 above needs. */
    for (unsigned i = 0; i < slots->loop_count; i++)
        while (ring_spsc_pop(&slots->loops[i].reads, &item))
            slots->batch[reads++] = (struct slots_buffer *)(uintptr_t)item;
    for (unsigned i = 0; i < slots->loop_count; i++)
        for (uint32_t n = 0; n < slots->buffer_count && ring_spsc_pop(&slots->loops[i].writes, &item); n++) {
            serve_write(slots, (struct slots_buffer *)(uintptr_t)item);
            writes++;
        }
    for (unsigned i = 0; i < reads; i++)
        serve_read(slots, slots->batch[i]);
    return slots->error ? slots->error : (int)(reads + writes);
}
