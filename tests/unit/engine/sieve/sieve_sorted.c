/* Z and its succession: calls that fail, damage. */
#include "engine/sieve/sieve_sorted.h"

#include <errno.h>
#include <fcntl.h>

#include "tests/unit/engine/sieve/sieve_frame.h"

static struct frame frame;
static const enum sieve_disk_kind kinds[] = {SIEVE_DISK_MERCATOR, SIEVE_DISK_OFFLINE};

/* The system's disk, but its n-th call fails: there is no room. */
struct full_disk {
    struct disk disk;
    unsigned calls, fails_at; /* 0: never */
};

static int count_call(void *owner)
{
    struct full_disk *full = owner;
    return ++full->calls == full->fails_at ? -ENOSPC : 0;
}

static int open_counted(void *owner, const char *path, int flags)
{
    int error = count_call(owner);
    return error ? error : disk_system.open(NULL, path, flags);
}

static int64_t write_counted(void *owner, int fd, struct slice bytes)
{
    int error = count_call(owner);
    return error ? error : disk_system.write(NULL, fd, bytes);
}

static int64_t read_counted(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    int error = count_call(owner);
    return error ? error : disk_system.read(NULL, fd, offset, room);
}

static int rename_counted(void *owner, const char *from, const char *to)
{
    int error = count_call(owner);
    return error ? error : disk_system.rename(NULL, from, to);
}

static int unlink_counted(void *owner, const char *path)
{
    int error = count_call(owner);
    return error ? error : disk_system.unlink(NULL, path);
}

static void init_full(struct full_disk *full, unsigned fails_at)
{
    *full = (struct full_disk){.disk = disk_system, .fails_at = fails_at};
    full->disk.owner = full;
    full->disk.open = open_counted;
    full->disk.write = write_counted;
    full->disk.read = read_counted;
    full->disk.rename = rename_counted;
    full->disk.unlink = unlink_counted;
}

static struct frame_caller open_on(const struct disk *disk, enum sieve_disk_kind kind)
{
    struct sieve_disk_options options = frame_options(&frame, kind);
    struct sieve_error error;
    options.disk = disk;
    struct frame_caller caller = {.frame = &frame, .sieve = sieve_disk_open(&options, &error)};
    CHECK_STR(caller.sieve ? "" : error.text, "");
    return caller;
}

static void begin(uint64_t seed)
{
    frame_begin(&frame, seed);
    for (unsigned i = 0; i < 7; i++)
        frame_add(&frame, i == 2 ? 0 : 700, 40, 10);
    frame_answer(&frame);
}

/* False: no call was left to fail, and all batches were answered. */
static bool check_failure(enum sieve_disk_kind kind, unsigned n)
{
    struct full_disk full;
    init_full(&full, n);
    struct frame_caller caller = open_on(&full.disk, kind);
    int result = frame_ask_from(&caller, 1);
    bool has_failed = full.calls >= n;
    CHECK_INT(result, has_failed ? -ENOSPC : 0);
    if (has_failed) {
        CHECK(strstr(sieve_disk_error(caller.sieve)->text, "No space left on device"));
        CHECK(strstr(sieve_disk_error(caller.sieve)->text, frame.directory));
    }
    full.fails_at = 0;
    sieve_disk_close(caller.sieve);
    return has_failed;
}

TEST(a_call_that_fails_is_told)
{
    begin(37);
    for (unsigned kind = 0; kind < 2; kind++) {
        unsigned n = 1;
        while (check_failure(kinds[kind], n))
            n++;
        CHECK(n > 20);
    }
    frame_finish(&frame);
}

TEST(a_full_disk_gets_its_room_back)
{
    struct full_disk full;
    begin(41);
    init_full(&full, 2);
    struct frame_caller caller = open_on(&full.disk, SIEVE_DISK_MERCATOR);
    CHECK_INT(frame_ask(&caller, 1), 0); /* memory is enough for it */
    CHECK_INT(frame_ask(&caller, 2), -ENOSPC);
    CHECK(strstr(sieve_disk_error(caller.sieve)->text, "/Z.next: cannot write"));
    CHECK_INT(frame_list(&frame).count, 0);
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}

/* A sieve that has answered batches 1 to `last`. With six of them there is a Z: the third one is empty. */
static struct frame_caller make(enum sieve_disk_kind kind, unsigned last)
{
    struct frame_caller caller = open_on(&disk_system, kind);
    for (unsigned number = 1; number <= last; number++)
        CHECK_INT(frame_ask(&caller, number), 0);
    return caller;
}

