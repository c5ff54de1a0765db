#include "engine/tuning/tuning_value.h"

#include "tests/support/check.h"

static bool reads(enum tuning_type type, const char *text, double expected)
{
    double value = -1;
    char *copy = check_guard_copy(text, strlen(text));
    bool good = tuning_value_read(type, (struct slice){copy, strlen(text)}, &value) && value == expected;
    check_guard_free(copy, strlen(text));
    return good;
}

static bool refuses(enum tuning_type type, const char *text)
{
    double value;
    return !tuning_value_read(type, slice_of(text), &value);
}

TEST(reads_units)
{
    CHECK(reads(TUNING_COUNT, "10k", 10000));
    CHECK(reads(TUNING_COUNT, "1.5M", 1500000));
    CHECK(reads(TUNING_BYTES, "64 KiB", 65536));
    CHECK(reads(TUNING_BYTES, "512", 512));
    CHECK(reads(TUNING_DURATION, "10m", 600e9));
    CHECK(reads(TUNING_DURATION, "0", 0));
    CHECK(reads(TUNING_NUMBER, "0.25", 0.25));
}

TEST(refuses_what_is_no_quantity)
{
    CHECK(refuses(TUNING_COUNT, ""));
    CHECK(refuses(TUNING_COUNT, "-1"));
    CHECK(refuses(TUNING_COUNT, "1.5"));
    CHECK(refuses(TUNING_COUNT, "10 apples"));
    CHECK(refuses(TUNING_BYTES, "1mib"));
    CHECK(refuses(TUNING_DURATION, "5"));
    CHECK(refuses(TUNING_DURATION, "5lightyears"));
    CHECK(refuses(TUNING_NUMBER, "1K"));
}

TEST(writes_as_people_do)
{
    char text[TUNING_VALUE_CHARS];
    CHECK_STR(tuning_value_write(TUNING_BYTES, 1 << 20, text), "1MiB");
    CHECK_STR(tuning_value_write(TUNING_BYTES, 1e9, text), "1GB");
    CHECK_STR(tuning_value_write(TUNING_BYTES, 1500, text), "1500");
    CHECK_STR(tuning_value_write(TUNING_COUNT, 1e6, text), "1M");
    CHECK_STR(tuning_value_write(TUNING_COUNT, 64, text), "64");
    CHECK_STR(tuning_value_write(TUNING_DURATION, 86400e9, text), "1d");
    CHECK_STR(tuning_value_write(TUNING_DURATION, 90e9, text), "90s");
    CHECK_STR(tuning_value_write(TUNING_DURATION, 0, text), "0");
    CHECK_STR(tuning_value_write(TUNING_NUMBER, 1e-6, text), "1e-06");
}
