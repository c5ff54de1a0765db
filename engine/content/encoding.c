/* The encodings of the Encoding Standard with their labels, and how a document's encoding is detected. */
#include "engine/content/encoding.h"

#include "engine/content/html.h"
#include "engine/content/limits.h"

struct entry {
    struct encoding encoding;
    const char *labels; /* separated by spaces */
};

/* clang-format off */
static const struct entry entries[] = {
    {{"UTF-8", NULL, false},
     "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8"},
    {{"windows-1252", "WINDOWS-1252", false},
     "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
     "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"},
    {{"IBM866", "IBM866", false},
     "866 cp866 csibm866 ibm866"},
    {{"ISO-8859-2", "ISO-8859-2", false},
     "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"},
    {{"ISO-8859-3", "ISO-8859-3", false},
     "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"},
    {{"ISO-8859-4", "ISO-8859-4", false},
     "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"},
    {{"ISO-8859-5", "ISO-8859-5", false},
     "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"},
    {{"ISO-8859-6", "ISO-8859-6", false},
     "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
     "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"},
    {{"ISO-8859-7", "ISO-8859-7", false},
     "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
     "iso_8859-7 iso_8859-7:1987 sun_eu_greek"},
    {{"ISO-8859-8", "ISO-8859-8", false},
     "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
     "iso_8859-8 iso_8859-8:1988 visual"},
    {{"ISO-8859-8-I", "ISO-8859-8", false},
     "csiso88598i iso-8859-8-i logical"},
    {{"ISO-8859-10", "ISO-8859-10", false},
     "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"},
    {{"ISO-8859-13", "ISO-8859-13", false},
     "iso-8859-13 iso8859-13 iso885913"},
    {{"ISO-8859-14", "ISO-8859-14", false},
     "iso-8859-14 iso8859-14 iso885914"},
    {{"ISO-8859-15", "ISO-8859-15", false},
     "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"},
    {{"ISO-8859-16", "ISO-8859-16", false},
     "iso-8859-16"},
    {{"KOI8-R", "KOI8-R", false},
     "cskoi8r koi koi8 koi8-r koi8_r"},
    {{"KOI8-U", "KOI8-U", false},
     "koi8-ru koi8-u"},
    {{"macintosh", "MACINTOSH", false},
     "csmacintosh mac macintosh x-mac-roman"},
    {{"windows-874", "CP874", false},
     "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"},
    {{"windows-1250", "WINDOWS-1250", false},
     "cp1250 windows-1250 x-cp1250"},
    {{"windows-1251", "WINDOWS-1251", false},
     "cp1251 windows-1251 x-cp1251"},
    {{"windows-1253", "WINDOWS-1253", false},
     "cp1253 windows-1253 x-cp1253"},
    {{"windows-1254", "WINDOWS-1254", false},
     "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
     "windows-1254 x-cp1254"},
    {{"windows-1255", "WINDOWS-1255", false},
     "cp1255 windows-1255 x-cp1255"},
    {{"windows-1256", "WINDOWS-1256", false},
     "cp1256 windows-1256 x-cp1256"},
    {{"windows-1257", "WINDOWS-1257", false},
     "cp1257 windows-1257 x-cp1257"},
    {{"windows-1258", "WINDOWS-1258", false},
     "cp1258 windows-1258 x-cp1258"},
    {{"x-mac-cyrillic", "MAC-CYRILLIC", false},
     "x-mac-cyrillic x-mac-ukrainian"},
    {{"GBK", "GB18030", false},
     "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"},
    {{"gb18030", "GB18030", false},
     "gb18030"},
    {{"Big5", "BIG5-HKSCS", false},
     "big5 big5-hkscs cn-big5 csbig5 x-x-big5"},
    {{"EUC-JP", "EUC-JP", false},
     "cseucpkdfmtjapanese euc-jp x-euc-jp"},
    {{"ISO-2022-JP", "ISO-2022-JP", true},
     "csiso2022jp iso-2022-jp"},
    {{"Shift_JIS", "CP932", false},
     "csshiftjis ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"},
    {{"EUC-KR", "CP949", false},
     "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
     "windows-949"},
    {{"UTF-16BE", "UTF-16BE", true},
     "utf-16be unicodefffe"},
    {{"UTF-16LE", "UTF-16LE", true},
     "utf-16 utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff"},
};
/* clang-format on */

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

const struct encoding *const encoding_utf8 = &entries[0].encoding;
const struct encoding *const encoding_windows_1252 = &entries[1].encoding;

static bool has_label(const char *labels, struct slice label)
{
    for (;;) {
        size_t len = strcspn(labels, " ");
        if (slice_equals_nocase((struct slice){labels, len}, label))
            return true;
        if (labels[len] == '\0')
            return false;
        labels += len + 1;
    }
}

const struct encoding *encoding_find(struct slice label)
{
    label = slice_trim(label);
    for (size_t i = 0; i < ENTRIES; i++)
        if (has_label(entries[i].labels, label))
            return &entries[i].encoding;
    return NULL;
}

size_t encoding_bom(struct slice document)
{
    if (slice_starts_with(document, SLICE("\xef\xbb\xbf")))
        return 3;
    return slice_starts_with(document, SLICE("\xff\xfe")) || slice_starts_with(document, SLICE("\xfe\xff"))
               ? 2
               : 0;
}

