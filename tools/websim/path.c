/* Paths: written from a number, and read back by finding the number and writing the path again. */
#include "tools/websim/web.h"

#include <assert.h>

enum {
    BITS_PATH = 16,
    BITS_SESSION,
};

/* In 256ths: leaf pages below /private/ and /search/, which rules in robots.txt are about. */
#define PRIVATE_OF_256 10
#define SEARCH_OF_256  8
#define SESSION_DIGITS 8

static const char *const sections[16] = {"news",   "shop",   "wiki",   "blog",  "forum",   "docs",
                                         "about",  "help",   "data",   "sport", "culture", "media",
                                         "travel", "health", "garden", "music"};

static const char *const words[32] = {"river",  "stone",  "paper",   "north",  "window", "orange", "signal",
                                      "harbor", "meadow", "copper",  "silent", "bridge", "winter", "valley",
                                      "candle", "market", "forest",  "planet", "mirror", "engine", "letter",
                                      "garden", "island", "thunder", "violet", "shadow", "summer", "pepper",
                                      "falcon", "marble", "ribbon",  "anchor"};

static char *write_section(char *at, const struct websim_site *site, uint32_t page, uint64_t bits)
{
    const char *section = sections[bits >> 8 & 15];
    if (websim_site_is_leaf(site, page)) {
        unsigned draw = bits & 255;
        if (draw < PRIVATE_OF_256)
            section = "private";
        else if (draw < PRIVATE_OF_256 + SEARCH_OF_256)
            section = "search";
    }
    *at++ = '/';
    at = websim_write_text(at, section);
    *at++ = '/';
    return at;
}

static char *write_page(char *at, const struct websim_site *site, uint32_t page)
{
    if (page == 0) {
        *at++ = '/';
        return at;
    }
    uint64_t bits = websim_hash(websim_host_bits(site->web, site->host, BITS_PATH), page);
    const char *word = words[bits >> 16 & 31], *second = words[bits >> 21 & 31];
    unsigned style = bits >> 32 & 7;
    at = write_section(at, site, page, bits);
    if (style == 6) {
        at = websim_write_text(at, "view.php?cat=");
        at = websim_write_text(at, word);
        at = websim_write_text(at, "&id=");
        return websim_write_number(at, page);
    }
    if (style >= 3) {
        at = websim_write_text(at, second);
        *at++ = '/';
    }
    if (style != 5) {
        at = websim_write_text(at, word);
        *at++ = '-';
    }
    at = websim_write_number(at, page);
    return websim_write_text(at, style < 3 || style == 7 ? ".html" : style == 5 ? "" : "/");
}

static char *write_session(char *at, const struct websim_site *site, unsigned variant, bool has_query)
{
    uint64_t bits = websim_hash(websim_host_bits(site->web, site->host, BITS_SESSION), variant);
    at = websim_write_text(at, has_query ? "&sid=" : "?sid=");
    for (unsigned i = 0; i < SESSION_DIGITS; i++, bits >>= 4)
        *at++ = "0123456789abcdef"[bits & 15];
    return at;
}

static char *write_numbered(char *at, const char *prefix, uint64_t number, const char *suffix)
{
    at = websim_write_text(at, prefix);
    at = websim_write_number(at, number);
    return websim_write_text(at, suffix);
}

static char *write_hop(char *at, const char *prefix, struct websim_url url)
{
    at = write_numbered(at, prefix, url.variant, "/");
    return websim_write_number(at, url.index);
}

size_t websim_path_write(const struct websim_site *site, struct websim_url url, char *out)
{
    char *at = out;
    switch ((enum websim_kind)url.kind) {
    case WEBSIM_KIND_PAGE:
        at = write_page(at, site, url.index);
        break;
    case WEBSIM_KIND_SESSION:
        at = write_page(at, site, url.index);
        at = write_session(at, site, url.variant, memchr(out, '?', (size_t)(at - out)));
        break;
    case WEBSIM_KIND_GONE:
        at = write_numbered(at, "/gone/", url.index, ".html");
        break;
    case WEBSIM_KIND_IMAGE:
        at = write_numbered(at, "/img/", url.index, ".png");
        break;
    case WEBSIM_KIND_CALENDAR:
        at = write_numbered(at, "/calendar/month-", url.index, "");
        break;
    case WEBSIM_KIND_HOP:
        at = write_hop(at, "/hop/", url);
        break;
    case WEBSIM_KIND_LOOP:
        at = write_hop(at, "/loop/", url);
        break;
    case WEBSIM_KIND_STYLE:
        at = websim_write_text(at, "/style.css");
        break;
    case WEBSIM_KIND_ROBOTS:
        at = websim_write_text(at, url.variant ? "/robots-moved.txt" : "/robots.txt");
        break;
    case WEBSIM_KIND_SITEMAP:
        at = websim_write_text(at, "/sitemap.xml");
        break;
    case WEBSIM_KIND_OTHER:
    case WEBSIM_KIND_COUNT:
        assert(!"a URL without a path");
    }
    *at = '\0';
    return (size_t)(at - out);
}

