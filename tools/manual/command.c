#include "tools/manual/command.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

enum {
    OPTIONS_MAX = 64,
    COLUMNS = 100,     /* no line of --help is longer, if its words allow */
    TERM_COLUMNS = 30, /* a longer option or term has a line of its own */
};

const struct command_option command_help_option = {'h', "help", NULL, "print this"};

size_t command_count(const struct command_option *options)
{
    size_t count = 0;
    while (options && options[count].name)
        count++;
    return count;
}

int command_getopt(const struct command *command, int argc, char **argv)
{
    struct option known[OPTIONS_MAX + 2] = {{0}};
    char letters[2 * OPTIONS_MAX + 3];
    size_t count = command_count(command->options), len = 0;
    assert(count <= OPTIONS_MAX);
    for (size_t i = 0; i <= count; i++) {
        const struct command_option *option = i < count ? &command->options[i] : &command_help_option;
        int takes = option->argument ? required_argument : no_argument;
        known[i] = (struct option){option->name, takes, NULL, option->id};
        if (option->id < COMMAND_LONG) {
            letters[len++] = (char)option->id;
            if (option->argument)
                letters[len++] = ':';
        }
    }
    letters[len] = '\0';
    return getopt_long(argc, argv, letters, known, NULL);
}

/* Where a line is, and where its continuation begins. */
struct column {
    FILE *out;
    size_t at, indent;
};

static void put_word(struct column *column, const char *word, size_t len)
{
    if (column->at > column->indent && column->at + 1 + len > COLUMNS) {
        fprintf(column->out, "\n%*s", (int)column->indent, "");
        column->at = column->indent;
    } else if (column->at > column->indent) {
        fputc(' ', column->out);
        column->at++;
    }
    fwrite(word, 1, len, column->out);
    column->at += len;
}

/* Words, filled into lines. An empty line stays one. */
static void put_text(struct column *column, const char *text)
{
    for (; *text; text += *text == ' ' || *text == '\n') {
        size_t len = strcspn(text, " \n");
        if (len)
            put_word(column, text, len);
        text += len;
        if (strncmp(text, "\n\n", 2) == 0) {
            fprintf(column->out, "\n\n%*s", (int)column->indent, "");
            column->at = column->indent;
            text++;
        }
    }
}

/* `term` begins the line; its meaning stands in the column `indent`. */
static void put_term(FILE *out, const char *term, const char *meaning, size_t indent)
{
    size_t len = strlen(term);
    fputs(term, out);
    if (len + 2 > indent)
        fprintf(out, "\n%*s", (int)indent, "");
    else
        fprintf(out, "%*s", (int)(indent - len), "");
    put_text(&(struct column){out, indent, indent}, meaning);
    fputc('\n', out);
}

static void write_option(const struct command_option *option, char *text, size_t size)
{
    char letter[] = {'-', (char)option->id, ',', '\0'};
    snprintf(text, size, "  %-3s --%s%s%s", option->id < COMMAND_LONG ? letter : "", option->name,
             option->argument ? " " : "", option->argument ? option->argument : "");
}

static size_t wider(size_t indent, const char *term)
{
    size_t len = strlen(term) + 2;
    return len > indent && len <= TERM_COLUMNS ? len : indent;
}

/* `last` comes behind the others; NULL: none does. */
static void put_options(const struct command_option *options, const struct command_option *last, FILE *out)
{
    char text[128];
    size_t count = command_count(options), indent = 0;
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count + (last != NULL); i++) {
            const struct command_option *option = i < count ? &options[i] : last;
            write_option(option, text, sizeof text);
            if (pass == 0)
                indent = wider(indent, text);
            else
                put_term(out, text, option->meaning, indent);
        }
}

static void put_section(const struct command_section *section, FILE *out)
{
    char text[256];
    size_t indent = 0;
    fprintf(out, "\n%s:\n", section->heading);
    for (size_t pass = 0; pass < 2; pass++)
        for (const struct command_term *term = section->terms; term->term; term++) {
            snprintf(text, sizeof text, "  %s", term->term);
            if (pass == 0)
                indent = wider(indent, text);
            else
                put_term(out, text, term->meaning, indent ? indent : TERM_COLUMNS / 3);
        }
}

int command_help(const struct command *command, FILE *out)
{
    const char *before = "usage:";
    for (const char *way = command->synopsis; *way; before = "      ") {
        size_t len = strcspn(way, "\n");
        fprintf(out, "%s %s %s%s%.*s\n", before, command->program, command->name, len ? " " : "", (int)len,
                way);
        way += len + (way[len] == '\n');
    }
    if (!command->synopsis[0])
        fprintf(out, "usage: %s %s\n", command->program, command->name);
    fputc('\n', out);
    put_text(&(struct column){.out = out}, command->description);
    fputs("\n\n", out);
    put_options(command->options, &command_help_option, out);
    if (command->shared) {
        fprintf(out, "\n%s:\n", command->shared->heading);
        put_options(command->shared->options, NULL, out);
    }
    for (const struct command_section *section = command->sections; section && section->heading; section++)
        put_section(section, out);
    return out == stdout ? 0 : 2;
}

int command_list(const struct command_program *program, FILE *out)
{
    char name[64];
    size_t indent = 0;
    for (const struct command *const *command = program->commands; *command; command++) {
        snprintf(name, sizeof name, "  %s", (*command)->name);
        indent = wider(indent, name);
    }
    fprintf(out, "usage: %s COMMAND [OPTIONS] ...\n\n", program->name);
    put_text(&(struct column){.out = out}, program->description);
    fputs("\n\n", out);
    for (const struct command *const *command = program->commands; *command; command++) {
        snprintf(name, sizeof name, "  %s", (*command)->name);
        put_term(out, name, (*command)->summary, indent);
    }
    fprintf(out, "\n%s COMMAND --help tells what a command takes; %s --version, which one this is.\n",
            program->name, program->name);
    return out == stdout ? 0 : 2;
}

const struct command *command_find(const struct command_program *program, const char *name)
{
    for (const struct command *const *command = program->commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}
