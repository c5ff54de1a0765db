/* lycosa SUBCOMMAND ...: each subcommand is lycosa_NAME_main() in tools/lycosa/NAME.c. */
#include <stdio.h>
#include <string.h>

#include "tools/lycosa/commands.h"

int main(int argc, char **argv)
{
    if (argc < 2)
        return command_list(&lycosa_program, stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return command_list(&lycosa_program, stdout);
    if (strcmp(argv[1], "--version") == 0) {
        printf("lycosa %s\n", LYCOSA_VERSION);
        return LYCOSA_EXIT_DONE;
    }
    const struct command *command = command_find(&lycosa_program, argv[1]);
    if (command)
        return command->run(argc - 1, argv + 1);
    fprintf(stderr, "lycosa: unknown command '%s'\n", argv[1]);
    return command_list(&lycosa_program, stderr);
}
