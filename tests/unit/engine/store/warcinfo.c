#include "engine/store/warcinfo.h"

#include <string.h>

#include "tests/support/check.h"

static char block[WARCINFO_BYTES_MAX + 1];
static struct tuning tuning;

static const char *write(struct slice text)
{
    memset(block, 'x', sizeof block);
    size_t len = warcinfo_write(block, &tuning, text);
    CHECK(len < sizeof block && len >= 2);
    block[len] = '\0';
    CHECK_STR(block + len - 2, "\r\n");
    CHECK(!strstr(block, "\r\n\r\n") && !strstr(block, "\n\n"));
    return block;
}

TEST(it_says_who_and_how)
{
    tuning_init(&tuning);
    CHECK(strstr(write((struct slice){"", 0}), "software: lycosa/") && strstr(block, "robots: obey\r\n"));
    CHECK(strstr(block, "format: WARC File Format 1.1\r\n") && !strstr(block, "operator") &&
          !strstr(block, "tuning"));
    snprintf(tuning.fixed.crawl.operator_name, sizeof tuning.fixed.crawl.operator_name, "me");
    tuning.fixed.robots.obey = false;
    CHECK(strstr(write((struct slice){"", 0}), "operator: me\r\n") && strstr(block, "robots: ignore\r\n"));
}

TEST(the_tuning_file_is_in_it_line_by_line)
{
    tuning_init(&tuning);
    write(SLICE("# mine\n[crawl]\r\n\n  threads = 2 \n;no\n\x01 odd\nlast = 1"));
    CHECK(strstr(block, "\r\ntuning: [crawl]\r\ntuning: threads = 2\r\ntuning: last = 1\r\n"));
    CHECK(!strstr(block, "mine") && !strstr(block, "odd") && !strstr(block, ";no"));
}

TEST(a_long_tuning_file_is_cut)
{
    static char text[4 * WARCINFO_BYTES_MAX];
    tuning_init(&tuning);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 100 == 99 ? '\n' : 'a';
    CHECK(strlen(write((struct slice){text, sizeof text})) > WARCINFO_BYTES_MAX - 200);
    memset(text, 'b', sizeof text); /* one line that does not fit */
    CHECK(!strstr(write((struct slice){text, sizeof text}), "bbb"));
}
