/* RFC 9309, clause by clause: each test is named after the section whose sentence it checks. Then real
 * files. */
#include "engine/robots/robots.h"

#include <dirent.h>
#include <stdlib.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct robots *compile(struct slice text, const char *agent)
{
    struct robots *robots = malloc(robots_size(text.len));
    char *guarded = check_guard_copy(text.ptr, text.len);
    robots_compile(robots, (struct slice){guarded, text.len}, slice_of(agent));
    check_guard_free(guarded, text.len);
    return robots;
}

static bool allows(const char *text, const char *agent, const char *path)
{
    struct robots *robots = compile(slice_of(text), agent);
    size_t len = strlen(path);
    char *guarded = check_guard_copy(path, len);
    bool answer = robots_allows(robots, (struct slice){guarded, len}, NULL);
    check_guard_free(guarded, len);
    free(robots);
    return answer;
}

#define ALLOWED(text, path)   CHECK(allows(text, "lycosa", path))
#define FORBIDDEN(text, path) CHECK(!allows(text, "lycosa", path))

/* 2.1: a group is one or more user-agent lines followed by rules; the last group may have no rules. */
TEST(section_2_1_protocol_definition)
{
    FORBIDDEN("user-agent: a\nuser-agent: lycosa\nuser-agent: b\ndisallow: /x\n", "/x");
    ALLOWED("user-agent: *\ndisallow: /\nuser-agent: lycosa\n", "/x");
    ALLOWED("disallow: /\n", "/x");
    ALLOWED("disallow: /\nuser-agent: lycosa\n", "/x");
}

/* 2.2: keys in any case, white space around keys and values, comments, line ends of all three kinds. */
TEST(section_2_2_formal_syntax)
{
    FORBIDDEN("USER-AGENT:lycosa\nDISALLOW:/x", "/x");
    FORBIDDEN(" \tUser-Agent \t: \tlycosa \t# comment\n\tDisallow : /x # more\n", "/x");
    FORBIDDEN("user-agent: lycosa\rdisallow: /x\r", "/x");
    FORBIDDEN("user-agent: lycosa\r\ndisallow: /x\r\n", "/x");
    FORBIDDEN("# a file\n\n\nuser-agent: lycosa\n\n\n#x\ndisallow: /x", "/x");
    ALLOWED("user-agent: lycosa\ndisallow: #/x\n", "/x");
    ALLOWED("user-agent: lycosa\ndisallow /x\n", "/x");
    FORBIDDEN("\xef\xbb\xbfuser-agent: lycosa\ndisallow: /x\n", "/x");
}

/* 2.2.1: the product token is compared without regard to case; what follows it is not compared. */
TEST(section_2_2_1_product_token)
{
    FORBIDDEN("user-agent: LyCoSa\ndisallow: /x\n", "/x");
    FORBIDDEN("user-agent: lycosa/1.0\ndisallow: /x\n", "/x");
    ALLOWED("user-agent: lycos\ndisallow: /x\n", "/x");
    ALLOWED("user-agent: lycosa-images\ndisallow: /x\n", "/x");
    CHECK(!allows("user-agent: lycosa\ndisallow: /x\n", "lycosa/2.0 (+http://x)", "/x"));
    CHECK(!allows("user-agent: my_bot-x\ndisallow: /x\n", "My_Bot-X", "/x"));
}

/* 2.2.1: all groups of the matching product token are one group. */
TEST(section_2_2_1_groups_are_combined)
{
    const char *text = "user-agent: lycosa\ndisallow: /foo\n\nuser-agent: b\ndisallow: /b\n\nuser-agent: "
                       "lycosa\ndisallow: /bar\n";
    FORBIDDEN(text, "/foo");
    FORBIDDEN(text, "/bar");
    ALLOWED(text, "/b");
}

/* 2.2.1: without a matching group the one for "*" is obeyed, and without that nothing. */
TEST(section_2_2_1_fallback_to_all)
{
    const char *text =
        "user-agent: *\ndisallow: /all\nuser-agent: lycosa\ndisallow: /own\nuser-agent: *\ndisallow: /more\n";
    ALLOWED(text, "/all");
    FORBIDDEN(text, "/own");
    CHECK(!allows(text, "other", "/all"));
    CHECK(!allows(text, "other", "/more"));
    CHECK(allows(text, "other", "/own"));
    CHECK(allows("user-agent: a\ndisallow: /\n", "other", "/"));
    ALLOWED("user-agent: *\ndisallow: /\nuser-agent: lycosa\ndisallow:\n", "/x");
}

