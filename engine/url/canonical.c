/* The rules for session ids, www and queries are those of Heritrix's canonicalisation policy. */
#include "engine/url/canonical.h"

#include <assert.h>

#define SESSION_DIGITS     32
#define ASP_NAME_LETTERS   8
#define ASP_VALUE_LETTERS  24
#define WWW_PREFIX_LETTERS 3

static const char *const names[] = {"fragment",    "userinfo",    "case",      "www",
                                    "session-ids", "empty-query", "index-page"};
#define RULE_COUNT (sizeof names / sizeof *names)
_Static_assert(CANONICAL_ALL == (1u << RULE_COUNT) - 1, "a name for each rule");

static void move_offset(uint16_t *offset, size_t begin, size_t end)
{
    if (*offset >= end)
        *offset = (uint16_t)(*offset - (end - begin));
    else if (*offset > begin)
        *offset = (uint16_t)begin;
}

/* Takes the bytes from `begin` to `end` out of the URL; they must lie within one of its parts. */
static void cut(struct url *url, size_t begin, size_t end)
{
    uint16_t *const offsets[] = {&url->host,  &url->host_end, &url->path,
                                 &url->query, &url->fragment, &url->len};
    memmove(url->text + begin, url->text + end, url->len - end);
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        move_offset(offsets[i], begin, end);
    const char *slash = memrchr(url->text + url->path, '/', url->query - url->path);
    url->folder = (uint16_t)(slash + 1 - url->text);
}

static void lower_case(struct url *url)
{
    for (size_t i = url->path; i < url->len; i++)
        url->text[i] = slice_lower(url->text[i]);
}

/* Not on a site's root page: "example.org/" commonly redirects to "www.example.org/", and a crawl that
 * treats the two as one page would stop there. */
static void strip_www(struct url *url)
{
    size_t at = url->host;
    if (url->fragment == url->path + 1 || !slice_starts_with(url_host(url), SLICE("www")))
        return;
    at += WWW_PREFIX_LETTERS;
    while (at < url->host_end && url->text[at] >= '0' && url->text[at] <= '9')
        at++;
    if (at == url->host_end || url->text[at] != '.')
        return;
    at++;
    if (memchr(url->text + at, '.', url->host_end - at))
        cut(url, url->host, at);
}

static bool is_letter(char c)
{
    c = slice_lower(c);
    return c >= 'a' && c <= 'z';
}

