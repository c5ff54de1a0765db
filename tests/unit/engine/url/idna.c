#include "engine/url/idna.h"

#include "engine/url/limits.h"
#include "tests/support/check.h"

struct name {
    const char *text, *expected; /* "" for refused */
};

static void check_names(const struct name *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char ascii[300];
        size_t len = strlen(names[i].text);
        char *guarded = check_guard_copy(names[i].text, len);
        struct slice result = {ascii, idna_to_ascii(ascii, sizeof ascii, (struct slice){guarded, len})};
        CHECK_SLICE(result, names[i].expected);
        check_guard_free(guarded, len);
    }
}

#define CHECK_NAMES(...)                                                                                     \
    do {                                                                                                     \
        const struct name names[] = {__VA_ARGS__};                                                           \
        check_names(names, sizeof names / sizeof *names);                                                    \
    } while (0)

TEST(mapping)
{
    CHECK_NAMES({"B\u00fccher.DE", "xn--bcher-kva.de"}, {"fa\u00df.de", "xn--fa-hia.de"},
                {"\u1e9e.de", "xn--zca.de"}, {"\uff27\uff4f.com", "go.com"},
                {"a\u3002b\uff0ec\uff61d", "a.b.c.d"}, {"a\u00adb", "ab"}, {"\u2665.net", "xn--g6h.net"},
                {"u\u0308", "xn--tda"});
}

TEST(refused_characters)
{
    CHECK_NAMES({"a\u2026b", ""} /* maps to dots */, {"a\u202eb", ""}, {"\ufffd", ""}, {"a\u0378", ""},
                {"\U000e0041", ""}, {"a\xff", ""}, {"\xed\xa0\x80", ""}, {"a\u2ff0", ""},
                {"\u0301a", ""} /* begins with a mark */, {"a\u1680", ""});
}

TEST(labels_that_are_encoded_already)
{
    CHECK_NAMES({"xn--tda.\u00fc", "xn--tda.xn--tda"}, {"xn--a.\u00fc", ""}, {"xn--.\u00fc", ""},
                {"xn--abc-.\u00fc", ""} /* decodes to ASCII */, {"xn--u-ccb.\u00fc", ""} /* not composed */,
                {"XN--TDA.\u00fc", "xn--tda.xn--tda"}, {"xn--t\u00fc", ""});
}

TEST(joiners)
{
    CHECK_NAMES({"\u0dc1\u0dca\u200d\u0dbb\u0dd3", "xn--10cl1a0b660p"}, {"\u200d.a", ""}, {"a\u200cb", ""},
                {"\u0646\u0627\u0645\u0647\u200c\u0627\u06cc", "xn--mgba3gch31f060k"}, {"\u0628\u200c", ""});
}

TEST(bidi)
{
    CHECK_NAMES({"\u05d0\u05d1.com", "xn--4dbc.com"}, {"\u05d0a", ""}, {"a\u05d0", ""}, {"\u05d0-", ""},
                {"\u05d01", "xn--1-zhc"}, {"\u0661\u05d0", ""}, {"\u05d01\u0661", ""}, {"1a.\u05d0", ""},
                {"\u05d0\u05b8", "xn--gdb1c"});
}

TEST(lengths)
{
    char name[URL_HOST_BYTES_MAX + 1], ascii[URL_HOST_BYTES_MAX];
    memset(name, 'a', sizeof name);
    memcpy(name, "\u00fc", 2);
    CHECK_INT(idna_to_ascii(ascii, sizeof ascii, (struct slice){name, sizeof name}), 0);
    CHECK_INT(idna_to_ascii(ascii, sizeof ascii, (struct slice){name, 100}), 4 + 102);
    CHECK(idna_to_ascii(ascii, sizeof ascii, (struct slice){name, URL_IDNA_BYTES_MAX}) > 0);
    CHECK_INT(idna_to_ascii(ascii, sizeof ascii, (struct slice){name, URL_IDNA_BYTES_MAX + 1}), 0);
    for (size_t size = 0; size < 13; size++) {
        char *small = check_guard_copy(ascii, size);
        CHECK_INT(idna_to_ascii(small, size, SLICE("b\u00fccher.")), 0);
        check_guard_free(small, size);
    }
    CHECK_INT(idna_to_ascii(ascii, 14, SLICE("b\u00fccher.")), 14);
    /* One character that becomes 18: a name of them passes the bound and is refused. */
    for (size_t i = 0; i + 3 <= URL_HOST_BYTES_MAX; i += 3)
        memcpy(name + i, "\ufdfa", 3);
    CHECK_INT(idna_to_ascii(ascii, sizeof ascii, (struct slice){name, 510}), 0);
}
