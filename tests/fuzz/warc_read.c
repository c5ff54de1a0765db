/* Any bytes as a WARC file, read to the end and passed over record by record. What reads without an error has the same
 * records in the same places when it is skipped, unless a member lies about its lengths. */
#include <stdint.h>
#include <stdlib.h>

#include "engine/archive/index_entry.h"
#include "engine/archive/warc_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS_MAX = 64 };

struct outcome {
    size_t count;
    uint64_t offsets[RECORDS_MAX], lengths[RECORDS_MAX];
    bool has_lied;
    struct archive_error error;
};

static void require(bool condition)
{
    if (!condition)
        abort();
}

enum way { READ_ALL, SKIP, INDEX };

static bool read_record(struct warc_read *reader, enum way way)
{
    static struct index_entry entry;
    struct slice piece;
    struct cdxj line;
    enum warc_read_step step;
    if (!entry.message.bytes)
        require(index_entry_init(&entry));
    if (way == SKIP)
        return warc_read_skip(reader);
    if (way == INDEX && index_entry_is_wanted(&reader->record.head))
        return index_entry_read(&entry, reader, &line);
    uint64_t bytes = 0;
    while ((step = warc_read_block(reader, &piece)) == WARC_READ_DONE) {
        require(piece.len > 0);
        bytes += piece.len;
    }
    require(step == WARC_READ_BAD || bytes == reader->record.head.content_length);
    return step == WARC_READ_END;
}

static void read_file(struct slice bytes, enum way way, struct outcome *outcome)
{
    struct source source;
    struct warc_read reader;
    *outcome = (struct outcome){0};
    require(source_init_memory(&source, bytes, &outcome->error));
    if (warc_read_init(&reader, &source, &outcome->error)) {
        while (outcome->count < RECORDS_MAX && warc_read_next(&reader) == WARC_READ_DONE &&
               read_record(&reader, way)) {
            outcome->offsets[outcome->count] = reader.record.offset;
            outcome->lengths[outcome->count++] = reader.record.length;
            outcome->has_lied |= reader.record.has_lied;
            require(reader.record.offset <= bytes.len && reader.record.length <= bytes.len);
        }
        warc_read_fini(&reader);
    }
    source_fini(&source);
    require(outcome->error.offset <= bytes.len);
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
    return a->count == b->count && memcmp(a->offsets, b->offsets, sizeof a->offsets) == 0 &&
           memcmp(a->lengths, b->lengths, sizeof a->lengths) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct outcome all, other;
    char *copy = malloc(size + 1);
    struct slice bytes = {memcpy(copy, data, size), size};
    read_file(bytes, READ_ALL, &all);
    for (enum way way = SKIP; way <= INDEX; way++) {
        read_file(bytes, way, &other);
        if (all.error.fault == ARCHIVE_OK && !all.has_lied)
            require(other.error.fault == ARCHIVE_OK && is_same(&all, &other));
        require(other.has_lied || all.has_lied || other.count >= all.count);
    }
    free(copy);
    return 0;
}
