#include "engine/store/note.h"

#include <string.h>

#include "tests/support/check.h"

TEST(notes_are_read_as_they_were_written)
{
    struct note written[] = {{.kind = NOTE_RESPONSE,
                              .status = 404,
                              .offset = UINT64_C(1) << 40,
                              .length = 77,
                              .date_us = UINT64_C(1700000000000001),
                              .has_digest = true,
                              .digest = "0123456789abcdefghi",
                              .url = SLICE("http://a.it/"),
                              .type = SLICE("text/html; charset=x")},
                             {.kind = NOTE_REVISIT, .url = SLICE("http://b.it/")},
                             {.kind = NOTE_END, .offset = 5}};
    char bytes[1024];
    size_t len = 0;
    for (int i = 0; i < 3; i++) {
        note_write(bytes + len, &written[i]);
        len += note_bytes(&written[i]);
    }
    struct slice rest = {bytes, len};
    struct note note;
    for (int i = 0; i < 3; i++) {
        CHECK(note_read(&note, &rest));
        CHECK_INT(note.kind, written[i].kind);
        CHECK_INT(note.status, written[i].status);
        CHECK_INT(note.offset, written[i].offset);
        CHECK_INT(note.length, written[i].length);
        CHECK_INT(note.date_us, written[i].date_us);
        CHECK_INT(note.has_digest, written[i].has_digest);
        CHECK(memcmp(note.digest, written[i].digest, sizeof note.digest) == 0);
        CHECK(slice_equals(note.url, written[i].url) && slice_equals(note.type, written[i].type));
    }
    CHECK(!note_read(&note, &rest));
}
