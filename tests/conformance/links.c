/* links_scan against lexbor's DOM: the same set of (kind, resolved URL) on every page of the corpus, and on
 * markup made to be hard. What is read differently is in a list with its reason, and the list is checked
 * too. */
#include <dirent.h>
#include <stdlib.h>

#include "engine/content/html.h"
#include "engine/content/links.h"
#include "engine/content/links_meta.h"
#include "engine/content/srcset.h"
#include "engine/url/url.h"
#include "tests/support/check.h"

#ifdef HAVE_LEXBOR
#include <lexbor/html/html.h>

#define PAGE_URL  "https://host.example/folder/page.html?q"
#define LINKS_MAX 20000

/* Sorted lines of "kind URL", each once. */
struct set {
    char *lines[LINKS_MAX];
    size_t count;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void set_sort(struct set *set)
{
    qsort(set->lines, set->count, sizeof(set->lines[0]), compare);
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (kept && strcmp(set->lines[kept - 1], set->lines[i]) == 0)
            free(set->lines[i]);
        else
            set->lines[kept++] = set->lines[i];
    }
    set->count = kept;
}

static void set_free(struct set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->lines[i]);
    free(set);
}

/* Links that are not http are compared as they are written. */
static void set_add(struct set *set, const struct url *base, const struct link *link)
{
    char buffer[URL_BYTES_MAX], *line;
    struct url url;
    url_init(&url, buffer, sizeof(buffer));
    struct slice text = url_parse(&url, base, link->url) == URL_OK ? url_text(&url) : link->url;
    CHECK(asprintf(&line, "%s %.*s", link_kind_name(link->kind), (int)text.len, text.ptr) > 0);
    CHECK(set->count < LINKS_MAX);
    set->lines[set->count++] = line;
}

static void open_base(struct url *base, char *buffer, struct slice href)
{
    static char page_buffer[URL_BYTES_MAX];
    struct url page;
    url_init(&page, page_buffer, sizeof(page_buffer));
    CHECK_INT(url_parse(&page, NULL, SLICE(PAGE_URL)), URL_OK);
    url_init(base, buffer, URL_BYTES_MAX);
    if (href.ptr == NULL || url_parse(base, &page, href) != URL_OK)
        CHECK_INT(url_parse(base, NULL, SLICE(PAGE_URL)), URL_OK);
}

static struct set *set_of_scan(struct slice html, const struct links_options *options)
{
    static struct link found[LINKS_MAX];
    static char text[1 << 22], buffer[URL_BYTES_MAX];
    struct links links;
    struct url base;
    struct set *set = calloc(1, sizeof(*set));
    links_init(&links, found, LINKS_MAX);
    links_set_text(&links, text, sizeof(text));
    links_scan(&links, html, options);
    CHECK_INT(links.dropped, 0);
    open_base(&base, buffer, links.base);
    for (size_t i = 0; i < links.count; i++)
        set_add(set, &base, &found[i]);
    set_sort(set);
    return set;
}

/* The walk over lexbor's tree. */
struct reference {
    struct set *set;
    struct url base;
    struct slice base_href;
    bool forms;
    unsigned depth; /* of the srcdoc that the walk is over */
};

static struct slice attribute(lxb_dom_element_t *element, const char *name)
{
    size_t len = 0;
    const lxb_char_t *value =
        lxb_dom_element_get_attribute(element, (const lxb_char_t *)name, strlen(name), &len);
    if (value)
        return (struct slice){(const char *)value, len};
    return (struct slice){
        lxb_dom_element_has_attribute(element, (const lxb_char_t *)name, strlen(name)) ? "" : NULL, 0};
}

static void reference_add(struct reference *reference, struct slice url, enum link_kind kind)
{
    bool is_anchor = kind == LINK_ANCHOR;
    if (url.ptr && (is_anchor || slice_trim(url).len))
        set_add(reference->set, &reference->base, &(struct link){.url = url, .kind = (uint8_t)kind});
}

static void reference_srcset(struct reference *reference, struct slice rest)
{
    struct slice url;
    while (rest.ptr && srcset_next(&rest, &url))
        reference_add(reference, url, LINK_IMAGE);
}

