/* websim: a simulated web that knows the truth. Each subcommand is websim_NAME_main(). */
#include <stdio.h>
#include <string.h>

#include "tools/websim/commands.h"

int main(int argc, char **argv)
{
    const struct command_program *program = websim_commands_program();
    if (argc < 2)
        return command_list(program, stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return command_list(program, stdout);
    if (strcmp(argv[1], "--version") == 0) {
        printf("websim %s\n", LYCOSA_VERSION);
        return WEBSIM_EXIT_DONE;
    }
    const struct command *command = command_find(program, argv[1]);
    if (command)
        return command->run(argc - 1, argv + 1);
    fprintf(stderr, "websim: unknown command '%s': websim help lists them\n", argv[1]);
    return WEBSIM_EXIT_USAGE;
}
