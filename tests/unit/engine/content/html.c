#include "engine/content/html.h"

#include <stdlib.h>

#include "engine/content/html_tag.h"
#include "tests/support/check.h"

typedef bool next_function(struct html_walk *walk, struct html_tag *tag);

static next_function *const implementations[] = {
    html_next_plain,
#if defined(__x86_64__)
    html_next_avx2,
    html_next_avx512,
#endif
};
#define IMPLEMENTATIONS (sizeof(implementations) / sizeof(implementations[0]))

static bool runs_here(next_function *next)
{
#if defined(__x86_64__)
    if (next == html_next_avx512)
        return __builtin_cpu_supports("avx512bw");
    if (next == html_next_avx2)
        return __builtin_cpu_supports("avx2");
#endif
    return next == html_next_plain;
}

/* A digest of all that a walk reports: order, places, attributes. */
static uint64_t digest(struct slice html, unsigned flags, next_function *next)
{
    struct html_walk walk;
    struct html_tag tag;
    uint64_t sum = 1469598103934665603u;
    html_init(&walk, html, flags);
    walk.next = next;
    while (html_next(&walk, &tag)) {
        uint64_t facts[] = {tag.element, tag.is_end, (uint64_t)(tag.open - html.ptr),
                            (uint64_t)(tag.close - html.ptr), tag.has};
        for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
            sum = (sum ^ facts[i]) * 1099511628211u;
        for (int i = 0; i < HTML_ATTRIBUTES; i++)
            for (size_t j = 0; html_has(&tag, i) && j < tag.value[i].len; j++)
                sum = (sum ^ (unsigned char)tag.value[i].ptr[j]) * 1099511628211u;
    }
    return sum;
}

static struct html_tag first_tag(const char *html, unsigned flags)
{
    struct html_walk walk;
    struct html_tag tag = {.element = HTML_ELEMENTS};
    html_init(&walk, slice_of(html), flags);
    if (!html_next(&walk, &tag))
        tag.element = HTML_ELEMENTS;
    return tag;
}

TEST(attributes_are_found_with_their_values)
{
    struct html_tag tag = first_tag("text <LINK Rel='a b' HREF = \"x y\" type=t charset media=z>", 0);
    CHECK_INT(tag.element, HTML_LINK);
    CHECK_SLICE(html_value(&tag, HTML_REL), "a b");
    CHECK_SLICE(html_value(&tag, HTML_HREF), "x y");
    CHECK_SLICE(html_value(&tag, HTML_TYPE), "t");
    CHECK(html_has(&tag, HTML_CHARSET));
    CHECK_SLICE(html_value(&tag, HTML_CHARSET), "");
    CHECK(!html_has(&tag, HTML_SRC));
}

TEST(places_of_a_tag_are_its_brackets)
{
    const char *html = "ab<a x='>' href=y>cd</a >";
    struct html_walk walk;
    struct html_tag tag;
    html_init(&walk, slice_of(html), 0);
    CHECK(html_next(&walk, &tag));
    CHECK_INT(tag.open - html, 2);
    CHECK_INT(tag.close - html, 18);
    CHECK(html_next(&walk, &tag));
    CHECK(tag.is_end);
    CHECK_INT(tag.open - html, 20);
    CHECK_INT(tag.close - html, 25);
    CHECK(!html_next(&walk, &tag));
    CHECK(!html_next(&walk, &tag));
}

TEST(raw_text_is_the_body_of_its_tag)
{
    struct html_tag tag = first_tag("<style media=x>a { b: c }</style>", 0);
    CHECK_INT(tag.element, HTML_STYLE);
    CHECK_SLICE(tag.body, "a { b: c }");
    tag = first_tag("<script>if (a < b) c();</script>", 0);
    CHECK_SLICE(tag.body, "if (a < b) c();");
    tag = first_tag("<script>never closed", 0);
    CHECK_SLICE(tag.body, "never closed");
}

TEST(a_tag_may_close_itself)
{
    CHECK(first_tag("<img src=x />", 0).is_self_closing);
    CHECK(first_tag("<img src='x'/>", 0).is_self_closing);
    CHECK(!first_tag("<img src=x/>", 0).is_self_closing);
    CHECK(!first_tag("<img / src=x>", 0).is_self_closing);
}

TEST(style_attributes_are_reported_when_asked_for)
{
    CHECK_INT(first_tag("<p style='x'>", 0).element, HTML_ELEMENTS);
    struct html_tag tag = first_tag("<p><p style='x'>", HTML_READ_STYLES);
    CHECK_INT(tag.element, HTML_OTHER);
    CHECK_SLICE(html_value(&tag, HTML_STYLE_ATTRIBUTE), "x");
}

TEST(empty_and_tiny_documents_have_no_tags)
{
    const char *const tiny[] = {"",    "<",    "<a", "<a ", "</",        "<!",
                                "<!-", "<!--", "<?", "a",   "<a href='", "<a href=x"};
    for (size_t i = 0; i < sizeof(tiny) / sizeof(tiny[0]); i++)
        for (size_t j = 0; j < IMPLEMENTATIONS; j++)
            if (runs_here(implementations[j]))
                CHECK(digest(slice_of(tiny[i]), 0, implementations[j]) ==
                      digest(SLICE(""), 0, html_next_plain));
    struct html_walk walk;
    struct html_tag tag;
    html_init(&walk, (struct slice){NULL, 0}, 0);
    CHECK(!html_next(&walk, &tag));
}

