#include "engine/frontier/scope.h"

#include <stdio.h>

#include "tests/support/check.h"

static struct tuning tuning;
static struct tuning_error error;
static struct scope *scope;
static struct scope_loop *loop;

static void begin(const char *text, const char *seed)
{
    static char buffer[512];
    struct url url;
    tuning_init(&tuning);
    CHECK(tuning_parse(&tuning, "test", slice_of(text), &error));
    scope = scope_create(&tuning.fixed.scope, &error);
    CHECK(scope != NULL);
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, slice_of(seed)) == URL_OK);
    scope_add_seed(scope, &url);
    loop = scope_loop_create(scope);
}

static void finish(void)
{
    scope_loop_destroy(loop);
    scope_destroy(scope);
}

static struct scope_answer ask_in(const char *text, struct scope_context context)
{
    static char buffer[9000];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    return scope_ask(loop, &url, &context);
}

static bool has(const char *text)
{
    return ask_in(text, (struct scope_context){0}).is_in;
}

static const char *why(const char *text)
{
    return scope_rule_name(ask_in(text, (struct scope_context){0}).rule);
}

TEST(domains_of_the_seeds_by_default)
{
    begin("", "http://www.example.co.uk/");
    CHECK(has("http://example.co.uk/x"));
    CHECK(has("https://other.example.co.uk:8443/"));
    CHECK(!has("http://example2.co.uk/"));
    CHECK_STR(why("http://example2.co.uk/"), "hops-off");
    CHECK_STR(why("http://example.co.uk/"), "host");
    finish();
}

TEST(hosts_of_the_seeds)
{
    begin("[scope]\nmode = hosts", "http://www.example.org:81/");
    CHECK(has("http://www.example.org:81/x"));
    CHECK(has("https://www.example.org:81/x"));
    CHECK(!has("http://www.example.org/"));
    CHECK(!has("http://example.org:81/"));
    finish();
}

TEST(anything_and_suffixes)
{
    begin("[scope]\nmode = any\nsuffixes = .it, .br", "http://a.it/");
    CHECK(has("http://b.it/"));
    CHECK(has("http://b.BR/"));
    CHECK(!has("http://b.org/"));
    CHECK_STR(why("http://b.org/"), "suffix");
    finish();
}

TEST(surt_prefixes_widen)
{
    begin("[scope]\nmode = hosts", "http://a.it/");
    snprintf(tuning.fixed.scope.surts, sizeof tuning.fixed.scope.surts,
             "http://(net,other,)/a/\nhttp://(org,wide,");
    CHECK(has("http://other.net/a/b"));
    CHECK(has("https://other.net/a/b"));
    CHECK(!has("http://other.net/b"));
    CHECK(has("http://deep.wide.org/"));
    CHECK_STR(why("http://deep.wide.org/"), "surt");
    finish();
}

TEST(regular_expressions)
{
    begin("[scope]\nmode = any\nexclude = \\?.*sort=\nexclude = /cal(endar)?/\ninclude = ^https?://[^/]*a",
          "http://a.it/");
    CHECK(has("http://a.it/"));
    CHECK(!has("http://a.it/cal/1"));
    CHECK(!has("http://a.it/x?p=1&sort=2"));
    struct scope_answer answer = ask_in("http://a.it/calendar/", (struct scope_context){0});
    CHECK(!answer.is_in && answer.rule == SCOPE_EXCLUDE);
    CHECK_SLICE(answer.item, "/cal(endar)?/");
    CHECK(!has("http://b.it/a"));
    CHECK_STR(why("http://b.it/"), "include");
    finish();
}

/* A URL that an expression takes too long for is out, whichever list it is of. */
TEST(what_cannot_be_decided_is_out)
{
    const char *url = "http://www.example.org/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o.html";
    begin("[scope]\nmode = any\nexclude = /private/\nexclude = (.*/)*calendar/.*", "http://a.it/");
    struct scope_answer answer = ask_in(url, (struct scope_context){0});
    CHECK(!answer.is_in && answer.is_undecided && answer.rule == SCOPE_EXCLUDE);
    CHECK_SLICE(answer.item, "(.*/)*calendar/.*");
    CHECK(has("http://a.it/"));
    answer = ask_in("http://a.it/private/", (struct scope_context){0});
    CHECK(!answer.is_in && !answer.is_undecided);
    finish();
    begin("[scope]\nmode = any\ninclude = (.*/)*calendar/.*\ninclude = p.html", "http://a.it/");
    answer = ask_in(url, (struct scope_context){0});
    CHECK(!answer.is_in && answer.is_undecided && answer.rule == SCOPE_INCLUDE);
    CHECK_SLICE(answer.item, "(.*/)*calendar/.*");
    answer = ask_in("http://www.example.org/a/b/c/d/e/f/g/h/i/j/k/l/m/n/p.html", (struct scope_context){0});
    CHECK(answer.is_in && !answer.is_undecided);
    answer = ask_in("http://a.it/", (struct scope_context){0});
    CHECK(!answer.is_in && !answer.is_undecided);
    finish();
}