static bool is_letter_or_digit(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

static size_t run_length(struct slice text, bool (*is_of)(char))
{
    size_t i = 0;
    while (i < text.len && is_of(text.ptr[i]))
        i++;
    return i;
}

static bool has_name(struct slice text, struct slice name)
{
    return text.len >= name.len && slice_equals_nocase((struct slice){text.ptr, name.len}, name);
}

/* Each matcher returns the length of the session id at the start of `text`, 0 if there is none. */
static size_t match_named(struct slice text, struct slice name)
{
    if (!has_name(text, name))
        return 0;
    size_t value = run_length(slice_skip(text, name.len), is_letter_or_digit);
    return value == SESSION_DIGITS ? name.len + value : 0;
}

static size_t match_session(struct slice text)
{
    size_t len = match_named(text, SLICE("jsessionid="));
    return len ? len : match_named(text, SLICE("phpsessid="));
}

/* After match_session: "sid=" is also the end of "phpsessid=". */
static size_t match_sid(struct slice text)
{
    return match_named(text, SLICE("sid="));
}

static size_t match_asp(struct slice text)
{
    struct slice name = SLICE("ASPSESSIONID");
    size_t equals = name.len + ASP_NAME_LETTERS;
    if (!has_name(text, name) || text.len <= equals || text.ptr[equals] != '=' ||
        run_length(slice_skip(text, name.len), is_letter) != ASP_NAME_LETTERS)
        return 0;
    return run_length(slice_skip(text, equals + 1), is_letter) == ASP_VALUE_LETTERS
               ? equals + 1 + ASP_VALUE_LETTERS
               : 0;
}

static bool is_value(char c)
{
    return c != '&' && c != '?';
}

static size_t match_cold_fusion(struct slice text)
{
    struct slice id = SLICE("cfid="), token = SLICE("&cftoken=");
    if (!has_name(text, id))
        return 0;
    size_t id_value = run_length(slice_skip(text, id.len), is_value);
    text = slice_skip(text, id.len + id_value);
    if (!id_value || !has_name(text, token))
        return 0;
    size_t token_value = run_length(slice_skip(text, token.len), is_value);
    return token_value ? id.len + id_value + token.len + token_value : 0;
}

/* Takes out the last session id that is followed by '&' or the end, together with that '&'. */
static void strip_session(struct url *url, size_t (*match)(struct slice text))
{
    for (size_t at = url->fragment; at-- > url->path + 1u;) {
        size_t end = at + match(url_part(url, at, url->fragment));
        if (end == at || (end < url->fragment && url->text[end] != '&'))
            continue;
        cut(url, at, end < url->fragment ? end + 1 : end);
        return;
    }
}

/* Every session id has a '=', and hardly any URL has one. */
static void strip_sessions(struct url *url)
{
    if (!memchr(url->text + url->path, '=', (size_t)(url->fragment - url->path)))
        return;
    strip_session(url, match_session);
    strip_session(url, match_sid);
    strip_session(url, match_asp);
    strip_session(url, match_cold_fusion);
}

static void strip_empty_query(struct url *url)
{
    if (url->query == url->fragment)
        return;
    if (url->fragment > url->query + 1 && url->text[url->query + 1] == '&')
        cut(url, url->query + 1u, url->query + 2u);
    if (url->text[url->fragment - 1] == '&')
        cut(url, url->fragment - 1u, url->fragment);
    if (url->fragment == url->query + 1)
        cut(url, url->query, url->fragment);
}

/* Only without a query: a script may treat "/index.php?x" and "/?x" differently. */
static void strip_index_page(struct url *url)
{
    static const char *const pages[] = {"index.html",  "index.htm",   "index.shtml", "index.php",
                                        "index.asp",   "index.aspx",  "index.jsp",   "index.cgi",
                                        "index.cfm",   "index.xhtml", "default.htm", "default.html",
                                        "default.asp", "default.aspx"};
    struct slice page = url_part(url, url->folder, url->query);
    if (url->query != url->fragment)
        return;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (slice_equals_nocase(page, slice_of(pages[i]))) {
            cut(url, url->folder, url->query);
            return;
        }
    }
}

void canonical_apply(struct url *url, unsigned rules)
{
    assert(!(rules & ~CANONICAL_ALL));
    if (rules & CANONICAL_FRAGMENT)
        url->len = url->fragment;
    if ((rules & CANONICAL_USERINFO) && url_has_userinfo(url))
        cut(url, url->scheme_len + 3u, url->host);
    if (rules & CANONICAL_CASE)
        lower_case(url);
    if (rules & CANONICAL_WWW)
        strip_www(url);
    if (rules & CANONICAL_SESSION_IDS)
        strip_sessions(url);
    if (rules & CANONICAL_EMPTY_QUERY)
        strip_empty_query(url);
    if (rules & CANONICAL_INDEX_PAGE)
        strip_index_page(url);
}

const char *canonical_name(unsigned index)
{
    return index < RULE_COUNT ? names[index] : NULL;
}

static bool find_rules(struct slice name, unsigned *rules)
{
    *rules = slice_equals(name, SLICE("default")) ? CANONICAL_DEFAULT : CANONICAL_NONE;
    if (slice_equals(name, SLICE("all")))
        *rules = CANONICAL_ALL;
    for (unsigned i = 0; i < RULE_COUNT; i++)
        if (slice_equals(name, slice_of(names[i])))
            *rules = 1u << i;
    return *rules || slice_equals(name, SLICE("none"));
}

bool canonical_parse(unsigned *rules, struct slice list, struct slice *bad)
{
    *rules = CANONICAL_NONE;
    for (;;) {
        const char *comma = memchr(list.ptr, ',', list.len);
        struct slice name = comma ? slice_between(list.ptr, comma) : list, trimmed = slice_trim(name);
        unsigned found;
        if (!find_rules(trimmed, &found)) {
            if (bad)
                *bad = trimmed;
            return false;
        }
        *rules |= found;
        if (!comma)
            return true;
        list = slice_skip(list, name.len + 1);
    }
}
