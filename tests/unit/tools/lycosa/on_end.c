#include "tools/lycosa/on_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"

static char why[ON_END_WHY_BYTES];
static char folder[64], script[96], told[96];

/* A program that writes down what it is given. */
static void begin(const char *rest)
{
    snprintf(folder, sizeof folder, "/tmp/lycosa-end-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(script, sizeof script, "%s/program", folder);
    snprintf(told, sizeof told, "%s/told", folder);
    FILE *out = fopen(script, "w");
    fprintf(out, "#!/bin/sh\nprintf '%%s|' \"$@\" \"$LYCOSA_DIRECTORY\" \"$LYCOSA_END\" > %s\n%s\n", told, rest);
    fclose(out);
    CHECK_INT(chmod(script, 0700), 0);
}

static void finish(void)
{
    unlink(script);
    unlink(told);
    CHECK_INT(rmdir(folder), 0);
}

TEST(directory_and_reason_are_arguments_whatever_they_are)
{
    char command[128], expected[256], *found;
    size_t len;
    const char *directory = "/tmp/a b;$(touch /tmp/never)\"'`x`";
    begin("");
    snprintf(command, sizeof command, "%s  --level\t3", script);
    CHECK(on_end_run(command, directory, "complete", why));
    found = check_read_file(told, &len);
    snprintf(expected, sizeof expected, "--level|3|%s|complete|%s|complete|", directory, directory);
    CHECK_STR(found, expected);
    free(found);
    finish();
}

TEST(what_fails_is_told)
{
    CHECK(on_end_run("", "d", "complete", why) && on_end_run("  ", "d", "complete", why));
    CHECK(!on_end_run("/nowhere/at-all", "d", "complete", why));
    CHECK(strstr(why, "/nowhere/at-all: No such file"));
    begin("exit 3");
    CHECK(!on_end_run(script, "d", "signal", why));
    CHECK(strstr(why, "ended with 3"));
    finish();
    begin("kill -9 $$");
    CHECK(!on_end_run(script, "d", "signal", why));
    CHECK(strstr(why, "signal 9"));
    finish();
}
