#include <stdlib.h>
#include <string.h>

#include "engine/tuning/tuning.h"
#include "tests/support/check.h"

static struct tuning tuning, again;
static struct tuning_error error;

static char *write_text(const struct tuning *what)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    tuning_write(what, out);
    fclose(out);
    return text;
}

static void check_round_trip(void)
{
    char *text = write_text(&tuning), *twice;
    tuning_init(&again);
    if (!tuning_parse(&again, "written", slice_of(text), &error))
        CHECK_STR(error.message, "");
    twice = write_text(&again);
    CHECK_STR(twice, text);
    CHECK(memcmp(&tuning.live, &again.live, sizeof again.live) == 0);
    free(text);
    free(twice);
}

TEST(defaults_are_read_back)
{
    tuning_init(&tuning);
    check_round_trip();
}

TEST(other_values_are_read_back)
{
    tuning_init(&tuning);
    CHECK(tuning_parse(&tuning, "test",
                       SLICE("[crawl]\nmax-time = 90m\ncontact-url = https://example.org/a b\n[politeness]\nmode = delay\n"
                             "host-ratio = 0.125\n[net]\nbandwidth = 5MB\n[scope]\nexclude = a,{1,2}\nexclude = b\n"
                             "suffixes = .it, .org\n[store]\nkind = none\n"),
                       &error));
    check_round_trip();
    char *text = write_text(&tuning);
    CHECK(strstr(text, "max-time = 90m\n"));
    CHECK(strstr(text, "mode = delay\n"));
    CHECK(strstr(text, "exclude = a,{1,2}\nexclude = b\n"));
    CHECK(strstr(text, "suffixes = .it\nsuffixes = .org\n"));
    free(text);
}