/* 2.2.2: the match starts with the first octet of the path and is case-sensitive. */
TEST(section_2_2_2_match_from_the_first_octet)
{
    FORBIDDEN("user-agent: *\ndisallow: /a\n", "/abc");
    ALLOWED("user-agent: *\ndisallow: /a\n", "/b/a");
    ALLOWED("user-agent: *\ndisallow: /A\n", "/a");
    ALLOWED("user-agent: *\ndisallow: /a/\n", "/a");
    FORBIDDEN("user-agent: *\ndisallow: /a?b\n", "/a?bc");
    ALLOWED("user-agent: *\ndisallow: a\n", "/a");
}

/* 2.2.2: the most specific match, the one with the most octets, is used; order does not count. */
TEST(section_2_2_2_most_octets)
{
    const char *text = "user-agent: *\nallow: /a/b\ndisallow: /a\ndisallow: /a/b/c\nallow: /a/b/c/d\n";
    FORBIDDEN(text, "/a/x");
    ALLOWED(text, "/a/b/x");
    FORBIDDEN(text, "/a/b/c/x");
    ALLOWED(text, "/a/b/c/d");
    FORBIDDEN("user-agent: *\nallow: /page\ndisallow: /*.html\n", "/page.html");
    ALLOWED("user-agent: *\nallow: /pages\ndisallow: /*.ht\n", "/pages.html");
    /* A longer rule that does not match must not hide a shorter one that does. */
    FORBIDDEN("user-agent: *\ndisallow: /\ndisallow: /private\n", "/public");
}

/* 2.2.2: if an allow and a disallow rule are equivalent, allow is used. */
TEST(section_2_2_2_allow_on_a_tie)
{
    ALLOWED("user-agent: *\ndisallow: /a\nallow: /a\n", "/a");
    ALLOWED("user-agent: *\nallow: /a\ndisallow: /a\n", "/a");
    ALLOWED("user-agent: *\ndisallow: /*b\nallow: /a*\n", "/ab");
    ALLOWED("user-agent: *\ndisallow: /a*\nallow: /*b\n", "/ab");
    ALLOWED("user-agent: lycosa\ndisallow: /a\nuser-agent: lycosa\nallow: /a\n", "/a");
}

/* 2.2.2: no match, or no rules at all, allows; /robots.txt is always allowed. */
TEST(section_2_2_2_implicitly_allowed)
{
    ALLOWED("user-agent: *\ndisallow: /a\n", "/b");
    ALLOWED("", "/b");
    ALLOWED("user-agent: *\ndisallow: /\n", "/robots.txt");
    FORBIDDEN("user-agent: *\ndisallow: /\n", "/robots.txt2");
    ALLOWED("user-agent: *\ndisallow:\n", "/");
}

/* 2.2.2: octets outside ASCII are escaped, escaped unreserved ASCII is not, on both sides: the RFC's
 * table. */
TEST(section_2_2_2_percent_encoding)
{
    FORBIDDEN("user-agent: *\ndisallow: /foo/bar?baz=quz\n", "/foo/bar?baz=quz");
    FORBIDDEN("user-agent: *\ndisallow: /foo/bar?baz=https://foo.bar\n",
              "/foo/bar?baz=https%3A%2F%2Ffoo.bar");
    FORBIDDEN("user-agent: *\ndisallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar\n",
              "/foo/bar?baz=https://foo.bar");
    FORBIDDEN("user-agent: *\ndisallow: /foo/bar/\xe3\x83\x84\n", "/foo/bar/%E3%83%84");
    FORBIDDEN("user-agent: *\ndisallow: /foo/bar/%E3%83%84\n", "/foo/bar/%e3%83%84");
    FORBIDDEN("user-agent: *\ndisallow: /foo/bar/%62%61%7A\n", "/foo/bar/baz");
    FORBIDDEN("user-agent: *\ndisallow: /foo/bar/baz\n", "/foo/bar/%62%61%7a");
    /* A reserved character and its escape differ in a path. */
    ALLOWED("user-agent: *\ndisallow: /a%2Fb\n", "/a/b");
    ALLOWED("user-agent: *\ndisallow: /a/b\n", "/a%2fb");
    FORBIDDEN("user-agent: *\ndisallow: /a%2fb\n", "/a%2Fb");
    FORBIDDEN("user-agent: *\ndisallow: /a b\n", "/a%20b");
    FORBIDDEN("user-agent: *\ndisallow: /%\n", "/%zz");
}

