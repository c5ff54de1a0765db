/* Loaded before a program (LD_PRELOAD): one allocation of it fails, or all from one on.
 *
 *   MEMORY_FAILS_AT     the number of the allocation that fails; the first is 1
 *   MEMORY_FAILS_FROM   the number of the first of those that fail
 *   MEMORY_COUNT_FILE   where the number of allocations is written at the end
 *
 * Anonymous mappings are allocations, too. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library's own names for what is interposed here. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_uint_least64_t count;
static uint64_t fails_at, fails_from;

__attribute__((constructor)) static void read_settings(void)
{
    const char *at = getenv("MEMORY_FAILS_AT"), *from = getenv("MEMORY_FAILS_FROM");
    fails_at = at ? strtoull(at, NULL, 10) : 0;
    fails_from = from ? strtoull(from, NULL, 10) : UINT64_MAX;
    atomic_store(&count, 0);
}

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("MEMORY_COUNT_FILE");
    uint64_t allocations = atomic_load(&count);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%llu\n", (unsigned long long)allocations);
        fclose(file);
    }
}

static int fails(void)
{
    uint64_t number = atomic_fetch_add(&count, 1) + 1;
    if (number != fails_at && (fails_from == 0 || number < fails_from))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t members, size_t size)
{
    return fails() ? NULL : __libc_calloc(members, size);
}

void *realloc(void *memory, size_t size)
{
    return size && fails() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = fails() ? NULL : __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

void *mmap(void *address, size_t len, int protection, int flags, int fd, off_t offset)
{
    if (flags & MAP_ANONYMOUS && fails())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, len, protection, flags, fd, offset);
}
