#include "engine/archive/source.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/archive/limits.h"
#include "tests/unit/engine/archive/warc_file.h"

enum { BYTES = 3 * SOURCE_BLOCK_BYTES / 2 };

/* Bytes at any place, forward and back, of a file and of memory. */
static void read_anywhere(struct source *source, const char *expected, size_t len)
{
    struct archive_error error = {0};
    unsigned seed = 1;
    for (unsigned i = 0; i < 3000; i++) {
        seed = seed * 1664525 + 1013904223;
        size_t offset = (seed >> 8) % (len + 1000), want = (seed >> 4) % SOURCE_BLOCK_BYTES;
        struct slice bytes = source_bytes(source, offset, want, &error);
        size_t left = offset < len ? len - offset : 0;
        CHECK(bytes.len >= (want < left ? want : left) && bytes.len <= left);
        CHECK(memcmp(bytes.ptr, expected + (bytes.len ? offset : 0), bytes.len) == 0);
    }
    CHECK_INT(error.fault, ARCHIVE_OK);
    CHECK_INT(source_size(source), len);
    CHECK_INT(source_bytes(source, UINT64_MAX, 1, &error).len, 0);
}

TEST(bytes_are_found_by_their_offset)
{
    static char expected[BYTES];
    char directory[] = "/tmp/lycosa-source-XXXXXX";
    struct archive_error error = {0};
    struct source source;
    memcpy(expected, warc_file_noise(sizeof expected, 7).ptr, sizeof expected);
    CHECK(source_init_memory(&source, (struct slice){expected, sizeof expected}, &error));
    read_anywhere(&source, expected, sizeof expected);
    source_fini(&source);
    CHECK(mkdtemp(directory));
    const char *path = warc_file_save(directory, "a", (struct slice){expected, sizeof expected});
    CHECK(source_open(&source, path, &error));
    read_anywhere(&source, expected, sizeof expected);
    source_fini(&source);
    CHECK(unlink(path) == 0 && rmdir(directory) == 0);
}

static int64_t fail_to_read(void *owner, uint64_t offset, struct source_room room)
{
    (void)owner;
    (void)room;
    return offset < 10 ? 0 : -EIO;
}

TEST(an_error_of_the_disk_is_told)
{
    struct archive_error error = {0};
    struct source source;
    CHECK(source_init_memory(&source, SLICE("some bytes"), &error));
    source.read = fail_to_read;
    CHECK_INT(source_bytes(&source, 0, 1, &error).len, 0);
    CHECK_INT(error.fault, ARCHIVE_OK);
    CHECK_INT(source_bytes(&source, 10, 1, &error).len, 0);
    CHECK(error.fault == ARCHIVE_SYSTEM && error.code == EIO);
    source_fini(&source);
}
