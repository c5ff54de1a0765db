#include "engine/state/journal_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Several of the longest frames. */
enum { BUFFER_BYTES = 1 << 20, FRAME_BYTES_MAX = OUTLET_BLOCK_BYTES + sizeof(struct journal_frame) };

static int open_file(struct journal_reader *reader, unsigned number)
{
    char path[FILES_PATH_BYTES], name[32];
    journal_name(name, number);
    snprintf(path, sizeof path, "%s/%s", reader->directory, name);
    int fd = reader->disk->open(reader->disk->owner, path, O_RDONLY);
    if (fd < 0)
        return fd;
    if (reader->fd >= 0)
        reader->disk->close(reader->disk->owner, reader->fd);
    reader->fd = fd;
    reader->next = (struct journal_place){.number = number};
    reader->buffered = 0;
    reader->buffered_at = 0;
    return 0;
}

/* False: there is none, or `error` says what is wrong. A file that cannot be opened is not the end of the journal: what
 * comes after the end is removed. */
static bool open_next_file(struct journal_reader *reader)
{
    int error = reader->error ? reader->error : open_file(reader, reader->next.number + 1);
    reader->error = error == -ENOENT ? 0 : error;
    return error == 0;
}

int journal_reader_init(struct journal_reader *reader, const struct disk *disk, const char *directory,
                        unsigned number)
{
    *reader = (struct journal_reader){.disk = disk, .directory = directory, .fd = -1};
    reader->buffer = malloc(BUFFER_BYTES);
    if (!reader->buffer)
        return -ENOMEM;
    return open_file(reader, number);
}

void journal_reader_fini(struct journal_reader *reader)
{
    if (reader->fd >= 0)
        reader->disk->close(reader->disk->owner, reader->fd);
    free(reader->buffer);
    reader->buffer = NULL;
    reader->fd = -1;
}

/* Up to `bytes` from the next place on, in the buffer; fewer where the file ends. */
static struct slice peek(struct journal_reader *reader, size_t bytes)
{
    uint64_t at = reader->next.offset;
    bool is_there = at >= reader->buffered_at && at + bytes <= reader->buffered_at + reader->buffered;
    if (!is_there) {
        struct disk_room room = {reader->buffer, BUFFER_BYTES};
        int64_t got = disk_read_all(reader->disk, reader->fd, at, room);
        reader->buffered_at = at;
        reader->buffered = got > 0 ? (size_t)got : 0;
        reader->error = got < 0 ? (int)got : 0;
    }
    size_t skip = (size_t)(at - reader->buffered_at), left = reader->buffered - skip;
    return (struct slice){reader->buffer + skip, left < bytes ? left : bytes};
}

/* A whole frame at the next place. */
static bool read_frame(struct journal_reader *reader)
{
    struct slice head = peek(reader, sizeof reader->frame);
    if (head.len < sizeof reader->frame)
        return false;
    memcpy(&reader->frame, head.ptr, sizeof reader->frame);
    size_t bytes = sizeof reader->frame + reader->frame.bytes;
    if (reader->frame.magic != JOURNAL_MAGIC || reader->frame.bytes > FRAME_BYTES_MAX)
        return false;
    struct slice whole = peek(reader, bytes);
    if (whole.len < bytes)
        return false;
    reader->payload = slice_skip(whole, sizeof reader->frame);
    return journal_checksum(&reader->frame, reader->payload.ptr) == reader->frame.checksum;
}

enum journal_found journal_reader_next(struct journal_reader *reader)
{
    while (peek(reader, 1).len == 0)
        if (!open_next_file(reader))
            return reader->error ? JOURNAL_FOUND_TORN : JOURNAL_FOUND_END;
    if (!read_frame(reader))
        return JOURNAL_FOUND_TORN;
    reader->next.offset += sizeof reader->frame + reader->frame.bytes;
    return JOURNAL_FOUND_FRAME;
}

bool journal_reader_has_later(struct journal_reader *reader, unsigned kinds)
{
    const uint32_t magic = JOURNAL_MAGIC;
    for (;;) {
        reader->next.offset++;
        struct slice bytes = peek(reader, FRAME_BYTES_MAX);
        if (bytes.len < sizeof reader->frame) {
            if (!open_next_file(reader))
                return false;
            reader->next.offset--; /* the next step is to the first byte */
            continue;
        }
        const char *found = memmem(bytes.ptr, bytes.len, &magic, sizeof magic);
        if (!found) {
            reader->next.offset += bytes.len - sizeof magic;
            continue;
        }
        reader->next.offset += (uint64_t)(found - bytes.ptr);
        if (read_frame(reader) && reader->frame.kind < JOURNAL_KINDS && kinds >> reader->frame.kind & 1)
            return true;
    }
}

unsigned journal_number(const char *name)
{
    char *end;
    if (strncmp(name, "journal-", 8) != 0 || name[8] < '0' || name[8] > '9')
        return 0;
    unsigned long number = strtoul(name + 8, &end, 10);
    return *end == '\0' && number < UINT32_MAX ? (unsigned)number : 0;
}

static void note_name(void *argument, const char *name)
{
    struct journal_files *files = argument;
    unsigned number = journal_number(name);
    if (number && (!files->lowest || number < files->lowest))
        files->lowest = number;
    if (number > files->highest)
        files->highest = number;
}

/* 1: the file begins with BASE, which has no payload; 0: it does not, or there is no such file; or a negative errno. */
static int begins_with_base(const struct disk *disk, const char *directory, unsigned number)
{
    char path[FILES_PATH_BYTES], name[32];
    struct journal_frame frame;
    journal_name(name, number);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = disk->open(disk->owner, path, O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    int64_t got = disk_read_all(disk, fd, 0, (struct disk_room){(char *)&frame, sizeof frame});
    disk->close(disk->owner, fd);
    if (got < (int64_t)sizeof frame)
        return got < 0 ? (int)got : 0;
    return frame.magic == JOURNAL_MAGIC && frame.kind == JOURNAL_BASE && frame.bytes == 0 &&
           journal_checksum(&frame, "") == frame.checksum;
}

/* A base makes all files before it superfluous, so the last one counts. */
int journal_find(struct journal_files *files, const struct disk *disk, const char *directory)
{
    *files = (struct journal_files){0};
    int result = disk->list(disk->owner, directory, note_name, files);
    for (unsigned i = files->highest; i > 0 && i >= files->lowest && !result; i--) {
        result = begins_with_base(disk, directory, i);
        files->first = i;
    }
    files->has_base = result == 1;
    return result < 0 && result != -ENOENT ? result : 0;
}

bool journal_next_file(struct slice *rest, struct slice *name, uint64_t *length)
{
    uint16_t name_len;
    if (rest->len < 10)
        return false;
    memcpy(length, rest->ptr, 8);
    memcpy(&name_len, rest->ptr + 8, 2);
    if (rest->len - 10 < name_len)
        return false;
    *name = (struct slice){rest->ptr + 10, name_len};
    *rest = slice_skip(*rest, 10u + name_len);
    return true;
}
