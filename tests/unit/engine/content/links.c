#include "engine/content/links.h"

#include <stdlib.h>

#include "engine/robots/robots_tag.h"
#include "engine/content/limits.h"
#include "tests/support/check.h"

#define FOUND_MAX 64

static struct link found[FOUND_MAX];
static char text[8192];

/* The links of a page as "kind url flags" lines. */
static const char *scan(const char *html, const struct links_options *options)
{
    static char out[8192];
    static struct links links;
    links_init(&links, found, FOUND_MAX);
    links_set_text(&links, text, sizeof(text));
    links_scan(&links, slice_of(html), options);
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < links.count; i++)
        used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%s %.*s%s", i ? "\n" : "",
                                 link_kind_name(found[i].kind), (int)found[i].url.len, found[i].url.ptr,
                                 found[i].flags & LINK_NOFOLLOW ? " nofollow" : "");
    return out;
}

static const struct links_options plain_page;
static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH";

TEST(each_element_gives_its_kind)
{
    CHECK_STR(scan("<a href=x><area href=y>", &plain_page), "anchor x\nanchor y");
    CHECK_STR(scan("<frame src=x><iframe src=y></iframe>", &plain_page), "frame x\nframe y");
    CHECK_STR(scan("<img src=x srcset='y 1x, z 2x'>", &plain_page), "image x\nimage y\nimage z");
    CHECK_STR(scan("<video src=x poster=y><source src=z><track src=w>", &plain_page),
              "image y\nmedia x\nmedia z\nmedia w");
    CHECK_STR(scan("<script src=x></script><object data=y><embed src=z>", &plain_page),
              "script x\nobject y\nobject z");
    CHECK_STR(scan("<meta http-equiv=Refresh content='0; url=x'>", &plain_page), "refresh x");
    CHECK_STR(scan("<link rel=canonical href=x><link rel=stylesheet href=y>", &plain_page),
              "canonical x\nstyle y");
    CHECK_STR(scan("<input type=image src=x><input src=y>", &plain_page), "image x");
}

TEST(forms_are_found_when_asked_for)
{
    const char *html = "<form action=x><form action=y method=POST><form method=get>";
    CHECK_STR(scan(html, &plain_page), "");
    CHECK_STR(scan(html, &(struct links_options){.forms = true}), "form x");
}

TEST(noscript_is_read_when_asked_for)
{
    const char *html = "<noscript><a href=x></a></noscript><a href=y>";
    CHECK_STR(scan(html, &plain_page), "anchor y");
    CHECK_STR(scan(html, &(struct links_options){.noscript = true}), "anchor x\nanchor y");
}

TEST(styles_are_read_when_asked_for)
{
    const char *html = "<style>@import 'x'; a { b: url(y) }</style><p style='c: url(&quot;z&quot;)'>";
    CHECK_STR(scan(html, &plain_page), "");
    CHECK_STR(scan(html, &(struct links_options){.css = true}), "style x\ncss y\ncss z");
    CHECK_STR(
        scan("<style>a{b:url(x)}</style><svg><style style='c:url(y)'>", &(struct links_options){.css = true}),
        "css x\ncss y");
}

TEST(empty_anchors_are_links_and_empty_embeds_are_not)
{
    CHECK_STR(scan("<a href=''><img src=''><script src=' '></script><iframe src></iframe>", &plain_page),
              "anchor ");
}

TEST(references_are_decoded_into_the_text_buffer)
{
    CHECK_STR(scan("<a href='?a&amp;b'><a href='plain'>", &plain_page), "anchor ?a&b\nanchor plain");
    CHECK(found[0].url.ptr == text);
    CHECK(found[1].url.ptr < text || found[1].url.ptr >= text + sizeof(text));
}

/* What a value needs before it is a URL is found wherever it stands, in short values and long ones. */
TEST(values_are_decoded_wherever_it_is_needed)
{
    static const struct {
        const char *written, *meant;
    } parts[] = {{"&amp;", "&"}, {"&#65;", "A"}, {"\xef", "\xd0\xbf"}};
    struct links_options options = {.encoding = encoding_find(SLICE("windows-1251"))};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        for (int before = 0; before < 40; before++)
            for (int after = 0; after < 40; after++) {
                char html[200], expected[200];
                snprintf(html, sizeof(html), "<a href='/%.*s%s%.*s'>", before, plain, parts[i].written, after,
                         plain);
                snprintf(expected, sizeof(expected), "anchor /%.*s%s%.*s", before, plain, parts[i].meant,
                         after, plain);
                CHECK_STR(scan(html, &options), expected);
            }
    encoding_fini();
}

TEST(nofollow_is_flagged)
{
    CHECK_STR(scan("<a rel='noopener nofollow' href=x><a href=y>", &plain_page),
              "anchor x nofollow\nanchor y");
}

