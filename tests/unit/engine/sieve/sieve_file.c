#include "engine/sieve/sieve_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"

static char path[64];
static struct sieve_block *buffer;
static struct sieve_error error;
static struct sieve_file file;

static void begin(const struct disk *disk)
{
    snprintf(path, sizeof path, "/tmp/lycosa-sieve-file-XXXXXX");
    close(mkstemp(path));
    buffer = aligned_alloc(SIEVE_FILE_BLOCK_BYTES, SIEVE_FILE_BUFFER_BYTES);
    error = (struct sieve_error){0};
    file = (struct sieve_file){disk, path, buffer, &error};
}

static void finish(void)
{
    free(buffer);
    unlink(path);
}

static void write_words(uint64_t words)
{
    struct sieve_writer writer;
    sieve_writer_begin(&writer, &file);
    for (uint64_t i = 0; i < words; i++)
        sieve_writer_put(&writer, i * 3);
    CHECK_INT(sieve_writer_finish(&writer), 0);
}

/* How many words are as they were written. */
static uint64_t read_words(uint64_t words)
{
    struct sieve_reader reader;
    uint64_t word, read = 0;
    sieve_reader_begin(&reader, &file, words);
    while (sieve_reader_next(&reader, &word)) {
        CHECK(word == read * 3);
        read++;
    }
    sieve_reader_finish(&reader);
    return read;
}

TEST(what_is_written_is_read)
{
    static const uint64_t counts[] = {0,     1, SIEVE_FILE_WORDS - 1, SIEVE_FILE_WORDS, SIEVE_FILE_WORDS + 1,
                                      300000};
    for (unsigned i = 0; i < 6; i++) {
        begin(&disk_system);
        write_words(counts[i]);
        CHECK_INT(disk_system.size(NULL, path), sieve_file_blocks(counts[i]) * SIEVE_FILE_BLOCK_BYTES);
        CHECK_INT(read_words(counts[i]), counts[i]);
        CHECK_INT(error.code, 0);
        finish();
    }
}

static unsigned refused;

static int open_without_direct(void *owner, const char *name, int flags)
{
    refused += (flags & O_DIRECT) != 0;
    return flags & O_DIRECT ? -EINVAL : disk_system.open(owner, name, flags);
}

TEST(a_file_system_without_o_direct_will_do)
{
    struct disk disk = disk_system;
    disk.open = open_without_direct;
    refused = 0;
    begin(&disk);
    write_words(1000);
    CHECK_INT(read_words(1000), 1000);
    CHECK_INT(refused, 2);
    finish();
}

TEST(every_damaged_byte_is_found_where_it_is)
{
    begin(&disk_system);
    write_words(600);
    for (unsigned at = 0; at < 2 * SIEVE_FILE_BLOCK_BYTES; at += 1 + at % 7) {
        char byte, expected[160];
        int fd = open(path, O_RDWR);
        CHECK_INT(pread(fd, &byte, 1, at), 1);
        byte ^= 4;
        CHECK_INT(pwrite(fd, &byte, 1, at), 1);
        error = (struct sieve_error){0};
        bool is_second = at >= SIEVE_FILE_BLOCK_BYTES;
        CHECK_INT(read_words(600), is_second ? SIEVE_FILE_WORDS : 0);
        CHECK_INT(error.code, -EBADMSG);
        snprintf(expected, sizeof expected, "%s: damaged, the block at offset %d is not as written", path,
                 is_second ? SIEVE_FILE_BLOCK_BYTES : 0);
        CHECK_STR(error.text, expected);
        byte ^= 4;
        CHECK_INT(pwrite(fd, &byte, 1, at), 1);
        close(fd);
    }
    finish();
}

TEST(blocks_that_changed_places_are_found)
{
    static char blocks[2][SIEVE_FILE_BLOCK_BYTES];
    begin(&disk_system);
    write_words(SIEVE_FILE_WORDS * 2);
    int fd = open(path, O_RDWR);
    CHECK_INT(pread(fd, blocks, sizeof blocks, 0), sizeof blocks);
    CHECK_INT(pwrite(fd, blocks[1], sizeof blocks[1], 0), sizeof blocks[1]);
    CHECK_INT(pwrite(fd, blocks[0], sizeof blocks[0], sizeof blocks[0]), sizeof blocks[0]);
    close(fd);
    CHECK_INT(read_words(SIEVE_FILE_WORDS * 2), 0);
    CHECK_INT(error.code, -EBADMSG);
    finish();
}

TEST(a_file_that_was_cut_short_is_found)
{
    char expected[160];
    begin(&disk_system);
    write_words(2000);
    CHECK_INT(truncate(path, SIEVE_FILE_BLOCK_BYTES), 0);
    CHECK_INT(read_words(2000), 0);
    snprintf(expected, sizeof expected, "%s: ends at offset %d, in the middle", path, SIEVE_FILE_BLOCK_BYTES);
    CHECK_STR(error.text, expected);
    finish();
}

static int64_t write_to_a_full_disk(void *owner, int fd, struct slice bytes)
{
    (void)owner, (void)fd, (void)bytes;
    return -ENOSPC;
}

TEST(a_full_disk_is_told)
{
    struct disk disk = disk_system;
    char expected[160];
    struct sieve_writer writer;
    disk.write = write_to_a_full_disk;
    begin(&disk);
    sieve_writer_begin(&writer, &file);
    for (uint64_t i = 0; i < 1000000; i++)
        sieve_writer_put(&writer, i);
    CHECK_INT(sieve_writer_finish(&writer), -ENOSPC);
    snprintf(expected, sizeof expected, "%s: cannot write: No space left on device", path);
    CHECK_STR(error.text, expected);
    finish();
}
