#include "engine/store/note.h"

#include <assert.h>
#include <string.h>

/* In front of the two texts. It never leaves the process, so it is as the compiler lays it out. */
struct front {
    uint64_t offset, length, date_us;
    uint32_t url_len, type_len;
    int16_t status;
    uint8_t kind, has_digest;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
};

size_t note_bytes(const struct note *note)
{
    return sizeof(struct front) + note->url.len + note->type.len;
}

void note_write(char *buffer, const struct note *note)
{
    struct front front = {.offset = note->offset,
                          .length = note->length,
                          .date_us = note->date_us,
                          .url_len = (uint32_t)note->url.len,
                          .type_len = (uint32_t)note->type.len,
                          .status = (int16_t)note->status,
                          .kind = (uint8_t)note->kind,
                          .has_digest = note->has_digest};
    memcpy(front.digest, note->digest, sizeof front.digest);
    memcpy(buffer, &front, sizeof front);
    if (note->url.len)
        memcpy(buffer + sizeof front, note->url.ptr, note->url.len);
    if (note->type.len)
        memcpy(buffer + sizeof front + note->url.len, note->type.ptr, note->type.len);
}

bool note_read(struct note *note, struct slice *notes)
{
    struct front front;
    if (notes->len == 0)
        return false;
    assert(notes->len >= sizeof front);
    memcpy(&front, notes->ptr, sizeof front);
    *note = (struct note){.kind = (enum note_kind)front.kind,
                          .status = front.status,
                          .offset = front.offset,
                          .length = front.length,
                          .date_us = front.date_us,
                          .has_digest = front.has_digest,
                          .url = {notes->ptr + sizeof front, front.url_len},
                          .type = {notes->ptr + sizeof front + front.url_len, front.type_len}};
    memcpy(note->digest, front.digest, sizeof front.digest);
    *notes = slice_skip(*notes, note_bytes(note));
    return true;
}
