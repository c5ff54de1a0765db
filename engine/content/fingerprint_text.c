/* The normalised form of a page, for near-duplicates. */
#include "engine/content/fingerprint.h"
#include "engine/content/html.h"

/* Where the words go. */
struct words {
    char *out;
    size_t len;
};

enum class {
    BETWEEN, /* not part of a word */
    LETTER,
    DIGIT,
};

static enum class class_of(char c) {
    char lower = slice_lower(c);
    if ((lower >= 'a' && lower <= 'z') || (unsigned char)c >= 0x80) return LETTER;
    return c >= '0' && c <= '9' ? DIGIT : BETWEEN;
}

#define NAME(literal)                                                                                        \
    {                                                                                                        \
        (literal), sizeof(literal) - 1                                                                       \
    }

/* Months and weekdays, and what stands beside times. In lower case. */
static bool is_date(struct slice word)
{
    static const struct slice names[] = {
        NAME("january"),  NAME("february"),  NAME("march"),    NAME("april"),     NAME("may"),
        NAME("june"),     NAME("july"),      NAME("august"),   NAME("september"), NAME("october"),
        NAME("november"), NAME("december"),  NAME("jan"),      NAME("feb"),       NAME("mar"),
        NAME("apr"),      NAME("jun"),       NAME("jul"),      NAME("aug"),       NAME("sep"),
        NAME("sept"),     NAME("oct"),       NAME("nov"),      NAME("dec"),       NAME("monday"),
        NAME("tuesday"),  NAME("wednesday"), NAME("thursday"), NAME("friday"),    NAME("saturday"),
        NAME("sunday"),   NAME("mon"),       NAME("tue"),      NAME("wed"),       NAME("thu"),
        NAME("fri"),      NAME("sat"),       NAME("sun"),      NAME("am"),        NAME("pm"),
        NAME("gmt"),      NAME("utc"),
    };
    if (word.len < 2 || word.len > 9)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (slice_equals(word, names[i]))
            return true;
    return false;
}

/* The word in text[0, len), which is all letters. */
static void add_word(struct words *words, const char *text, size_t len)
{
    size_t begin = words->len ? words->len + 1 : 0;
    char *to = words->out + begin;
    for (size_t i = 0; i < len; i++)
        to[i] = slice_lower(text[i]);
    if (is_date((struct slice){to, len}))
        return;
    if (begin)
        words->out[begin - 1] = ' ';
    words->len = begin + len;
}

/* Length of the character reference at the start of `text`, or 0. */
static size_t reference_len(struct slice text)
{
    size_t len = 1;
    while (len < text.len && (class_of(text.ptr[len]) != BETWEEN || (len == 1 && text.ptr[1] == '#')))
        len++;
    return len > 1 && len < text.len && text.ptr[len] == ';' ? len + 1 : 0;
}

static void add_text(struct words *words, struct slice text)
{
    while (text.len) {
        size_t len = 0;
        bool has_digit = false;
        enum class class;
        while (len < text.len && (class = class_of(text.ptr[len])) != BETWEEN) {
            has_digit |= class == DIGIT;
            len++;
        }
        if (len && !has_digit)
            add_word(words, text.ptr, len);
        text = slice_skip(text, len);
        if (len == 0) {
            size_t reference = text.ptr[0] == '&' ? reference_len(text) : 0;
            text = slice_skip(text, reference ? reference : 1);
        }
    }
}

/* Text between two tags: comments and declarations are still in it. */
static void add_run(struct words *words, struct slice run)
{
    while (run.len) {
        const char *open = memchr(run.ptr, '<', run.len);
        add_text(words, open ? slice_between(run.ptr, open) : run);
        if (!open)
            return;
        run = slice_skip(run, (size_t)(open - run.ptr));
        const char *close = NULL;
        if (slice_starts_with(run, SLICE("<!--")))
            close = memmem(run.ptr + 4, run.len - 4, "-->", 3);
        else if (run.len > 1 && (run.ptr[1] == '!' || run.ptr[1] == '?' || run.ptr[1] == '/'))
            close = memchr(run.ptr, '>', run.len);
        else if (run.len > 1 && slice_lower(run.ptr[1]) >= 'a' && slice_lower(run.ptr[1]) <= 'z')
            return; /* a tag that the document's end cuts off */
        else
            close = run.ptr; /* a '<' that is text */
        run = slice_skip(run, close ? (size_t)(close - run.ptr) + 1 : run.len);
    }
}

size_t fingerprint_normalise(struct slice html, char *out)
{
    struct html_walk walk;
    struct html_tag tag;
    struct words words = {out, 0};
    const char *from = html.ptr;
    html_init(&walk, html, HTML_READ_ALL | HTML_READ_NOSCRIPT | HTML_SKIP_ATTRIBUTES);
    while (html_next(&walk, &tag)) {
        add_run(&words, slice_between(from, tag.open));
        from = tag.close;
        if (!tag.is_end && (tag.element == HTML_TITLE || tag.element == HTML_TEXTAREA))
            add_text(&words, tag.body);
        if (!tag.is_end && tag.body.len)
            from = tag.body.ptr + tag.body.len;
    }
    add_run(&words, slice_between(from, html.ptr + html.len));
    return words.len;
}
