#include <time.h>

#include "engine/crawl/visit_parts.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

static uint64_t retry_after_s(const char *value)
{
    struct visit_page page = {.known = {[HTTP_KNOWN_RETRY_AFTER] = slice_of(value)}};
    return visit_retry_after_ns(&page) / CLOCK_NS_PER_S;
}

/* The date `seconds` from now. */
static uint64_t retry_at_s(time_t seconds)
{
    char text[64];
    time_t when = time(NULL) + seconds;
    struct tm date;
    CHECK(gmtime_r(&when, &date) != NULL);
    CHECK(strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &date) > 0);
    return retry_after_s(text);
}

TEST(retry_after_is_seconds_or_a_date)
{
    CHECK_INT(retry_after_s("120"), 120);
    CHECK_INT(retry_after_s("0"), 0);
    CHECK_INT(retry_after_s("soon"), 0);
    CHECK_INT(retry_after_s("-5"), 0);
    CHECK_INT(retry_after_s(""), 0);
    uint64_t hour = retry_at_s(3600);
    CHECK(hour >= 3590 && hour <= 3600);
    CHECK_INT(retry_at_s(-3600), 0);
}

/* In nanoseconds it is more than 64 bits hold, and what is left of it must not be short. */
TEST(retry_after_may_be_centuries_away)
{
    const time_t wraps = UINT64_MAX / CLOCK_NS_PER_S + 1;
    const uint64_t year = 365 * 86400;
    CHECK(retry_at_s(wraps) > year);
    CHECK(retry_at_s(13 * wraps) > year);
    CHECK(retry_after_s("99999999999999999999999999") > year);
}