static off_t blocks_of_z(void)
{
    return (off_t)(disk_system.size(NULL, frame_path(&frame, "Z")) / SIEVE_FILE_BLOCK_BYTES);
}

static void flip(const char *path, off_t at)
{
    char byte;
    int fd = open(path, O_RDWR);
    CHECK_INT(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    CHECK_INT(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* The next batch meets the damage; the error says where it is. */
static void check_refused(struct frame_caller *caller, const char *path, off_t offset)
{
    char place[64];
    snprintf(place, sizeof place, "offset %lld", (long long)offset);
    CHECK_INT(frame_ask_from(caller, 7), -EBADMSG);
    const struct sieve_error *error = sieve_disk_error(caller->sieve);
    CHECK(strncmp(error->text, path, strlen(path)) == 0);
    CHECK(strstr(error->text, place));
    sieve_disk_close(caller->sieve);
}

TEST(damage_is_refused_with_file_and_offset)
{
    begin(43);
    for (unsigned kind = 0; kind < 2; kind++)
        for (off_t block = 0, blocks = 1; block < blocks; block++) {
            struct frame_caller caller = make(kinds[kind], 6);
            const char *path = frame_path(&frame, "Z");
            blocks = blocks_of_z();
            CHECK(blocks > 1);
            flip(path, block * SIEVE_FILE_BLOCK_BYTES + 9);
            check_refused(&caller, path, block * SIEVE_FILE_BLOCK_BYTES);
        }
    frame_finish(&frame);
}

TEST(a_damaged_run_is_refused)
{
    begin(45);
    struct frame_caller caller = make(SIEVE_DISK_OFFLINE, 5);
    const char *path = frame_path(&frame, "run-01");
    flip(path, 9);
    CHECK_INT(frame_ask(&caller, 6), -EBADMSG);
    CHECK(strncmp(sieve_disk_error(caller.sieve)->text, path, strlen(path)) == 0);
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}

TEST(a_file_that_was_cut_short_is_refused)
{
    begin(47);
    for (off_t block = 0, blocks = 1; block < blocks; block++) {
        struct frame_caller caller = make(SIEVE_DISK_MERCATOR, 6);
        const char *path = frame_path(&frame, "Z");
        blocks = blocks_of_z();
        CHECK_INT(truncate(path, block * SIEVE_FILE_BLOCK_BYTES), 0);
        check_refused(&caller, path, block * SIEVE_FILE_BLOCK_BYTES);
    }
    frame_finish(&frame);
}

/* Files by themselves. */

enum { FILES = 4, INDEX_MAX = 4096 };

static struct sieve_sorted files[FILES];
static struct sieve_block *out;
static struct sieve_error error;
static uint64_t reads;

static int64_t read_noted(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    reads++;
    return disk_system.read(owner, fd, offset, room);
}

static struct disk noted;

static void begin_files(size_t index_max)
{
    frame_begin(&frame, 53);
    noted = disk_system;
    noted.read = read_noted;
    error = (struct sieve_error){0};
    out = aligned_alloc(SIEVE_FILE_BLOCK_BYTES, SIEVE_FILE_BUFFER_BYTES);
    for (unsigned i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "file-%u", i);
        files[i] = (struct sieve_sorted){.disk = &noted, .error = &error};
        sieve_sorted_init(&files[i], frame.directory, name);
        files[i].buffer = aligned_alloc(SIEVE_FILE_BLOCK_BYTES, SIEVE_FILE_BUFFER_BYTES);
        files[i].index =
            (struct sieve_index){.words = malloc(index_max * sizeof(uint64_t)), .max = index_max};
    }
}

static void finish_files(void)
{
    for (unsigned i = 0; i < FILES; i++) {
        if (files[i].count)
            CHECK_INT(sieve_sorted_remove(&files[i]), 0);
        free(files[i].buffer);
        free(files[i].index.words);
    }
    free(out);
    CHECK_INT(rmdir(frame.directory), 0);
    frame_finish(&frame);
}

/* The file has the numbers first, first + step, ... below `end`, each times a million: what lies between is not there. */
static void make_file(struct sieve_sorted *file, uint64_t first, uint64_t step, uint64_t end)
{
    size_t count = 0;
    uint64_t *words = malloc(((end - first) / step + 1) * sizeof *words);
    for (uint64_t i = first; i < end; i += step)
        words[count++] = i * 1000000;
    CHECK_INT(sieve_sorted_merge(file, &(struct sieve_sources){.words = words, .word_count = count}, out), 0);
    CHECK_INT(file->count, count);
    free(words);
}

/* Asks for every `step`-th number, and for one beside it. */
static void check_drop(struct sieve_sorted *file, uint64_t step, uint64_t end)
{
    struct sieve_list list = {.words = malloc((end / step + 2) * 2 * sizeof(uint64_t))};
    for (uint64_t i = 0; i < end; i += step) {
        list.words[list.count++] = i * 1000000;
        list.words[list.count++] = i * 1000000 + 1;
    }
    size_t asked = list.count;
    CHECK_INT(sieve_sorted_drop(file, &list), 0);
    CHECK_INT(list.count, asked / 2);
    for (size_t i = 0; i < list.count; i++)
        CHECK_INT(list.words[i], i * step * 1000000 + 1);
    free(list.words);
}

TEST(what_is_in_a_file_is_dropped)
{
    static const size_t index_sizes[] = {1, 2, 7, 100, INDEX_MAX};
    static const uint64_t counts[] = {1, 2, SIEVE_FILE_WORDS, SIEVE_FILE_WORDS + 1, 40000, 500000},
                          steps[] = {1, 3, 1000, 33333, 1000000, 2 * SIEVE_FILE_WORDS, 5 * SIEVE_FILE_WORDS};
    for (unsigned i = 0; i < 5; i++)
        for (unsigned j = 0; j < 6; j++) {
            begin_files(index_sizes[i]);
            make_file(&files[0], 0, 1, counts[j]);
            CHECK_INT(files[0].index.stride, sieve_file_blocks(counts[j]) / index_sizes[i] + 1);
            for (unsigned k = 0; k < 7; k++) /* the last two: first words of blocks */
                check_drop(&files[0], steps[k], counts[j]);
            finish_files();
        }
}

TEST(what_is_outside_a_file_is_kept)
{
    begin_files(10);
    uint64_t words[] = {0, 1, 4999999, UINT64_MAX - 1, UINT64_MAX};
    struct sieve_list list = {.words = words, .count = 5};
    CHECK_INT(sieve_sorted_drop(&files[0], &list), 0); /* there is no file */
    CHECK_INT(list.count, 5);
    make_file(&files[0], 5, 1, 5000);
    CHECK_INT(sieve_sorted_drop(&files[0], &list), 0);
    CHECK_INT(list.count, 5);
    list = (struct sieve_list){0};
    CHECK_INT(sieve_sorted_drop(&files[0], &list), 0);
    finish_files();
}

/* Few questions read few blocks, many read the file in large pieces. */
TEST(no_more_is_read_than_is_asked_for)
{
    begin_files(INDEX_MAX);
    make_file(&files[0], 0, 1, 500000); /* 979 blocks */
    reads = 0;
    check_drop(&files[0], 100000, 500000);
    CHECK_INT(reads, 5);
    reads = 0;
    check_drop(&files[0], 5000, 500000); /* a block in ten */
    CHECK_INT(reads, 4);
    finish_files();
}

TEST(a_merge_has_what_its_sources_have_each_once)
{
    begin_files(100);
    make_file(&files[0], 0, 6, 300000);
    make_file(&files[1], 0, 4, 300000);
    make_file(&files[2], 3, 6, 300000);
    uint64_t words[] = {1000000, 3000000, 299999 * UINT64_C(1000000)};
    struct sieve_sources sources = {files, 3, words, 3};
    CHECK_INT(sieve_sorted_merge(&files[0], &sources, out), 0);
    uint64_t expected = 0, word, last = 0;
    struct sieve_reader reader;
    struct sieve_file file = {&noted, files[0].path, files[0].buffer, &error};
    sieve_reader_begin(&reader, &file, files[0].count);
    for (uint64_t i = 0; i < 300000; i++) {
        if (i % 6 && i % 4 && i % 6 != 3 && i != 1 && i != 299999)
            continue;
        CHECK(sieve_reader_next(&reader, &word) && word == i * 1000000 && word >= last);
        last = word;
        expected++;
    }
    CHECK(!sieve_reader_next(&reader, &word));
    sieve_reader_finish(&reader);
    CHECK_INT(files[0].count, expected);
    check_drop(&files[0], 12, 300000);
    finish_files();
}
