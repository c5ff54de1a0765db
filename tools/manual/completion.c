#include "tools/manual/completion.h"

#include <stdbool.h>
#include <string.h>

/* What an option's argument is completed with. */
enum value { VALUE_NONE, VALUE_FREE, VALUE_FILE, VALUE_DIRECTORY };

static enum value value_of(const struct command_option *option)
{
    if (!option->argument)
        return VALUE_NONE;
    if (strcmp(option->argument, "DIR") == 0)
        return VALUE_DIRECTORY;
    return strcmp(option->argument, "FILE") == 0 ? VALUE_FILE : VALUE_FREE;
}

/* All options of a command: its own, those that it shares with others, --help. */
static void each_option(const struct command *command, FILE *out,
                        void (*put)(const struct command *, const struct command_option *, FILE *))
{
    const struct command_option *shared = command->shared ? command->shared->options : NULL;
    for (size_t i = 0; i < command_count(command->options); i++)
        put(command, &command->options[i], out);
    for (size_t i = 0; i < command_count(shared); i++)
        put(command, &shared[i], out);
    put(command, &command_help_option, out);
}

/* The first clause, without what quotes and brackets would mean to a shell. */
static void put_brief(const char *meaning, FILE *out)
{
    size_t len = strcspn(meaning, ";:([");
    while (len && meaning[len - 1] == ' ')
        len--;
    for (size_t i = 0; i < len; i++)
        if (meaning[i] != '\'' && meaning[i] != '`')
            fputc(meaning[i], out);
}

static void put_bash_words(const struct command *command, const struct command_option *option, FILE *out)
{
    (void)command;
    fprintf(out, " --%s", option->name);
}

/* The patterns of a case: options with this kind of value. False: there are none. */
static bool put_bash_patterns(const struct command *command, enum value value, FILE *out)
{
    const struct command_option *tables[] = {command->options,
                                             command->shared ? command->shared->options : NULL};
    bool any = false;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < command_count(tables[k]); i++) {
            const struct command_option *option = &tables[k][i];
            if (value_of(option) != value)
                continue;
            fputs(any ? "|" : "        ", out);
            if (option->id < COMMAND_LONG)
                fprintf(out, "-%c|", option->id);
            fprintf(out, "--%s", option->name);
            any = true;
        }
    return any;
}

static void put_bash_command(const struct command *command, FILE *out)
{
    fprintf(out, "    %s)\n        words='", command->name);
    each_option(command, out, put_bash_words);
    fprintf(out, "'\n        first='%s'\n        case $before in\n", command->words ? command->words : "");
    /* Files are what readline completes by itself. */
    if (put_bash_patterns(command, VALUE_FILE, out))
        fputs(") return ;;\n", out);
    if (put_bash_patterns(command, VALUE_DIRECTORY, out))
        fputs(") compopt -o dirnames +o default; return ;;\n", out);
    if (put_bash_patterns(command, VALUE_FREE, out))
        fputs(") compopt +o default; return ;;\n", out);
    fputs("        esac ;;\n", out);
}

void completion_bash(const struct command_program *program, FILE *out)
{
    fprintf(out,
            "# bash completion for %s, made from the tables that print --help\n"
            "_%s()\n{\n"
            "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words first=''\n"
            "    COMPREPLY=()\n"
            "    if ((COMP_CWORD == 1)); then\n"
            "        COMPREPLY=($(compgen -W 'help --help --version",
            program->name, program->name);
    for (const struct command *const *command = program->commands; *command; command++)
        fprintf(out, " %s", (*command)->name);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", out);
    for (const struct command *const *command = program->commands; *command; command++)
        put_bash_command(*command, out);
    fprintf(out,
            "    esac\n"
            "    if [[ $word == -* ]]; then\n"
            "        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
            "    elif ((COMP_CWORD == 2)); then\n"
            "        COMPREPLY=($(compgen -W \"$first\" -- \"$word\"))\n"
            "    fi\n"
            "} &&\n"
            "complete -o default -F _%s %s\n",
            program->name, program->name);
}

static void put_zsh_option(const struct command *command, const struct command_option *option, FILE *out)
{
    static const char *const values[] = {"", ":%s: ", ":%s:_files", ":%s:_files -/"};
    enum value value = value_of(option);
    (void)command;
    if (option->id < COMMAND_LONG)
        fprintf(out, "            '(-%c --%s)'{-%c%s,--%s%s}'[", option->id, option->name, option->id,
                value ? "+" : "", option->name, value ? "=" : "");
    else
        fprintf(out, "            '*--%s%s[", option->name, value ? "=" : "");
    put_brief(option->meaning, out);
    fputc(']', out);
    for (const char *at = values[value]; *at; at++)
        if (strncmp(at, "%s", 2) == 0) {
            for (const char *name = option->argument; *name; name++)
                fputc(*name == ':' ? ' ' : *name, out);
            at++;
        } else {
            fputc(*at, out);
        }
    fputs("' \\\n", out);
}

static void put_zsh_command(const struct command *command, FILE *out)
{
    fprintf(out, "        %s)\n            _arguments \\\n", command->name);
    each_option(command, out, put_zsh_option);
    if (command->words)
        fprintf(out, "            '1:what to do:(%s)' \\\n", command->words);
    fputs("            '*:file:_files' ;;\n", out);
}

void completion_zsh(const struct command_program *program, FILE *out)
{
    fprintf(out,
            "#compdef %s\n"
            "# zsh completion for %s, made from the tables that print --help\n"
            "local context state line\n"
            "local -a commands\n"
            "commands=(\n",
            program->name, program->name);
    for (const struct command *const *command = program->commands; *command; command++) {
        fprintf(out, "    '%s:", (*command)->name);
        put_brief((*command)->summary, out);
        fputs("'\n", out);
    }
    fputs(")\n"
          "_arguments '(- *)--help[list the commands]' '(- *)--version[print the version]' \\\n"
          "    '1:command:->command' '*::argument:->argument'\n"
          "case $state in\n"
          "    command) _describe -t commands command commands ;;\n"
          "    argument)\n"
          "        case $words[1] in\n",
          out);
    for (const struct command *const *command = program->commands; *command; command++)
        put_zsh_command(*command, out);
    fputs("        esac ;;\nesac\n", out);
}

static void put_fish_option(const struct command *command, const struct command_option *option, FILE *out)
{
    static const char *const values[] = {"", " -x", " -r -F", " -x -a '(__fish_complete_directories)'"};
    fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s'", command->program, command->name);
    if (option->id < COMMAND_LONG)
        fprintf(out, " -s %c", option->id);
    fprintf(out, " -l %s%s -d '", option->name, values[value_of(option)]);
    put_brief(option->meaning, out);
    fputs("'\n", out);
}

void completion_fish(const struct command_program *program, FILE *out)
{
    fprintf(out,
            "# fish completion for %s, made from the tables that print --help\n"
            "complete -c %s -n __fish_use_subcommand -l help -d 'list the commands'\n"
            "complete -c %s -n __fish_use_subcommand -l version -d 'print the version'\n",
            program->name, program->name, program->name);
    for (const struct command *const *command = program->commands; *command; command++) {
        fprintf(out, "complete -c %s -n __fish_use_subcommand -f -a %s -d '", program->name,
                (*command)->name);
        put_brief((*command)->summary, out);
        fputs("'\n", out);
        if ((*command)->words)
            fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' -a '%s'\n", program->name,
                    (*command)->name, (*command)->words);
        each_option(*command, out, put_fish_option);
    }
}