TEST(the_first_base_with_a_url_counts)
{
    struct links links;
    links_init(&links, found, FOUND_MAX);
    links_set_text(&links, text, sizeof(text));
    links_scan(&links, SLICE("<base target=x><base href='/a&amp;b'><base href=/c>"), &plain_page);
    CHECK_SLICE(links.base, "/a&b");
    links_reset(&links);
    CHECK(links.base.ptr == NULL);
    links_scan(&links, SLICE("<base href=''>"), &plain_page);
    CHECK(links.base.ptr != NULL);
    CHECK_INT(links.base.len, 0);
}

TEST(meta_robots_counts_for_all_and_for_our_own_name)
{
    const struct slice html = SLICE("<meta name=ROBOTS content=nofollow><meta name=lycosa content=noindex>"
                                    "<meta name=other content=noarchive>");
    struct links links;
    links_init(&links, found, FOUND_MAX);
    links_scan(&links, html, &plain_page);
    CHECK_INT(links.robots, ROBOTS_TAG_NOFOLLOW);
    links_scan(&links, html, &(struct links_options){.agent = SLICE("Lycosa")});
    CHECK_INT(links.robots, ROBOTS_TAG_NOFOLLOW | ROBOTS_TAG_NOINDEX);
}

static struct slice anchor_text(const char *html, size_t index)
{
    return (struct slice){html + found[index].text_at, found[index].text_len};
}

TEST(anchor_text_is_what_stands_between_the_tags)
{
    const char *html = "<a href=x>one <b>two</b></a> <a href=y></a><a href=z>three<a href=w>never closed";
    scan(html, &plain_page);
    CHECK_SLICE(anchor_text(html, 0), "one <b>two</b>");
    CHECK_SLICE(anchor_text(html, 1), "");
    CHECK_SLICE(anchor_text(html, 2), "three");
    CHECK_SLICE(anchor_text(html, 3), "");
}

TEST(what_finds_no_place_is_counted)
{
    struct links links;
    struct link two[2];
    char little[4];
    links_init(&links, two, 2);
    links_scan(&links, SLICE("<a href=1><a href=2><a href=3><img srcset='4, 5'>"), &plain_page);
    CHECK_INT(links.count, 2);
    CHECK_INT(links.dropped, 3);
    links_reset(&links);
    CHECK_INT(links.dropped, 0);
    links_set_text(&links, little, sizeof(little));
    links_scan(&links, SLICE("<a href='long&amp;long'><a href=2><img srcset='&amp;&amp;'>"), &plain_page);
    CHECK_INT(links.count, 1);
    CHECK_INT(links.dropped, 2);
}

TEST(legacy_encodings_become_utf8_and_their_queries_do_not)
{
    struct links_options options = {.encoding = encoding_find(SLICE("windows-1251"))};
    /* The Cyrillic letters ef f0 in windows-1251, and a euro sign, which it has at 88. */
    CHECK_STR(scan("<a href='/\xef\xf0?\xef&euro;&eacute;#\xf0'>", &options),
              "anchor /\xd0\xbf\xd1\x80?%EF%88%26%23233%3B#\xd1\x80");
    CHECK_STR(scan("<a href=plain><img srcset='a?\xef 1x, \xf0 2x'>", &options),
              "anchor plain\nimage a?%EF\nimage \xd1\x80");
    encoding_fini();
}

TEST(links_from_elsewhere_are_added_as_they_are)
{
    struct links links;
    links_init(&links, found, 1);
    CHECK(links_add(&links, (struct link){.url = SLICE("x"), .kind = LINK_FEED}));
    CHECK(!links_add(&links, (struct link){.url = SLICE("y"), .kind = LINK_FEED}));
    CHECK_SLICE(found[0].url, "x");
    CHECK_INT(links.dropped, 1);
}

TEST(no_prefix_of_a_page_is_read_beyond_its_end)
{
    const char html[] = "<base href=x><a rel=nofollow href='?a&amp;b'>t</a><img srcset='a 1x, b' src=\"c\">"
                        "<meta http-equiv=refresh content=\"0;url='d'\"><link rel=icon href=e>"
                        "<style>@import 'f'; a{b:url(g\\41)}</style><p style='h:url(i)'>";
    struct links_options options = {.css = true, .forms = true, .noscript = true};
    for (size_t len = 0; len < sizeof(html); len++) {
        char *copy = check_guard_copy(html, len);
        struct links links;
        links_init(&links, found, FOUND_MAX);
        links_set_text(&links, text, sizeof(text));
        links_scan(&links, (struct slice){copy, len}, &options);
        CHECK(len == sizeof(html) - 1 ? links.count == 9 : links.count < 9);
        check_guard_free(copy, len);
    }
}

/* What opens and never closes must not be searched for again and again: were it quadratic, a megabyte of it
 * would outlast the test's time. */
