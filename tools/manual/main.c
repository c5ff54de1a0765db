/* manual DIR: writes manual pages and what shells complete into DIR, from the tables of lycosa and websim and from that
 * of the tuning file. Run by the build. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/lycosa/commands.h"
#include "tools/manual/completion.h"
#include "tools/manual/page.h"
#include "tools/websim/commands.h"

static bool has_failed;

static FILE *begin(const char *directory, const char *name)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *out = fopen(path, "we");
    if (!out)
        fprintf(stderr, "manual: %s: %s\n", path, strerror(errno));
    return out;
}

static void finish(FILE *out)
{
    has_failed |= !out || ferror(out) | fclose(out);
}

static void write_completion(const char *directory, const struct command_program *program)
{
    const struct {
        const char *format; /* of the file's name, as the shell wants it */
        void (*write)(const struct command_program *program, FILE *out);
    } shells[] = {{"%s.bash", completion_bash}, {"_%s", completion_zsh}, {"%s.fish", completion_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        char name[64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(name, sizeof name, shells[i].format, program->name);
#pragma GCC diagnostic pop
        FILE *out = begin(directory, name);
        if (out)
            shells[i].write(program, out);
        finish(out);
    }
}

/* A page per subcommand, besides that of the program. */
static void write_pages(const char *directory, const struct command_program *program)
{
    for (const struct command *const *command = program->commands; *command; command++) {
        char name[64];
        snprintf(name, sizeof name, "%s-%s.1", program->name, (*command)->name);
        FILE *out = begin(directory, name);
        if (out)
            page_command(program, *command, out);
        finish(out);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: manual DIR\n");
        return 2;
    }
    const struct command_program *websim = websim_commands_program();
    const struct {
        const char *name;
        const struct command_program *program;
        enum page_kind kind;
    } programs[] = {{"lycosa.1", &lycosa_program, PAGE_OVERVIEW}, {"websim.1", websim, PAGE_WHOLE}};
    for (size_t i = 0; i < 2; i++) {
        FILE *out = begin(argv[1], programs[i].name);
        if (out)
            page_program(programs[i].program, programs[i].kind, out);
        finish(out);
        write_completion(argv[1], programs[i].program);
    }
    write_pages(argv[1], &lycosa_program);
    FILE *out = begin(argv[1], "lycosa.ini.5");
    if (out)
        page_tuning(out);
    finish(out);
    return has_failed;
}
