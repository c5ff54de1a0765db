#include "engine/robots/robots_tag.h"

static bool is_name_byte(char c)
{
    char lower = slice_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
           c == '*';
}

static bool is_name(struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_name_byte(text.ptr[i]))
            return false;
    return text.len > 0;
}

/* Directives that are followed by a colon and are no crawler's name. */
static bool takes_value(struct slice name)
{
    return slice_equals_nocase(name, SLICE("unavailable_after")) ||
           slice_equals_nocase(name, SLICE("max-snippet")) ||
           slice_equals_nocase(name, SLICE("max-image-preview")) ||
           slice_equals_nocase(name, SLICE("max-video-preview"));
}

unsigned robots_tag_directive(struct slice name)
{
    static const struct {
        struct slice name;
        unsigned bits;
    } directives[] = {{{"noindex", 7}, ROBOTS_TAG_NOINDEX},
                      {{"nofollow", 8}, ROBOTS_TAG_NOFOLLOW},
                      {{"none", 4}, ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOFOLLOW},
                      {{"noarchive", 9}, ROBOTS_TAG_NOARCHIVE},
                      {{"nocache", 7}, ROBOTS_TAG_NOARCHIVE},
                      {{"noimageindex", 12}, ROBOTS_TAG_NOIMAGEINDEX},
                      {{"nosnippet", 9}, ROBOTS_TAG_NOSNIPPET},
                      {{"notranslate", 11}, ROBOTS_TAG_NOTRANSLATE}};
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (slice_equals_nocase(name, directives[i].name))
            return directives[i].bits;
    return 0;
}

unsigned robots_tag_parse(struct slice value, struct slice agent)
{
    unsigned bits = 0;
    bool ours = true;
    while (value.len) {
        const char *comma = memchr(value.ptr, ',', value.len);
        struct slice item = comma ? slice_between(value.ptr, comma) : value;
        value = slice_skip(value, comma ? item.len + 1 : item.len);
        const char *colon = memchr(item.ptr, ':', item.len);
        struct slice name = colon ? slice_trim(slice_between(item.ptr, colon)) : item;
        if (colon && is_name(name) && !takes_value(name)) {
            ours = slice_equals_nocase(name, agent) || slice_equals(name, SLICE("*"));
            item = slice_between(colon + 1, item.ptr + item.len);
        }
        if (ours)
            bits |= robots_tag_directive(slice_trim(item));
    }
    return bits;
}
