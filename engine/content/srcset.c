#include "engine/content/srcset.h"

/* Past the descriptors of a candidate: a comma ends them except within parentheses. */
static struct slice skip_descriptors(struct slice text)
{
    bool in_parentheses = false;
    while (text.len) {
        char c = text.ptr[0];
        text = slice_skip(text, 1);
        if (c == '(')
            in_parentheses = true;
        else if (c == ')')
            in_parentheses = false;
        else if (c == ',' && !in_parentheses)
            break;
    }
    return text;
}

bool srcset_next(struct slice *rest, struct slice *url)
{
    struct slice text = *rest;
    while (text.len && (slice_is_space(text.ptr[0]) || text.ptr[0] == ','))
        text = slice_skip(text, 1);
    size_t len = 0;
    while (len < text.len && !slice_is_space(text.ptr[len]))
        len++;
    *url = (struct slice){text.ptr, len};
    *rest = slice_skip(text, len);
    if (len == 0)
        return false;
    if (url->ptr[len - 1] != ',') {
        *rest = skip_descriptors(*rest);
        return true;
    }
    while (url->len && url->ptr[url->len - 1] == ',')
        url->len--;
    return true;
}
