#include "engine/crawl/codes.h"

#include "tests/support/check.h"

static stats_counter codes[STATS_CODES];

static uint64_t of(const char *wanted)
{
    char name[CODES_NAME_BYTES];
    for (unsigned row = 0; row < CODES_ROWS; row++) {
        uint64_t count = codes_row(codes, row, name);
        if (strcmp(name, wanted) == 0)
            return count;
    }
    check_failed(__FILE__, __LINE__, "no row %s", wanted);
    return 0;
}

TEST(invented_codes_share_a_row)
{
    stats_set(&codes[200], 7);
    stats_set(&codes[299], 1);
    stats_set(&codes[298], 2);
    stats_set(&codes[404], 5);
    stats_set(&codes[999], 3);
    CHECK_INT(of("200"), 7);
    CHECK_INT(of("2xx"), 3);
    CHECK_INT(of("404"), 5);
    CHECK_INT(of("4xx"), 0);
    CHECK_INT(of("9xx"), 3);
}

TEST(each_code_is_in_one_row)
{
    uint64_t sum = 0, all = 0;
    char name[CODES_NAME_BYTES], last[CODES_NAME_BYTES] = "";
    for (unsigned code = 100; code < STATS_CODES; code++) {
        stats_set(&codes[code], code);
        all += code;
    }
    for (unsigned row = 0; row < CODES_ROWS; row++) {
        sum += codes_row(codes, row, name);
        CHECK(row == CODES_REGISTERED || strcmp(last, name) < 0);
        memcpy(last, name, sizeof last);
    }
    CHECK_INT(sum, all);
}