static void reference_meta(struct reference *reference, lxb_dom_element_t *element)
{
    struct slice equiv = attribute(element, "http-equiv"), content = attribute(element, "content"), url;
    if (equiv.ptr && content.ptr && slice_equals_nocase(equiv, SLICE("refresh")) &&
        links_meta_refresh(content, &url))
        reference_add(reference, url, LINK_REFRESH);
}

static void reference_link(struct reference *reference, lxb_dom_element_t *element)
{
    struct link link = {0};
    if (!link_read_rel(attribute(element, "rel"), attribute(element, "type"), &link))
        return;
    reference_add(reference, attribute(element, "href"), link.kind);
    if (link.kind == LINK_RESOURCE)
        reference_srcset(reference, attribute(element, "imagesrcset"));
}

static bool is_post(lxb_dom_element_t *element)
{
    struct slice method = attribute(element, "method");
    return method.ptr &&
           (slice_equals_nocase(method, SLICE("post")) || slice_equals_nocase(method, SLICE("dialog")));
}

/* Elements whose attribute is a URL and nothing more. */
static const struct {
    lxb_tag_id_t tag;
    const char *attribute;
    enum link_kind kind;
} simple[] = {
    {LXB_TAG_A, "href", LINK_ANCHOR},      {LXB_TAG_AREA, "href", LINK_ANCHOR},
    {LXB_TAG_FRAME, "src", LINK_FRAME},    {LXB_TAG_IFRAME, "src", LINK_FRAME},
    {LXB_TAG_IMG, "src", LINK_IMAGE},      {LXB_TAG_SCRIPT, "src", LINK_SCRIPT},
    {LXB_TAG_SOURCE, "src", LINK_MEDIA},   {LXB_TAG_VIDEO, "src", LINK_MEDIA},
    {LXB_TAG_VIDEO, "poster", LINK_IMAGE}, {LXB_TAG_AUDIO, "src", LINK_MEDIA},
    {LXB_TAG_TRACK, "src", LINK_MEDIA},    {LXB_TAG_EMBED, "src", LINK_OBJECT},
    {LXB_TAG_OBJECT, "data", LINK_OBJECT},
};

static lexbor_action_t on_node(lxb_dom_node_t *node, void *context);

/* The document in a srcdoc. */
static void reference_srcdoc(struct reference *reference, struct slice markup)
{
    lxb_html_parser_t *parser = lxb_html_parser_create();
    CHECK_INT(lxb_html_parser_init(parser), LXB_STATUS_OK);
    lxb_html_document_t *document = lxb_html_parse(parser, (const lxb_char_t *)markup.ptr, markup.len);
    reference->depth++;
    lxb_dom_node_simple_walk(lxb_dom_interface_node(document), on_node, reference);
    reference->depth--;
    lxb_html_document_destroy(document);
    lxb_html_parser_destroy(parser);
}

static bool is_named(lxb_dom_element_t *element, const char *name)
{
    size_t len;
    const lxb_char_t *local = lxb_dom_element_local_name(element, &len);
    return slice_equals((struct slice){(const char *)local, len}, slice_of(name));
}

/* What a drawing loads, unless it is a part of itself. */
static void reference_drawn(struct reference *reference, lxb_dom_element_t *element)
{
    struct slice href = attribute(element, "href");
    href = href.ptr ? href : attribute(element, "xlink:href");
    if (href.ptr && !slice_starts_with(slice_trim(href), SLICE("#")))
        reference_add(reference, href, LINK_IMAGE);
}

