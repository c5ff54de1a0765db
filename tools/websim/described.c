/* The tables of websim's subcommands, read and described. */
#include <stdlib.h>
#include <string.h>

#include "tools/websim/commands.h"

enum { OWN_ROWS_MAX = 16, ROWS_MAX = OWN_ROWS_MAX + WEBSIM_PARAMETERS_ROWS_MAX };

static const struct websim_command *const commands[] = {&websim_serve, &websim_truth, &websim_seeds,
                                                        &websim_zone,  &websim_audit, &websim_journal,
                                                        &websim_faults};

enum { COMMANDS = sizeof commands / sizeof *commands };

/* A table of options, and the memory of what it says. */
struct described {
    struct command command;
    struct command_option options[OWN_ROWS_MAX + 1];
    char meanings[OWN_ROWS_MAX][WEBSIM_OPTIONS_MEANING_BYTES];
};

/* The options of the web. */
struct described_web {
    struct command_group group;
    struct command_option options[WEBSIM_PARAMETERS_ROWS_MAX + 1];
    char meanings[WEBSIM_PARAMETERS_ROWS_MAX][WEBSIM_OPTIONS_MEANING_BYTES];
};

static void describe_web(const struct websim_option *rows, size_t count, struct described_web *web)
{
    for (size_t i = 0; i < count; i++)
        web->options[i] = websim_options_describe(&rows[i], web->meanings[i]);
    web->group = (struct command_group){"WEB, what the web is a function of", web->options};
}

static void describe(const struct websim_command *command, const struct described_web *web,
                     struct described *described)
{
    described->command = command->command;
    described->command.options = described->options;
    described->command.shared = command->has_web ? &web->group : NULL;
    for (size_t i = 0; i < command->count; i++)
        described->options[i] = websim_options_describe(&command->rows[i], described->meanings[i]);
}

static void help(const struct websim_command *command, const struct websim_option *web_rows, size_t web_count)
{
    static struct described described;
    static struct described_web web;
    describe_web(web_rows, web_count, &web);
    describe(command, &web, &described);
    exit(command_help(&described.command, stdout));
}

int websim_commands_parse(const struct websim_command *command, struct websim_parameters *parameters,
                          int argc, char **argv)
{
    const char *name = command->command.name;
    struct websim_option rows[ROWS_MAX];
    struct websim_options all = {.command = name, .rows = rows};
    if (command->has_web) {
        websim_parameters_default(parameters, argc, argv);
        all.count = websim_parameters_rows(parameters, rows);
    }
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        help(command, rows, all.count);
    for (size_t i = 0; i < command->count; i++)
        rows[all.count++] = command->rows[i];
    int operands = websim_options_parse(&all, argc, argv);
    if (operands < 0 || (command->has_web && websim_parameters_settle(parameters, name)))
        return -1;
    if (operands > command->operands_max) {
        websim_options_error(name, "unexpected argument %s", argv[command->operands_max + 1]);
        return -1;
    }
    return operands;
}

const struct command_program *websim_commands_program(void)
{
    static struct described described[COMMANDS];
    static struct described_web web;
    static const struct command *list[COMMANDS + 1];
    static struct websim_parameters parameters;
    static struct command_program program = {
        .name = "websim",
        .summary = "a simulated web that knows the truth",
        .description =
            "Serves a web that is a function of a few numbers, knows which pages a correct crawl fetches "
            "from "
            "it, and judges a crawler's manners by a journal. WEB stands for the options that the web is a "
            "function of: `websim truth --help` lists them.",
        .shared = &web.group,
        .commands = list};
    struct websim_option rows[WEBSIM_PARAMETERS_ROWS_MAX];
    websim_parameters_default(&parameters, 0, NULL);
    describe_web(rows, websim_parameters_rows(&parameters, rows), &web);
    for (size_t i = 0; i < COMMANDS; i++) {
        describe(commands[i], &web, &described[i]);
        list[i] = &described[i].command;
    }
    return &program;
}
