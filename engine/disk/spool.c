/* Why records come out in the order in which they went in. Blocks leave the loop in order through `full`. The housekeeper
 * hands a block straight on only if none is on disk; otherwise it goes behind those that are. Blocks that are read back
 * go through `loaded` in the order of their places, and none is handed straight on before the last of them was. */
#include "engine/disk/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 16, BLOCKS = SPOOL_BLOCKS_FILLED + SPOOL_BLOCKS_LOADED };
_Static_assert(BLOCKS <= RING, "every ring holds every block");

/* Before each record. */
typedef uint32_t record_length;

int spool_init(struct spool *spool, const struct disk *disk, const char *prefix)
{
    size_t ring_bytes = (ring_spsc_bytes(RING) + 127) / 128 * 128;
    struct ring_spsc *rings[] = {&spool->full, &spool->empty, &spool->loaded, &spool->drained};
    *spool = (struct spool){.disk = disk, .write_fd = -1, .read_fd = -1};
    snprintf(spool->prefix, sizeof spool->prefix, "%s", prefix);
    spool->blocks = malloc(BLOCKS * sizeof *spool->blocks);
    spool->ring_memory = aligned_alloc(128, 4 * ring_bytes);
    if (!spool->blocks || !spool->ring_memory) {
        spool_fini(spool);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < 4; i++)
        ring_spsc_init(rings[i], (char *)spool->ring_memory + i * ring_bytes, RING);
    for (unsigned i = 0; i < BLOCKS; i++)
        ring_spsc_push(i < SPOOL_BLOCKS_FILLED ? &spool->empty : &spool->drained,
                       (uintptr_t)&spool->blocks[i]);
    return 0;
}

static void segment_path(const struct spool *spool, uint64_t segment, char *path)
{
    snprintf(path, SPOOL_PATH_BYTES + 32, "%s-%06llu", spool->prefix, (unsigned long long)segment + 1);
}

static void close_fd(const struct spool *spool, int *fd)
{
    if (*fd >= 0)
        spool->disk->close(spool->disk->owner, *fd);
    *fd = -1;
}

/* May be called again, and for one that could not be set up. */
void spool_fini(struct spool *spool)
{
    char path[SPOOL_PATH_BYTES + 32];
    if (spool->disk && spool->written) /* a segment is there until its last block was read */
        for (uint64_t segment = spool->read / SPOOL_SEGMENT_BLOCKS;
             segment <= (spool->written - 1) / SPOOL_SEGMENT_BLOCKS; segment++) {
            segment_path(spool, segment, path);
            spool->disk->unlink(spool->disk->owner, path);
        }
    if (spool->disk) {
        close_fd(spool, &spool->write_fd);
        close_fd(spool, &spool->read_fd);
    }
    free(spool->blocks);
    free(spool->ring_memory);
    spool->blocks = NULL;
    spool->ring_memory = NULL;
    spool->written = spool->read = 0;
}

/* The loop's side. */

static struct spool_block *pop_block(struct ring_spsc *ring)
{
    uint64_t item;
    return ring_spsc_pop(ring, &item) ? (struct spool_block *)(uintptr_t)item : NULL;
}

bool spool_has_room(struct spool *spool, size_t bytes)
{
    /* What is left of a block may be too short for a record. */
    return ring_spsc_count(&spool->empty) * (SPOOL_BLOCK_BYTES - SPOOL_RECORD_BYTES_MAX) >= bytes;
}

static void hand_over(struct spool *spool)
{
    /* Hand-over: the block is the housekeeper's. There is room: the ring holds all blocks. */
    ring_spsc_push(&spool->full, (uintptr_t)spool->filling);
    spool->filling = NULL;
}

void spool_push(struct spool *spool, struct slice record)
{
    record_length len = (record_length)record.len;
    assert(record.len + sizeof len <= SPOOL_RECORD_BYTES_MAX);
    if (spool->filling && SPOOL_BLOCK_BYTES - spool->filling->used < record.len + sizeof len)
        hand_over(spool);
    if (!spool->filling) {
        spool->filling = pop_block(&spool->empty);
        assert(spool->filling);
        spool->filling->used = 0;
    }
    char *space = spool->filling->bytes + spool->filling->used;
    memcpy(space, &len, sizeof len);
    memcpy(space + sizeof len, record.ptr, record.len);
    spool->filling->used += (uint32_t)(record.len + sizeof len);
    lf_store(&spool->count, spool_count(spool) + 1, relaxed); /* only the loop writes it */
}