/* 2.2.3: '#' begins a comment, '$' is the end, '*' any number of octets. */
TEST(section_2_2_3_special_characters)
{
    FORBIDDEN("user-agent: *\ndisallow: /this/path/exactly$\n", "/this/path/exactly");
    ALLOWED("user-agent: *\ndisallow: /this/path/exactly$\n", "/this/path/exactly/not");
    FORBIDDEN("user-agent: *\ndisallow: /this/*/exactly\n", "/this/a/b/exactly/x");
    FORBIDDEN("user-agent: *\ndisallow: /this/*/exactly\n", "/this//exactly");
    ALLOWED("user-agent: *\ndisallow: /this/*/exactly\n", "/this/exactly");
    FORBIDDEN("user-agent: *\ndisallow: /*.gif$\n", "/a.gif.gif");
    ALLOWED("user-agent: *\ndisallow: /*.gif$\n", "/a.gifs");
    FORBIDDEN("user-agent: *\ndisallow: *.gif\n", "/a.gif?x");
    FORBIDDEN("user-agent: *\ndisallow: /***a***b\n", "/xaxb");
    FORBIDDEN("user-agent: *\ndisallow: /a*$\n", "/abc");
    FORBIDDEN("user-agent: *\ndisallow: *\n", "/x");
    FORBIDDEN("user-agent: *\ndisallow: /$\n", "/");
    ALLOWED("user-agent: *\ndisallow: /$\n", "/a");
    FORBIDDEN("user-agent: *\ndisallow: /a*b*a$\n", "/aba");
    ALLOWED("user-agent: *\ndisallow: /ab*ba$\n", "/aba");
    FORBIDDEN("user-agent: *\ndisallow: /a$b\n", "/a$b");
}

/* 2.2.3: a literal special character is matched by its escape. */
TEST(section_2_2_3_escaped_special_characters)
{
    FORBIDDEN("user-agent: *\ndisallow: /path/file-with-a-%2A.html\n", "/path/file-with-a-*.html");
    ALLOWED("user-agent: *\ndisallow: /path/file-with-a-%2A.html\n", "/path/file-with-a-b.html");
    FORBIDDEN("user-agent: *\ndisallow: /path/foo-%24\n", "/path/foo-$");
    FORBIDDEN("user-agent: *\ndisallow: /path/foo-%24\n", "/path/foo-%24bar");
}

/* 2.2.4: other records are no part of the protocol and do not interfere; Sitemap and Crawl-delay are kept. */
TEST(section_2_2_4_other_records)
{
    const char *text = "user-agent: lycosa\nsitemap: http://h/1.xml\nuser-agent: b\nnoindex: "
                       "/y\ncrawl-delay: 2.5\ndisallow: /x\n"
                       "Sitemap:http://h/2.xml # second\ncrawl-delay: 1\nuser-agent: *\ncrawl-delay: 9\n";
    FORBIDDEN(text, "/x");
    ALLOWED(text, "/y");
    struct robots *robots = compile(slice_of(text), "lycosa");
    uint32_t cursor = 0;
    struct slice sitemap;
    CHECK_INT(robots->crawl_delay_ms, 2500);
    CHECK_INT(robots->sitemap_count, 2);
    CHECK(robots_sitemap(robots, &cursor, &sitemap));
    CHECK_SLICE(sitemap, "http://h/1.xml");
    CHECK(robots_sitemap(robots, &cursor, &sitemap));
    CHECK_SLICE(sitemap, "http://h/2.xml");
    CHECK(!robots_sitemap(robots, &cursor, &sitemap));
    free(robots);
}

static enum robots_action action(int status, unsigned redirects, bool has_location)
{
    return robots_from_status(
        (struct robots_fetch){.status = status, .redirects = redirects, .has_location = has_location});
}

/* 2.3.1.1: success is parsed. */
TEST(section_2_3_1_1_successful_access)
{
    CHECK_INT(action(200, 0, false), ROBOTS_PARSE);
    CHECK_INT(action(206, 5, true), ROBOTS_PARSE);
}