static void reference_element(struct reference *reference, lxb_dom_element_t *element)
{
    lxb_tag_id_t tag = element->node.local_name;
    struct slice srcdoc = attribute(element, "srcdoc");
    if (element->node.ns == LXB_NS_SVG && (tag == LXB_TAG_IMAGE || is_named(element, "use")))
        reference_drawn(reference, element);
    if (element->node.ns != LXB_NS_HTML && tag != LXB_TAG_A)
        return;
    if (tag == LXB_TAG_IFRAME && srcdoc.ptr && reference->depth < LINKS_SRCDOC_DEPTH_MAX) {
        reference_srcdoc(reference, srcdoc);
        return;
    }
    if (element->node.ns == LXB_NS_SVG && tag == LXB_TAG_A && !attribute(element, "href").ptr)
        reference_add(reference, attribute(element, "xlink:href"), LINK_ANCHOR);
    for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
        if (simple[i].tag == tag)
            reference_add(reference, attribute(element, simple[i].attribute), simple[i].kind);
    struct slice type = attribute(element, "type");
    if (tag == LXB_TAG_IMG || tag == LXB_TAG_SOURCE)
        reference_srcset(reference, attribute(element, "srcset"));
    else if (tag == LXB_TAG_INPUT && type.ptr && slice_equals_nocase(type, SLICE("image")))
        reference_add(reference, attribute(element, "src"), LINK_IMAGE);
    else if (tag == LXB_TAG_LINK)
        reference_link(reference, element);
    else if (tag == LXB_TAG_META)
        reference_meta(reference, element);
    else if (tag == LXB_TAG_FORM && reference->forms && !is_post(element))
        reference_add(reference, attribute(element, "action"), LINK_FORM);
}

static lexbor_action_t on_node(lxb_dom_node_t *node, void *context)
{
    if (node->type == LXB_DOM_NODE_TYPE_ELEMENT)
        reference_element(context, lxb_dom_interface_element(node));
    return LEXBOR_ACTION_OK;
}

static lexbor_action_t on_node_for_base(lxb_dom_node_t *node, void *context)
{
    struct reference *reference = context;
    if (node->type == LXB_DOM_NODE_TYPE_ELEMENT && node->local_name == LXB_TAG_BASE &&
        node->ns == LXB_NS_HTML && reference->base_href.ptr == NULL)
        reference->base_href = attribute(lxb_dom_interface_element(node), "href");
    return LEXBOR_ACTION_OK;
}

static struct set *set_of_tree(struct slice html, const struct links_options *options)
{
    static char buffer[URL_BYTES_MAX];
    lxb_html_parser_t *parser = lxb_html_parser_create();
    CHECK_INT(lxb_html_parser_init(parser), LXB_STATUS_OK);
    lxb_html_parser_scripting_set(parser, !options->noscript);
    lxb_html_document_t *document = lxb_html_parse(parser, (const lxb_char_t *)html.ptr, html.len);
    CHECK(document);
    struct reference reference = {.set = calloc(1, sizeof(struct set)), .forms = options->forms};
    lxb_dom_node_t *root = lxb_dom_interface_node(document);
    lxb_dom_node_simple_walk(root, on_node_for_base, &reference);
    open_base(&reference.base, buffer, reference.base_href);
    lxb_dom_node_simple_walk(root, on_node, &reference);
    lxb_html_document_destroy(document);
    lxb_html_parser_destroy(parser);
    set_sort(reference.set);
    return reference.set;
}

/* A difference that is meant. */
struct difference {
    const char *where; /* page, or the markup itself */
    const char *line;  /* beginning of it */
    char only_in;      /* 's'can or 't'ree */
    const char *why;
    bool seen;
};

static struct difference differences[] = {
    {"<frame src=f><a href=y>", "frame https://host.example/folder/f", 's',
     "a frame outside a frameset: no tree is built, so nobody knows that there was none", false},
    {"<frameset><frame src=f><a href=n></frameset><a href=m>", "anchor https://host.example/folder/n", 's',
     "a frameset's page has no body; to read it costs at most a few fetches of real pages", false},
    {"<frameset><frame src=f><a href=n></frameset><a href=m>", "anchor https://host.example/folder/m", 's',
     "the same behind the frameset", false},
    {NULL, NULL, 0, NULL, false},
};

static bool is_meant(const char *where, const char *line, char only_in)
{
    for (struct difference *known = differences; known->where; known++)
        if (strcmp(known->where, where) == 0 && known->only_in == only_in &&
            strncmp(known->line, line, strlen(known->line)) == 0)
            return known->seen = true;
    return false;
}

static size_t report(const char *where, const char *line, char only_in)
{
    if (is_meant(where, line, only_in))
        return 0;
    printf("%s: only in the %s: %s\n", where, only_in == 's' ? "scan" : "tree", line);
    return 1;
}

