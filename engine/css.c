#include "engine/css.h"

#include <stdint.h>

#include "engine/entity.h"

/* A place in the style sheet, moving forward. */
struct cursor {
    const char *at;
    const char *end;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static bool is_newline(char c)
{
    return c == '\n' || c == '\f' || c == '\r';
}

static bool is_name(char c)
{
    char lower = slice_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '\\' ||
           (unsigned char)c >= 0x80;
}

static int hex_value(char c)
{
    char lower = slice_lower(c);
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Past spaces and comments. */
static void skip_blank(struct cursor *css)
{
    while (css->at < css->end) {
        if (is_space(*css->at)) {
            css->at++;
        } else if (css->end - css->at >= 2 && css->at[0] == '/' && css->at[1] == '*') {
            const char *close = memmem(css->at + 2, (size_t)(css->end - css->at - 2), "*/", 2);
            css->at = close ? close + 2 : css->end;
        } else {
            return;
        }
    }
}

/* Whether the word stands here, any case, and is not the beginning of a longer one. Moves past it if so. */
static bool take_word(struct cursor *css, struct slice word)
{
    size_t left = (size_t)(css->end - css->at);
    if (left < word.len || !slice_equals_nocase((struct slice){css->at, word.len}, word))
        return false;
    if (left > word.len && is_name(word.ptr[word.len - 1]) && is_name(css->at[word.len]))
        return false;
    css->at += word.len;
    return true;
}

/* Decodes the escape behind a backslash at `at`. Returns the place behind it. */
static const char *decode_escape(const char *at, const char *end, char **to)
{
    unsigned code = 0;
    int digits = 0;
    while (at < end && digits < 6 && hex_value(*at) >= 0) {
        code = code * 16 + (unsigned)hex_value(*at++);
        digits++;
    }
    if (digits) {
        *to += entity_put_utf8(code ? code : 0xfffd, *to);
        if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
            return at + 2;
        return at < end && is_space(*at) ? at + 1 : at;
    }
    if (at == end)
        return at;
    if (is_newline(*at)) /* a line continued */
        return end - at >= 2 && at[0] == '\r' && at[1] == '\n' ? at + 2 : at + 1;
    *(*to)++ = *at;
    return at + 1;
}

/* An escape is never shorter than what it stands for but for "\0" and its like: 2 bytes become 3. */
static bool decode(struct links *links, struct slice *text)
{
    if (memchr(text->ptr, '\\', text->len) == NULL)
        return true;
    char *out = links_reserve_text(links, 2 * text->len), *to = out;
    if (!out)
        return false;
    for (const char *at = text->ptr, *end = at + text->len; at < end;) {
        if (*at == '\\')
            at = decode_escape(at + 1, end, &to);
        else
            *to++ = *at++;
    }
    *text = links_keep_text(links, (size_t)(to - out));
    return true;
}

static void add(struct links *links, struct slice url, enum link_kind kind)
{
    struct slice trimmed = slice_trim(url);
    if (trimmed.len == 0 || trimmed.ptr[0] == '#')
        return;
    if (trimmed.len > 5 && slice_equals_nocase((struct slice){trimmed.ptr, 5}, SLICE("data:")))
        return;
    if (!decode(links, &trimmed))
        links->dropped++;
    else if (trimmed.len)
        links_add(links, (struct link){.url = trimmed, .kind = kind});
}

/* The string whose opening quote is here; a line end makes it a bad one, which names nothing. */
static bool take_string(struct cursor *css, struct slice *text)
{
    char quote = *css->at++;
    const char *begin = css->at;
    for (; css->at < css->end && *css->at != quote; css->at++) {
        if (is_newline(*css->at))
            return false;
        if (*css->at == '\\' && css->end - css->at >= 2)
            css->at++;
    }
    *text = slice_between(begin, css->at);
    if (css->at < css->end)
        css->at++;
    return true;
}

/* Past the escape whose backslash is here: one white space behind hexadecimal digits belongs to it. */
static void skip_escape(struct cursor *css)
{
    int digits = 0;
    css->at++;
    while (css->at < css->end && digits < 6 && hex_value(*css->at) >= 0) {
        css->at++;
        digits++;
    }
    if (css->at < css->end && (digits == 0 || is_space(*css->at)))
        css->at++;
}

/* What is between the parentheses of url( ), the cursor being behind the opening one. */
static bool take_url(struct cursor *css, struct slice *url)
{
    while (css->at < css->end && is_space(*css->at))
        css->at++;
    if (css->at < css->end && (*css->at == '"' || *css->at == '\''))
        return take_string(css, url);
    const char *begin = css->at;
    bool is_good = true;
    while (css->at < css->end && *css->at != ')' && !is_space(*css->at)) {
        is_good &= *css->at != '"' && *css->at != '\'' && *css->at != '(';
        if (*css->at == '\\')
            skip_escape(css);
        else
            css->at++;
    }
    *url = slice_between(begin, css->at);
    while (css->at < css->end && is_space(*css->at))
        css->at++;
    is_good &= css->at == css->end || *css->at == ')';
    while (css->at < css->end && *css->at != ')')
        css->at++;
    return is_good;
}

static bool take_url_function(struct cursor *css, struct slice *url)
{
    struct cursor start = *css;
    if (take_word(css, SLICE("url")) && css->at < css->end && *css->at == '(') {
        css->at++;
        return take_url(css, url);
    }
    *css = start;
    return false;
}

/* Behind an '@'. */
static void read_rule(struct links *links, struct cursor *css)
{
    struct slice url;
    if (take_word(css, SLICE("import"))) {
        skip_blank(css);
        if (css->at == css->end)
            return;
        bool is_string = *css->at == '"' || *css->at == '\'';
        if (is_string ? take_string(css, &url) : take_url_function(css, &url))
            add(links, url, LINK_STYLESHEET);
    } else if (take_word(css, SLICE("namespace"))) {
        /* Its URL is a name, not a place. */
        const char *end = memchr(css->at, ';', (size_t)(css->end - css->at));
        css->at = end ? end : css->end;
    }
}

void css_scan(struct links *links, struct slice text)
{
    struct cursor css = {text.ptr, text.ptr + text.len};
    struct slice url;
    bool in_name = false;
    while (css.at < css.end) {
        char c = *css.at;
        if (!in_name && (c | 0x20) == 'u') {
            if (take_url_function(&css, &url)) {
                add(links, url, LINK_CSS);
                continue;
            }
        } else if (c == '"' || c == '\'') {
            take_string(&css, &url);
            in_name = false;
            continue;
        } else if (c == '/') {
            skip_blank(&css);
            in_name = false;
            if (css.at < css.end && *css.at == '/')
                css.at++;
            continue;
        } else if (c == '@') {
            css.at++;
            read_rule(links, &css);
            in_name = false;
            continue;
        }
        if (css.at == css.end)
            break;
        in_name = is_name(*css.at);
        css.at++;
    }
}