static const struct encoding *encoding_of_bom(struct slice document)
{
    switch (encoding_bom(document)) {
    case 3:
        return encoding_utf8;
    case 2:
        return encoding_find(document.ptr[0] == '\xff' ? SLICE("utf-16le") : SLICE("utf-16be"));
    default:
        return NULL;
    }
}

/* The value behind "charset=": quoted, or up to a semicolon or white space. */
static struct slice charset_value(struct slice text)
{
    text = slice_skip_space(text);
    if (text.len && (text.ptr[0] == '"' || text.ptr[0] == '\'')) {
        const char *close = memchr(text.ptr + 1, text.ptr[0], text.len - 1);
        return close ? slice_between(text.ptr + 1, close) : (struct slice){"", 0};
    }
    size_t len = 0;
    while (len < text.len && text.ptr[len] != ';' && text.ptr[len] != ' ' &&
           !(text.ptr[len] >= '\t' && text.ptr[len] <= '\r'))
        len++;
    return (struct slice){text.ptr, len};
}

struct slice encoding_charset(struct slice content_type)
{
    const struct slice name = SLICE("charset");
    for (struct slice text = content_type; text.len > name.len; text = slice_skip(text, 1)) {
        if (!slice_equals_nocase((struct slice){text.ptr, name.len}, name))
            continue;
        struct slice rest = slice_skip_space(slice_skip(text, name.len));
        if (rest.len && rest.ptr[0] == '=')
            return charset_value(slice_skip(rest, 1));
    }
    return (struct slice){"", 0};
}

/* A declaration that is readable as ASCII cannot be in UTF-16, whatever it says. */
static const struct encoding *not_wider(const struct encoding *encoding)
{
    bool is_utf16 = encoding && encoding->is_wide && strncmp(encoding->name, "UTF-16", 6) == 0;
    return is_utf16 ? encoding_utf8 : encoding;
}

/* What a meta element declares. */
static const struct encoding *encoding_of_meta(const struct html_tag *tag)
{
    struct slice label = html_value(tag, HTML_CHARSET);
    if (!html_has(tag, HTML_CHARSET) &&
        slice_equals_nocase(html_value(tag, HTML_HTTP_EQUIV), SLICE("content-type")))
        label = encoding_charset(html_value(tag, HTML_CONTENT));
    if (slice_equals_nocase(slice_trim(label), SLICE("x-user-defined")))
        return encoding_windows_1252;
    return not_wider(encoding_find(label));
}

static const struct encoding *prescan(struct slice document)
{
    struct html_walk walk;
    struct html_tag tag;
    if (document.len > ENCODING_PRESCAN_BYTES)
        document.len = ENCODING_PRESCAN_BYTES;
    html_init(&walk, document, 0);
    while (html_next(&walk, &tag)) {
        const struct encoding *encoding = tag.element == HTML_META ? encoding_of_meta(&tag) : NULL;
        if (encoding)
            return encoding;
    }
    return NULL;
}

/* UTF-16 without a byte order mark: markup begins with '<' and another ASCII character. */
static const struct encoding *encoding_of_zeros(struct slice document)
{
    const char *at = document.ptr;
    if (document.len < 4)
        return NULL;
    if (at[0] == '<' && at[1] == 0 && at[2] != 0 && at[3] == 0)
        return encoding_find(SLICE("utf-16le"));
    return at[0] == 0 && at[1] == '<' && at[2] == 0 && at[3] != 0 ? encoding_find(SLICE("utf-16be")) : NULL;
}

const struct encoding *encoding_stated(struct slice content_type, struct slice document)
{
    const struct encoding *encoding = encoding_of_bom(document);
    if (!encoding)
        encoding = encoding_find(encoding_charset(content_type));
    return encoding ? encoding : encoding_of_zeros(document);
}

/* What the declaration of an XML document says, or NULL. One that can be read as ASCII is not in UTF-16. */
static const struct encoding *encoding_of_declaration(struct slice document)
{
    document = slice_skip(document, encoding_bom(document) == 3 ? 3 : 0);
    if (!slice_starts_with(document, SLICE("<?xml")))
        return NULL;
    document.len = document.len < ENCODING_DECLARATION_BYTES ? document.len : ENCODING_DECLARATION_BYTES;
    const char *close = memchr(document.ptr, '>', document.len);
    struct slice text = slice_between(document.ptr, close ? close : document.ptr);
    const char *name = memmem(text.ptr, text.len, "encoding", 8);
    if (!name)
        return NULL;
    text = slice_skip_space(slice_between(name + 8, text.ptr + text.len));
    if (text.len == 0 || text.ptr[0] != '=')
        return NULL;
    return not_wider(encoding_find(charset_value(slice_skip(text, 1))));
}

const struct encoding *encoding_of_xml(struct slice document)
{
    const struct encoding *encoding = encoding_of_declaration(document);
    return encoding ? encoding : encoding_utf8;
}

static const struct encoding *guess(struct slice document)
{
    if (document.len > ENCODING_GUESS_BYTES)
        document.len = ENCODING_GUESS_BYTES;
    return encoding_is_utf8(document) ? encoding_utf8 : encoding_windows_1252;
}

const struct encoding *encoding_detect(struct slice content_type, struct slice document)
{
    const struct encoding *encoding = encoding_stated(content_type, document);
    if (!encoding)
        encoding = prescan(document);
    if (!encoding)
        encoding = encoding_of_declaration(document);
    return encoding ? encoding : guess(document);
}