/* Number of differences that are not meant. */
static size_t compare_sets(const char *where, const struct set *scan, const struct set *tree)
{
    size_t i = 0, j = 0, wrong = 0;
    while (i < scan->count || j < tree->count) {
        int order = i == scan->count ? 1 : j == tree->count ? -1 : strcmp(scan->lines[i], tree->lines[j]);
        if (order < 0)
            wrong += report(where, scan->lines[i++], 's');
        else if (order > 0)
            wrong += report(where, tree->lines[j++], 't');
        else
            i++, j++;
    }
    return wrong;
}

static size_t compare_markup(const char *where, struct slice html)
{
    size_t wrong = 0;
    for (unsigned variant = 0; variant < 4; variant++) {
        struct links_options options = {.noscript = variant & 1, .plain = variant & 2, .forms = true};
        struct set *scan = set_of_scan(html, &options), *tree = set_of_tree(html, &options);
        wrong += compare_sets(where, scan, tree);
        set_free(scan);
        set_free(tree);
    }
    return wrong;
}

TEST(corpus_pages_have_the_links_of_their_trees)
{
    const char *folder = check_corpus("html");
    if (!folder)
        SKIP("../shared/corpora/html is absent");
    DIR *directory = opendir(folder);
    CHECK(directory);
    size_t pages = 0, wrong = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        char path[4096];
        size_t len;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        char *html = check_read_file(path, &len);
        wrong += compare_markup(entry->d_name, (struct slice){html, len});
        free(html);
        pages++;
    }
    closedir(directory);
    CHECK(pages > 0);
    CHECK_INT(wrong, 0);
}

