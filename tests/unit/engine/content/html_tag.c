#include "engine/content/html_tag.h"

#include "tests/support/check.h"

static enum html_element find(const char *name)
{
    return html_find_element(name, name + strlen(name));
}

TEST(elements_are_found_by_their_whole_name)
{
    CHECK_INT(find("a "), HTML_A);
    CHECK_INT(find("A>"), HTML_A);
    CHECK_INT(find("a/"), HTML_A);
    CHECK_INT(find("abbr>"), HTML_OTHER);
    CHECK_INT(find("img\t"), HTML_IMG);
    CHECK_INT(find("image>"), HTML_IMG);
    CHECK_INT(find("imgx>"), HTML_OTHER);
    CHECK_INT(find("NoScript>"), HTML_NOSCRIPT);
    CHECK_INT(find("noembed>"), HTML_NOEMBED);
    CHECK_INT(find("noframes>"), HTML_NOFRAMES);
    CHECK_INT(find("nobr>"), HTML_OTHER);
    CHECK_INT(find("textarea\n"), HTML_TEXTAREA);
    CHECK_INT(find("template\f"), HTML_TEMPLATE);
    CHECK_INT(find("plaintext>"), HTML_PLAINTEXT);
    CHECK_INT(find("plaintexu>"), HTML_OTHER);
    CHECK_INT(find("plaintex>"), HTML_OTHER);
    CHECK_INT(find("tr>"), HTML_OTHER);
    CHECK_INT(find("li>"), HTML_OTHER);
    CHECK_INT(find("strong>"), HTML_OTHER);
    CHECK_INT(find("frameset>"), HTML_OTHER);
}

TEST(a_name_without_its_end_is_not_found)
{
    CHECK_INT(find("a"), HTML_OTHER);
    CHECK_INT(find("script"), HTML_OTHER);
    CHECK_INT(find(""), HTML_OTHER);
}

TEST(each_element_has_a_name)
{
    static const char *const names[HTML_ELEMENTS] = {
        [HTML_OTHER] = "p>",           [HTML_A] = "a>",
        [HTML_AREA] = "area>",         [HTML_AUDIO] = "audio>",
        [HTML_BASE] = "base>",         [HTML_EMBED] = "embed>",
        [HTML_FORM] = "form>",         [HTML_FRAME] = "frame>",
        [HTML_IFRAME] = "iframe>",     [HTML_IMG] = "img>",
        [HTML_INPUT] = "input>",       [HTML_LINK] = "link>",
        [HTML_META] = "meta>",         [HTML_OBJECT] = "object>",
        [HTML_SCRIPT] = "script>",     [HTML_SOURCE] = "source>",
        [HTML_STYLE] = "style>",       [HTML_TRACK] = "track>",
        [HTML_VIDEO] = "video>",       [HTML_MATH] = "math>",
        [HTML_NOEMBED] = "noembed>",   [HTML_NOFRAMES] = "noframes>",
        [HTML_NOSCRIPT] = "noscript>", [HTML_PLAINTEXT] = "plaintext>",
        [HTML_SVG] = "svg>",           [HTML_TEMPLATE] = "template>",
        [HTML_TEXTAREA] = "textarea>", [HTML_TITLE] = "title>",
        [HTML_XMP] = "xmp>",           [HTML_USE] = "use>",
    };
    for (int element = 0; element < HTML_ELEMENTS; element++) {
        CHECK_INT(find(names[element]), element);
        if (element != HTML_OTHER)
            CHECK(html_may_matter(names[element]));
    }
}

TEST(attributes_are_found_in_any_case)
{
    static const char *const names[HTML_ATTRIBUTES] = {
        [HTML_ACTION] = "action",
        [HTML_CHARSET] = "charset",
        [HTML_CONTENT] = "content",
        [HTML_DATA] = "data",
        [HTML_HREF] = "href",
        [HTML_HTTP_EQUIV] = "http-equiv",
        [HTML_IMAGESRCSET] = "imagesrcset",
        [HTML_METHOD] = "method",
        [HTML_NAME] = "name",
        [HTML_POSTER] = "poster",
        [HTML_REL] = "rel",
        [HTML_SRC] = "src",
        [HTML_SRCDOC] = "srcdoc",
        [HTML_SRCSET] = "srcset",
        [HTML_STYLE_ATTRIBUTE] = "style",
        [HTML_TYPE] = "type",
        [HTML_XLINK_HREF] = "xlink:href",
    };
    for (int attribute = 0; attribute < HTML_ATTRIBUTES; attribute++) {
        size_t len = strlen(names[attribute]);
        char *copy = check_guard_copy(names[attribute], len);
        CHECK_INT(html_find_attribute((struct slice){copy, len}), attribute);
        copy[0] = (char)(copy[0] - 0x20);
        copy[len - 1] = (char)(copy[len - 1] - 0x20);
        CHECK_INT(html_find_attribute((struct slice){copy, len}), attribute);
        copy[len / 2] = 'x';
        CHECK_INT(html_find_attribute((struct slice){copy, len}), HTML_ATTRIBUTES);
        CHECK_INT(html_find_attribute((struct slice){copy, len - 1}), HTML_ATTRIBUTES);
        check_guard_free(copy, len);
    }
}

TEST(other_attributes_are_not_found)
{
    static const char *const names[] = {"",
                                        "s",
                                        "id",
                                        "alt",
                                        "class",
                                        "title",
                                        "target",
                                        "width",
                                        "data-src",
                                        "hrefs",
                                        "xhref",
                                        "\xff\xff\xff",
                                        "\xff\xff\xff\xff",
                                        "http-xquiv",
                                        "imagexxcset",
                                        "aria-hidden",
                                        "a-very-long-attribute-name"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *copy = check_guard_copy(names[i], strlen(names[i]));
        CHECK_INT(html_find_attribute((struct slice){copy, strlen(names[i])}), HTML_ATTRIBUTES);
        check_guard_free(copy, strlen(names[i]));
    }
}

TEST(names_at_the_end_of_memory_are_not_read_beyond)
{
    const char text[] = "plaintext>";
    for (size_t len = 0; len < sizeof(text); len++) {
        char *copy = check_guard_copy(text, len);
        CHECK_INT(html_find_element(copy, copy + len), len == sizeof(text) - 1 ? HTML_PLAINTEXT : HTML_OTHER);
        check_guard_free(copy, len);
    }
}
