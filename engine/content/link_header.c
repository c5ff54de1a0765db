#include "engine/content/link_header.h"

/* One link's parameters, as far as they matter. */
struct parameters {
    struct slice rel;
    struct slice type;
    bool has_rel;
    bool has_anchor;
};

/* A token, or a quoted string without its quotes. Moves `*text` behind it. Escapes within quotes are left as
 * they are: no relation and no type has any. */
static struct slice take_value(struct slice *text)
{
    size_t len = text->len && text->ptr[0] == '"';
    struct slice value = slice_skip(*text, len);
    if (len) {
        while (len < text->len && text->ptr[len] != '"')
            len += text->ptr[len] == '\\' && len + 1 < text->len ? 2 : 1;
        value.len = len - 1;
        *text = slice_skip(*text, len < text->len ? len + 1 : len);
        return value;
    }
    while (len < text->len && text->ptr[len] != ';' && text->ptr[len] != ',' &&
           !slice_is_space(text->ptr[len]))
        len++;
    value.len = len;
    *text = slice_skip(*text, len);
    return value;
}

static struct slice take_name(struct slice *text)
{
    size_t len = 0;
    while (len < text->len && text->ptr[len] != '=' && text->ptr[len] != ';' && text->ptr[len] != ',' &&
           !slice_is_space(text->ptr[len]))
        len++;
    struct slice name = {text->ptr, len};
    *text = slice_skip_space(slice_skip(*text, len));
    return name;
}

/* The parameters from `*text` on, up to the comma before the next link. */
static struct parameters take_parameters(struct slice *text)
{
    struct parameters found = {.rel = {"", 0}, .type = {"", 0}};
    for (;;) {
        *text = slice_skip_space(*text);
        if (text->len == 0 || text->ptr[0] == ',')
            return found;
        if (text->ptr[0] == ';') {
            *text = slice_skip(*text, 1);
            continue;
        }
        struct slice name = take_name(text), value = {"", 0};
        if (text->len && text->ptr[0] == '=') {
            *text = slice_skip_space(slice_skip(*text, 1));
            value = take_value(text);
        }
        if (slice_equals_nocase(name, SLICE("rel")) && !found.has_rel) {
            found.has_rel = true;
            found.rel = value;
        } else if (slice_equals_nocase(name, SLICE("type"))) {
            found.type = value;
        } else if (slice_equals_nocase(name, SLICE("anchor"))) {
            found.has_anchor = true;
        }
    }
}

void link_header_scan(struct links *links, struct slice value)
{
    while (value.len) {
        const char *open = memchr(value.ptr, '<', value.len);
        if (!open)
            return;
        value = slice_skip(value, (size_t)(open - value.ptr) + 1);
        const char *close = memchr(value.ptr, '>', value.len);
        if (!close)
            return;
        struct link link = {.url = slice_between(value.ptr, close)};
        value = slice_skip(value, link.url.len + 1);
        struct parameters parameters = take_parameters(&value);
        if (!parameters.has_anchor && link_read_rel(parameters.rel, parameters.type, &link))
            links_add(links, link);
    }
}
