#include "engine/frontier/hops.h"

#include "net/slice.h"
#include "tests/support/check.h"

static struct hops way(const char *letters)
{
    struct hops hops = {0};
    for (; *letters; letters++)
        hops = hops_add(hops, *letters);
    return hops;
}

static void check_way(struct hops hops, const char *expected)
{
    char text[HOPS_TEXT_BYTES_MAX];
    struct slice written = {text, hops_write(text, hops)};
    CHECK_SLICE(written, expected);
}

TEST(the_way_is_shown_letter_by_letter)
{
    check_way(way(""), "-");
    check_way(way("L"), "L");
    check_way(way("LR"), "LR");
    check_way(way("MLEP"), "MLEP");
    check_way(way("-L"), "L");
    check_way(way("LLLLLERREL"), "LLLLLERREL");
}

TEST(of_a_long_way_the_end_is_shown)
{
    check_way(way("MLLLLLERREL"), "1+LLLLLERREL");
    check_way(way("LLLLLLLLLLLLLLLLLLLLLLR"), "13+LLLLLLLLLR");
    struct hops hops = {0};
    for (int i = 0; i < 70000; i++)
        hops = hops_add(hops, 'L');
    check_way(hops, "65525+LLLLLLLLLL");
}
