/* What the index of a file will tell is noted while the file is written. If there is no room for a note, the rest of the file
 * has none: its end is not noted either, and whoever reads the notes knows that the file itself has to be read. */
#include "engine/store/limits.h"
#include "engine/store/store.h"

int store_keep_notes(struct store *store)
{
    store->keeps_notes = true;
    return outlet_init(&store->notes, &(struct outlet_options){.bytes = STORE_NOTES_BYTES});
}

static void add(struct store *store, const struct note *note)
{
    size_t len = note_bytes(note), room;
    store->is_noted =
        store->is_noted && len <= OUTLET_BLOCK_BYTES &&
        outlet_room(&store->notes) >= OUTLET_BLOCK_BYTES; /* so one is free, or the current one */
    if (!store->is_noted)
        return;
    char *space = outlet_space(&store->notes, &room);
    if (room < len) {
        outlet_flush(&store->notes);
        space = outlet_space(&store->notes, &room);
    }
    note_write(space, note);
    outlet_claim(&store->notes, len);
}

void store_note_begin(struct store *store)
{
    store_note_end(store);
    store->is_noted = store->keeps_notes && outlet_open(&store->notes, store->filename);
}

void store_note_end(struct store *store)
{
    add(store, &(struct note){.kind = NOTE_END, .offset = store->first + store->offset});
    store->is_noted = false;
    if (store->keeps_notes)
        outlet_flush(&store->notes);
}

void store_note(struct store *store, enum note_kind kind, const struct store_page *page, uint64_t offset)
{
    struct note note = {.kind = kind,
                        .status = page->status,
                        .offset = store->first + offset,
                        .length = store->offset - offset,
                        .date_us = page->date_us,
                        .has_digest = kind == NOTE_RESPONSE || page->repeats,
                        .url = page->url};
    if (!store->is_noted)
        return;
    if (kind == NOTE_RESPONSE)
        note.type = page->packed.content_type;
    if (note.has_digest)
        memcpy(note.digest, page->payload_digest, sizeof note.digest);
    add(store, &note);
}
