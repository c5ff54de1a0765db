#include "engine/tuning/tuning.h"

#include <stdlib.h>
#include <unistd.h>

#include "engine/tuning/tuning_table.h"
#include "tests/support/check.h"

static struct tuning tuning;
static struct tuning_error error;

static bool parse(const char *text)
{
    tuning_init(&tuning);
    error.message[0] = '\0';
    char *copy = check_guard_copy(text, strlen(text));
    bool good = tuning_parse(&tuning, "x.ini", (struct slice){copy, strlen(text)}, &error);
    check_guard_free(copy, strlen(text));
    return good;
}

TEST(defaults_are_those_of_the_table)
{
    tuning_init(&tuning);
    CHECK_STR(tuning.fixed.crawl.agent_name, "lycosa");
    CHECK_INT(tuning.live.politeness.burst_ns, 1000000000);
    CHECK(tuning.live.politeness.host_ratio == 0.1);
    CHECK(tuning.fixed.robots.obey);
    CHECK_STR(tuning.fixed.scope.canonical_rules, "fragment\nuserinfo");
    CHECK_INT(tuning.fixed.store.file_bytes, 1000000000);
}

TEST(values_and_units)
{
    CHECK(parse("[politeness]\nburst = 250ms\nhost-ratio=0.5\n mode = delay \n"
                "[net]\nbody-bytes = 2 MiB\nconnections=10K\n# comment\n; comment\nipv6=no\n"
                "[crawl]\r\ncontact-url = http://example.org/bot?a=b\r\nmax-time=2h"));
    CHECK_INT(tuning.live.politeness.burst_ns, 250000000);
    CHECK(tuning.live.politeness.host_ratio == 0.5);
    CHECK_INT(tuning.live.politeness.mode, TUNING_POLITENESS_DELAY);
    CHECK_INT(tuning.fixed.net.body_bytes_max, 2 << 20);
    CHECK_INT(tuning.fixed.net.connections, 10000);
    CHECK(!tuning.fixed.net.ipv6);
    CHECK_STR(tuning.fixed.crawl.contact_url, "http://example.org/bot?a=b");
    CHECK_INT(tuning.live.crawl.max_time_ns, 7200000000000);
}

TEST(lists_grow_over_lines_and_replace_the_default)
{
    CHECK(parse(
        "[scope]\ncanonical = www\nsuffixes = .it, .br ,\nsuffixes=.eu\nexclude = a{1,2}\nexclude = b"));
    CHECK_STR(tuning.fixed.scope.canonical_rules, "www");
    CHECK_STR(tuning.fixed.scope.suffixes, ".it\n.br\n.eu");
    CHECK_STR(tuning.fixed.scope.exclude, "a{1,2}\nb");
    struct slice rest = slice_of(tuning.fixed.scope.suffixes), item;
    CHECK(tuning_next_item(&rest, &item));
    CHECK_SLICE(item, ".it");
    CHECK(tuning_next_item(&rest, &item) && tuning_next_item(&rest, &item));
    CHECK_SLICE(item, ".eu");
    CHECK(!tuning_next_item(&rest, &item));
}

