#include "engine/content/css.h"

#include <stdint.h>

#include "engine/content/entity.h"
#include "engine/content/limits.h"
#include "engine/content/links.h"

/* A place in the style sheet, moving forward. */
struct cursor {
    const char *at;
    const char *end; /* of the sheet, or as far as a token may reach: is_cut */
    bool is_cut;
    char inside; /* of a token that reaches further, the byte that ends it: a quote, ')', or '*' of a comment */
};

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

/* Returns whether the token continues behind the end of the cursor. Such a token is skipped. */
static bool is_cut(struct cursor *css, char closing)
{
    if (css->at < css->end || !css->is_cut)
        return false;
    css->inside = closing;
    return true;
}

/* Past the end of a comment. */
static void skip_comment(struct cursor *css)
{
    const char *close = memmem(css->at, (size_t)(css->end - css->at), "*/", 2);
    css->at = close ? close + 2 : css->end;
    if (!close && is_cut(css, '*') && css->end[-1] == '*')
        css->at--; /* its slash may follow */
}

/* Past spaces and comments. */
static void skip_blank(struct cursor *css)
{
    while (css->at < css->end && !css->inside) {
        if (slice_is_space(*css->at)) {
            css->at++;
        } else if (css->end - css->at >= 3 && css->at[0] == '/' && css->at[1] == '*') {
            css->at += 2;
            skip_comment(css);
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

/* Decodes the escape after a backslash at `at`. Returns the position after it. */
static const char *decode_escape(const char *at, const char *end, char **to)
{
    unsigned code = 0;
    int digits = 0;
    while (at < end && digits < 6 && slice_hex_value(*at) >= 0) {
        code = code * 16 + (unsigned)slice_hex_value(*at++);
        digits++;
    }
    if (digits) {
        *to += entity_put_utf8(code ? code : 0xfffd, *to);
        if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
            return at + 2;
        return at < end && slice_is_space(*at) ? at + 1 : at;
    }
    if (at == end)
        return at;
    if (is_newline(*at)) /* a line continuation */
        return end - at >= 2 && at[0] == '\r' && at[1] == '\n' ? at + 2 : at + 1;
    *(*to)++ = *at;
    return at + 1;
}

/* Decoding never makes a text longer, except for "\0" and the like: 2 bytes become 3. */
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

/* Moves to the quote that ends a string. False if a line end comes first. */
static bool find_quote(struct cursor *css, char quote)
{
    for (; css->at < css->end && *css->at != quote; css->at++) {
        if (is_newline(*css->at))
            return false;
        if (*css->at == '\\' && css->end - css->at >= 2)
            css->at++;
    }
    return true;
}

/* The string whose opening quote is here; a line end makes it a bad one, which names nothing. */
static bool take_string(struct cursor *css, struct slice *text)
{
    char quote = *css->at++;
    const char *begin = css->at;
    if (!find_quote(css, quote) || is_cut(css, quote))
        return false;
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
    while (css->at < css->end && digits < 6 && slice_hex_value(*css->at) >= 0) {
        css->at++;
        digits++;
    }
    if (css->at < css->end && (digits == 0 || slice_is_space(*css->at)))
        css->at++;
}

/* Reads the argument of url( ); the cursor is after the opening parenthesis. */
static bool take_url(struct cursor *css, struct slice *url)
{
    while (css->at < css->end && slice_is_space(*css->at))
        css->at++;
    if (css->at < css->end && (*css->at == '"' || *css->at == '\''))
        return take_string(css, url);
    const char *begin = css->at;
    bool is_good = true;
    while (css->at < css->end && *css->at != ')' && !slice_is_space(*css->at)) {
        is_good &= *css->at != '"' && *css->at != '\'' && *css->at != '(';
        if (*css->at == '\\')
            skip_escape(css);
        else
            css->at++;
    }
    *url = slice_between(begin, css->at);
    while (css->at < css->end && slice_is_space(*css->at))
        css->at++;
    is_good &= css->at == css->end || *css->at == ')';
    while (css->at < css->end && *css->at != ')')
        css->at++;
    return !is_cut(css, ')') && is_good;
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
        /* The URL of @namespace is a name, not a link. */
        const char *end = memchr(css->at, ';', (size_t)(css->end - css->at));
        css->at = end ? end : css->end;
    }
}

void css_begin(struct css_walk *walk, struct links *links, struct slice text)
{
    *walk = (struct css_walk){.links = links, .at = text.ptr, .end = text.ptr + text.len};
}

/* Skips the rest of a token that is too long, as far as the cursor reaches. */
static void pass_token(struct cursor *css, char inside)
{
    if (inside == '*') {
        skip_comment(css);
        return;
    }
    if (inside == ')')
        while (css->at < css->end && *css->at != ')')
            css->at++;
    else if (!find_quote(css, inside))
        return;
    if (!is_cut(css, inside) && css->at < css->end)
        css->at++;
}

static bool may_begin_token(const struct css_walk *walk, char c)
{
    return walk->inside || c == '"' || c == '\'' || c == '/' || c == '@' ||
           (!walk->in_name && (c | 0x20) == 'u');
}

/* Reads the token that begins with `c`, or continues one that is too long. False if it is just a letter. */
static bool read_token(struct css_walk *walk, struct cursor *css, char c)
{
    const char *from = css->at;
    struct slice url;
    if (walk->inside) {
        pass_token(css, walk->inside);
    } else if (c == '"' || c == '\'') {
        take_string(css, &url);
    } else if (c == '/') {
        skip_blank(css);
        css->at += css->at < css->end && *css->at == '/';
    } else if (c == '@') {
        css->at++;
        read_rule(walk->links, css);
    } else if (take_url_function(css, &url)) {
        add(walk->links, url, LINK_CSS);
    }
    return css->at > from;
}

bool css_step(struct css_walk *walk, size_t bytes)
{
    const char *until = (size_t)(walk->end - walk->at) > bytes ? walk->at + bytes : walk->end;
    while (walk->at < until) {
        char c = *walk->at;
        if (may_begin_token(walk, c)) {
            bool is_far = (size_t)(walk->end - walk->at) > CSS_TOKEN_BYTES_MAX;
            struct cursor css = {walk->at, is_far ? walk->at + CSS_TOKEN_BYTES_MAX : walk->end, is_far, 0};
            bool is_token = read_token(walk, &css, c);
            walk->at = css.at;
            walk->inside = css.inside;
            if (is_token) {
                walk->in_name = false;
                continue;
            }
        }
        walk->in_name = is_name(c);
        walk->at++;
    }
    return walk->at == walk->end;
}

void css_scan(struct links *links, struct slice text)
{
    struct css_walk walk;
    css_begin(&walk, links, text);
    while (!css_step(&walk, SIZE_MAX))
        ;
}
