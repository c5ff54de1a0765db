#include "engine/store/page_path.h"

#include <stdlib.h>

#include "tests/support/check.h"

static char made[PAGE_PATH_BYTES_MAX];

/* Fails unless `name` may be that of a file or folder anywhere. */
static void check_name(struct slice name, bool is_file, bool is_host)
{
    CHECK(name.len > 0 && name.len <= PAGE_PATH_NAME_BYTES_MAX);
    CHECK(name.ptr[0] != '.' && name.ptr[name.len - 1] != '.');
    for (size_t i = 0; i < name.len; i++)
        CHECK(
            strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~=&+,%@", name.ptr[i]));
    if (!is_host) /* no file can have the name of a folder */
        CHECK_INT(memchr(name.ptr, '.', name.len) != NULL, is_file);
}

static const char *path_of(const struct url *url)
{
    static char *buffer; /* before an unreadable page; made once, for there are many paths */
    if (!buffer)
        buffer = check_guard_copy(made, PAGE_PATH_BYTES_MAX);
    size_t len = page_path_write(buffer, url), names = 0;
    CHECK(len < PAGE_PATH_BYTES_MAX && strlen(buffer) == len);
    memcpy(made, buffer, len + 1);
    for (char *name = made, *slash; name; name = slash ? slash + 1 : NULL) {
        slash = strchr(name, '/');
        check_name((struct slice){name, slash ? (size_t)(slash - name) : strlen(name)}, !slash, names++ == 0);
    }
    CHECK(names >= 2);
    return made;
}

static const char *path(const char *text)
{
    static char room[URL_BYTES_MAX];
    struct url url;
    url_init(&url, room, sizeof room);
    CHECK_INT(url_parse(&url, NULL, slice_of(text)), URL_OK);
    return path_of(&url);
}

TEST(paths_look_like_their_urls)
{
    CHECK_STR(path("https://example.org/"), "example.org/@index.page");
    CHECK_STR(path("https://example.org/blog/"), "example.org/blog/@index.page");
    CHECK_STR(path("https://example.org/blog"), "example.org/blog.page");
    CHECK_STR(path("https://example.org/a/b.html"), "example.org/a/b.html");
    CHECK_STR(path("https://example.org/a/b.html#top"), "example.org/a/b.html");
    CHECK_STR(path("https://example.org/find.php?q=x&n=2"), "example.org/find.php@q=x&n=2");
    CHECK_STR(path("https://example.org/v1.2/a%20b"), "example.org/v1%2E2/a%2520b.page");
    CHECK_STR(path("https://example.org//x.png"), "example.org/@/x.png");
    CHECK_STR(path("https://example.org/a;b:c*"), "example.org/a%3Bb%3Ac%2A.page");
    CHECK_STR(path("https://example.org/%C3%A9.html"), "example.org/%25C3%25A9.html");
}

TEST(queries_are_part_of_the_name)
{
    CHECK_STR(path("https://a/?q"), "a/@index@q.page");
    CHECK_STR(path("https://a/?"), "a/@index@.page");
    CHECK_STR(path("https://a/x?/../y"), "a/x@%2F..%2Fy");
    CHECK_STR(path("https://a/x@y"), "a/x%40y.page");
    CHECK_STR(path("https://a/x?y"), "a/x@y.page");
    CHECK_STR(path("https://a/x??y"), "a/x@%3Fy.page");
    CHECK_STR(path("https://a/@index"), "a/%40index.page");
}

TEST(hosts_are_folders)
{
    CHECK_STR(path("http://example.org/x.png"), "example.org_http/x.png");
    CHECK_STR(path("https://example.org:8443/x.png"), "example.org_8443/x.png");
    CHECK_STR(path("http://example.org:443/x.png"), "example.org_443_http/x.png");
    CHECK_STR(path("https://a_b/x.png"), "a%5Fb/x.png");
    CHECK_STR(path("https://a_80/x.png"), "a%5F80/x.png");
    CHECK_STR(path("https://[::1]/x.png"), "%5B%3A%3A1%5D/x.png");
    CHECK_STR(path("https://example.org./x.png"), "example.org%2E/x.png");
    CHECK_STR(path("https://u_s:p@example.org/x.png"), "u%5Fs%3Ap@example.org/x.png");
}

TEST(dots_are_no_way_out)
{
    CHECK_STR(path("https://a/.htaccess"), "a/%2Ehtaccess.page");
    CHECK_STR(path("https://a/.well-known/x.y"), "a/%2Ewell-known/x.y");
    CHECK_STR(path("https://a/..."), "a/%2E.%2E");
    CHECK_STR(path("https://a/.../x.y"), "a/%2E%2E%2E/x.y");
    CHECK_STR(path("https://a/b."), "a/b%2E.page");
    /* Text that no parser lets through. */
    struct url url;
    url_open(&url, SLICE("https://a/../../etc/passwd"));
    CHECK_STR(path_of(&url), "a/%2E%2E/%2E%2E/etc/passwd.page");
    url_open(&url, SLICE("https://a/.."));
    CHECK_STR(path_of(&url), "a/%2E%2E.page");
    url_open(&url, SLICE("https://a/\xff\x01\n"));
    CHECK_STR(path_of(&url), "a/%FF%01%0A.page");
}

TEST(a_suffix_tells_names_apart)
{
    CHECK_STR(path("https://a/x"), "a/x.page");
    CHECK_STR(path("https://a/x.page"), "a/x.page.page");
    CHECK_STR(path("https://a/x.page.page"), "a/x.page.page.page");
    CHECK_STR(path("https://a/x.page/y.z"), "a/x%2Epage/y.z");
}

/* "https://a/", `count` times `what`, `end`. */
static const char *repeated(const char *what, size_t count, const char *end)
{
    static char text[URL_BYTES_MAX + 1];
    size_t len = (size_t)snprintf(text, sizeof text, "https://a/");
    for (size_t i = 0; i < count && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", what);
    CHECK(len < sizeof text);
    snprintf(text + len, sizeof text - len, "%s", end);
    return text;
}

TEST(long_names_are_cut)
{
    char first[PAGE_PATH_BYTES_MAX];
    CHECK_INT(strlen(path(repeated("x", 195, ""))), 2 + 200);
    CHECK(!strstr(path(repeated("x", 195, "")), "@@"));
    for (size_t count = 196; count < 300; count++)
        CHECK(strstr(path(repeated("x", count, "")), "@@"));
    snprintf(first, sizeof first, "%s", path(repeated("x", 300, "1.html")));
    CHECK_INT(strlen(first), 2 + 200);
    CHECK_STR(first + strlen(first) - 5, ".page");
    CHECK(strcmp(path(repeated("x", 300, "2.html")), first) != 0);
    CHECK(strcmp(path(repeated("x", 300, "1.html?")), first) != 0);
    CHECK_STR(path(repeated("x", 300, "1.html")), first);
    /* A folder, and an escape where the cut would be. */
    path(repeated("x", 201, "/y.html"));
    CHECK(strstr(made, "@@") && strstr(made, "/y.html"));
    for (size_t count = 155; count < 165; count++) {
        char middle[256];
        memset(middle, 'x', sizeof middle);
        memcpy(middle + count, "%20%20", 7);
        path(repeated(middle, 1, "%20%20%20%20%20%20%20%20%20%20%20%20"));
        const char *cut = strstr(made, "@@");
        CHECK(cut && cut[-1] != '%' && cut[-2] != '%');
    }
}

TEST(long_paths_are_cut)
{
    char first[PAGE_PATH_BYTES_MAX];
    CHECK_INT(strlen(path(repeated("x/", 1020, "y.z"))), 1 + 2 * 1020 + 4);
    snprintf(first, sizeof first, "%s", path(repeated("x/", 1100, "1.html")));
    CHECK_INT(strlen(first), 1 + 3 + 32 + 5);
    CHECK(strncmp(first, "a/@@", 4) == 0);
    CHECK(strcmp(path(repeated("x/", 1100, "2.html")), first) != 0);
    path(repeated("%ff/", 2000, ""));
    path(repeated("/", 8000, "?"));
}

/* URLs made of the parts that could be mistaken for each other. */
static const char *const parts[] = {
    "/",
    "/",
    "/",
    "a",
    "A",
    "b",
    ".",
    "..",
    "...",
    "%",
    "%2E",
    "%2e",
    "%25",
    "%40",
    "@",
    "@@",
    "_",
    "_http",
    "?",
    "?",
    "=",
    "&",
    ".page",
    "index",
    ".x",
    "%2F",
    "%00",
    "~",
    "+",
    ",",
    ";",
    ":",
    "!",
    "*",
    "'",
    "page",
    "|",
    "^",
    "%5C",
    "-",
    "@index",
    "é",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
};
static const char *const hosts[] = {
    "http://a",       "https://a",      "http://a:443",    "https://a:80",
    "https://a:8080", "http://a:8080",  "https://a.b",     "https://a_b",
    "https://a_80",   "https://a_http", "https://a.",      "https://u@a",
    "https://u@a:1",  "https://[::1]",  "https://1.2.3.4", "https://u_http@a",
};

struct pair {
    char *url, *path;
};

static int compare_paths(const void *a, const void *b)
{
    const struct pair *one = a, *two = b;
    int order = strcmp(one->path, two->path);
    return order ? order : strcmp(one->url, two->url);
}

static uint32_t random_below(uint32_t bound)
{
    static uint32_t state = 7;
    state = state * 1664525 + 1013904223;
    return (state >> 8) % bound;
}

static struct pair random_pair(void)
{
    static char text[URL_BYTES_MAX], room[URL_BYTES_MAX];
    struct url url;
    size_t count = random_below(random_below(10) ? 8 : 300);
    size_t len =
        (size_t)snprintf(text, sizeof text, "%s/", hosts[random_below(sizeof hosts / sizeof hosts[0])]);
    for (size_t i = 0; i < count && len < sizeof text - 100; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s",
                                parts[random_below(sizeof parts / sizeof parts[0])]);
    url_init(&url, room, sizeof room);
    CHECK_INT(url_parse(&url, NULL, (struct slice){text, len}), URL_OK);
    struct slice page = url_page(&url);
    return (struct pair){strndup(page.ptr, page.len), strdup(path_of(&url))};
}

TEST(distinct_urls_have_distinct_paths)
{
    enum { COUNT = 100000 };
    static struct pair pairs[COUNT];
    size_t different = 0;
    for (size_t i = 0; i < COUNT; i++)
        pairs[i] = random_pair();
    qsort(pairs, COUNT, sizeof pairs[0], compare_paths);
    for (size_t i = 1; i < COUNT; i++) {
        bool same_url = strcmp(pairs[i - 1].url, pairs[i].url) == 0;
        if (!same_url && strcmp(pairs[i - 1].path, pairs[i].path) == 0)
            check_failed(__FILE__, __LINE__, "%s and %s are both %s", pairs[i - 1].url, pairs[i].url,
                         pairs[i].path);
        different += !same_url;
    }
    CHECK(different > COUNT / 2);
    for (size_t i = 0; i < COUNT; i++) {
        free(pairs[i].url);
        free(pairs[i].path);
    }
}

/* All short paths over a small alphabet: here nothing is left to chance. */
TEST(all_short_paths_are_distinct)
{
    static const char letters[] = "a/.@%?_2";
    enum { LETTERS = sizeof letters - 1, LENGTH = 5, COUNT = 37449 };
    static struct pair pairs[COUNT];
    size_t count = 0;
    for (size_t length = 0, words = 1; length <= LENGTH; length++, words *= LETTERS)
        for (size_t word = 0; word < words; word++) {
            char text[32] = "https://a/";
            size_t rest = word;
            for (size_t i = 0; i < length; i++, rest /= LETTERS)
                text[10 + i] = letters[rest % LETTERS];
            struct url url;
            url_open(&url, slice_of(text));
            CHECK(count < COUNT);
            pairs[count++] = (struct pair){strdup(text), strdup(path_of(&url))};
        }
    CHECK_INT(count, COUNT);
    qsort(pairs, count, sizeof pairs[0], compare_paths);
    for (size_t i = 1; i < count; i++)
        CHECK(strcmp(pairs[i - 1].path, pairs[i].path) != 0);
    for (size_t i = 0; i < count; i++) {
        free(pairs[i].url);
        free(pairs[i].path);
    }
}