TEST(expressions_of_both_lists_are_counted)
{
    begin("", "http://a.it/");
    CHECK_INT(scope_expressions(scope), 0);
    finish();
    begin("[scope]\nexclude = a\nexclude = b\ninclude = c", "http://a.it/");
    CHECK_INT(scope_expressions(scope), 3);
    finish();
}

TEST(a_bad_expression_is_named)
{
    tuning_init(&tuning);
    snprintf(tuning.fixed.scope.exclude, sizeof tuning.fixed.scope.exclude, "good\n(bad");
    CHECK(scope_create(&tuning.fixed.scope, &error) == NULL);
    CHECK(strstr(error.message, "scope.exclude: '(bad': ") == error.message);
}

TEST(a_path_of_many_segments_is_counted_to_its_end)
{
    char text[700] = "http://a.it";
    begin("[scope]\nmode = any\npath-segments = 300", "http://a.it/");
    size_t host_len = strlen(text);
    memset(text + host_len, '/', 300);
    CHECK(has(text));
    text[host_len + 300] = '/';
    CHECK_STR(why(text), "path-segments");
    finish();
}

TEST(traps)
{
    begin("[scope]\nmode = any\npath-segments = 5\npath-repeats = 2\nurl-bytes = 100", "http://a.it/");
    CHECK(has("http://a.it/1/2/3/4/5"));
    CHECK_STR(why("http://a.it/1/2/3/4/5/6"), "path-segments");
    CHECK(has("http://a.it/x/x/y"));
    CHECK_STR(why("http://a.it/x/y/x/z/x"), "path-repeats");
    CHECK(has("http://a.it/////"));
    char text[200] = "http://a.it/";
    memset(text + 12, 'a', 100);
    CHECK_STR(why(text), "url-bytes");
    finish();
}

TEST(extensions)
{
    begin("[scope]\nskip-extensions = jpg, .zip", "http://a.it/");
    CHECK(!has("http://a.it/x.jpg"));
    CHECK(!has("http://a.it/x.ZIP?a"));
    CHECK(has("http://a.it/jpg"));
    CHECK(has("http://a.it/x.jpg/"));
    CHECK(has("http://a.it/?x.jpg"));
    finish();
}

TEST(depth_embeds_and_hops_off)
{
    begin("[scope]\ndepth = 2\nhops-off = 1", "http://a.it/");
    CHECK(ask_in("http://a.it/", (struct scope_context){.depth = 2}).is_in);
    CHECK(!ask_in("http://a.it/", (struct scope_context){.depth = 3}).is_in);
    CHECK(!ask_in("http://a.it/x", (struct scope_context){.is_embed = true}).is_in);
    struct scope_answer answer = ask_in("http://b.it/", (struct scope_context){.hops_off = 0});
    CHECK(answer.is_in && answer.is_off);
    CHECK(!ask_in("http://b.it/", (struct scope_context){.hops_off = 1}).is_in);
    CHECK(ask_in("http://a.it/", (struct scope_context){.hops_off = 1}).is_in);
    finish();
}

TEST(what_a_page_embeds_is_in_wherever_it_is)
{
    const struct scope_context embed = {.is_embed = true, .embed_hops = 1};
    begin("[scope]\nembeds = yes", "http://a.it/");
    CHECK(ask_in("http://a.it/x.png", embed).is_in);
    CHECK(!ask_in("http://cdn.com/x.png", embed).is_in);
    finish();
    begin("[scope]\nembeds = anywhere\nembed-hops = 2\nsuffixes = .it\nexclude = ads", "http://a.it/");
    struct scope_answer answer = ask_in("http://cdn.com/x.png", embed);
    CHECK(answer.is_in && answer.is_requisite && !answer.is_off);
    CHECK_STR(scope_rule_name(answer.rule), "requisite");
    answer = ask_in("http://a.it/x.png", embed);
    CHECK(answer.is_in && !answer.is_requisite);
    CHECK(ask_in("http://cdn.com/x.png", (struct scope_context){.embed_hops = 2}).is_in);
    CHECK(!ask_in("http://cdn.com/x.png", (struct scope_context){.embed_hops = 3}).is_in);
    CHECK(!ask_in("http://cdn.com/", (struct scope_context){0}).is_in);
    CHECK(!ask_in("http://cdn.com/ads", embed).is_in);
    CHECK(!ask_in("http://cdn.com:25/x.png", embed).is_in);
    finish();
}

