/* The region is mapped one huge page longer than asked for, and the ends that stick out of the aligned part
 * are given back, because the kernel puts huge pages only at their own multiples. */
#include "lockfree/arena.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; older C libraries do not name it */
#endif

static char *map_aligned(size_t bytes)
{
    size_t span = bytes + HUGE_PAGE;
    char *map = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)map & (HUGE_PAGE - 1);
    if (before)
        munmap(map, before);
    if (before != HUGE_PAGE)
        munmap(map + before + bytes, span - before - bytes);
    return map + before;
}

int arena_init(struct arena *arena, const struct arena_options *options)
{
    assert(options->bytes > 0);
    if (options->bytes > SIZE_MAX - 2 * HUGE_PAGE)
        return -ENOMEM;
    size_t bytes = (options->bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    char *base = map_aligned(bytes);
    if (!base)
        return -errno;
    /* Advice: a kernel built without huge pages refuses it, and small pages serve. */
    madvise(base, bytes, options->small_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    if (options->populate && madvise(base, bytes, MADV_POPULATE_WRITE) != 0) {
        if (errno != EINVAL) {
            int error = errno;
            munmap(base, bytes);
            return -error;
        }
        memset(base, 0, bytes);
    }
    *arena = (struct arena){.base = base, .bytes = bytes};
    return 0;
}

void arena_fini(struct arena *arena)
{
    munmap(arena->base, arena->bytes);
    *arena = (struct arena){0};
}

void *arena_take(struct arena *arena, size_t bytes, size_t align)
{
    assert(align && !(align & (align - 1)) && align <= HUGE_PAGE);
    size_t start = (arena->used + align - 1) & ~(align - 1);
    if (start > arena->bytes || bytes > arena->bytes - start)
        return NULL;
    arena->used = start + bytes;
    return arena->base + start;
}

/* The kernel may have joined the region with a neighbour, or split it: all mappings that touch the region
 * count, each up to the size of the part inside. */
size_t arena_huge_bytes(const struct arena *arena)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    if (!file)
        return 0;
    uintptr_t low = (uintptr_t)arena->base, high = low + arena->bytes;
    size_t inside = 0, total = 0;
    char line[512];
    while (fgets(line, sizeof line, file)) {
        uintptr_t start, end;
        size_t kib;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &start, &end) == 2) {
            start = start < low ? low : start;
            end = end > high ? high : end;
            inside = start < end ? end - start : 0;
        } else if (inside && sscanf(line, "AnonHugePages: %zu kB", &kib) == 1) {
            total += kib * 1024 < inside ? kib * 1024 : inside;
        }
    }
    fclose(file);
    return total;
}
