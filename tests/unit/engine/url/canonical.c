#include "engine/url/canonical.h"

#include "tests/support/check.h"

#define SESSION "0123456789abcdefABCDEF0123456789"

static void check_rule(unsigned rules, const char *input, const char *expected)
{
    char buffer[URL_BYTES_MAX];
    struct url url, opened;
    url_init(&url, buffer, sizeof buffer);
    CHECK_INT(url_parse(&url, NULL, slice_of(input)), URL_OK);
    canonical_apply(&url, rules);
    CHECK_SLICE(url_text(&url), expected);
    url_open(&opened, url_text(&url));
    CHECK_INT(url.host, opened.host);
    CHECK_INT(url.host_end, opened.host_end);
    CHECK_INT(url.path, opened.path);
    CHECK_INT(url.folder, opened.folder);
    CHECK_INT(url.query, opened.query);
    CHECK_INT(url.fragment, opened.fragment);
}

TEST(nothing_by_no_rule)
{
    const char *url = "http://u:p@www.example.org/Index.html?sid=" SESSION "&#f";
    check_rule(CANONICAL_NONE, url, url);
}

TEST(fragment_and_userinfo)
{
    check_rule(CANONICAL_FRAGMENT, "http://u@h/a?b#c", "http://u@h/a?b");
    check_rule(CANONICAL_FRAGMENT, "http://h/#", "http://h/");
    check_rule(CANONICAL_USERINFO, "https://u:p@h:8/a/b?c#d", "https://h:8/a/b?c#d");
    check_rule(CANONICAL_USERINFO, "https://h/@x", "https://h/@x");
    check_rule(CANONICAL_DEFAULT, "https://u@h/a/b?c#d", "https://h/a/b?c");
}

TEST(lower_case)
{
    check_rule(CANONICAL_CASE, "http://h/A%C3/B?C=D", "http://h/a%c3/b?c=d");
}

TEST(www)
{
    check_rule(CANONICAL_WWW, "http://www.example.org/a", "http://example.org/a");
    check_rule(CANONICAL_WWW, "http://www42.example.org/?a", "http://example.org/?a");
    check_rule(CANONICAL_WWW, "http://www.example.org/", "http://www.example.org/");
    check_rule(CANONICAL_WWW, "http://www.example.org/#a", "http://www.example.org/#a");
    check_rule(CANONICAL_WWW, "http://wwwx.example.org/a", "http://wwwx.example.org/a");
    check_rule(CANONICAL_WWW, "http://www.org/a", "http://www.org/a");
    check_rule(CANONICAL_WWW, "http://www/a", "http://www/a");
    check_rule(CANONICAL_WWW, "http://u@www.example.org:8080/a/b", "http://u@example.org:8080/a/b");
}

TEST(session_ids)
{
    unsigned rule = CANONICAL_SESSION_IDS;
    check_rule(rule, "http://h/a?jsessionid=" SESSION, "http://h/a?");
    check_rule(rule, "http://h/a?PHPSESSID=" SESSION "&x=1", "http://h/a?x=1");
    check_rule(rule, "http://h/a?x=1&sid=" SESSION "&y=2", "http://h/a?x=1&y=2");
    check_rule(rule, "http://h/a;jsessionid=" SESSION, "http://h/a;");
    check_rule(rule, "http://h/a?sid=" SESSION "0", "http://h/a?sid=" SESSION "0");
    check_rule(rule, "http://h/a?sid=012", "http://h/a?sid=012");
    check_rule(rule, "http://h/a?sid=" SESSION ";x", "http://h/a?sid=" SESSION ";x");
    check_rule(rule, "http://h/a?ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM&x", "http://h/a?x");
    check_rule(rule, "http://h/a?ASPSESSIONIDAQBSDSR1=EOHBLBDDPFCLHKPGGKLILNAM",
               "http://h/a?ASPSESSIONIDAQBSDSR1=EOHBLBDDPFCLHKPGGKLILNAM");
    check_rule(rule, "http://h/a?CFID=1169580&CFTOKEN=48630702&d=1", "http://h/a?d=1");
    check_rule(rule, "http://h/a?CFID=1&CFTOKEN=2D89-/?x", "http://h/a?CFID=1&CFTOKEN=2D89-/?x");
    check_rule(rule, "http://h/a?CFID=1", "http://h/a?CFID=1");
    check_rule(rule, "http://h/a?CFID=&CFTOKEN=2", "http://h/a?CFID=&CFTOKEN=2");
    check_rule(rule, "http://h/a?jsessionid=" SESSION "&sid=" SESSION "#f", "http://h/a?#f");
}

TEST(empty_query)
{
    unsigned rule = CANONICAL_EMPTY_QUERY;
    check_rule(rule, "http://h/a?", "http://h/a");
    check_rule(rule, "http://h/a?&", "http://h/a");
    check_rule(rule, "http://h/a?&x=1", "http://h/a?x=1");
    check_rule(rule, "http://h/a?x=1&", "http://h/a?x=1");
    check_rule(rule, "http://h/a?x=1#f", "http://h/a?x=1#f");
    check_rule(rule, "http://h/a?#f", "http://h/a#f");
    check_rule(rule, "http://h/a&", "http://h/a&");
}

TEST(index_page)
{
    unsigned rule = CANONICAL_INDEX_PAGE;
    check_rule(rule, "http://h/index.html", "http://h/");
    check_rule(rule, "http://h/a/Default.aspx#f", "http://h/a/#f");
    check_rule(rule, "http://h/index.php?x", "http://h/index.php?x");
    check_rule(rule, "http://h/index.html/", "http://h/index.html/");
    check_rule(rule, "http://h/xindex.html", "http://h/xindex.html");
    check_rule(CANONICAL_ALL, "http://u@www.h.org/A/INDEX.html?sid=" SESSION "#f", "http://h.org/a/");
}

TEST(names)
{
    unsigned rules;
    struct slice bad;
    CHECK(canonical_parse(&rules, SLICE("www, session-ids"), &bad));
    CHECK_INT(rules, CANONICAL_WWW | CANONICAL_SESSION_IDS);
    CHECK(canonical_parse(&rules, SLICE("default,case"), NULL));
    CHECK_INT(rules, CANONICAL_DEFAULT | CANONICAL_CASE);
    CHECK(canonical_parse(&rules, SLICE("none"), NULL) && rules == 0);
    CHECK(canonical_parse(&rules, SLICE("all"), NULL) && rules == CANONICAL_ALL);
    CHECK(!canonical_parse(&rules, SLICE("www,wwww"), &bad));
    CHECK_SLICE(bad, "wwww");
    CHECK(!canonical_parse(&rules, SLICE(""), &bad));
    unsigned count = 0;
    for (; canonical_name(count); count++) {
        CHECK(canonical_parse(&rules, slice_of(canonical_name(count)), NULL));
        CHECK_INT(rules, 1u << count);
    }
    CHECK_INT((1u << count) - 1, CANONICAL_ALL);
}
