#include "engine/crawl/index_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/archive/index_entry.h"
#include "engine/crawl/limits.h"
#include "engine/store/note.h"
#include "engine/store/warc.h"

size_t index_notes_stem(const char *name)
{
    static const char *const ends[] = {".warc.gz", ".warc.zst", ".warc"};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end_len = strlen(ends[i]);
        if (len > end_len && strcmp(name + len - end_len, ends[i]) == 0)
            return len - end_len;
    }
    return 0;
}

void index_notes_path(char *path, const char *directory, const char *name, bool is_open)
{
    snprintf(path, INDEX_NOTES_PATH_BYTES, "%s/%.*s.cdxj%s", directory, (int)index_notes_stem(name), name,
             is_open ? ".open" : "");
}

void index_notes_fini(struct index_notes *notes)
{
    if (notes->index)
        index_destroy(notes->index);
    notes->index = NULL;
}

static void begin_file(struct index_notes *notes, const struct index_notes_options *options, const char *name)
{
    struct index_options index = {.memory_bytes = INDEX_NOTES_BYTES,
                                  .directory = options->directory,
                                  .is_forced = true,
                                  .stop = options->stop};
    index_notes_fini(notes);
    snprintf(notes->name, sizeof notes->name, "%s", name);
    if (options->error->fault == ARCHIVE_OK)
        notes->index = index_create(&index, options->error);
}

/* False: the error is set. */
static bool add_note(struct index_notes *notes, const struct note *note)
{
    char timestamp[WARC_TIMESTAMP_CHARS], status[16], digest[FINGERPRINT_BASE32_CHARS];
    bool is_revisit = note->kind == NOTE_REVISIT;
    struct cdxj line = {.timestamp = {timestamp, sizeof timestamp},
                        .url = note->url,
                        .mime = is_revisit ? SLICE("warc/revisit") : index_entry_mime(note->type),
                        .filename = slice_of(notes->name),
                        .length = note->length,
                        .offset = note->offset};
    warc_write_date_digits(timestamp, sizeof timestamp, note->date_us);
    if (!is_revisit)
        line.status = (struct slice){status, (size_t)snprintf(status, sizeof status, "%d", note->status)};
    if (note->has_digest) {
        fingerprint_base32(note->digest, digest);
        line.digest = (struct slice){digest, sizeof digest};
    }
    return index_add(notes->index, &line);
}

/* NULL: the error is set. */
static struct indexed_file *write_index(struct index_notes *notes, const struct index_notes_options *options,
                                        uint64_t bytes)
{
    char path[INDEX_NOTES_PATH_BYTES];
    struct indexed_file *file = calloc(1, sizeof *file);
    index_notes_path(path, options->directory, notes->name, true);
    if (file && index_write(notes->index, path)) {
        snprintf(file->name, sizeof file->name, "%s", notes->name);
        file->bytes = bytes;
    } else {
        free(file);
        file = NULL;
    }
    return file;
}

/* The file that ends in this block; NULL: none does. A file ends at the end of a block. */
static struct indexed_file *take_block(struct index_notes *notes, const struct index_notes_options *options,
                                       const struct outlet_block *block)
{
    struct indexed_file *file = NULL;
    struct slice rest = {block->bytes, block->used};
    struct note note;
    if (block->name[0])
        begin_file(notes, options, block->name);
    while (notes->index && note_read(&note, &rest)) {
        if (note.kind != NOTE_END && add_note(notes, &note))
            continue;
        if (note.kind == NOTE_END)
            file = write_index(notes, options, note.offset);
        index_notes_fini(notes);
    }
    return file;
}

struct indexed_file *index_notes_take(struct index_notes *notes, const struct index_notes_options *options)
{
    struct indexed_file *file = NULL;
    struct outlet_block *block;
    while (!file && (block = outlet_next(notes->outlet))) {
        file = take_block(notes, options, block);
        outlet_done(notes->outlet, block);
    }
    return file;
}
