#include "engine/url/percent.h"

#include "tests/support/check.h"

TEST(an_escape_is_a_percent_sign_and_two_digits)
{
    CHECK(percent_is_escape(SLICE("%2f")));
    CHECK(percent_is_escape(SLICE("%Ffrest")));
    CHECK(!percent_is_escape(SLICE("%2")));
    CHECK(!percent_is_escape(SLICE("%g0")));
    CHECK(!percent_is_escape(SLICE("%0g")));
    CHECK(!percent_is_escape(SLICE("a2f")));
    CHECK(!percent_is_escape(SLICE("")));
}

TEST(every_byte_can_be_escaped)
{
    const char digits[] = "0123456789ABCDEF", lower[] = "0123456789abcdef";
    for (int byte = 0; byte < 256; byte++) {
        char text[3] = {'%', digits[byte >> 4], lower[byte & 15]};
        CHECK_INT((unsigned char)percent_byte((struct slice){text, 3}), byte);
    }
}
