#include "engine/sieve/sieve_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <isa-l.h>
#include <stddef.h>
#include <string.h>

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

void sieve_writer_begin(struct sieve_writer *writer, const struct sieve_file *file, struct sieve_index *index)
{
    *writer = (struct sieve_writer){.file = *file, .index = index, .block = file->buffer};
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
    if (writer->number % writer->index->stride == 0)
        writer->index->words[writer->number / writer->index->stride] = block->words[0];
    memset(block->words + writer->used, 0, (SIEVE_FILE_WORDS - writer->used) * sizeof *block->words);
    block->count = writer->used;
    block->checksum = checksum_of(block, writer->number++);
    writer->used = 0;
    if (++writer->block == writer->file.buffer + SIEVE_FILE_BUFFER_BLOCKS)
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

/* Blocks from `first` on, to the buffer. */
static bool read_blocks(const struct sieve_file *file, int fd, uint64_t first, uint64_t count)
{
    struct disk_room room = {(char *)file->buffer, count * sizeof *file->buffer};
    uint64_t offset = first * sizeof *file->buffer;
    int64_t got = disk_read_all(file->disk, fd, offset, room);
    if (got < 0)
        sieve_error_of_call(file->error, (int)got, "read", file->path);
    else if ((size_t)got < room.size)
        sieve_error_set(file->error, -EBADMSG, "%s: ends at offset %" PRIu64 ", in the middle", file->path,
                        offset + (uint64_t)got);
    return !file->error->code;
}

/* `left` words of the file are in this block or behind it. */
static bool check_block(const struct sieve_file *file, const struct sieve_block *block, uint64_t number,
                        uint64_t left)
{
    uint32_t expected = left < SIEVE_FILE_WORDS ? (uint32_t)left : SIEVE_FILE_WORDS;
    if (block->count == expected && block->checksum == checksum_of(block, number))
        return true;
    sieve_error_set(file->error, -EBADMSG, "%s: damaged, the block at offset %" PRIu64 " is not as written",
                    file->path, number * sizeof *block);
    return false;
}

static bool fill_buffer(struct sieve_reader *reader)
{
    uint64_t blocks = sieve_file_blocks(reader->left);
    reader->buffered = blocks < SIEVE_FILE_BUFFER_BLOCKS ? (uint32_t)blocks : SIEVE_FILE_BUFFER_BLOCKS;
    reader->taken = 0;
    return read_blocks(&reader->file, reader->fd, reader->number, reader->buffered);
}

bool sieve_reader_more(struct sieve_reader *reader)
{
    struct sieve_file *file = &reader->file;
    if (reader->left == 0 || file->error->code)
        return false;
    if (reader->taken == reader->buffered && !fill_buffer(reader))
        return false;
    const struct sieve_block *block = &file->buffer[reader->taken++];
    if (!check_block(file, block, reader->number, reader->left))
        return false;
    reader->at = block->words;
    reader->end = block->words + block->count;
    reader->left -= block->count;
    reader->number++;
    return true;
}

void sieve_reader_finish(struct sieve_reader *reader)
{
    if (reader->fd >= 0)
        reader->file.disk->close(reader->file.disk->owner, reader->fd);
    reader->fd = -1;
}

void sieve_picker_begin(struct sieve_picker *picker, const struct sieve_file *file, uint64_t words)
{
    *picker = (struct sieve_picker){.file = *file, .words = words};
    picker->fd = open_direct(file, O_RDONLY);
    if (picker->fd < 0)
        sieve_error_of_call(file->error, picker->fd, "open", file->path);
}

static bool pick(struct sieve_picker *picker, uint64_t number, uint64_t end)
{
    uint64_t blocks = sieve_file_blocks(picker->words);
    end = end < blocks ? end : blocks;
    picker->first = picker->checked = number;
    picker->buffered = end - number < SIEVE_FILE_BUFFER_BLOCKS ? end - number : SIEVE_FILE_BUFFER_BLOCKS;
    return read_blocks(&picker->file, picker->fd, number, picker->buffered);
}

const struct sieve_block *sieve_picker_get(struct sieve_picker *picker, uint64_t number, uint64_t end)
{
    struct sieve_file *file = &picker->file;
    if (file->error->code)
        return NULL;
    if (!sieve_picker_holds(picker, number) && !pick(picker, number, end))
        return NULL;
    const struct sieve_block *block = &file->buffer[number - picker->first];
    if (number >= picker->checked &&
        !check_block(file, block, number, picker->words - number * SIEVE_FILE_WORDS))
        return NULL;
    picker->checked = number + 1;
    return block;
}

void sieve_picker_finish(struct sieve_picker *picker)
{
    if (picker->fd >= 0)
        picker->file.disk->close(picker->file.disk->owner, picker->fd);
    picker->fd = -1;
}
