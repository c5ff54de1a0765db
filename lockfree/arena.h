/* A region of memory taken from the system once and handed out piece by piece.
 *
 * The region is mapped at a 2 MiB boundary and the kernel is asked for huge pages: a random read from a
 * gigabyte of 4 KiB pages takes half as long again. Whether it gave them is only known once the memory has
 * been touched; arena_huge_bytes tells. Memory is zero when first taken, and occupies nothing until touched.
 *
 * Not shared: one thread takes pieces; the pieces may then go anywhere. All live until arena_fini. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena {
    char *base;
    size_t bytes; /* size of the region, a multiple of the huge page size */
    size_t used;
};

struct arena_options {
    size_t bytes;     /* rounded up to whole huge pages */
    bool small_pages; /* ask for 4 KiB pages instead, for comparison */
    bool populate;    /* touch everything now, rather than at first use */
};

/* 0, or a negative errno: -ENOMEM when the system has no such region (or, with populate, not the memory). */
int arena_init(struct arena *arena, const struct arena_options *options);
void arena_fini(struct arena *arena);

/* `bytes` of zeroed memory at a multiple of `align` (a power of two up to 2 MiB), or NULL when the rest of
 * the region is too small. */
void *arena_take(struct arena *arena, size_t bytes, size_t align);

/* How much of the region is in huge pages at the moment, as the kernel accounts for it. Reads /proc: slow.
 * 0 where that is not to be had. */
size_t arena_huge_bytes(const struct arena *arena);
