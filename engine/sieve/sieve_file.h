/* Files of 64-bit words that are written once, from the first to the last, and read the same way or block by block, past the
 * page cache (O_DIRECT) where the file system lets us: a buffered gigabyte costs eight times the processor time, and the
 * page cache is better used by others.
 *
 * A file is a sequence of blocks with a checksum each, and all blocks but the last are full.
 *
 * Errors are kept: a writer that failed ignores what follows, a reader that failed finds no more words, and the
 * caller looks at the error at the end. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "engine/sieve/limits.h"
#include "engine/sieve/sieve_error.h"

enum {
    SIEVE_FILE_WORDS = SIEVE_FILE_BLOCK_BYTES / 8 - 1,
    SIEVE_FILE_BUFFER_BLOCKS = SIEVE_FILE_BUFFER_BYTES / SIEVE_FILE_BLOCK_BYTES,
    SIEVE_FILE_PATH_BYTES = 1100,
};

struct sieve_block {
    uint64_t words[SIEVE_FILE_WORDS];
    uint32_t count; /* words in use */
    uint32_t
        checksum; /* CRC-32C of the words and the count, and before them of the block's number as 64 bits */
};

static inline uint64_t sieve_file_blocks(uint64_t words)
{
    return (words + SIEVE_FILE_WORDS - 1) / SIEVE_FILE_WORDS;
}

/* What both ends need. The buffer has SIEVE_FILE_BUFFER_BYTES, aligned to SIEVE_FILE_BLOCK_BYTES. */
struct sieve_file {
    const struct disk *disk;
    const char *path; /* outlives the file's use */
    struct sieve_block *buffer;
    struct sieve_error *error;
};

/* The first word of every `stride` blocks: where to look in a file of sorted words. */
struct sieve_index {
    uint64_t *words;
    size_t max;
    uint64_t stride;
};

struct sieve_writer {
    struct sieve_file file;
    struct sieve_index *index;
    int fd;
    struct sieve_block *block; /* in the buffer */
    uint32_t used;             /* words of it */
    uint64_t number;           /* of the block, in the file */
};

/* A new file, or an empty one in the place of an old one. The index has room for all blocks that will be written, by its
 * stride. */
void sieve_writer_begin(struct sieve_writer *writer, const struct sieve_file *file,
                        struct sieve_index *index);
/* Writes the block, which is full or the last one. */
void sieve_writer_next_block(struct sieve_writer *writer);
/* Writes the rest and closes. 0, or the first error of all that was done. */
int sieve_writer_finish(struct sieve_writer *writer);

static inline void sieve_writer_put(struct sieve_writer *writer, uint64_t word)
{
    writer->block->words[writer->used++] = word;
    if (writer->used == SIEVE_FILE_WORDS)
        sieve_writer_next_block(writer);
}

struct sieve_reader {
    struct sieve_file file;
    int fd;
    const uint64_t *at, *end; /* words that are at hand */
    uint64_t left;            /* words that follow them */
    uint64_t number;          /* of the next block, in the file */
    uint32_t buffered, taken; /* blocks */
};

/* `words` is how many words the file has. With 0 the file is not touched. */
void sieve_reader_begin(struct sieve_reader *reader, const struct sieve_file *file, uint64_t words);
/* The next words are at hand; false: there are none. Only when at == end. */
bool sieve_reader_more(struct sieve_reader *reader);
void sieve_reader_finish(struct sieve_reader *reader);

static inline bool sieve_reader_next(struct sieve_reader *reader, uint64_t *word)
{
    if (reader->at == reader->end && !sieve_reader_more(reader))
        return false;
    *word = *reader->at++;
    return true;
}

/* Reads blocks anywhere, in increasing order. */
struct sieve_picker {
    struct sieve_file file;
    int fd;
    uint64_t words;           /* of the file */
    uint64_t first, buffered; /* blocks that are in the buffer */
    uint64_t checked;         /* those before it are known to be good, or not wanted */
};

void sieve_picker_begin(struct sieve_picker *picker, const struct sieve_file *file, uint64_t words);
/* The block, with its count of words. If it has to be read, those behind it are, too, up to `end` or as many as fit. NULL:
 * the file's error says why. */
const struct sieve_block *sieve_picker_get(struct sieve_picker *picker, uint64_t number, uint64_t end);
/* Whether it is in the buffer. */
static inline bool sieve_picker_holds(const struct sieve_picker *picker, uint64_t number)
{
    return number < picker->first + picker->buffered;
}
void sieve_picker_finish(struct sieve_picker *picker);
