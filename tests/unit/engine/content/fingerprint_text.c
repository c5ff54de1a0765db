#include <stdlib.h>

#include "engine/content/fingerprint.h"
#include "tests/support/check.h"

/* The output is written right before a guard page too: it may not be longer than the input. */
static const char *normalised(const char *html)
{
    static char text[4096];
    size_t len = strlen(html);
    char *copy = check_guard_copy(html, len), *out = check_guard_copy(html, len);
    size_t made = fingerprint_normalise((struct slice){copy, len}, out);
    CHECK(made <= len);
    snprintf(text, sizeof(text), "%.*s", (int)made, out);
    check_guard_free(copy, len);
    check_guard_free(out, len);
    return text;
}

TEST(words_stay_and_markup_goes)
{
    CHECK_STR(normalised("<p class='x'>Hello,<br/> <b>World</b>!</p>"), "hello world");
    CHECK_STR(normalised("  one\n\ttwo  "), "one two");
    CHECK_STR(normalised("a<!-- no -->b<!doctype no>c<?no?>d"), "a b c d");
    CHECK_STR(normalised("caf\xc3\xa9"), "caf\xc3\xa9");
    CHECK_STR(normalised(""), "");
    CHECK_STR(normalised("1 < 2 and a<b"), "and a");
}

TEST(scripts_and_styles_go_titles_stay)
{
    CHECK_STR(normalised("<title>The Title</title><script>var x = '<p>';</script><style>a{}</style>text"),
              "the title text");
    CHECK_STR(normalised("<noscript>seen</noscript><template>also</template>"), "seen also");
}

TEST(digits_and_dates_go)
{
    CHECK_STR(normalised("Monday, 3rd of March 2024, 10:15 pm: 42 visitors"), "of visitors");
    CHECK_STR(normalised("session ab12cd34 id"), "session id");
    CHECK_STR(normalised("Mondays marching"), "mondays marching");
    CHECK_STR(normalised("Jan Feb Sun"), "");
}

TEST(character_references_go)
{
    CHECK_STR(normalised("a&nbsp;b &amp; c&#160;d &copy e"), "a b c d copy e");
}

TEST(attributes_do_not_count)
{
    CHECK_STR(normalised("<a href='/x?session=1' title=\"a > b\">text</a>"),
              normalised("<a href='/y?session=2' class=z>text</a>"));
}

TEST(every_prefix_is_read_within_its_bounds)
{
    const char html[] = "<title>a</title><!-- b --><p x='y'>c 1 d&amp;<script>e</script>f<br>monday";
    char prefix[sizeof(html)];
    for (size_t len = 0; len < sizeof(html); len++) {
        memcpy(prefix, html, len);
        prefix[len] = '\0';
        normalised(prefix);
    }
}
