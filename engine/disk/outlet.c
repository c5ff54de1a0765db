#include "engine/disk/outlet.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/power.h"

/* What lies in the ring in place of a block, at the end of an epoch. */
enum { SEAL = 1 };

int outlet_init(struct outlet *outlet, const struct outlet_options *options)
{
    size_t count = options->bytes / sizeof(struct outlet_block);
    count = count < 2 ? 2 : count;
    size_t capacity = power_of_two(count + 1); /* all blocks and a seal */
    size_t ring_bytes = (ring_spsc_bytes(capacity) + 127) / 128 * 128;
    *outlet = (struct outlet){.count = count, .files = options->files, .is_shared = options->is_shared};
    outlet->blocks = malloc(count * sizeof *outlet->blocks);
    outlet->ring_memory = aligned_alloc(128, 2 * ring_bytes);
    if (!outlet->blocks || !outlet->ring_memory) {
        outlet_fini(outlet);
        return -ENOMEM;
    }
    ring_spsc_init(&outlet->full, outlet->ring_memory, capacity);
    ring_spsc_init(&outlet->empty, (char *)outlet->ring_memory + ring_bytes, capacity);
    for (size_t i = 0; i < count; i++)
        ring_spsc_push(&outlet->empty, (uintptr_t)&outlet->blocks[i]);
    return 0;
}

/* May be called again, and for one that could not be set up. */
void outlet_fini(struct outlet *outlet)
{
    free(outlet->blocks);
    free(outlet->ring_memory);
    outlet->blocks = NULL;
    outlet->ring_memory = NULL;
}

size_t outlet_free_blocks(struct outlet *outlet)
{
    return outlet->spare_count + ring_spsc_count(&outlet->empty);
}

size_t outlet_room(struct outlet *outlet)
{
    size_t here = outlet->current ? OUTLET_BLOCK_BYTES - outlet->current->used : 0;
    return here + outlet_free_blocks(outlet) * OUTLET_BLOCK_BYTES;
}

/* While the housekeeper keeps up, the same few blocks take turns, and the memory of the others is never touched. */
struct outlet_block *outlet_take_block(struct outlet *outlet)
{
    for (uint64_t item; ring_spsc_pop(&outlet->empty, &item); outlet->spare_count++) {
        struct outlet_block *block = (struct outlet_block *)(uintptr_t)item;
        block->next = outlet->spare;
        outlet->spare = block;
    }
    struct outlet_block *block = outlet->spare;
    if (!block)
        return NULL;
    outlet->spare = block->next;
    outlet->spare_count--;
    block->used = 0;
    block->ends = false;
    block->name[0] = '\0';
    block->next = NULL;
    return block;
}

void outlet_flush(struct outlet *outlet)
{
    const struct outlet_block *current = outlet->current;
    if (!current || (current->used == 0 && current->name[0] == '\0' && !current->ends))
        return;
    /* Hand-over: the block is the housekeeper's. There is room: the ring holds all blocks there are. */
    ring_spsc_push(&outlet->full, (uintptr_t)outlet->current);
    outlet->current = NULL;
}

void outlet_seal(struct outlet *outlet)
{
    outlet_flush(outlet);
    bool pushed = ring_spsc_push(&outlet->full, SEAL);
    assert(pushed);
    (void)pushed;
}

/* A block with free bytes, or NULL. */
static struct outlet_block *block_with_room(struct outlet *outlet)
{
    if (outlet->current && outlet->current->used == OUTLET_BLOCK_BYTES)
        outlet_flush(outlet);
    if (!outlet->current)
        outlet->current = outlet_take_block(outlet);
    return outlet->current;
}

char *outlet_space(struct outlet *outlet, size_t *room)
{
    struct outlet_block *block = block_with_room(outlet);
    *room = block ? OUTLET_BLOCK_BYTES - block->used : 0;
    return block ? block->bytes + block->used : NULL;
}

void outlet_claim(struct outlet *outlet, size_t used)
{
    assert(outlet->current->used + used <= OUTLET_BLOCK_BYTES);
    outlet->current->used += used;
    lf_store(&outlet->appended, lf_load(&outlet->appended, relaxed) + used, relaxed);
}

void outlet_append(struct outlet *outlet, struct slice bytes)
{
    while (bytes.len) {
        size_t room;
        char *space = outlet_space(outlet, &room);
        assert(space);
        size_t now = bytes.len < room ? bytes.len : room;
        memcpy(space, bytes.ptr, now);
        outlet_claim(outlet, now);
        bytes = slice_skip(bytes, now);
    }
}

void outlet_append_whole(struct outlet *outlet, struct slice bytes)
{
    if (outlet->current && OUTLET_BLOCK_BYTES - outlet->current->used < bytes.len)
        outlet_flush(outlet);
    outlet_append(outlet, bytes);
}

bool outlet_open(struct outlet *outlet, const char *name)
{
    if (outlet->current && outlet->current->used == 0)
        outlet->current->name[0] = '\0';
    else if (outlet_free_blocks(outlet) == 0)
        return false;
    else
        outlet_flush(outlet);
    struct outlet_block *block = block_with_room(outlet);
    snprintf(block->name, sizeof block->name, "%s", name);
    return true;
}

bool outlet_close(struct outlet *outlet)
{
    if (!outlet->current)
        outlet->current = outlet_take_block(outlet);
    if (!outlet->current)
        return false;
    outlet->current->ends = true;
    outlet_flush(outlet);
    return true;
}

/* The housekeeper's side. */

struct outlet_block *outlet_next(struct outlet *outlet)
{
    uint64_t item;
    if (outlet->is_held || !ring_spsc_pop(&outlet->full, &item))
        return NULL;
    outlet->is_held = item == SEAL;
    return outlet->is_held ? NULL : (struct outlet_block *)(uintptr_t)item;
}

void outlet_done(struct outlet *outlet, struct outlet_block *block)
{
    lf_store(&outlet->taken, lf_load(&outlet->taken, relaxed) + block->used, relaxed);
    ring_spsc_push(&outlet->empty, (uintptr_t)block);
}

static void end_file(struct outlet *outlet)
{
    if (outlet->file && !outlet->is_shared)
        files_finish(outlet->file);
    outlet->file = NULL;
}

static int write_block(struct outlet *outlet, const struct outlet_block *block)
{
    int error = 0;
    if (block->name[0]) {
        end_file(outlet);
        outlet->file = files_open(outlet->files, block->name, outlet->is_shared, &error);
    }
    if (!error && block->used)
        error = files_append(outlet->files, outlet->file, (struct slice){block->bytes, block->used});
    outlet->has_failed = error;
    if (!error && block->ends)
        end_file(outlet);
    return error;
}

int outlet_write(struct outlet *outlet)
{
    struct outlet_block *block = outlet_next(outlet);
    if (!block)
        return 0;
    int error = outlet->has_failed ? 0 : write_block(outlet, block);
    outlet_done(outlet, block);
    return error ? error : 1;
}

int outlet_drain(struct outlet *outlet)
{
    int first_error = 0, result;
    while ((result = outlet_write(outlet)) != 0)
        if (result < 0 && !first_error)
            first_error = result;
    return first_error;
}

void outlet_release(struct outlet *outlet)
{
    outlet->is_held = false;
}

int outlet_finish(struct outlet *outlet)
{
    int first_error = 0;
    do {
        outlet_release(outlet);
        int error = outlet_drain(outlet);
        first_error = first_error ? first_error : error;
    } while (outlet->is_held);
    if (!outlet->has_failed)
        end_file(outlet);
    outlet->file = NULL;
    return first_error;
}
