#include "tools/manual/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

enum { OPTION_DEEP = COMMAND_LONG, OPTION_LEVEL };

static const struct command_option known[] = {
    {'o', "output", "FILE", "where it goes"},
    {OPTION_DEEP, "deep", NULL, "look below"},
    {OPTION_LEVEL, "an-option-with-a-name-that-is-rather-long", "N",
     "a meaning of many words, more of them than one line can hold, so that those beyond its end must begin "
     "another one "
     "that is indented as the first"},
    {0},
};
static const struct command_term terms[] = {{"first", "one"}, {"second", "two"}, {0}};
static const struct command_section sections[] = {{"Parts", terms}, {0}};

static int run(int argc, char **argv)
{
    (void)argv;
    return argc;
}

static const struct command command = {.program = "program",
                                       .name = "name",
                                       .run = run,
                                       .synopsis = "FILE\n--deep",
                                       .summary = "does it",
                                       .description = "One paragraph.\n\nAnd another.",
                                       .options = known,
                                       .sections = sections};
static const struct command bare = {.program = "program",
                                    .name = "bare",
                                    .run = run,
                                    .synopsis = "",
                                    .summary = "nothing",
                                    .description = "Does nothing."};
static const struct command *const commands[] = {&command, &bare, NULL};
static const struct command_program program = {
    .name = "program", .summary = "a program", .description = "Does things.", .commands = commands};

/* The options that getopt finds in words, as text. */
static const char *read_words(const struct command *of, const char *words)
{
    static char text[256];
    char copy[256], *argv[16] = {copy}, *rest = copy;
    int argc = 0;
    snprintf(copy, sizeof copy, "name %s", words);
    while ((argv[argc] = strtok_r(rest, " ", &rest)))
        argc++;
    text[0] = '\0';
    optind = 0;
    opterr = 0;
    for (int option; (option = command_getopt(of, argc, argv)) != -1;) {
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%d=%s ", option, optarg ? optarg : "");
    }
    return text;
}

TEST(options_are_read_by_the_table)
{
    CHECK(strcmp(read_words(&command, "-o a --output=b --deep"), "111=a 111=b 256= ") == 0);
    CHECK(strcmp(read_words(&command, "--an-opt 7 -h --help"), "257=7 104= 104= ") == 0);
    CHECK(strcmp(read_words(&command, "--nonsense"), "63= ") == 0);
    CHECK(strcmp(read_words(&bare, "--help x"), "104= ") == 0);
    CHECK(strcmp(read_words(&bare, "-o x"), "63= ") == 0);
}

static char *help_of(const struct command *of, int code)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    CHECK(command_help(of, out) == code);
    fclose(out);
    return text;
}

TEST(help_says_what_the_table_says)
{
    char *text = help_of(&command, 2), *rest = text;
    CHECK(
        strncmp(text,
                "usage: program name FILE\n       program name --deep\n\nOne paragraph.\n\nAnd another.\n\n",
                82) == 0);
    CHECK(strstr(text, "  -o, --output FILE  where it goes\n      --deep         look below\n"));
    CHECK(strstr(text, "  -h, --help         print this\n"));
    CHECK(strstr(text, "\nParts:\n  first   one\n  second  two\n"));
    for (char *line; (line = strsep(&rest, "\n"));)
        CHECK(strlen(line) <= 100);
    free(text);
    text = help_of(&bare, 2);
    CHECK(strcmp(text, "usage: program bare\n\nDoes nothing.\n\n  -h, --help  print this\n") == 0);
    free(text);
}

TEST(commands_are_listed_and_found)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    CHECK(command_list(&program, out) == 2);
    fclose(out);
    CHECK(strstr(text, "\n  name  does it\n  bare  nothing\n"));
    CHECK(command_find(&program, "bare") == &bare && command_find(&program, "ba") == NULL);
    free(text);
}