static enum websim_kind kind_of(struct slice target)
{
    static const struct {
        struct slice prefix;
        enum websim_kind kind;
    } table[] = {
        {{"/gone/", 6}, WEBSIM_KIND_GONE},          {{"/img/", 5}, WEBSIM_KIND_IMAGE},
        {{"/calendar/", 10}, WEBSIM_KIND_CALENDAR}, {{"/hop/", 5}, WEBSIM_KIND_HOP},
        {{"/loop/", 6}, WEBSIM_KIND_LOOP},          {{"/style.css", 10}, WEBSIM_KIND_STYLE},
        {{"/robots", 7}, WEBSIM_KIND_ROBOTS},       {{"/sitemap.xml", 12}, WEBSIM_KIND_SITEMAP},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (slice_starts_with(target, table[i].prefix))
            return table[i].kind;
    return WEBSIM_KIND_PAGE;
}

/* The number of the last run of digits before `end`; `end` moves to where the run begins. */
static uint64_t last_number(struct slice target, size_t *end)
{
    size_t at = *end, first;
    while (at > 0 && (target.ptr[at - 1] < '0' || target.ptr[at - 1] > '9'))
        at--;
    for (first = at; first > 0 && target.ptr[first - 1] >= '0' && target.ptr[first - 1] <= '9';)
        first--;
    *end = first;
    uint64_t number = 0;
    for (; first < at && number <= UINT32_MAX; first++)
        number = number * 10 + (uint64_t)(target.ptr[first] - '0');
    return number;
}

/* Where the session id begins, or the length of the target. */
static size_t session_start(struct slice target)
{
    size_t len = sizeof "?sid=" - 1 + SESSION_DIGITS;
    if (target.len <= len || memcmp(target.ptr + target.len - len + 1, "sid=", 4) != 0)
        return target.len;
    return target.len - len;
}

static bool is_written_as(const struct websim_site *site, struct websim_url url, struct slice target)
{
    char path[WEBSIM_PATH_BYTES];
    size_t len = websim_path_write(site, url, path);
    return slice_equals(target, (struct slice){path, len});
}

static struct websim_url other(const struct websim_site *site, struct slice target)
{
    uint64_t hash = site->host;
    for (size_t i = 0; i < target.len; i++)
        hash = websim_hash(hash, (unsigned char)target.ptr[i]);
    return (struct websim_url){.host = site->host, .kind = WEBSIM_KIND_OTHER, .index = (uint32_t)hash};
}

struct websim_url websim_path_read(const struct websim_site *site, struct slice target)
{
    struct websim_url url = {.host = site->host, .kind = (uint8_t)kind_of(target)};
    size_t end = session_start(target);
    bool session = end < target.len;
    uint64_t number = last_number(target, &end);
    if (number > UINT32_MAX || (url.kind == WEBSIM_KIND_PAGE && number >= site->pages))
        return other(site, target);
    url.index = (uint32_t)number;
    if (url.kind == WEBSIM_KIND_HOP || url.kind == WEBSIM_KIND_LOOP)
        url.variant = last_number(target, &end) & 15;
    if (url.kind == WEBSIM_KIND_ROBOTS)
        url.variant = !slice_equals(target, SLICE("/robots.txt"));
    if (session && url.kind == WEBSIM_KIND_PAGE) {
        url.kind = WEBSIM_KIND_SESSION;
        for (; url.variant < WEBSIM_SESSIONS; url.variant++)
            if (is_written_as(site, url, target))
                return url;
        return other(site, target);
    }
    return is_written_as(site, url, target) ? url : other(site, target);
}