/* 2.3.1.2: at least five redirects are followed, after which the file counts as unavailable. */
TEST(section_2_3_1_2_redirects)
{
    for (unsigned redirects = 0; redirects < 5; redirects++)
        CHECK_INT(action(301 + (int)redirects % 2, redirects, true), ROBOTS_FOLLOW);
    CHECK_INT(action(301, 5, true), ROBOTS_ALLOW_ALL);
    CHECK_INT(action(302, 0, false), ROBOTS_ALLOW_ALL);
    CHECK_INT(action(304, 0, false), ROBOTS_ALLOW_ALL);
}

/* 2.3.1.3: 4xx means unavailable: any resource may be accessed. */
TEST(section_2_3_1_3_unavailable_status)
{
    CHECK_INT(action(400, 0, false), ROBOTS_ALLOW_ALL);
    CHECK_INT(action(404, 3, false), ROBOTS_ALLOW_ALL);
    CHECK_INT(action(499, 0, true), ROBOTS_ALLOW_ALL);
    struct robots robots;
    robots_without_file(&robots, true);
    CHECK(robots_allows(&robots, SLICE("/x"), NULL));
}

/* 2.3.1.4: server or network errors mean unreachable: complete disallow. */
TEST(section_2_3_1_4_unreachable_status)
{
    CHECK_INT(action(500, 0, false), ROBOTS_DISALLOW_ALL);
    CHECK_INT(action(503, 5, true), ROBOTS_DISALLOW_ALL);
    CHECK_INT(action(0, 0, false), ROBOTS_DISALLOW_ALL);
    CHECK_INT(action(199, 0, false), ROBOTS_DISALLOW_ALL);
    struct robots robots;
    struct robots_rule rule;
    robots_without_file(&robots, false);
    CHECK(!robots_allows(&robots, SLICE("/x"), &rule));
    CHECK(!rule.allow && rule.pattern.len == 0);
    CHECK(robots_allows(&robots, SLICE("/robots.txt"), NULL));
}

/* 2.3.1.5: every line is tried; the rules that can be parsed are used. */
TEST(section_2_3_1_5_parsing_errors)
{
    FORBIDDEN(
        "<!DOCTYPE html>\n<p style=\"x: y\">\nuser-agent: lycosa\nbroken\n:\n::\n: x\ndisallow: /x\n\0\n",
        "/x");
    ALLOWED("<html><body>Disallow: /x User-agent: *</body></html>", "/x");
    FORBIDDEN("user-agent: lycosa\nunknown: /y\ndisallow: /x\nallow\n", "/x");
}

/* 2.5: at least 500 KiB are parsed; a line that the limit cuts is not. */
TEST(section_2_5_limits)
{
    size_t len = 1024 * 1024, limit = 500 * 1024;
    char *text = malloc(len);
    memset(text, '#', len);
    memcpy(text, "user-agent: *\ndisallow: /first\n", 31);
    text[limit - 17] = '\n';
    memcpy(text + limit - 16, "disallow: /last\n", 16);
    memcpy(text + limit, "disallow: /beyond\n", 18);
    struct robots *robots = compile((struct slice){text, len}, "lycosa");
    CHECK(robots->truncated);
    CHECK(!robots_allows(robots, SLICE("/first"), NULL));
    CHECK(!robots_allows(robots, SLICE("/last"), NULL));
    CHECK(robots_allows(robots, SLICE("/beyond"), NULL));
    free(robots);
    text[limit - 1] = 'x'; /* "/lastx..." goes on past the limit */
    robots = compile((struct slice){text, len}, "lycosa");
    CHECK(robots_allows(robots, SLICE("/last"), NULL));
    CHECK(!robots_allows(robots, SLICE("/first"), NULL));
    free(robots);
    free(text);
}

/* Compiles under a bound that a quadratic algorithm would pass by far, in a build with sanitizers too. */
static struct robots *compile_in_time(struct slice text)
{
    uint64_t begin = clock_now_ns();
    struct robots *robots = compile(text, "lycosa");
    CHECK(clock_now_ns() - begin < 10 * CLOCK_NS_PER_S);
    return robots;
}

