#include "engine/frontier/scope_traps.h"

#include <stdint.h>

#include "tests/support/check.h"

TEST(segments_are_counted_by_their_slashes)
{
    CHECK_INT(scope_count_segments(SLICE("/")), 1);
    CHECK_INT(scope_count_segments(SLICE("/a/b")), 2);
    CHECK_INT(scope_count_segments(SLICE("/a//")), 3);
    CHECK_INT(scope_count_segments(SLICE("////////")), 8);
    CHECK_INT(scope_count_segments(SLICE("/.0\xaf\xff\0/o/a/bc/de//fghijk")), 7);
}

TEST(a_segment_may_occur_so_often_and_no_more)
{
    CHECK(!scope_repeats_itself(SLICE("/a/b/a"), 2));
    CHECK(scope_repeats_itself(SLICE("/a/b/a/a"), 2));
    CHECK(!scope_repeats_itself(SLICE("/a/aa/a/"), 2));
    CHECK(!scope_repeats_itself(SLICE("//////"), 2));
}

TEST(ports_of_other_services)
{
    CHECK(scope_is_bad_port(22) && scope_is_bad_port(6000) && scope_is_bad_port(27017));
    CHECK(!scope_is_bad_port(80) && !scope_is_bad_port(443) && !scope_is_bad_port(8443));
    unsigned bad = 0;
    for (unsigned port = 0; port <= UINT16_MAX; port++)
        bad += scope_is_bad_port(port);
    CHECK_INT(bad, 93);
}
