#include "engine/content/html_tag.h"
#include "tests/support/check.h"

static struct html_walk fresh(void)
{
    struct html_walk walk;
    html_init(&walk, SLICE(""), 0);
    return walk;
}

TEST(svg_is_foreign_until_it_ends)
{
    struct html_walk walk = fresh();
    CHECK(!html_foreign_start(&walk, SLICE("SVG"), false));
    CHECK(html_is_foreign(&walk));
    CHECK(html_foreign_start(&walk, SLICE("path"), false));
    html_foreign_end(&walk, SLICE("path"));
    CHECK(html_is_foreign(&walk));
    html_foreign_end(&walk, SLICE("svg"));
    CHECK(!html_is_foreign(&walk));
}

TEST(svg_that_closes_itself_opens_nothing)
{
    struct html_walk walk = fresh();
    html_foreign_start(&walk, SLICE("svg"), true);
    CHECK(!html_is_foreign(&walk));
}

TEST(html_begins_again_at_integration_points)
{
    struct html_walk walk = fresh();
    html_foreign_start(&walk, SLICE("svg"), false);
    CHECK(html_foreign_start(&walk, SLICE("foreignObject"), false));
    CHECK(!html_is_foreign(&walk));
    CHECK(!html_foreign_start(&walk, SLICE("div"), false));
    html_foreign_end(&walk, SLICE("foreignobject"));
    CHECK(html_is_foreign(&walk));
}

TEST(mi_is_an_integration_point_of_math_alone)
{
    struct html_walk walk = fresh();
    html_foreign_start(&walk, SLICE("svg"), false);
    html_foreign_start(&walk, SLICE("mi"), false);
    CHECK(html_is_foreign(&walk));
    walk = fresh();
    html_foreign_start(&walk, SLICE("math"), false);
    html_foreign_start(&walk, SLICE("mi"), false);
    CHECK(!html_is_foreign(&walk));
}

TEST(tags_of_html_break_out)
{
    struct html_walk walk = fresh();
    html_foreign_start(&walk, SLICE("svg"), false);
    CHECK(!html_foreign_start(&walk, SLICE("div"), false));
    CHECK(!html_is_foreign(&walk));
    html_foreign_start(&walk, SLICE("math"), false);
    html_foreign_end(&walk, SLICE("br"));
    CHECK(!html_is_foreign(&walk));
}

TEST(an_end_tag_closes_all_inside_it)
{
    struct html_walk walk = fresh();
    html_foreign_start(&walk, SLICE("svg"), false);
    html_foreign_start(&walk, SLICE("desc"), false);
    html_foreign_start(&walk, SLICE("math"), false);
    html_foreign_end(&walk, SLICE("svg"));
    CHECK_INT(walk.foreign_depth, 0);
}

TEST(depth_is_bounded)
{
    struct html_walk walk = fresh();
    for (int i = 0; i < 2 * HTML_FOREIGN_DEPTH_MAX; i++)
        html_foreign_start(&walk, SLICE("svg"), false);
    CHECK_INT(walk.foreign_depth, HTML_FOREIGN_DEPTH_MAX);
    for (int i = 0; i < HTML_FOREIGN_DEPTH_MAX; i++)
        html_foreign_end(&walk, SLICE("svg"));
    CHECK_INT(walk.foreign_depth, 0);
}
