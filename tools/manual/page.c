#include "tools/manual/page.h"

#include <ctype.h>
#include <string.h>

#include "engine/tuning/tuning_table.h"
#include "engine/tuning/tuning_value.h"

/* Text for troff: nothing in it is a request or an escape, quotes and dashes are those of a keyboard. */
static void put(FILE *out, const char *text, size_t len)
{
    static const struct {
        char byte;
        const char *escape;
    } escapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                   {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
    if (len && text[0] == '.')
        fputs("\\&", out);
    for (size_t i = 0; i < len; i++) {
        const char *escape = NULL;
        for (size_t k = 0; k < sizeof escapes / sizeof *escapes; k++)
            if (text[i] == escapes[k].byte)
                escape = escapes[k].escape;
        if (escape)
            fputs(escape, out);
        else
            fputc(text[i], out);
    }
}

static void put_line(FILE *out, const char *text)
{
    put(out, text, strlen(text));
    fputc('\n', out);
}

/* Paragraphs, with an empty line between two. */
static void put_paragraphs(FILE *out, const char *text)
{
    for (const char *end; (end = strstr(text, "\n\n")); text = end + 2) {
        put(out, text, (size_t)(end - text));
        fputs("\n.PP\n", out);
    }
    put_line(out, text);
}

static void put_head(FILE *out, const char *name, const char *section, const char *about)
{
    fputs(".\\\" Made from the tables that print --help and --print-tuning.\n.TH ", out);
    for (const char *at = name; *at; at++)
        if (*at == '-')
            fputs("\\-", out);
        else
            fputc(toupper((unsigned char)*at), out);
    fprintf(out, " %s \"\" \"lycosa %s\" \"%s\"\n.nh\n.ad l\n.SH NAME\n", section, LYCOSA_VERSION,
            section[0] == '1' ? "User Commands" : "File Formats");
    put(out, name, strlen(name));
    fputs(" \\- ", out);
    put_line(out, about);
}

/* In bold; `name` is NULL for the program itself. */
static void put_name(FILE *out, const char *program, const char *name)
{
    fprintf(out, "\\fB");
    put(out, program, strlen(program));
    if (name) {
        fputc(' ', out);
        put(out, name, strlen(name));
    }
    fputs("\\fR", out);
}

static void put_synopsis(FILE *out, const struct command *command)
{
    const char *way = command->synopsis;
    do {
        size_t len = strcspn(way, "\n");
        put_name(out, command->program, command->name);
        fputc(' ', out);
        put(out, way, len);
        fputs("\n.br\n", out);
        way += len + (way[len] == '\n');
    } while (*way);
}

static void put_option(FILE *out, const struct command_option *option)
{
    fputs(".TP\n", out);
    if (option->id < COMMAND_LONG)
        fprintf(out, "\\fB\\-%c\\fR, ", option->id);
    fputs("\\fB\\-\\-", out);
    put(out, option->name, strlen(option->name));
    fputs("\\fR", out);
    if (option->argument) {
        fputs(" \\fI", out);
        put(out, option->argument, strlen(option->argument));
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_line(out, option->meaning);
}

static void put_options(FILE *out, const struct command *command)
{
    for (size_t i = 0; i < command_count(command->options); i++)
        put_option(out, &command->options[i]);
    put_option(out, &command_help_option);
}

static void put_heading(FILE *out, const char *heading)
{
    fputs(".SH ", out);
    for (; *heading; heading++) {
        char upper = (char)toupper((unsigned char)*heading);
        put(out, &upper, 1);
    }
    fputc('\n', out);
}

static void put_sections(FILE *out, const struct command_section *section)
{
    for (; section && section->heading; section++) {
        put_heading(out, section->heading);
        for (const struct command_term *term = section->terms; term->term; term++) {
            fputs(".TP\n\\fB", out);
            put(out, term->term, strlen(term->term));
            fputs("\\fR\n", out);
            put_line(out, term->meaning);
        }
    }
}

static void put_see_also(FILE *out, const struct command_program *program, const struct command *but)
{
    const char *before = "";
    fputs(".SH SEE ALSO\n", out);
    if (but)
        fprintf(out, "\\fB%s\\fR(1)", program->name);
    before = but ? ",\n" : "";
    for (const struct command *const *command = program->commands; *command; command++)
        if (*command != but) {
            fprintf(out, "%s\\fB%s\\-%s\\fR(1)", before, program->name, (*command)->name);
            before = ",\n";
        }
    fputs(",\n\\fBlycosa.ini\\fR(5),\n\\fBwebsim\\fR(1)\n", out);
}

void page_command(const struct command_program *program, const struct command *command, FILE *out)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s", program->name, command->name);
    put_head(out, name, "1", command->summary);
    fputs(".SH SYNOPSIS\n", out);
    put_synopsis(out, command);
    fputs(".SH DESCRIPTION\n", out);
    put_paragraphs(out, command->description);
    fputs(".SH OPTIONS\n", out);
    put_options(out, command);
    put_sections(out, command->sections);
    put_sections(out, command->manual);
    put_see_also(out, program, command);
}

static void put_overview(FILE *out, const struct command_program *program)
{
    for (const struct command *const *command = program->commands; *command; command++) {
        fprintf(out, ".TP\n\\fB%s\\-%s\\fR(1)\n", program->name, (*command)->name);
        put_line(out, (*command)->summary);
    }
}

static void put_whole(FILE *out, const struct command_program *program)
{
    for (const struct command *const *command = program->commands; *command; command++) {
        fputs(".SS ", out);
        put_line(out, (*command)->name);
        put_synopsis(out, *command);
        fputs(".PP\n", out);
        put_paragraphs(out, (*command)->description);
        put_options(out, *command);
        put_sections(out, (*command)->sections);
    }
}

void page_program(const struct command_program *program, enum page_kind kind, FILE *out)
{
    put_head(out, program->name, "1", program->summary);
    fputs(".SH SYNOPSIS\n", out);
    put_name(out, program->name, NULL);
    fputs(" COMMAND [OPTIONS] ...\n.br\n", out);
    put_name(out, program->name, NULL);
    fputs(" \\-\\-help | \\-\\-version\n.SH DESCRIPTION\n", out);
    put_paragraphs(out, program->description);
    fputs(".SH COMMANDS\n", out);
    if (kind == PAGE_WHOLE)
        put_whole(out, program);
    else
        put_overview(out, program);
    if (program->shared) {
        put_heading(out, program->shared->heading);
        for (size_t i = 0; i < command_count(program->shared->options); i++)
            put_option(out, &program->shared->options[i]);
    }
    put_sections(out, program->sections);
    if (kind == PAGE_OVERVIEW)
        put_see_also(out, program, NULL);
    else
        fputs(".SH SEE ALSO\n\\fBlycosa\\fR(1)\n", out);
}

static void put_key(FILE *out, const struct tuning_key *key)
{
    char least[TUNING_VALUE_CHARS], most[TUNING_VALUE_CHARS];
    fputs(".TP\n\\fB", out);
    put(out, key->name, strlen(key->name));
    fputs("\\fR", out);
    fputs(" = \\fI", out);
    put(out, key->fallback, strlen(key->fallback));
    fputs("\\fR\n", out);
    put(out, key->meaning, strlen(key->meaning));
    fputs("\n.br\n(", out);
    const char *form = tuning_value_form(key->type);
    put(out, form, strlen(form));
    if (key->type == TUNING_CHOICE) {
        fputs(": ", out);
        put(out, key->choices, strlen(key->choices));
    } else if (key->max > 0 && key->type != TUNING_BOOL) {
        fprintf(out, "; from %s to %s", tuning_value_write(key->type, key->min, least),
                tuning_value_write(key->type, key->max, most));
    }
    fputs(tuning_key_is_live(key) ? "; live)\n" : ")\n", out);
}

void page_tuning(FILE *out)
{
    const char *section = "";
    put_head(out, "lycosa.ini", "5", "the tuning file of a crawl");
    fputs(".SH DESCRIPTION\n", out);
    put_paragraphs(
        out,
        "A tuning file says how `lycosa crawl -c FILE` crawls. It has sections in brackets and lines of the "
        "form KEY = VALUE; a line that begins with # or ; is a comment. What it does not name has the "
        "default that is given here.\n\n"
        "Keys marked 'live' are taken over when a running crawl gets the signal HUP. `lycosa crawl "
        "--print-tuning` prints the same as a tuning file.\n\n"
        "Without crawl.contact-url only loopback addresses are visited: site owners must be able to "
        "find out who is at their door.");
    fputs(".SH KEYS\n", out);
    for (size_t i = 0; i < tuning_keys_count; i++) {
        const struct tuning_key *key = &tuning_keys[i];
        if (strcmp(section, key->section) != 0)
            fprintf(out, ".SS [%s]\n", key->section);
        section = key->section;
        put_key(out, key);
    }
    fputs(".SH SEE ALSO\n\\fBlycosa\\-crawl\\fR(1)\n", out);
}
