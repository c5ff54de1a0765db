/* The memory of the slots: one region, taken at the start and divided once. */
#include <assert.h>
#include <fcntl.h>

#include "engine/frontier/slots.h"
#include "lockfree/power.h"

enum { RING_ALIGN = 128 };

static uint32_t slot_bytes_for(const struct slots_options *options)
{
    assert(options->record_bytes_max <= SLOTS_RECORD_BYTES_MAX);
    return options->record_bytes_max <= SLOTS_RECORD_BYTES_SMALL ? SLOTS_BYTES_SMALL : SLOTS_BYTES_LARGE;
}

static size_t ring_bytes(uint32_t items)
{
    return (ring_spsc_bytes(power_of_two(items)) + RING_ALIGN - 1) / RING_ALIGN * RING_ALIGN;
}

size_t slots_memory_bytes(const struct slots_options *options)
{
    size_t loads = (size_t)options->loops * options->loads, buffers = options->buffers + loads;
    return buffers * slot_bytes_for(options)                                             /* their bytes */
           + buffers * sizeof(struct slots_buffer)                                       /* and records */
           + options->loops * (sizeof(struct slots_loop) + ring_bytes(options->buffers)) /* writes */
           + options->loops * 2 * ring_bytes(options->loads)                             /* reads, done */
           + loads * sizeof(struct slots_buffer *)                                       /* the batch */
           + ((size_t)options->slots_max + 1) * sizeof(uint32_t)                         /* free slots */
           + ((size_t)options->buffers + 1) * sizeof(uint32_t)                           /* idle buffers */
           + 8 * RING_ALIGN;                                                             /* alignment */
}

static void *take(struct slots *slots, size_t bytes, size_t align)
{
    void *memory = arena_take(&slots->arena, bytes, align);
    assert(memory); /* slots_memory_bytes has counted it */
    return memory;
}

static void take_ring(struct slots *slots, struct ring_spsc *ring, uint32_t items)
{
    ring_spsc_init(ring, take(slots, ring_bytes(items), RING_ALIGN), power_of_two(items));
}

/* Its buffers for loading follow those of the loop before. */
static void loop_init(struct slots_loop *loop, struct slots *slots)
{
    size_t index = (size_t)(loop - slots->loops);
    struct slots_buffer *first = slots->buffers + slots->buffer_count + index * slots->load_count;
    loop->slots = slots;
    backoff_init(&loop->backoff, index + 1);
    take_ring(slots, &loop->writes, slots->buffer_count);
    take_ring(slots, &loop->reads, slots->load_count);
    take_ring(slots, &loop->done, slots->load_count);
    for (uint32_t i = 0; i < slots->load_count; i++) {
        first[i].loop = loop;
        first[i].below = loop->idle;
        loop->idle = &first[i];
    }
}

static void divide(struct slots *slots)
{
    size_t loads = (size_t)slots->loop_count * slots->load_count, buffers = slots->buffer_count + loads;
    slots->bytes = take(slots, buffers * slots->slot_bytes, SLOTS_BYTES_SMALL);
    slots->buffers = take(slots, buffers * sizeof *slots->buffers, 8);
    for (size_t i = 0; i < buffers; i++)
        slots->buffers[i].bytes = slots->bytes + i * slots->slot_bytes;
    slots->loops = take(slots, slots->loop_count * sizeof *slots->loops, _Alignof(struct slots_loop));
    for (unsigned i = 0; i < slots->loop_count; i++)
        loop_init(&slots->loops[i], slots);
    slots->batch = take(slots, loads * sizeof *slots->batch, 8);
    id_stack_init(&slots->free, take(slots, ((size_t)slots->slots_max + 1) * sizeof(uint32_t), 4));
    id_stack_init(&slots->idle, take(slots, ((size_t)slots->buffer_count + 1) * sizeof(uint32_t), 4));
    for (uint32_t id = slots->buffer_count; id > 0; id--)
        id_stack_push(&slots->idle, id, &slots->backoff);
}

int slots_init(struct slots *slots, const struct slots_options *options)
{
    assert(options->loops && options->buffers && options->loads && options->slots_max < UINT32_MAX);
    *slots = (struct slots){.loop_count = options->loops,
                            .buffer_count = options->buffers,
                            .load_count = options->loads,
                            .slots_max = options->slots_max,
                            .slot_bytes = slot_bytes_for(options),
                            .disk = options->disk,
                            .path = options->path};
    backoff_init(&slots->backoff, 0);
    slots->fd = slots->disk->open(slots->disk->owner, slots->path, O_RDWR | O_CREAT | O_TRUNC);
    if (slots->fd < 0)
        return slots->fd;
    int error = arena_init(&slots->arena, &(struct arena_options){.bytes = slots_memory_bytes(options)});
    if (error) {
        slots->disk->close(slots->disk->owner, slots->fd);
        slots->disk->unlink(slots->disk->owner, slots->path);
        return error;
    }
    divide(slots);
    return 0;
}

void slots_fini(struct slots *slots)
{
    slots->disk->close(slots->disk->owner, slots->fd);
    slots->disk->unlink(slots->disk->owner, slots->path);
    arena_fini(&slots->arena);
}
