#include "engine/sieve/sieve_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <isa-l.h>
#include <stddef.h>
#include <string.h>

enum { BUFFER_BLOCKS = SIEVE_FILE_BUFFER_BYTES / SIEVE_FILE_BLOCK_BYTES };

_Static_assert(sizeof(struct sieve_block) == SIEVE_FILE_BLOCK_BYTES, "blocks lie one behind another");

static uint32_t checksum_of(const struct sieve_block *block, uint64_t number)
{
    unsigned crc = crc32_iscsi((unsigned char *)&number, sizeof number, ~0u);
    return ~crc32_iscsi((unsigned char *)(uintptr_t)block, offsetof(struct sieve_block, checksum), crc);
}

/* Some file systems know no O_DIRECT and refuse it. */
static int open_direct(const struct sieve_file *file, int flags)
{
    const struct disk *disk = file->disk;
    int fd = disk->open(disk->owner, file->path, flags | O_DIRECT);
    return fd == -EINVAL ? disk->open(disk->owner, file->path, flags) : fd;
}

void sieve_writer_begin(struct sieve_writer *writer, const struct sieve_file *file)
{
    *writer = (struct sieve_writer){.file = *file, .block = file->buffer};
    writer->fd = open_direct(file, O_WRONLY | O_CREAT | O_TRUNC);
    if (writer->fd < 0)
        sieve_error_of_call(file->error, writer->fd, "create", file->path);
}

static void write_buffer(struct sieve_writer *writer)
{
    struct sieve_file *file = &writer->file;
    struct slice bytes = {(const char *)file->buffer,
                          (size_t)(writer->block - file->buffer) * sizeof *writer->block};
    size_t written;
    writer->block = file->buffer;
    if (file->error->code || bytes.len == 0)
        return;
    int error = disk_write_all(file->disk, writer->fd, bytes, &written);
    if (error)
        sieve_error_of_call(file->error, error, "write", file->path);
}

void sieve_writer_next_block(struct sieve_writer *writer)
{
    struct sieve_block *block = writer->block;
    memset(block->words + writer->used, 0, (SIEVE_FILE_WORDS - writer->used) * sizeof *block->words);
    block->count = writer->used;
    block->checksum = checksum_of(block, writer->number++);
    writer->used = 0;
    if (++writer->block == writer->file.buffer + BUFFER_BLOCKS)
        write_buffer(writer);
}

int sieve_writer_finish(struct sieve_writer *writer)
{
    struct sieve_file *file = &writer->file;
    const struct disk *disk = file->disk;
    if (writer->used > 0)
        sieve_writer_next_block(writer);
    write_buffer(writer);
    if (writer->fd < 0)
        return file->error->code;
    int error = disk->close(disk->owner, writer->fd);
    if (error)
        sieve_error_of_call(file->error, error, "close", file->path);
    return file->error->code;
}

void sieve_reader_begin(struct sieve_reader *reader, const struct sieve_file *file, uint64_t words)
{
    *reader = (struct sieve_reader){.file = *file, .fd = -1, .left = words};
    if (words == 0)
        return;
    reader->fd = open_direct(file, O_RDONLY);
    if (reader->fd < 0)
        sieve_error_of_call(file->error, reader->fd, "open", file->path);
}

static bool fill_buffer(struct sieve_reader *reader)
{
    struct sieve_file *file = &reader->file;
    uint64_t blocks = sieve_file_blocks(reader->left);
    reader->buffered = blocks < BUFFER_BLOCKS ? (uint32_t)blocks : BUFFER_BLOCKS;
    reader->taken = 0;
    struct disk_room room = {(char *)file->buffer, reader->buffered * sizeof *file->buffer};
    uint64_t offset = reader->number * sizeof *file->buffer;
    int64_t got = disk_read_all(file->disk, reader->fd, offset, room);
    if (got < 0)
        sieve_error_of_call(file->error, (int)got, "read", file->path);
    else if ((size_t)got < room.size)
        sieve_error_set(file->error, -EBADMSG, "%s: ends at offset %" PRIu64 ", in the middle", file->path,
                        offset + (uint64_t)got);
    return !file->error->code;
}

bool sieve_reader_more(struct sieve_reader *reader)
{
    struct sieve_file *file = &reader->file;
    if (reader->left == 0 || file->error->code)
        return false;
    if (reader->taken == reader->buffered && !fill_buffer(reader))
        return false;
    const struct sieve_block *block = &file->buffer[reader->taken++];
    uint32_t expected = reader->left < SIEVE_FILE_WORDS ? (uint32_t)reader->left : SIEVE_FILE_WORDS;
    if (block->count != expected || block->checksum != checksum_of(block, reader->number)) {
        sieve_error_set(file->error, -EBADMSG,
                        "%s: damaged, the block at offset %" PRIu64 " is not as written", file->path,
                        reader->number * sizeof *block);
        return false;
    }
    reader->at = block->words;
    reader->end = block->words + expected;
    reader->left -= expected;
    reader->number++;
    return true;
}

void sieve_reader_finish(struct sieve_reader *reader)
{
    if (reader->fd >= 0)
        reader->file.disk->close(reader->file.disk->owner, reader->fd);
    reader->fd = -1;
}
