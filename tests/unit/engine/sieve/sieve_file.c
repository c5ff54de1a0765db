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
static uint64_t index_words[1000];
static struct sieve_index file_index;

static void begin(const struct disk *disk)
{
    snprintf(path, sizeof path, "/tmp/lycosa-sieve-file-XXXXXX");
    close(mkstemp(path));
    buffer = aligned_alloc(SIEVE_FILE_BLOCK_BYTES, SIEVE_FILE_BUFFER_BYTES);
    error = (struct sieve_error){0};
    file = (struct sieve_file){disk, path, buffer, &error};
    file_index = (struct sieve_index){index_words, 1000, 3};
}

static void finish(void)
{
    free(buffer);
    unlink(path);
}

static void write_words(uint64_t words)
{
    struct sieve_writer writer;
    sieve_writer_begin(&writer, &file, &file_index);
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
    sieve_writer_begin(&writer, &file, &file_index);
    for (uint64_t i = 0; i < 400000; i++)
        sieve_writer_put(&writer, i);
    CHECK_INT(sieve_writer_finish(&writer), -ENOSPC);
    snprintf(expected, sizeof expected, "%s: cannot write: No space left on device", path);
    CHECK_STR(error.text, expected);
    finish();
}

TEST(the_index_has_the_first_word_of_every_third_block)
{
    begin(&disk_system);
    write_words(100 * SIEVE_FILE_WORDS + 1);
    for (uint64_t i = 0; i < 34; i++)
        CHECK_INT(index_words[i], i * 3 * SIEVE_FILE_WORDS * 3);
    finish();
}

static unsigned reads;
static uint64_t bytes_read;

static int64_t count_reads(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    reads++;
    bytes_read += room.size;
    return disk_system.read(owner, fd, offset, room);
}

/* Blocks that are wanted, and as many behind them as the caller says. */
TEST(blocks_are_picked)
{
    enum { BLOCKS = 700 };
    static const struct {
        uint64_t number, end;
        unsigned reads;
    } picks[] = {{0, 1, 1},     {0, 1, 1},     {1, 4, 2},       {3, 4, 2},    {5, 10000, 3},
                 {200, 201, 3}, {260, 261, 3}, {261, 10000, 4}, {699, 700, 5}};
    struct disk disk = disk_system;
    struct sieve_picker picker;
    disk.read = count_reads;
    reads = 0, bytes_read = 0;
    begin(&disk);
    write_words(BLOCKS * SIEVE_FILE_WORDS - 10);
    sieve_picker_begin(&picker, &file, BLOCKS * SIEVE_FILE_WORDS - 10);
    for (unsigned i = 0; i < sizeof picks / sizeof *picks; i++) {
        const struct sieve_block *block = sieve_picker_get(&picker, picks[i].number, picks[i].end);
        CHECK(block && block->words[0] == picks[i].number * SIEVE_FILE_WORDS * 3);
        CHECK_INT(block->count, picks[i].number == BLOCKS - 1 ? SIEVE_FILE_WORDS - 10 : SIEVE_FILE_WORDS);
        CHECK_INT(reads, picks[i].reads);
    }
    CHECK_INT(bytes_read, (1 + 3 + 256 + 256 + 1) * SIEVE_FILE_BLOCK_BYTES);
    sieve_picker_finish(&picker);
    CHECK_INT(error.code, 0);
    finish();
}

/* Only what is wanted is looked at. */
TEST(a_damaged_block_is_refused_when_it_is_picked)
{
    struct sieve_picker picker;
    begin(&disk_system);
    write_words(4 * SIEVE_FILE_WORDS);
    int fd = open(path, O_WRONLY);
    CHECK_INT(pwrite(fd, "damage", 6, 2 * SIEVE_FILE_BLOCK_BYTES + 50), 6);
    close(fd);
    sieve_picker_begin(&picker, &file, 4 * SIEVE_FILE_WORDS);
    CHECK(sieve_picker_get(&picker, 0, 4) && sieve_picker_get(&picker, 1, 4));
    CHECK(!sieve_picker_get(&picker, 2, 4));
    CHECK_INT(error.code, -EBADMSG);
    CHECK(strstr(error.text, "offset 8192"));
    CHECK(!sieve_picker_get(&picker, 3, 4)); /* the first error ends it */
    sieve_picker_finish(&picker);
    finish();
}