/* Each one is a way in which scanners go wrong. */
static const char *const hard[] = {
    "<a href=x>",
    "<A HREF='x'>t</A>",
    "<a\thref\n=\n\"x\"\n>",
    "<a href=x/>",
    "<a href=/x/ />",
    "<a/href=x>",
    "<a/ /href=\"x\"/>",
    "<a href=x href=y>",
    "<a href href=y>",
    "<a href=>t",
    "<a href= >t",
    "<a href>t",
    "<a href=\"\">t",
    "<a =href=x>",
    "<a ==x href=y>",
    "<a x=\"a>b\" href=y>",
    "<a x='\"' href=y>",
    "<a \"x=' href=y>' href=z>",
    "<a x=y\"z href=w>\" href=v>",
    "<a x=y=\"z>\" href=w>",
    "<a x =\"z>\" href=w>",
    "<a x= \"z>\" href=w>",
    "<a x=\"1\"href=y>",
    "<a x=\"1\"/href=y>",
    "<a href=\"x",
    "<a href=x",
    "<a href=x<b>c",
    "<a <b href=x>",
    "<ahref=x>",
    "<a:b href=x>",
    "<a\"b href=x>\" href=y>",
    "<a=\"x>\" href=y>",
    "<a\x01href=x>",
    "< a href=x>",
    "<\na href=x>",
    "<>a href=x>",
    "</a href=x>",
    "<//a href=x><a href=y>",
    "</ a><a href=y>",
    "</><a href=y>",
    "</a x=\"><a href=n>\"><a href=y>",
    "<p \"><a href=y>",
    "<p x='><a href=n>'><a href=y>",
    "<p x=a'><a href=y>'><a href=z>",
    "<p x=\"\"y=\"><a href=n>\"><a href=y>",
    "<p x==\"><a href=y>\">",
    "<p =\"><a href=y>\">",
    "<p /=\"><a href=y>\">",
    "<p x/=\"><a href=y>\">",
    "<p a=1 b=\"><a href=n>\"><a href=y>",
    "<p a b=\"><a href=n>\"><a href=y>",
    "<averyveryverylongelementnamethatgoesonandonandonbeyondoneblockofsixtyfourbytes x=\"><a href=n>\"><a "
    "href=y>",
    "<p averyveryverylongattributenamethatgoesonandonandonbeyondoneblockofsixtyfour=\"><a href=n>\"><a "
    "href=y>",
    "<p x=\"0123456789012345678901234567890123456789012345678901234567890123456789><a href=n>\" y=\"><a "
    "href=m>\"><a href=y>",
    /* Comments. */
    "<!-- <a href=n> --><a href=y>",
    "<!--><a href=y>-->",
    "<!---><a href=y>-->",
    "<!----><a href=y>-->",
    "<!-- --!><a href=y>-->",
    "<!--!><a href=n>--><a href=y>",
    "<!---!><a href=n>--><a href=y>",
    "<!----!><a href=y>",
    "<!-- -- ><a href=n>--><a href=y>",
    "<!-- <!-- <a href=n> --><a href=y>",
    "<!-- <!--><a href=y>-->",
    "<!-- --- ><a href=n>---><a href=y>",
    "<!-- > <a href=n>",
    "<!- ><a href=y>",
    "<!-><a href=y>",
    "<!><a href=y>",
    "<!DOCTYPE html \"><a href=y>\">",
    "<!doctype html PUBLIC '-//x' \"y><a href=z>\">",
    "<?php echo '<a href=n>' ?><a href=y>",
    "<?xml version=\"1.0\"?><a href=y>",
    "<![CDATA[<a href=y>]]><a href=z>",
    "<!x<a href=n>><a href=y>",
    /* Raw text. */
    "<script><a href=n></script><a href=y>",
    "<script><!-- <a href=n> </script><a href=y>",
    "<script><!-- <script> </script><a href=n> --></script><a href=y>",
    "<script><!-- <script> </script></script><a href=y>",
    "<script><!--<script></script>--><a href=n></script><a href=y>",
    "<script><!--><script></script><a href=y>",
    "<script><!---><script></script><a href=y>",
    "<script><!-- <scripty> </script><a href=y>",
    "<script><!-- <script </script><a href=n></script><a href=y>",
    "<script><!-- <SCRIPT/ </SCRIPT/ --></script><a href=y>",
    "<script>--></script><a href=y>",
    "<script></scripty></script ><a href=y>",
    "<script></script x=\"><a href=n>\"><a href=y>",
    "<script src=s></SCRIPT\n><a href=y>",
    "<script src=s/><a href=n></script><a href=y>",
    "<script><a href=n>",
    "<script></script",
    "<style><a href=n></style><a href=y>",
    "<style></styl></style/><a href=y>",
    "<style><!-- </style><a href=y> --></style>",
    "<title><a href=n></title><a href=y>",
    "<title></titl</title><a href=y>",
    "<textarea><a href=n></textarea><a href=y>",
    "<textarea></textarea\f><a href=y>",
    "<xmp><a href=n></xmp><a href=y>",
    "<iframe src=f><a href=n></iframe><a href=y>",
    "<noembed><a href=n></noembed><a href=y>",
    "<noframes><a href=n></noframes><a href=y>",
    "<noscript><a href=m></noscript><a href=y>",
    "<body><noscript><img src=m></noscript><a href=y>",
    "<a href=y><plaintext></plaintext><a href=n>",
    "<template><a href=n></template><a href=y>",
    "<template><template><a href=n></template><a href=n></template><a href=y>",
    "</template><a href=y>",
    "<template><script></template></script><a href=n></template><a href=y>",
    /* Foreign content. */
    "<svg><a href=y></a></svg><a href=z>",
    "<svg><a xlink:href=y></a><a href=w XLINK:HREF=x><a xlink:href=''></svg><a xlink:href=n>",
    "<iframe srcdoc='<a href=y><img src=z>' src=n><a href=n></iframe><a href=w>",
    "<iframe srcdoc='&lt;a href=&quot;y?a&amp;amp;b&quot;>&lt;!-- <a href=n>'></iframe>",
    "<iframe srcdoc></iframe><iframe srcdoc='<iframe srcdoc=\"<a href=n>\" src=f></iframe><iframe "
    "src=g>'></iframe>",
    "<iframe srcdoc='<iframe srcdoc=\"<iframe srcdoc=&amp;quot;<iframe srcdoc=<p><a&amp;#32;href=y></p>><img "
    "src=w>"
    "&amp;quot;></iframe>\"></iframe>'></iframe><a href=x>",
    "<svg><image xlink:href=y /><image href=w xlink:href=n><use href=x /><use href='#n'><use "
    "href=''></svg><use href=n>",
    "<svg><title><a href=y></title></svg><a href=z>",
    "<svg><style><a href=y></style></svg><a href=z>",
    "<svg><script><a href=y></script></svg><a href=z>",
    "<svg><script/><a href=y></svg><a href=z>",
    "<svg><title/><a href=y></svg><title><a href=n></title><a href=z>",
    "<svg><![CDATA[<a href=n>]]></svg><a href=z>",
    "<svg><![CDATA[ ]> ]]]></svg><a href=z>",
    "<svg/><title><a href=n></title><a href=z>",
    "<svg><image src=n href=m></svg><image src=y>",
    "<svg><img src=y><title><a href=n></title><a href=z>",
    "<svg><foreignObject><style><a href=n></style><a href=y></foreignObject><style><a href=y></style></svg>",
    "<svg><desc><title><a href=n></title></desc></svg>",
    "<svg><svg></svg><style><a href=y></style></svg><style><a href=n></style>",
    "<svg><p><style><a href=n></style><a href=y>",
    "<svg></p><style><a href=n></style><a href=y>",
    "<math><mi><style><a href=n></style></mi><style><a href=y></style></math>",
    "<math><svg><style><a href=y></style></svg></math>",
    "<svg><link rel=stylesheet href=n><meta http-equiv=refresh content='0;url=y'></svg>",
    /* Where the tree builder drops or moves elements. */
    "<table><a href=y><tr><td><a href=z></table>",
    "<head><a href=y></head><body><base href=/b/><link rel=icon href=i>",
    "<select><option><a href=y></select><a href=z>",
    "<frame src=f><a href=y>",
    "<frameset><frame src=f><a href=n></frameset><a href=m>",
    "<a href=x><a href=y></a><p></a>",
    /* Values. */
    "<a href='?a&amp;b&lt;c&#x41;&#65;&#65 &#x80;&#0;&#xD800;&#x110000;'>",
    "<a href='?a=1&copy=2&copy;&copyb&copy&notin;&notit;&nGt;&fjlig;&amp&amp='>",
    "<a href='&unknown;&;&#;&#x;&#xg;&'>",
    "<a href='&AMP;&Amp;&aMP'>",
    "<a href=&quot;x&quot;>",
    "<a href=' x '><a href='\ny\n'><a href='z\tw'>",
    "<a href='//other.example/x'><a href='?q'><a href='#f'><a href='http:x'>",
    "<a href='mailto:x@y'><a href='javascript:void(0)'><a href='HTTP://H.EXAMPLE/%7e'>",
    "<img src=a srcset='b 1x, c 2x,d,e , f 100w,g,,h'>",
    "<img src='' srcset=',,'>",
    "<img srcset='a(b,c) (d,e) 1x, f'>",
    "<picture><source srcset='a, b 2x'><img src=c></picture>",
    "<video src=v poster=p><source src=s><track src=t></video><audio src=u></audio>",
    "<object data=o><embed src=e></object>",
    "<input type=IMAGE src=i><input type=text src=n><input src=n>",
    "<map><area href=x></map>",
    "<form action=f></form><form action=g method=post></form><form action=h method=GET></form>",
    "<link rel=stylesheet href=s><link href=n><link rel=icon href=i><link rel='shortcut icon' href=j>",
    "<link rel='alternate stylesheet' href=s><link rel=alternate type=application/rss+xml href=f>"
    "<link rel=alternate hreflang=de href=d><link rel=dns-prefetch href=//n><link rel=canonical href=c>",
    "<link rel=preload as=image imagesrcset='a 1x, b 2x' href=c>",
    "<meta http-equiv=refresh content='5; url=y'><meta http-equiv=refresh content=\"0;URL='z'\">",
    "<meta http-equiv=refresh content='5'><meta http-equiv=refresh content='x;url=n'>",
    "<base href=/b/><a href=x><base href=/c/>",
    "<a href=x><base target=t><base href=//b.example/d/e>",
    "<base href='mailto:x'><a href=x>",
    "<base href=''><a href=x>",
};

TEST(hard_markup_has_the_links_of_its_tree)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
        wrong += compare_markup(hard[i], slice_of(hard[i]));
    CHECK_INT(wrong, 0);
}

TEST(zz_each_known_difference_still_exists)
{
    for (struct difference *known = differences; known->where; known++)
        if (!known->seen)
            check_failed(__FILE__, __LINE__, "not seen any more: %s in %s", known->line, known->where);
}
#else
TEST(links_against_a_tree)
{
    SKIP("lexbor is absent: run tools/setup");
}
#endif