/* Long enough that each construct meets the end of a block somewhere. */
static const char everything[] =
    "<!doctype html><html><head><title>t<a></title><base href=/b><meta name=robots content='x>y'><link "
    "rel=\"x\" href=y>"
    "<style>a{}</style></head><body class=\"long class attribute that fills more than one block of "
    "sixty-four bytes\">"
    "<!-- comment -- > --!><p a b=c d='e' f = \"g>\" =h i==\"j>\"><a href=\"k&amp;l\" rel=nofollow>text</a\n>"
    "<script><!-- <script> </script> --> x</script><svg><style/><title>u</title><![CDATA[ <a href=no> "
    "]]></svg>"
    "<template><img src=n></template><textarea><a></textarea ><img srcset='v 1x, w 2x'/><iframe "
    "src=z></iframe>"
    "<x-custom-element-with-a-very-long-name-that-does-not-fit-one-block-of-the-scanner a='>' b=\"<a "
    "href=n>\">"
    "<noscript><a href=m></noscript><?pi><//bogus><a href=end>x</a><plaintext><a href=no>";

TEST(no_prefix_is_read_beyond_its_end)
{
    for (size_t len = 0; len <= sizeof(everything) - 1; len++) {
        char *copy = check_guard_copy(everything, len);
        uint64_t expected = digest((struct slice){copy, len}, 0, html_next_plain);
        for (size_t i = 1; i < IMPLEMENTATIONS; i++)
            if (runs_here(implementations[i]))
                CHECK(digest((struct slice){copy, len}, 0, implementations[i]) == expected);
        check_guard_free(copy, len);
    }
}

TEST(no_suffix_is_read_beyond_its_end)
{
    const size_t whole = sizeof(everything) - 1;
    for (size_t from = 0; from <= whole; from++) {
        char *copy = check_guard_copy(everything + from, whole - from);
        struct slice html = {copy, whole - from};
        uint64_t expected = digest(html, HTML_READ_NOSCRIPT | HTML_READ_STYLES, html_next_plain);
        for (size_t i = 1; i < IMPLEMENTATIONS; i++)
            if (runs_here(implementations[i]))
                CHECK(digest(html, HTML_READ_NOSCRIPT | HTML_READ_STYLES, implementations[i]) == expected);
        check_guard_free(copy, whole - from);
    }
}

/* Pieces of markup thrown together: all implementations must agree on any of it. */
TEST(all_implementations_agree_on_noise)
{
    static const char *const pieces[] = {
        "<",         ">",        "\"",
        "'",         "=",        "/",
        " ",         "a",        "<a href=",
        "<p ",       "x=\"",     "\n",
        "<!--",      "-->",      "<script>",
        "</script>", "<svg>",    "</svg>",
        "<p x='y' ", "href='z'", "text text text text text text text text text "};
    unsigned long seed = 12345;
    char html[1024];
    for (int round = 0; round < 20000; round++) {
        size_t len = 0;
        for (;;) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const char *piece = pieces[(seed >> 33) % (sizeof(pieces) / sizeof(pieces[0]))];
            if (len + strlen(piece) > 40 + (unsigned)round % 300)
                break;
            memcpy(html + len, piece, strlen(piece));
            len += strlen(piece);
        }
        uint64_t expected = digest((struct slice){html, len}, 0, html_next_plain);
        for (size_t i = 1; i < IMPLEMENTATIONS; i++)
            if (runs_here(implementations[i]) &&
                digest((struct slice){html, len}, 0, implementations[i]) != expected)
                check_failed(__FILE__, __LINE__, "implementation %zu differs on: %.*s", i, (int)len, html);
    }
}

/* Where the links of a document are. With `flags` HTML_READ_ALL each tag is read attribute by attribute. */
static uint64_t places_of_links(struct slice html, unsigned flags, next_function *next)
{
    struct html_walk walk;
    struct html_tag tag;
    uint64_t places = 0;
    html_init(&walk, html, flags);
    walk.next = next;
    while (html_next(&walk, &tag))
        if (tag.element == HTML_A && !tag.is_end)
            places |= 1ull << (tag.open - html.ptr);
    return places;
}

/* Every beginning of a tag that nobody wants: it ends where it ends if its attributes are read. */
TEST(short_tags_end_where_their_attributes_do)
{
    static const char bytes[] = {'>', '"', '\'', '=', ' ', '/', 'x'};
    static const char rest[] = "'><a href=1>\"<a href=2>'<a href=3>";
    enum { FREE = 6, FREE_MAX = 7 * 7 * 7 * 7 * 7 * 7 };
    for (int i = 0; i < FREE_MAX; i++) {
        char html[64] = "</p"; /* the start tag is made of its last bytes */
        size_t len = 3;
        for (int left = i, j = 0; j < FREE; j++, left /= 7)
            html[len++] = bytes[left % 7];
        memcpy(html + len, rest, sizeof rest);
        struct slice end_tag = {html, len + sizeof rest - 1}, start_tag = slice_skip(end_tag, 1);
        html[1] = '<';
        uint64_t expected = places_of_links(start_tag, HTML_READ_ALL, html_next_plain);
        for (size_t k = 0; k < IMPLEMENTATIONS; k++) {
            if (!runs_here(implementations[k]))
                continue;
            if (places_of_links(start_tag, 0, implementations[k]) != expected)
                check_failed(__FILE__, __LINE__, "implementation %zu differs on: %s", k, html + 1);
            html[1] = '/';
            if (places_of_links(end_tag, 0, implementations[k]) != expected << 1)
                check_failed(__FILE__, __LINE__, "implementation %zu differs on: %s", k, html);
            html[1] = '<';
        }
    }
}

TEST(the_best_implementation_is_chosen)
{
    struct html_walk walk;
    html_init(&walk, SLICE("x"), 0);
    CHECK(runs_here(walk.next));
    html_init(&walk, SLICE("x"), HTML_PLAIN);
    CHECK(walk.next == html_next_plain);
    CHECK(strcmp(html_implementation(), "plain") == 0 || walk.next != NULL);
}
