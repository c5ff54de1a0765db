/* The first byte chooses a type, the second the size of steps, the third a bound for the text, the rest is a document.
 * Whatever it is, title and text are valid UTF-8 within their bounds, steps do not change what is found, text that is
 * cut is the start of the whole, and a line of JSON can be made of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/text.h"
#include "engine/store/jsonl.h"
#include "engine/url/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const types[] = {"text/html",
                                    "text/html; charset=utf-8",
                                    "application/xhtml+xml; charset=utf-8",
                                    "text/plain",
                                    "",
                                    "text/html; charset=utf-16le",
                                    "text/html; charset=iso-2022-jp",
                                    "text/html; charset=shift_jis",
                                    "text/plain; charset=gb18030",
                                    "text/html; charset=windows-1252",
                                    "text/html; charset=windows-1258",
                                    "text/html; charset=big5",
                                    "text/plain; charset=utf-8"};

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_utf8(struct slice text)
{
    while (text.len) {
        bool good = true;
        size_t len = text.ptr[0] & 0x80 ? utf8_length(text, &good) : 1;
        require(good);
        text = slice_skip(text, len);
    }
}

/* The page lies in memory that is put to `room`. */
static struct text_page run(const struct text_source *source, size_t step, char **room)
{
    struct text_walk walk;
    text_begin(&walk, source);
    walk.room = *room = malloc(walk.room_bytes);
    while (!text_step(&walk, step))
        ;
    struct text_page page = text_page_of(&walk);
    require(page.title.len <= TEXT_TITLE_BYTES_MAX && page.text.len <= source->text_bytes_max);
    require_utf8(page.title);
    require_utf8(page.text);
    return page;
}

static void write_line(struct text_page page, struct slice body)
{
    struct jsonl_page line = {
        .url = body, .status = 200, .type = body, .title = page.title, .text = page.text};
    size_t room = jsonl_bytes_max(&line);
    char *buffer = malloc(room);
    size_t len = jsonl_write(buffer, room, &line);
    require(len > 0 && memchr(buffer, '\n', len) == buffer + len - 1);
    require_utf8((struct slice){buffer, len});
    free(buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    /* A copy of its own: the sanitizer then sees a read beyond the end. */
    struct slice body = {memcpy(malloc(size), data + 3, size - 3), size - 3};
    struct text_source source = {slice_of(types[data[0] % (sizeof(types) / sizeof(types[0]))]), body,
                                 SIZE_MAX};
    char *rooms[3];
    struct text_page whole = run(&source, SIZE_MAX, &rooms[0]),
                     stepped = run(&source, 1u + data[1], &rooms[1]);
    require(!whole.is_cut && slice_equals(whole.title, stepped.title) &&
            slice_equals(whole.text, stepped.text));
    source.text_bytes_max = data[2];
    struct text_page cut = run(&source, 1u + data[1], &rooms[2]);
    require(slice_starts_with(whole.text, cut.text) && cut.is_cut == (whole.text.len > cut.text.len));
    write_line(whole, body);
    for (size_t i = 0; i < 3; i++)
        free(rooms[i]);
    free((char *)(uintptr_t)body.ptr);
    return 0;
}