TEST(many_seeds)
{
    begin("[scope]\nmode = hosts", "http://a.it/");
    char buffer[128], text[64];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "http://h%d.it/", i);
        CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
        scope_add_seed(scope, &url);
    }
    CHECK(has("http://h0.it/") && has("http://h4999.it/") && has("http://a.it/"));
    CHECK(!has("http://h5000.it/"));
    finish();
}

TEST(mime_types)
{
    begin("[scope]\nmime = text/html, application/xhtml", "http://a.it/");
    CHECK(scope_wants_mime(&tuning.fixed.scope, SLICE("TEXT/html; charset=x")));
    CHECK(scope_wants_mime(&tuning.fixed.scope, SLICE("application/xhtml+xml")));
    CHECK(!scope_wants_mime(&tuning.fixed.scope, SLICE("image/png")));
    tuning.fixed.scope.mime[0] = '\0';
    CHECK(scope_wants_mime(&tuning.fixed.scope, SLICE("image/png")));
    finish();
}

TEST(ports_that_browsers_block_are_out)
{
    begin("[scope]\nmode = any", "http://a.it/");
    CHECK_STR(why("http://a.it:22/"), "bad-port");
    CHECK_STR(why("http://a.it:25/"), "bad-port");
    CHECK_STR(why("https://a.it:6379/"), "bad-port");
    CHECK_STR(why("http://a.it:10080/"), "bad-port");
    CHECK(has("http://a.it:8080/") && has("http://a.it:443/") && has("https://a.it:80/"));
    finish();
    begin("[scope]\nmode = any\nallow-ports = 22, 6379", "http://a.it/");
    CHECK(has("http://a.it:22/") && has("http://a.it:6379/"));
    CHECK(!has("http://a.it:25/"));
    finish();
}

TEST(names_that_the_name_service_cannot_carry_are_out)
{
    char url[400];
    begin("[scope]\nmode = any", "http://a.it/");
    for (int i = 0; i < 253; i++)
        url[7 + i] = i % 50 == 49 ? '.' : 'a';
    memcpy(url, "http://", 7);
    memcpy(url + 7 + 253, "/", 2);
    CHECK(has(url));
    memcpy(url + 7 + 253, "./", 3);
    CHECK(has(url));
    memcpy(url + 7 + 253, "a/", 3);
    CHECK_STR(why(url), "name-bytes");
    finish();
}

/* "http://a.it/0/1/2 .../249" and `end`. */
static const char *long_path(const char *end)
{
    static char url[2000];
    size_t len = (size_t)snprintf(url, sizeof url, "http://a.it");
    for (int i = 0; i < 250; i++)
        len += (size_t)snprintf(url + len, sizeof url - len, "/%d", i);
    snprintf(url + len, sizeof url - len, "%s", end);
    return url;
}

TEST(repeats_are_counted_in_paths_of_many_segments)
{
    begin("[scope]\npath-segments = 1000", "http://a.it/");
    CHECK(has(long_path("")));
    CHECK(has(long_path("/7/7")));
    CHECK_STR(why(long_path("/7/7/x/7")), "path-repeats");
    CHECK(has(long_path("////////")));
    finish();
}

static void add_seed(const char *text)
{
    static char buffer[512];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    CHECK(scope_add_seed(scope, &url));
}

/* The answer for a host is cached: it must not outlive the addition of that host. */
TEST(seeds_may_be_added_while_the_scope_is_asked)
{
    char text[64];
    begin("", "http://www.example.org/");
    CHECK(!has("http://late.example/x"));
    CHECK(has("http://example.org/"));
    add_seed("http://late.example/");
    scope_tell_seeds(scope);
    CHECK(has("http://late.example/x") && has("http://www.late.example/") && has("http://example.org/"));
    CHECK(!has("http://later.example/"));
    for (int i = 0; i < 1000; i++) { /* the set grows several times */
        snprintf(text, sizeof text, "http://host-%d.example/", i);
        CHECK(!has(text));
        add_seed(text);
    }
    scope_tell_seeds(scope);
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "http://host-%d.example/y", i);
        CHECK(has(text));
    }
    CHECK(has("http://late.example/") && !has("http://later.example/"));
    finish();
}
