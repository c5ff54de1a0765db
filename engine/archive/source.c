#include "engine/archive/source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/archive/limits.h"

static int64_t read_file(void *owner, uint64_t offset, struct source_room room)
{
    struct source *source = owner;
    ssize_t got;
    do
        got = pread(source->fd, room.bytes, room.size, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

static int64_t read_memory(void *owner, uint64_t offset, struct source_room room)
{
    struct source *source = owner;
    if (offset >= source->memory.len)
        return 0;
    size_t left = source->memory.len - offset, len = left < room.size ? left : room.size;
    memcpy(room.bytes, source->memory.ptr + offset, len);
    return (int64_t)len;
}

static bool take_buffer(struct source *source, struct archive_error *error)
{
    source->buffer = malloc(SOURCE_BLOCK_BYTES);
    source->owner = source;
    return source->buffer || archive_error_of_call(error, ENOMEM, "read", source->name);
}

bool source_open(struct source *source, const char *path, struct archive_error *error)
{
    struct stat status;
    *source = (struct source){.name = path, .read = read_file, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (source->fd < 0)
        return archive_error_of_call(error, errno, "open", path);
    if (fstat(source->fd, &status) == 0 && S_ISDIR(status.st_mode))
        archive_error_of_call(error, EISDIR, "read", path);
    else if (take_buffer(source, error))
        return true;
    source_fini(source);
    return false;
}

bool source_init_memory(struct source *source, struct slice bytes, struct archive_error *error)
{
    *source = (struct source){.name = "memory", .read = read_memory, .fd = -1, .memory = bytes};
    return take_buffer(source, error);
}

void source_fini(struct source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    free(source->buffer);
    *source = (struct source){.fd = -1};
}

/* Brings what is at hand from `offset` on to the front of the buffer. */
static void move_to(struct source *source, uint64_t offset)
{
    bool is_inside = offset >= source->offset && offset - source->offset <= source->held;
    size_t skipped = is_inside ? (size_t)(offset - source->offset) : source->held;
    source->held -= skipped;
    memmove(source->buffer, source->buffer + skipped, source->held);
    source->offset = offset;
}

struct slice source_bytes(struct source *source, uint64_t offset, size_t want, struct archive_error *error)
{
    assert(want <= SOURCE_BLOCK_BYTES);
    bool is_inside = offset >= source->offset && offset - source->offset <= source->held;
    size_t skipped = is_inside ? (size_t)(offset - source->offset) : 0;
    if (is_inside && source->held - skipped >= want)
        return (struct slice){source->buffer + skipped, source->held - skipped};
    if (offset > INT64_MAX - SOURCE_BLOCK_BYTES)
        return (struct slice){source->buffer, 0}; /* no file is as long */
    move_to(source, offset);
    while (source->held < want) {
        struct source_room room = {source->buffer + source->held, SOURCE_BLOCK_BYTES - source->held};
        int64_t got = source->read(source->owner, offset + source->held, room);
        if (got < 0) {
            archive_error_of_call(error, (int)got, "read", source->name);
            return (struct slice){source->buffer, 0};
        }
        if (got == 0)
            break;
        source->held += (size_t)got;
        source->bytes_read += (uint64_t)got;
    }
    return (struct slice){source->buffer, source->held};
}

uint64_t source_size(const struct source *source)
{
    struct stat status;
    if (source->fd < 0)
        return source->memory.len;
    return fstat(source->fd, &status) == 0 && status.st_size > 0 ? (uint64_t)status.st_size : 0;
}
