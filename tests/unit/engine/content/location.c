#include "engine/content/location.h"

#include "engine/url/url.h"
#include "tests/support/check.h"

/* Where a redirect from http://h/a/b leads. */
static const char *read_as(struct slice value)
{
    static char text[URL_BYTES_MAX + 1];
    char room[64], base_text[64];
    struct url base, url;
    url_init(&base, base_text, sizeof(base_text));
    url_init(&url, text, URL_BYTES_MAX);
    CHECK_INT(url_parse(&base, NULL, SLICE("http://h/a/b")), URL_OK);
    char *copy = check_guard_copy(value.ptr, value.len);
    struct slice read = location_read((struct slice){copy, value.len}, room, sizeof(room));
    enum url_error error = url_parse(&url, &base, read);
    check_guard_free(copy, value.len);
    text[url.len] = '\0';
    return error == URL_OK ? text : url_error_text(error);
}

TEST(bytes_beyond_ascii_stay_what_they_are)
{
    CHECK_STR(read_as(SLICE("/caf\xe9?\xe9")), "http://h/caf%E9?%E9");
    CHECK_STR(read_as(SLICE("caf\xc3\xa9")), "http://h/a/caf%C3%A9");
    CHECK_STR(read_as(SLICE("http://\xc3\xa9.example/")), "http://xn--9ca.example/");
    CHECK_STR(read_as(SLICE("c%20d")), "http://h/a/c%20d");
}

TEST(what_does_not_fit_is_empty)
{
    char room[8];
    CHECK_INT(location_read(SLICE("abcd\xe9"), room, sizeof(room)).len, 7);
    CHECK_INT(location_read(SLICE("abcdef\xe9"), room, sizeof(room)).len, 0);
    CHECK_INT(location_read(SLICE("abcdefghijklmnop"), room, sizeof(room)).len, 16);
}
