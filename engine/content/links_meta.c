#include "engine/content/links_meta.h"

#include "engine/robots/robots_tag.h"

/* Past the seconds, which must be there in part: "5", "5.5" and ".5" will do. */
static bool skip_seconds(struct slice *text)
{
    size_t len = 0;
    while (len < text->len && ((text->ptr[len] >= '0' && text->ptr[len] <= '9') || text->ptr[len] == '.'))
        len++;
    *text = slice_skip(*text, len);
    return len > 0;
}

/* Past "url" and "=" if both are there. */
static struct slice skip_url_equals(struct slice text)
{
    if (text.len < 3 || !slice_equals_nocase((struct slice){text.ptr, 3}, SLICE("url")))
        return text;
    struct slice rest = slice_skip_space(slice_skip(text, 3));
    return rest.len && rest.ptr[0] == '=' ? slice_skip_space(slice_skip(rest, 1)) : text;
}

bool links_meta_refresh(struct slice content, struct slice *url)
{
    struct slice text = slice_skip_space(content);
    if (!skip_seconds(&text) || text.len == 0)
        return false;
    if (text.ptr[0] != ';' && text.ptr[0] != ',' && !slice_is_space(text.ptr[0]))
        return false;
    text = slice_skip_space(text);
    if (text.len && (text.ptr[0] == ';' || text.ptr[0] == ','))
        text = slice_skip_space(slice_skip(text, 1));
    if (text.len == 0)
        return false;
    struct slice written = text;
    text = skip_url_equals(text);
    bool has_name = text.ptr != written.ptr, is_u = (written.ptr[0] | 0x20) == 'u';
    if (text.len && (has_name || !is_u) && (text.ptr[0] == '"' || text.ptr[0] == '\'')) {
        const char *close = memchr(text.ptr + 1, text.ptr[0], text.len - 1);
        text = slice_between(text.ptr + 1, close ? close : text.ptr + text.len);
    }
    *url = text;
    return true;
}

unsigned links_meta_robots(struct slice content)
{
    unsigned bits = 0;
    while (content.len) {
        size_t len = 0;
        while (len < content.len && content.ptr[len] != ',' && !slice_is_space(content.ptr[len]))
            len++;
        bits |= robots_tag_directive((struct slice){content.ptr, len});
        content = slice_skip(content, len < content.len ? len + 1 : len);
    }
    return bits;
}
