#include "engine/state/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <isa-l.h>
#include <stdio.h>
#include <string.h>

#include "engine/state/limits.h"
#include "engine/url/hash.h"
#include "engine/url/limits.h"
#include "lockfree/clock.h"

_Static_assert(sizeof(struct journal_frame) == 32, "a frame has no gaps");
_Static_assert(sizeof(struct journal_session) == 96, "nor has a session");

/* The harvest admits 64 URLs at a time, which fill two blocks if all are of the longest kind; beside them, what is left
 * of a block may be too short to use. */
enum { ROOM_BLOCKS = 4 };

uint32_t journal_checksum(const struct journal_frame *frame, const char *payload)
{
    struct journal_frame without = *frame;
    without.checksum = 0;
    unsigned crc = crc32_iscsi((unsigned char *)&without, sizeof without, ~0u);
    return ~crc32_iscsi((unsigned char *)(uintptr_t)payload, (int)frame->bytes, crc);
}

/* The loop's side. */

int journal_loop_init(struct journal_loop *loop, unsigned index)
{
    *loop = (struct journal_loop){.writer = (uint16_t)index};
    return outlet_init(&loop->outlet, &(struct outlet_options){.bytes = JOURNAL_LOOP_BYTES});
}

void journal_loop_fini(struct journal_loop *loop)
{
    outlet_fini(&loop->outlet);
}

bool journal_has_room(struct journal_loop *loop)
{
    return outlet_room(&loop->outlet) >= ROOM_BLOCKS * (size_t)OUTLET_BLOCK_BYTES;
}

/* Contiguous room for a record of at most `bytes`: a frame is begun where there is none. */
static char *space_for(struct journal_loop *loop, size_t bytes)
{
    size_t room;
    char *space = outlet_space(&loop->outlet, &room);
    assert(space);
    if (room < bytes) {
        outlet_flush(&loop->outlet);
        space = outlet_space(&loop->outlet, &room);
        assert(space);
    }
    if (room == OUTLET_BLOCK_BYTES) {
        struct journal_frame frame = {
            .magic = JOURNAL_MAGIC, .kind = JOURNAL_DATA, .epoch = loop->epoch, .writer = loop->writer};
        memcpy(space, &frame, sizeof frame);
        outlet_claim(&loop->outlet, sizeof frame);
        space += sizeof frame;
        loop->via = 0;
    }
    return space;
}

void journal_add_url(struct journal_loop *loop, const struct record_url *url, struct slice via)
{
    size_t most = 2 * RECORD_BYTES_MAX + url->text.len + via.len;
    char *space = space_for(loop, most);
    uint64_t hash = via.len ? hash_slice(via) | 1 : 0;
    size_t len = 0;
    if (hash != loop->via) {
        len = record_write_via(space, via);
        loop->via = hash;
    }
    len += record_write_url(space + len, url);
    outlet_claim(&loop->outlet, len);
}

void journal_add_done(struct journal_loop *loop, const struct record_done *done)
{
    char *space = space_for(loop, RECORD_BYTES_MAX);
    outlet_claim(&loop->outlet, record_write_done(space, done));
}

void journal_add_visit(struct journal_loop *loop, const struct record_visit *visit)
{
    char *space = space_for(loop, RECORD_BYTES_MAX + visit->key.len);
    outlet_claim(&loop->outlet, record_write_visit(space, visit));
}

void journal_seal(struct journal_loop *loop, uint64_t next_epoch)
{
    outlet_seal(&loop->outlet);
    loop->epoch = next_epoch;
}

/* The housekeeper's side. */

void journal_init(struct journal *journal, const struct disk *disk, const char *directory)
{
    *journal = (struct journal){.disk = disk,
                                .directory = directory,
                                .fd = -1,
                                .file_bytes_max = JOURNAL_FILE_BYTES_MAX,
                                .reserve_bytes = JOURNAL_RESERVE_BYTES};
}

void journal_name(char *name, unsigned number)
{
    snprintf(name, 32, "journal-%06u", number);
}

struct path {
    char text[FILES_PATH_BYTES];
};

static struct path path_of(const struct journal *journal, unsigned number)
{
    struct path path;
    char name[32];
    journal_name(name, number);
    snprintf(path.text, sizeof path.text, "%s/%s", journal->directory, name);
    return path;
}

/* Space for what comes next, as soon as less than half of it is left. A disk that has none is not full yet: if it is when a
 * frame is written, that write says so. */
static void reserve(struct journal *journal)
{
    if (!journal->reserve_bytes || journal->end.offset + journal->reserve_bytes / 2 < journal->reserved)
        return;
    journal->reserved = journal->end.offset + journal->reserve_bytes;
    int error = disk_reserve(journal->disk, journal->fd, journal->end.offset, journal->reserved);
    if (error == -EOPNOTSUPP || error == -ENOSYS)
        journal->reserve_bytes = 0;
}

