#include "engine/store/page_path.h"

#include <assert.h>
#include <string.h>

#include "engine/content/fingerprint.h"

#define SUFFIX SLICE(".page")
#define CUT    SLICE("@@")

/* One name of the path under construction. Once something did not fit, what follows is dropped: `text` is a start
 * of the name in which no escape is cut. */
struct name {
    char text[PAGE_PATH_NAME_BYTES_MAX];
    size_t len;
    bool is_long;
};

/* The path under construction, likewise. */
struct path {
    char *at, *end;
    bool is_long;
};

static void put(struct name *name, struct slice text)
{
    if (name->is_long || sizeof name->text - name->len < text.len) {
        name->is_long = true;
        return;
    }
    memcpy(name->text + name->len, text.ptr, text.len);
    name->len += text.len;
}

static bool is_alnum(char c)
{
    char lower = slice_lower(c);
    return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z');
}

/* Appends `text`, escaped unless its bytes are letters, digits or in `safe`. */
static void put_escaped(struct name *name, struct slice text, const char *safe)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len && !name->is_long; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_safe = is_alnum((char)c) || (c && strchr(safe, c));
        /* A dot at the end of the text may not be at the end of the name, but whether it is depends on what follows. */
        bool is_edge = c == '.' && ((i == 0 && name->len == 0) || i + 1 == text.len);
        if (is_safe && !is_edge)
            put(name, (struct slice){text.ptr + i, 1});
        else
            put(name, (struct slice){(char[]){'%', hex[c >> 4], hex[c & 15]}, 3});
    }
}

/* SHA-1 in base 32. */
static void put_digest(struct name *name, struct slice bytes)
{
    struct fingerprint_sha1 sha1;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    char text[FINGERPRINT_BASE32_CHARS];
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, bytes);
    fingerprint_sha1_finish(&sha1, digest);
    fingerprint_base32(digest, text);
    put(name, (struct slice){text, sizeof text});
}

/* A name that is too long: its start, and a digest of what it was made of. */
static void cut(struct name *name, struct slice source, struct slice suffix)
{
    size_t len = sizeof name->text - CUT.len - FINGERPRINT_BASE32_CHARS - suffix.len;
    if (name->len > len)
        name->len = name->text[len - 1] == '%' ? len - 1 : name->text[len - 2] == '%' ? len - 2 : len;
    name->is_long = false;
    put(name, CUT);
    put_digest(name, source);
    put(name, suffix);
    assert(!name->is_long);
}

/* Appends a name; '/' is put before each but the first. */
static void append(struct path *path, char *buffer, const struct name *name)
{
    size_t slash = path->at > buffer;
    if (path->is_long || (size_t)(path->end - path->at) < slash + name->len) {
        path->is_long = true;
        return;
    }
    if (slash)
        *path->at++ = '/';
    memcpy(path->at, name->text, name->len);
    path->at += name->len;
}

/* "user:secret@", the host, "_8443", "_http". */
static void name_host(struct name *name, const struct url *url)
{
    struct slice userinfo = url_userinfo(url), authority = url_authority(url);
    struct slice port = slice_skip(authority, url_host(url).len);
    *name = (struct name){.len = 0};
    put_escaped(name, userinfo, "-.~");
    if (url_has_userinfo(url))
        put(name, SLICE("@"));
    put_escaped(name, url_host(url), "-.");
    if (port.len)
        put(name, SLICE("_"));
    put_escaped(name, slice_skip(port, port.len ? 1 : 0), "");
    if (!url_is_https(url))
        put(name, SLICE("_http"));
    if (name->is_long)
        cut(name, url_part(url, 0, url->path), SLICE(""));
}

static void name_folder(struct name *name, struct slice segment)
{
    *name = (struct name){.len = 0};
    if (segment.len == 0)
        put(name, SLICE("@"));
    put_escaped(name, segment, "-_~=&+,");
    if (name->is_long)
        cut(name, segment, SLICE(""));
}

/* `last` is the last segment and the query. */
static void name_file(struct name *name, struct slice last, size_t segment_len)
{
    struct slice segment = {last.ptr, segment_len}, query = slice_skip(last, segment_len);
    *name = (struct name){.len = 0};
    if (segment.len == 0)
        put(name, SLICE("@index"));
    put_escaped(name, segment, "-_.~=&+,");
    if (query.len) {
        put(name, SLICE("@"));
        put_escaped(name, slice_skip(query, 1), "-_.~=&+,");
    }
    struct slice text = {name->text, name->len};
    bool has_dot = text.len && memchr(text.ptr, '.', text.len);
    bool has_suffix = text.len >= SUFFIX.len && slice_equals(slice_skip(text, text.len - SUFFIX.len), SUFFIX);
    if (!has_dot || has_suffix)
        put(name, SUFFIX);
    if (name->is_long)
        cut(name, last, SUFFIX);
}

size_t page_path_write(char *buffer, const struct url *url)
{
    struct path path = {.at = buffer, .end = buffer + PAGE_PATH_BYTES_MAX - 1};
    struct slice rest = slice_skip(url_path(url), 1);
    struct name name;
    name_host(&name, url);
    append(&path, buffer, &name);
    char *below_host = path.at;
    for (const char *slash; rest.len && (slash = memchr(rest.ptr, '/', rest.len)) != NULL;) {
        size_t len = (size_t)(slash - rest.ptr);
        name_folder(&name, (struct slice){rest.ptr, len});
        append(&path, buffer, &name);
        rest = slice_skip(rest, len + 1);
    }
    name_file(&name, (struct slice){rest.ptr, rest.len + url_query(url).len}, rest.len);
    append(&path, buffer, &name);
    if (path.is_long) {
        path = (struct path){.at = below_host, .end = path.end};
        name = (struct name){.len = 0};
        put(&name, CUT);
        put_digest(&name, url_page(url));
        put(&name, SUFFIX);
        append(&path, buffer, &name);
    }
    *path.at = '\0';
    return (size_t)(path.at - buffer);
}