bool spool_front(struct spool *spool, struct slice *record)
{
    record_length len;
    if (spool->emptying && spool->emptied == spool->emptying->used) {
        ring_spsc_push(&spool->drained, (uintptr_t)spool->emptying); /* hand-over back */
        spool->emptying = NULL;
    }
    if (!spool->emptying) {
        spool->emptying = pop_block(&spool->loaded);
        spool->emptied = 0;
        if (!spool->emptying) {
            /* What is left may be in the block at hand: the housekeeper sends it back if nothing is before it. */
            if (spool->filling && ring_spsc_count(&spool->full) == 0)
                hand_over(spool);
            return false;
        }
    }
    const char *at = spool->emptying->bytes + spool->emptied;
    memcpy(&len, at, sizeof len);
    *record = (struct slice){at + sizeof len, len};
    return true;
}

void spool_pop(struct spool *spool)
{
    record_length len;
    memcpy(&len, spool->emptying->bytes + spool->emptied, sizeof len);
    spool->emptied += (uint32_t)(len + sizeof len);
    lf_store(&spool->count, spool_count(spool) - 1, relaxed);
}

/* The housekeeper's side. */

static int open_segment(struct spool *spool, uint64_t block, bool writes)
{
    char path[SPOOL_PATH_BYTES + 32];
    int *fd = writes ? &spool->write_fd : &spool->read_fd;
    if (*fd >= 0 && block % SPOOL_SEGMENT_BLOCKS)
        return 0;
    close_fd(spool, fd);
    segment_path(spool, block / SPOOL_SEGMENT_BLOCKS, path);
    *fd = spool->disk->open(spool->disk->owner, path,
                            writes ? O_WRONLY | O_CREAT | O_TRUNC | O_APPEND : O_RDONLY);
    return *fd < 0 ? *fd : 0;
}

static int write_block(struct spool *spool, struct spool_block *block)
{
    size_t written;
    memset(block->bytes + block->used, 0, SPOOL_BLOCK_BYTES - block->used); /* places are fixed */
    int error = open_segment(spool, spool->written, true);
    if (!error)
        error = disk_write_all(spool->disk, spool->write_fd, (struct slice){(char *)block, sizeof *block},
                               &written);
    if (error)
        return error;
    spool->written++;
    lf_store(&spool->bytes, (spool->written - spool->read) * sizeof *block, relaxed);
    return 0;
}

static int read_block(struct spool *spool, struct spool_block *block)
{
    uint64_t offset = spool->read % SPOOL_SEGMENT_BLOCKS * sizeof *block;
    int error = open_segment(spool, spool->read, false);
    if (error)
        return error;
    int64_t got =
        disk_read_all(spool->disk, spool->read_fd, offset, (struct disk_room){(char *)block, sizeof *block});
    if (got < 0)
        return (int)got;
    if (got < (int64_t)sizeof *block || block->used > SPOOL_BLOCK_BYTES)
        return -EIO;
    spool->read++;
    lf_store(&spool->bytes, (spool->written - spool->read) * sizeof *block, relaxed);
    if (spool->read % SPOOL_SEGMENT_BLOCKS)
        return 0;
    char path[SPOOL_PATH_BYTES + 32];
    close_fd(spool, &spool->read_fd);
    segment_path(spool, spool->read / SPOOL_SEGMENT_BLOCKS - 1, path);
    return spool->disk->unlink(spool->disk->owner, path);
}

/* A block that is full: straight back if nothing is before it, else to the disk. */
static int pass_on(struct spool *spool, struct spool_block *block)
{
    struct spool_block *spare = spool->written == spool->read ? pop_block(&spool->drained) : NULL;
    if (spare) {
        /* The two blocks swap their parts, so each direction keeps its number of blocks. */
        ring_spsc_push(&spool->loaded, (uintptr_t)block);
        ring_spsc_push(&spool->empty, (uintptr_t)spare);
        return 0;
    }
    int error = write_block(spool, block);
    if (!error)
        ring_spsc_push(&spool->empty, (uintptr_t)block);
    return error;
}

int spool_serve(struct spool *spool)
{
    struct spool_block *block;
    int error = 0;
    while (!error && spool->read < spool->written && (block = pop_block(&spool->drained))) {
        error = read_block(spool, block);
        if (!error)
            ring_spsc_push(&spool->loaded, (uintptr_t)block);
    }
    while (!error && (block = pop_block(&spool->full)))
        error = pass_on(spool, block);
    return error;
}
