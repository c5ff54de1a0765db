#include "engine/crawl/added.h"

#include <stdlib.h>
#include <string.h>

#include "engine/frontier/seeds.h"

const char *added_fate_name(enum added_fate fate)
{
    static const char *const names[ADDED_FATES] = {
        [ADDED_UNDECIDED] = "undecided", [ADDED_ACCEPTED] = "accepted", [ADDED_KNOWN] = "known",
        [ADDED_OUT_OF_SCOPE] = "out_of_scope", [ADDED_BAD] = "bad", [ADDED_STRANGER] = "bad", [ADDED_LOST] = "lost", [ADDED_KEPT] = "kept"};
    return names[fate];
}

/* The next line, trimmed, of what is left; false: none. */
static bool next_line(struct slice *rest, struct slice *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    *line = slice_trim(end ? slice_between(rest->ptr, end) : *rest);
    *rest = slice_skip(*rest, end ? (size_t)(end - rest->ptr) + 1 : rest->len);
    return true;
}

static bool is_seed(struct slice line)
{
    return line.len && line.ptr[0] != '#';
}

static void fill_lines(struct added *added, struct slice text)
{
    char buffer[URL_BYTES_MAX];
    struct tuning_error why;
    struct slice line;
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    for (uint32_t number = 1; next_line(&text, &line); number++) {
        if (!is_seed(line))
            continue;
        struct added_line *made = &added->lines[added->count++];
        *made = (struct added_line){.at = (uint32_t)(line.ptr - added->text), .len = (uint32_t)line.len, .number = number};
        made->fate = added_parse(added, made, &url, &why) ? ADDED_UNDECIDED : ADDED_BAD;
    }
}

struct added *added_create(struct slice text)
{
    struct added *added = calloc(1, sizeof *added);
    struct slice rest, line;
    size_t count = 0;
    if (!added || !(added->text = malloc(text.len + 1))) {
        free(added);
        return NULL;
    }
    if (text.len)
        memcpy(added->text, text.ptr, text.len);
    rest = (struct slice){added->text, text.len};
    if (slice_starts_with(rest, SLICE("\xef\xbb\xbf"))) /* an editor's byte order mark */
        rest = slice_skip(rest, 3);
    for (struct slice left = rest; next_line(&left, &line);)
        count += is_seed(line);
    added->lines = malloc((count ? count : 1) * sizeof *added->lines);
    if (!added->lines) {
        added_destroy(added);
        return NULL;
    }
    fill_lines(added, rest);
    return added;
}

void added_destroy(struct added *added)
{
    if (!added)
        return;
    free(added->lines);
    free(added->text);
    free(added);
}

struct slice added_text(const struct added *added, const struct added_line *line)
{
    return (struct slice){added->text + line->at, line->len};
}

static bool keep_url(void *owner, const struct url *url)
{
    struct url *kept = owner;
    return url_parse(kept, NULL, url_text(url)) == URL_OK;
}

bool added_parse(const struct added *added, const struct added_line *line, struct url *url, struct tuning_error *error)
{
    struct seeds_sink sink = {.take = keep_url, .owner = url};
    return seeds_take_text(&sink, added_text(added, line), error);
}

uint64_t added_count(const struct added *added, enum added_fate fate)
{
    uint64_t count = 0;
    for (size_t i = 0; i < added->count; i++)
        count += added->lines[i].fate == fate;
    return count;
}