TEST(hostile_100000_rules)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    fputs("user-agent: *\n", out);
    for (unsigned i = 0; i < 100000; i++)
        fprintf(out, "disallow: /*%u%s\n", i, i % 2 ? "$" : "");
    fclose(out);
    struct robots *robots = compile_in_time((struct slice){text, len});
    CHECK(robots->truncated && robots->rule_count > 25000);
    CHECK(!robots_allows(robots, SLICE("/x12345"), NULL));
    CHECK(robots_allows(robots, SLICE("/x"), NULL));
    free(robots);
    free(text);
}

TEST(hostile_nested_and_equal_rules)
{
    char *text, path[2000];
    size_t len;
    FILE *out = open_memstream(&text, &len);
    memset(path, 'a', sizeof path);
    path[0] = '/';
    fputs("user-agent: *\n", out);
    for (int i = 0; i < 900; i++)
        fprintf(out, "%s: %.*s\n", i % 2 ? "allow" : "disallow", i + 1, path);
    for (int i = 0; i < 1000; i++)
        fputs("disallow: /a*b\n", out);
    fclose(out);
    struct robots *robots = compile_in_time((struct slice){text, len});
    CHECK_INT(robots->rule_count, 901);
    CHECK(robots_allows(robots, (struct slice){path, 2000}, NULL));
    CHECK(!robots_allows(robots, (struct slice){path, 899}, NULL));
    CHECK(robots_allows(robots, (struct slice){path, 898}, NULL));
    free(robots);
    free(text);
}

TEST(hostile_line_of_1_mb)
{
    size_t len = 1024 * 1024;
    char *text = malloc(len);
    memset(text, 'a', len);
    memcpy(text, "user-agent: *\ndisallow: /x\ndisallow: /", 38);
    struct robots *robots = compile_in_time((struct slice){text, len});
    CHECK_INT(robots->rule_count, 1);
    CHECK(!robots_allows(robots, SLICE("/x"), NULL));
    free(robots);
    /* Shorter than the limit, longer than any URL. */
    robots = compile_in_time((struct slice){text, 400 * 1024});
    CHECK_INT(robots->rule_count, 1);
    free(robots);
    free(text);
}

TEST(answer_names_the_rule)
{
    struct robots *robots = compile(SLICE("user-agent: *\ndisallow: /a%7e*x$\nallow: /b\n"), "lycosa");
    struct robots_rule rule;
    CHECK(!robots_allows(robots, SLICE("/a~1x"), &rule));
    CHECK_SLICE(rule.pattern, "/a~*x$");
    CHECK(!rule.allow);
    CHECK(robots_allows(robots, SLICE("/b"), &rule));
    CHECK_SLICE(rule.pattern, "/b");
    CHECK(rule.allow);
    CHECK(robots_allows(robots, SLICE("/c"), &rule));
    CHECK(rule.pattern.len == 0 && rule.allow);
    free(robots);
}

/* Every real file compiles, for a crawler that none of them names and for one that many do; every rule of it
 * is found by a path made from it; a copy of the compiled form answers like the form. */
TEST(real_files)
{
    const char *folder = check_corpus("robots");
    if (!folder)
        SKIP("../shared/corpora/robots is absent");
    struct dirent **entries;
    char path[1024], name[512];
    snprintf(name, sizeof name, "%s", folder);
    int count = scandir(name, &entries, NULL, alphasort);
    unsigned files = 0, rules = 0;
    size_t bytes = 0;
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", name, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            size_t len;
            char *text = check_read_file(path, &len);
            free(compile_in_time((struct slice){text, len}));
            struct robots *robots = compile((struct slice){text, len}, "Googlebot"),
                          *copy = malloc(robots->bytes);
            memcpy(copy, robots, robots->bytes);
            static const char *const paths[] = {"/", "/index.html", "/search?q=a", "/wp-admin/x.php",
                                                "/a/b/c/d/e.jpg"};
            for (size_t p = 0; p < sizeof paths / sizeof *paths; p++)
                CHECK_INT(robots_allows(copy, slice_of(paths[p]), NULL),
                          robots_allows(robots, slice_of(paths[p]), NULL));
            files++;
            rules += robots->rule_count;
            bytes += robots->bytes - sizeof *robots;
            free(copy);
            free(robots);
            free(text);
        }
        free(entries[i]);
    }
    free(entries);
    printf("%u files, %u rules, %.1f bytes per rule (with its pattern and the sitemaps)\n", files, rules,
           (double)bytes / rules);
    CHECK(files >= 250 && rules > 5000);
}
