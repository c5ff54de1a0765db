/* Foreign content: inside svg and math there are no raw text elements, CDATA sections exist, and self-closing
 * tags close. HTML begins again inside their integration points (foreignObject, desc, title; mi, mo, mn, ms,
 * mtext), and any tag of a list of HTML's own closes them.
 *
 * walk->foreign is the stack of open svg and math elements and their integration points; its top says what
 * content we are in. Other elements inside are not followed, so an end tag closes down to the innermost entry
 * of its name. */
#include "engine/content/html_tag.h"

enum entry {
    SVG = 1,
    MATH,
    /* Integration points of svg. */
    FOREIGN_OBJECT,
    DESC,
    TITLE,
    /* Of math. */
    MI,
    MO,
    MN,
    MS,
    MTEXT,
    ENTRIES,
};

#define NAME(literal)                                                                                        \
    {                                                                                                        \
        (literal), sizeof(literal) - 1                                                                       \
    }

static const struct slice entry_names[] = {
    [SVG] = NAME("svg"),     [MATH] = NAME("math"),   [FOREIGN_OBJECT] = NAME("foreignobject"),
    [DESC] = NAME("desc"),   [TITLE] = NAME("title"), [MI] = NAME("mi"),
    [MO] = NAME("mo"),       [MN] = NAME("mn"),       [MS] = NAME("ms"),
    [MTEXT] = NAME("mtext"),
};

/* Start tags that end foreign content. */
static const struct slice breakouts[] = {
    NAME("b"),       NAME("big"),  NAME("blockquote"), NAME("body"),  NAME("br"),   NAME("center"),
    NAME("code"),    NAME("dd"),   NAME("div"),        NAME("dl"),    NAME("dt"),   NAME("em"),
    NAME("embed"),   NAME("h1"),   NAME("h2"),         NAME("h3"),    NAME("h4"),   NAME("h5"),
    NAME("h6"),      NAME("head"), NAME("hr"),         NAME("i"),     NAME("img"),  NAME("li"),
    NAME("listing"), NAME("menu"), NAME("meta"),       NAME("nobr"),  NAME("ol"),   NAME("p"),
    NAME("pre"),     NAME("ruby"), NAME("s"),          NAME("small"), NAME("span"), NAME("strong"),
    NAME("strike"),  NAME("sub"),  NAME("sup"),        NAME("table"), NAME("tt"),   NAME("u"),
    NAME("ul"),      NAME("var"),
};

static unsigned top(const struct html_walk *walk)
{
    return walk->foreign_depth ? walk->foreign[walk->foreign_depth - 1] : 0;
}

bool html_is_foreign(const struct html_walk *walk)
{
    return top(walk) == SVG || top(walk) == MATH;
}

static void push(struct html_walk *walk, unsigned entry)
{
    if (walk->foreign_depth < HTML_FOREIGN_DEPTH_MAX)
        walk->foreign[walk->foreign_depth++] = (unsigned char)entry;
}

/* Back to the innermost HTML content. */
static void leave(struct html_walk *walk)
{
    while (html_is_foreign(walk))
        walk->foreign_depth--;
}

static unsigned find_entry(struct slice name)
{
    for (unsigned entry = SVG; entry < ENTRIES; entry++)
        if (slice_equals_nocase(name, entry_names[entry]))
            return entry;
    return 0;
}

static bool is_breakout(struct slice name)
{
    for (size_t i = 0; i < sizeof(breakouts) / sizeof(breakouts[0]); i++)
        if (slice_equals_nocase(name, breakouts[i]))
            return true;
    return false;
}

bool html_foreign_start(struct html_walk *walk, struct slice name, bool is_self_closing)
{
    bool is_foreign = html_is_foreign(walk);
    if (is_foreign && is_breakout(name)) {
        leave(walk);
        return false;
    }
    unsigned inside = top(walk), entry = is_self_closing ? 0 : find_entry(name);
    if ((entry == SVG || entry == MATH) && (entry == inside || !is_foreign))
        push(walk, entry);
    else if (inside == SVG && entry >= FOREIGN_OBJECT && entry <= TITLE)
        push(walk, entry);
    else if (inside == MATH && entry >= MI)
        push(walk, entry);
    return is_foreign;
}

void html_foreign_end(struct html_walk *walk, struct slice name)
{
    if (html_is_foreign(walk) &&
        (slice_equals_nocase(name, SLICE("p")) || slice_equals_nocase(name, SLICE("br")))) {
        leave(walk);
        return;
    }
    unsigned entry = find_entry(name);
    for (unsigned depth = walk->foreign_depth; entry && depth > 0; depth--)
        if (walk->foreign[depth - 1] == entry) {
            walk->foreign_depth = depth - 1;
            return;
        }
}
