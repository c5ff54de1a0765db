#include "engine/warc.h"

#include <stdio.h>
#include <time.h>

#include "tests/support/check.h"

static void check_date(uint64_t date_us, const char *expected)
{
    char date[WARC_DATE_CHARS];
    warc_write_date(date, date_us);
    CHECK_SLICE(((struct slice){date, sizeof date}), expected);
}

TEST(dates)
{
    check_date(0, "1970-01-01T00:00:00.000000Z");
    check_date(UINT64_C(951782399999999), "2000-02-28T23:59:59.999999Z");
    check_date(UINT64_C(951782400000000), "2000-02-29T00:00:00.000000Z");
    check_date(UINT64_C(1700000001250000), "2023-11-14T22:13:21.250000Z");
    check_date(UINT64_C(4107542400000000), "2100-03-01T00:00:00.000000Z");
}

/* Every day of four centuries, as the C library has it. */
TEST(days_of_four_centuries)
{
    for (time_t day = 0; day < 146097; day++) {
        struct tm utc;
        char expected[64];
        time_t seconds = day * 86400 + day % 86400;
        gmtime_r(&seconds, &utc);
        snprintf(expected, sizeof expected, "%04d-%02d-%02dT%02d:%02d:%02d.000007Z", utc.tm_year + 1900,
                 utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
        check_date((uint64_t)seconds * 1000000 + 7, expected);
    }
}
