#include "engine/url/punycode.h"

#include "tests/support/check.h"

struct sample {
    const char *text;
    uint32_t points[24];
};

/* From RFC 3492, section 7.1: (A), (B), (D), (G), (K), (L), (R), (S). */
static const struct sample samples[] = {
    {"egbpdaj6bu4bxfgehfvwxn",
     {0x644, 0x64a, 0x647, 0x645, 0x627, 0x628, 0x62a, 0x643, 0x644, 0x645, 0x648, 0x634, 0x639, 0x631, 0x628,
      0x64a, 0x61f}},
    {"ihqwcrb4cv8a8dqg056pqjye", {0x4ed6, 0x4eec, 0x4e3a, 0x4ec0, 0x4e48, 0x4e0d, 0x8bf4, 0x4e2d, 0x6587}},
    {"Proprostnemluvesky-uyb24dma41a", {0x50, 0x72, 0x6f, 0x10d, 0x70, 0x72, 0x6f,  0x73, 0x74, 0x11b, 0x6e,
                                        0x65, 0x6d, 0x6c, 0x75,  0x76, 0xed, 0x10d, 0x65, 0x73, 0x6b,  0x79}},
    {"n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa",
     {0x306a, 0x305c, 0x307f, 0x3093, 0x306a, 0x65e5, 0x672c, 0x8a9e, 0x3092, 0x8a71, 0x3057, 0x3066, 0x304f,
      0x308c, 0x306a, 0x3044, 0x306e, 0x304b}},
    {"3B-ww4c5e180e575a65lsy2b", {0x33, 0x5e74, 0x42, 0x7d44, 0x91d1, 0x516b, 0x5148, 0x751f}},
    {"d9juau41awczczp", {0x305d, 0x306e, 0x30b9, 0x30d4, 0x30fc, 0x30c9, 0x3067}},
    {"tda", {0xfc}},
    {"ls8h", {0x1f4a9}},
};

static size_t count_points(const uint32_t *points)
{
    size_t count = 0;
    while (points[count])
        count++;
    return count;
}

TEST(samples_both_ways)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        uint32_t points[64];
        char text[100];
        size_t expected = count_points(samples[i].points), len = 0;
        struct punycode_label label = {.points = points, .size = 64};
        CHECK(punycode_decode(&label, slice_of(samples[i].text)));
        CHECK_INT(label.len, expected);
        CHECK(memcmp(points, samples[i].points, expected * sizeof *points) == 0);
        CHECK(punycode_encode(&label, text, sizeof text, &len));
        CHECK_SLICE(((struct slice){text, len}), samples[i].text);
    }
}

TEST(no_punycode)
{
    static const char *const texts[] = {"", "tda\xff", "a-b!", "99999999", "-", "b-\x80", "a-99999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        uint32_t points[64];
        struct punycode_label label = {.points = points, .size = 64};
        bool decoded = punycode_decode(&label, slice_of(texts[i]));
        CHECK(!decoded || label.len == 0);
    }
}

TEST(too_small)
{
    uint32_t points[8];
    char text[10];
    size_t len = 0;
    struct punycode_label label = {.points = points, .size = 8};
    CHECK(!punycode_decode(&label, SLICE("ihqwcrb4cv8a8dqg056pqjye")));
    CHECK(punycode_decode(&label, SLICE("3B-ww4c5e180e575a65lsy2b")));
    CHECK(!punycode_encode(&label, text, sizeof text, &len));
    label.size = 2;
    CHECK(!punycode_decode(&label, SLICE("abc-tda")));
}
