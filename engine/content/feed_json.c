#include "engine/content/feed_json.h"

#include "engine/content/entity.h"
#include "engine/content/limits.h"

static const struct {
    const char *name;
    enum link_kind kind;
} members[] = {
    {"url", LINK_ENTRY},     {"external_url", LINK_ENTRY}, {"home_page_url", LINK_ENTRY},
    {"feed_url", LINK_FEED}, {"next_url", LINK_FEED},      {"image", LINK_IMAGE},
    {"icon", LINK_ICON},     {"favicon", LINK_ICON},       {"banner_image", LINK_IMAGE},
    {"avatar", LINK_ICON},
};

/* As far as a string or spaces that begin here are read. */
static const char *reach(const struct feed_json *feed)
{
    bool is_far = (size_t)(feed->end - feed->at) > FEED_JSON_STRING_BYTES_MAX;
    return is_far ? feed->at + FEED_JSON_STRING_BYTES_MAX : feed->end;
}

static void skip_space(struct feed_json *feed)
{
    const char *limit = reach(feed);
    while (feed->at < limit && slice_is_space(*feed->at))
        feed->at++;
}

/* The rest of a string, as written. False if it does not end, or not within reach: is_amid then. */
static bool take_rest(struct feed_json *feed, struct slice *text)
{
    const char *begin = feed->at, *limit = reach(feed);
    while (feed->at < limit && *feed->at != '"')
        feed->at += *feed->at == '\\' && feed->end - feed->at > 1 ? 2 : 1;
    feed->is_amid = feed->at >= limit && feed->at < feed->end;
    if (feed->at >= limit)
        return false;
    *text = slice_between(begin, feed->at++);
    return true;
}

/* The string whose opening quote is here. */
static bool take_string(struct feed_json *feed, struct slice *text)
{
    feed->at++;
    return take_rest(feed, text);
}

/* The code unit of a \u escape whose digits begin at `at`, or -1. */
static int code_unit(const char *at, const char *end)
{
    int code = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = slice_hex_value(at[i]);
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* Decodes the escape whose backslash is at `at`. Returns the position after it. */
static const char *decode_escape(const char *at, const char *end, char **to)
{
    int code = at[1] == 'u' ? code_unit(at + 2, end) : -1;
    if (code < 0) { /* a quote, a slash, a backslash; controls, which no URL has, become letters */
        *(*to)++ = at[1];
        return at + 2;
    }
    at += 6;
    int low =
        code >> 10 == 0x36 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? code_unit(at + 2, end) : -1;
    if (low >> 10 == 0x37) {
        code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
        at += 6;
    }
    *to += entity_put_utf8((unsigned)code, *to);
    return at;
}

/* Decoding an escape never makes it longer. */
static void add(struct feed_json *feed, struct slice text, enum link_kind kind)
{
    if (memchr(text.ptr, '\\', text.len)) {
        char *out = links_reserve_text(feed->links, text.len), *to = out;
        if (!out) {
            feed->links->dropped++;
            return;
        }
        for (const char *at = text.ptr, *end = at + text.len; at < end;) {
            if (*at == '\\' && end - at > 1)
                at = decode_escape(at, end, &to);
            else
                *to++ = *at++;
        }
        text = links_keep_text(feed->links, (size_t)(to - out));
    }
    text = slice_trim(text);
    if (text.len)
        links_add(feed->links, (struct link){.url = text, .kind = (uint8_t)kind});
}

/* Reads a string, and its value if it is the name of a member with a URL. */
static void read_string(struct feed_json *feed)
{
    struct slice name, value;
    if (!take_string(feed, &name))
        return;
    skip_space(feed);
    if (feed->at == feed->end || *feed->at != ':')
        return;
    feed->at++;
    skip_space(feed);
    if (feed->at == feed->end || *feed->at != '"' || !take_string(feed, &value))
        return;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (slice_equals(name, slice_of(members[i].name)))
            add(feed, value, members[i].kind);
}

void feed_json_begin(struct feed_json *feed, struct links *links, struct slice json)
{
    *feed = (struct feed_json){.links = links, .at = json.ptr, .end = json.ptr + json.len};
}

bool feed_json_step(struct feed_json *feed, size_t bytes)
{
    const char *from = feed->at;
    struct slice text;
    while ((size_t)(feed->at - from) < bytes) {
        if (feed->is_amid) {
            take_rest(feed, &text);
            continue;
        }
        const char *quote = memchr(feed->at, '"', (size_t)(feed->end - feed->at));
        feed->at = quote ? quote : feed->end;
        if (!quote)
            return true;
        read_string(feed);
    }
    return false;
}