TEST(errors_name_file_line_and_nearest_key)
{
    CHECK(!parse("[net]\n\nconections = 5\n"));
    CHECK_STR(error.message, "x.ini:3: unknown key net.conections; the nearest is connections in [net]");
    CHECK(!parse("[politeness]\nburst = 5\n"));
    CHECK_STR(error.message,
              "x.ini:2: politeness.burst: '5' is not a time with its unit (250ms, 10s, 5m, 2h, 1d)");
    CHECK(!parse("[politeness]\nburst = 5 lightyears\n"));
    CHECK(!parse("[crawl]\nthreads = 1000\n"));
    CHECK_STR(error.message, "x.ini:2: crawl.threads: 1000 is out of range: from 1 to 64");
    CHECK(!parse("[net]\nbody-bytes = 1\n"));
    CHECK_STR(error.message, "x.ini:2: net.body-bytes: 1 is out of range: from 1KiB to 4GB");
    CHECK(!parse("[status]\ninterval = 2d\n"));
    CHECK_STR(error.message, "x.ini:2: status.interval: 2d is out of range: from 100ms to 1d");
    CHECK(!parse("[crawl]\nthreads = 1.5\n"));
    CHECK(!parse("[crawl]\nthreads = -1\n"));
    CHECK(!parse("[politeness]\nmode = rude"));
    CHECK_STR(error.message, "x.ini:2: politeness.mode: 'rude' is none of: ratio delay");
    CHECK(!parse("[robots]\nobey = maybe"));
    CHECK(!parse("[nets]\n"));
    CHECK_STR(error.message, "x.ini:1: unknown section [nets]; the nearest is [net]");
    CHECK(!parse("threads = 1"));
    CHECK(!parse("[crawl]\nthreads = 1\nthreads = 2"));
    CHECK_STR(error.message, "x.ini:3: crawl.threads is given twice");
    CHECK(!parse("[crawl\n"));
    CHECK(!parse("[crawl]\nthreads\n"));
}

TEST(a_bad_file_changes_nothing)
{
    tuning_init(&tuning);
    struct slice text = SLICE("[crawl]\nthreads = 2\nnonsense = 1\n");
    CHECK(!tuning_parse(&tuning, "x.ini", text, &error));
    CHECK_INT(tuning.fixed.crawl.threads, 1);
}

TEST(texts_and_lists_have_a_limit)
{
    char text[TUNING_LIST_BYTES + 400];
    int used = snprintf(text, sizeof text, "[crawl]\noperator = ");
    memset(text + used, 'a', TUNING_TEXT_BYTES);
    text[used + TUNING_TEXT_BYTES] = '\0';
    CHECK(!parse(text));
    text[used + TUNING_TEXT_BYTES - 1] = '\0';
    CHECK(parse(text));
    used = snprintf(text, sizeof text, "[scope]\nsuffixes = ");
    memset(text + used, 'a', TUNING_LIST_BYTES);
    text[used + TUNING_LIST_BYTES] = '\0';
    CHECK(!parse(text));
}

TEST(only_live_keys_change_while_running)
{
    struct tuning next;
    const char *refused = NULL;
    tuning_init(&tuning);
    tuning_init(&next);
    next.live.politeness.burst_ns = 5;
    next.live.politeness.mode = TUNING_POLITENESS_DELAY;
    next.fixed.crawl.threads = 2;
    next.fixed.net.connections = 7;
    CHECK_INT(tuning_reload(&tuning, &next, &refused), 2);
    CHECK_STR(refused, "threads");
    CHECK_INT(tuning.live.politeness.burst_ns, 5);
    CHECK_INT(tuning.live.politeness.mode, TUNING_POLITENESS_DELAY);
    CHECK_INT(tuning.fixed.crawl.threads, 1);
}

TEST(what_is_printed_is_a_valid_file_with_every_key)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    tuning_print(out);
    fclose(out);
    struct tuning defaults;
    tuning_init(&defaults);
    CHECK(parse(text));
    CHECK(memcmp(&tuning, &defaults, sizeof tuning) == 0);
    for (size_t i = 0; i < tuning_keys_count; i++) {
        char line[128];
        snprintf(line, sizeof line, "\n%s = ", tuning_keys[i].name);
        CHECK(strstr(text, line) != NULL);
        CHECK(strlen(tuning_keys[i].meaning) > 10);
    }
    free(text);
}

TEST(a_file_that_is_not_there)
{
    tuning_init(&tuning);
    CHECK(!tuning_load(&tuning, "/nonexistent/x.ini", &error));
    CHECK_STR(error.message, "/nonexistent/x.ini: No such file or directory");
}
