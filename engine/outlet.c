#include "engine/outlet.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/power.h"
#include "lockfree/atomic.h"

int outlet_init(struct outlet *outlet, const char *directory, size_t bytes)
{
    size_t count = bytes / sizeof(struct outlet_block) < 2 ? 2 : bytes / sizeof(struct outlet_block);
    size_t capacity = power_of_two(count), ring_bytes = (ring_spsc_bytes(capacity) + 127) / 128 * 128;
    *outlet = (struct outlet){.count = count, .directory = directory, .fd = -1};
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

void outlet_fini(struct outlet *outlet)
{
    free(outlet->blocks);
    free(outlet->ring_memory);
}

size_t outlet_room(struct outlet *outlet)
{
    size_t here = outlet->current ? OUTLET_BLOCK_BYTES - outlet->current->used : 0;
    return here + ring_spsc_count(&outlet->empty) * (size_t)OUTLET_BLOCK_BYTES;
}

void outlet_flush(struct outlet *outlet)
{
    if (!outlet->current)
        return;
    /* Hand-over: the block is the housekeeper's. There is room: the ring holds all blocks there are. */
    ring_spsc_push(&outlet->full, (uintptr_t)outlet->current);
    outlet->current = NULL;
}

/* A block with free bytes, or NULL. */
static struct outlet_block *block_with_room(struct outlet *outlet)
{
    uint64_t item;
    if (outlet->current && outlet->current->used == OUTLET_BLOCK_BYTES)
        outlet_flush(outlet);
    if (!outlet->current && ring_spsc_pop(&outlet->empty, &item)) {
        outlet->current = (struct outlet_block *)(uintptr_t)item;
        outlet->current->used = outlet->current->mark = 0;
        outlet->current->name[0] = '\0';
    }
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

void outlet_mark(struct outlet *outlet)
{
    if (outlet->current)
        outlet->current->mark = outlet->current->used;
}

bool outlet_open(struct outlet *outlet, const char *name)
{
    if (outlet->current && outlet->current->used == 0)
        outlet->current->name[0] = '\0';
    else if (ring_spsc_count(&outlet->empty) == 0)
        return false;
    else
        outlet_flush(outlet);
    struct outlet_block *block = block_with_room(outlet);
    snprintf(block->name, sizeof block->name, "%s", name);
    return true;
}

static void path_of(const struct outlet *outlet, char *path, size_t bytes, const char *suffix)
{
    snprintf(path, bytes, "%s/%s%s", outlet->directory, outlet->name, suffix);
}

/* The file is as long as it will get. */
static int close_file(struct outlet *outlet)
{
    char before[1024], after[1024];
    int error = 0;
    if (outlet->fd < 0)
        return 0;
    if (close(outlet->fd) != 0)
        error = -errno;
    outlet->fd = -1;
    path_of(outlet, before, sizeof before, ".open");
    path_of(outlet, after, sizeof after, "");
    if (!outlet->appends && rename(before, after) != 0 && !error)
        error = -errno;
    return error;
}

static int open_file(struct outlet *outlet, const char *name)
{
    char path[1024];
    int error = close_file(outlet);
    if (error)
        return error;
    snprintf(outlet->name, sizeof outlet->name, "%s", name);
    path_of(outlet, path, sizeof path, outlet->appends ? "" : ".open");
    int how = outlet->appends ? O_APPEND : O_EXCL;
    outlet->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | how, 0644);
    outlet->size = outlet->marked = 0;
    return outlet->fd < 0 ? -errno : 0;
}

static int write_all(struct outlet *outlet, struct slice bytes)
{
    while (bytes.len) {
        ssize_t written = write(outlet->fd, bytes.ptr, bytes.len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        bytes = slice_skip(bytes, (size_t)written);
    }
    return 0;
}

static int write_block(struct outlet *outlet, struct outlet_block *block)
{
    int error = block->name[0] ? open_file(outlet, block->name) : 0;
    if (error || outlet->fd < 0)
        return error;
    error = write_all(outlet, (struct slice){block->bytes, block->used});
    if (error) {
        /* A file of appended lines is shared with others: there only the last line may be cut. */
        if (!outlet->appends && ftruncate(outlet->fd, (off_t)outlet->marked) != 0)
            perror("lycosa: ftruncate");
        close_file(outlet);
        char path[1024];
        path_of(outlet, path, sizeof path, "");
        if (!outlet->appends && outlet->marked == 0)
            unlink(path); /* not one record is whole */
        return error;
    }
    if (block->mark)
        outlet->marked = outlet->size + block->mark;
    outlet->size += block->used;
    return 0;
}

int outlet_drain(struct outlet *outlet)
{
    uint64_t item;
    int first_error = 0;
    while (ring_spsc_pop(&outlet->full, &item)) {
        struct outlet_block *block = (struct outlet_block *)(uintptr_t)item;
        int error = write_block(outlet, block);
        first_error = first_error ? first_error : error;
        ring_spsc_push(&outlet->empty, item);
    }
    return first_error;
}

int outlet_finish(struct outlet *outlet)
{
    int error = outlet_drain(outlet);
    int closing = close_file(outlet);
    return error ? error : closing;
}