/* Nothing more comes to this file. */
static int give_back(struct journal *journal)
{
    struct path path = path_of(journal, journal->end.number);
    if (!journal->reserve_bytes)
        return 0;
    return journal->disk->truncate(journal->disk->owner, path.text, journal->end.offset);
}

int journal_open(struct journal *journal, struct journal_place place)
{
    struct path path = path_of(journal, place.number);
    int fd = journal->disk->open(journal->disk->owner, path.text, O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0)
        return fd;
    journal->fd = fd;
    journal->end = place;
    journal->reserved = 0;
    reserve(journal);
    return 0;
}

void journal_close(struct journal *journal)
{
    if (journal->fd >= 0)
        journal->disk->close(journal->disk->owner, journal->fd);
    journal->fd = -1;
}

/* `bytes` begins with a frame whose size and checksum are filled in. */
static int append(struct journal *journal, char *bytes, size_t len)
{
    struct journal_frame frame;
    size_t written;
    memcpy(&frame, bytes, sizeof frame);
    frame.bytes = (uint32_t)(len - sizeof frame);
    frame.wall_us = clock_wall_us();
    frame.checksum = journal_checksum(&frame, bytes + sizeof frame);
    memcpy(bytes, &frame, sizeof frame);
    int error = disk_write_all(journal->disk, journal->fd, (struct slice){bytes, len}, &written);
    journal->end.offset += written;
    journal->bytes += written;
    journal->has_failed |= error != 0;
    if (!error)
        reserve(journal);
    return error;
}

int journal_write(struct journal *journal, struct journal_loop *loop)
{
    struct outlet_block *block = outlet_next(&loop->outlet);
    if (!block)
        return 0;
    int error = journal->has_failed ? 0 : append(journal, block->bytes, block->used);
    outlet_done(&loop->outlet, block);
    return error ? error : 1;
}

int journal_turn_over(struct journal *journal)
{
    if (journal->end.offset < journal->file_bytes_max)
        return 0;
    int error = give_back(journal);
    if (error)
        return error;
    error = journal->disk->sync(journal->disk->owner, journal->fd);
    journal->has_lost |= error != 0;
    if (error)
        return error;
    journal_close(journal);
    return journal_open(journal, (struct journal_place){.number = journal->end.number + 1});
}

int journal_commit(struct journal *journal, uint64_t epoch, const struct files *files)
{
    struct {
        struct journal_frame frame;
        char payload[JOURNAL_PAYLOAD_BYTES_MAX];
    } note;
    size_t len = 0;
    note.frame = (struct journal_frame){.magic = JOURNAL_MAGIC, .kind = JOURNAL_COMMIT, .epoch = epoch};
    for (const struct file *file = files->all; file; file = file->next) {
        uint16_t name_len = (uint16_t)strlen(file->name);
        if (!file->is_changed)
            continue;
        if (len + 10u + name_len > sizeof note.payload)
            return -EOVERFLOW;
        memcpy(note.payload + len, &file->length, 8);
        memcpy(note.payload + len + 8, &name_len, 2);
        memcpy(note.payload + len + 10, file->name, name_len);
        len += 10u + name_len;
    }
    return journal->has_failed ? -EIO : append(journal, (char *)&note, sizeof note.frame + len);
}

static int append_empty(struct journal *journal, enum journal_kind kind, uint64_t epoch)
{
    struct journal_frame frame = {.magic = JOURNAL_MAGIC, .kind = (uint16_t)kind, .epoch = epoch};
    return journal->has_failed ? -EIO : append(journal, (char *)&frame, sizeof frame);
}

int journal_synced(struct journal *journal, uint64_t epoch)
{
    return append_empty(journal, JOURNAL_SYNCED, epoch);
}

int journal_failed(struct journal *journal)
{
    journal->has_failed = false;
    return append_empty(journal, JOURNAL_FAILED, 0);
}

int journal_end(struct journal *journal, uint64_t epoch)
{
    int error = append_empty(journal, JOURNAL_END, epoch);
    return error ? error : give_back(journal);
}

int journal_begin_session(struct journal *journal, uint64_t epoch, const struct journal_session *session)
{
    struct {
        struct journal_frame frame;
        struct journal_session session;
    } note = {.frame = {.magic = JOURNAL_MAGIC, .kind = JOURNAL_SESSION, .epoch = epoch},
              .session = *session};
    note.session.format = JOURNAL_FORMAT;
    return journal->has_failed ? -EIO : append(journal, (char *)&note, sizeof note);
}