TEST(hostile_pages_take_linear_time)
{
    static const char *const openers[] = {
        "<!--",       "<script><!--</script>", "<a href=\"",     "<p x='y' ", "<svg><![CDATA[",
        "<template>", "<title></titl",         "<svg><p>",       "</a ",      "<style>url(",
        "&aaaaa",     "<a href='&aaaaa'>",     "<img srcset='a,"};
    const size_t size = 1 << 20;
    char *html = malloc(size);
    struct links_options options = {.css = true};
    for (size_t i = 0; i < sizeof(openers) / sizeof(openers[0]); i++) {
        struct links links;
        size_t step = strlen(openers[i]), len = 0;
        for (; len + step <= size; len += step)
            memcpy(html + len, openers[i], step);
        links_init(&links, found, FOUND_MAX);
        links_set_text(&links, text, sizeof(text));
        links_scan(&links, (struct slice){html, len}, &options);
        CHECK(links.count <= FOUND_MAX);
    }
    free(html);
}

TEST(the_markup_of_a_srcdoc_counts)
{
    CHECK_STR(scan("<iframe srcdoc='<base href=/n/><a href=x>t</a>' src=n></iframe><a href=y>", &plain_page),
              "anchor x\nanchor y");
    CHECK_INT(found[0].text_len, 0);
    CHECK_STR(scan("<iframe srcdoc='<meta name=robots content=nofollow>'></iframe>", &plain_page), "");
    char *html = malloc(2 * LINKS_SRCDOC_BYTES);
    int len = snprintf(html, 2 * LINKS_SRCDOC_BYTES,
                       "<iframe src=f srcdoc='%*s<a href=x>'></iframe><a href=y>", LINKS_SRCDOC_BYTES, "");
    CHECK(len < (int)(2 * LINKS_SRCDOC_BYTES));
    CHECK_STR(scan(html, &plain_page), "frame f\nanchor y");
    free(html);
}

/* A srcdoc within the others; what it stands for at the deepest is a link. */
static void nest(char *out, size_t size, unsigned depth)
{
    char inner[4096], quoted[4096];
    snprintf(inner, sizeof inner, "<a href=x%u>", depth);
    for (; depth > 0; depth--) {
        size_t len = 0;
        for (const char *at = inner; *at; at++)
            len += (size_t)snprintf(quoted + len, sizeof quoted - len,
                                    *at == '"'   ? "&quot;"
                                    : *at == '&' ? "&amp;"
                                                 : "%c",
                                    *at);
        snprintf(inner, sizeof inner, "<iframe src=f%u srcdoc=\"%.*s\"></iframe>", depth, (int)len, quoted);
    }
    snprintf(out, size, "%s<a href=y>", inner);
}

TEST(srcdocs_within_srcdocs_count_to_a_depth)
{
    char html[5000];
    nest(html, sizeof html, 2);
    CHECK_STR(scan(html, &plain_page), "anchor x2\nanchor y");
    nest(html, sizeof html, LINKS_SRCDOC_DEPTH_MAX);
    CHECK_STR(scan(html, &plain_page), "anchor x4\nanchor y");
    nest(html, sizeof html, LINKS_SRCDOC_DEPTH_MAX + 1);
    CHECK_STR(scan(html, &plain_page), "frame f5\nanchor y");
    CHECK_STR(scan("<iframe srcdoc='<iframe srcdoc=\"<base href=/n/><meta name=robots content=nofollow>\">"
                   "</iframe><a href=x>'></iframe>",
                   &plain_page),
              "anchor x");
}

TEST(anchors_in_svg_may_use_xlink)
{
    CHECK_STR(scan("<svg><a xlink:href=x>t</a></svg><a xlink:href=n>", &plain_page), "anchor x");
    CHECK_STR(scan("<svg><a xlink:href=n href=x></svg>", &plain_page), "anchor x");
}

TEST(drawings_load_images_and_parts_of_others)
{
    CHECK_STR(
        scan("<svg><image xlink:href=a /><image href=b xlink:href=n /></svg><image src=c>", &plain_page),
        "image a\nimage b\nimage c");
    CHECK_STR(scan("<svg><use href='d.svg#x'/><use xlink:href=e /><use href='#n'/><use/></svg>", &plain_page),
              "image d.svg#x\nimage e");
    CHECK_STR(
        scan("<use href=n></use><svg><script href=n></script><foreignObject><image href=n>", &plain_page),
        "");
}

/* However little is read at a time. */
TEST(a_page_can_be_read_in_parts)
{
    const struct slice html =
        SLICE("<a href=a>x</a><script>\"<a href=n>\"</script><svg><a href=b></svg><p><a href=c>");
    for (size_t bytes = 1; bytes < html.len + 2; bytes++) {
        struct links links;
        struct links_walk walk;
        unsigned parts = 1;
        links_init(&links, found, FOUND_MAX);
        links_set_text(&links, text, sizeof(text));
        links_begin(&walk, &links, html, &plain_page);
        while (!links_step(&walk, bytes))
            parts++;
        CHECK_INT(links.count, 3);
        CHECK_INT(found[0].text_len, 1);
        CHECK(bytes > 1 || parts > 3);
    }
}
