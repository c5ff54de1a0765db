#include "engine/content/link.h"

const char *link_kind_name(enum link_kind kind)
{
    static const char *const names[LINK_KINDS] = {
        [LINK_ANCHOR] = "anchor",   [LINK_FRAME] = "frame",         [LINK_REFRESH] = "refresh",
        [LINK_FORM] = "form",       [LINK_CANONICAL] = "canonical", [LINK_ALTERNATE] = "alternate",
        [LINK_RELATED] = "related", [LINK_ENTRY] = "entry",         [LINK_FEED] = "feed",
        [LINK_SITEMAP] = "sitemap", [LINK_STYLESHEET] = "style",    [LINK_SCRIPT] = "script",
        [LINK_IMAGE] = "image",     [LINK_ICON] = "icon",           [LINK_MEDIA] = "media",
        [LINK_OBJECT] = "object",   [LINK_RESOURCE] = "resource",   [LINK_CSS] = "css",
    };
    return kind < LINK_KINDS ? names[kind] : "unknown";
}

/* Relations from the strongest to the weakest: of several, the strongest decides. */
enum strength {
    NOTHING_TO_FETCH,
    PLAIN,
    STRONG,
};

struct relation {
    struct slice name;
    unsigned char strength;
    unsigned char kind;
};

/* Other relations count as LINK_RELATED: most of IANA's long list point to pages. */
#define NAME(literal)                                                                                        \
    {                                                                                                        \
        (literal), sizeof(literal) - 1                                                                       \
    }

static const struct relation relations[] = {
    {NAME("canonical"), STRONG, LINK_CANONICAL},   {NAME("stylesheet"), STRONG, LINK_STYLESHEET},
    {NAME("alternate"), STRONG, LINK_ALTERNATE},   {NAME("icon"), STRONG, LINK_ICON},
    {NAME("apple-touch-icon"), STRONG, LINK_ICON}, {NAME("apple-touch-icon-precomposed"), STRONG, LINK_ICON},
    {NAME("mask-icon"), STRONG, LINK_ICON},        {NAME("image_src"), STRONG, LINK_IMAGE},
    {NAME("sitemap"), STRONG, LINK_SITEMAP},       {NAME("preload"), STRONG, LINK_RESOURCE},
    {NAME("modulepreload"), STRONG, LINK_SCRIPT},  {NAME("prefetch"), STRONG, LINK_RESOURCE},
    {NAME("prerender"), STRONG, LINK_RELATED},     {NAME("manifest"), STRONG, LINK_RESOURCE},
    {NAME("dns-prefetch"), NOTHING_TO_FETCH, 0},   {NAME("preconnect"), NOTHING_TO_FETCH, 0},
    {NAME("shortcut"), NOTHING_TO_FETCH, 0},       {NAME("noopener"), NOTHING_TO_FETCH, 0},
    {NAME("noreferrer"), NOTHING_TO_FETCH, 0},     {NAME("opener"), NOTHING_TO_FETCH, 0},
    {NAME("external"), NOTHING_TO_FETCH, 0},       {NAME("pingback"), NOTHING_TO_FETCH, 0},
    {NAME("nofollow"), NOTHING_TO_FETCH, 0},       {NAME("ugc"), NOTHING_TO_FETCH, 0},
    {NAME("sponsored"), NOTHING_TO_FETCH, 0},
};

static const struct relation *find_relation(struct slice name)
{
    static const struct relation other = {NAME(""), PLAIN, LINK_RELATED};
    for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++)
        if (slice_equals_nocase(name, relations[i].name))
            return &relations[i];
    return &other;
}

static bool is_feed_type(struct slice type)
{
    static const char *const feeds[] = {"application/rss+xml", "application/atom+xml", "application/rdf+xml",
                                        "application/feed+json", "text/rss+xml"};
    for (size_t i = 0; i < type.len; i++)
        if (type.ptr[i] == ';')
            type.len = i;
    type = slice_trim(type);
    for (size_t i = 0; i < sizeof(feeds) / sizeof(feeds[0]); i++)
        if (slice_equals_nocase(type, slice_of(feeds[i])))
            return true;
    return false;
}

/* Takes the next word off the front of `*rest`; empty at the end. */
static struct slice next_word(struct slice *rest)
{
    size_t from = 0;
    while (from < rest->len && slice_is_space(rest->ptr[from]))
        from++;
    size_t to = from;
    while (to < rest->len && !slice_is_space(rest->ptr[to]))
        to++;
    struct slice word = {rest->ptr + from, to - from};
    *rest = slice_skip(*rest, to);
    return word;
}

unsigned char link_rel_flags(struct slice rel)
{
    unsigned flags = 0;
    for (struct slice word; (word = next_word(&rel)).len > 0;) {
        if (slice_equals_nocase(word, SLICE("nofollow")))
            flags |= LINK_NOFOLLOW;
        else if (slice_equals_nocase(word, SLICE("ugc")))
            flags |= LINK_UGC;
        else if (slice_equals_nocase(word, SLICE("sponsored")))
            flags |= LINK_SPONSORED;
    }
    return (unsigned char)flags;
}

bool link_read_rel(struct slice rel, struct slice type, struct link *link)
{
    enum strength strongest = NOTHING_TO_FETCH;
    bool is_alternate = false, is_style = false;
    link->flags = link_rel_flags(rel);
    for (struct slice word; (word = next_word(&rel)).len > 0;) {
        const struct relation *relation = find_relation(word);
        is_alternate |= relation->kind == LINK_ALTERNATE && relation->strength == STRONG;
        is_style |= relation->kind == LINK_STYLESHEET && relation->strength == STRONG;
        if (relation->strength > strongest) {
            strongest = relation->strength;
            link->kind = relation->kind;
        }
    }
    if (is_style) /* "alternate stylesheet" is a style sheet that the reader may choose */
        link->kind = LINK_STYLESHEET;
    else if (is_alternate && is_feed_type(type))
        link->kind = LINK_FEED;
    return strongest > NOTHING_TO_FETCH;
}
