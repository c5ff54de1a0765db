/* What a subcommand takes and does, as a table. Everything that tells a user of it comes from there: --help, the manual
 * page, and what a shell completes; and so do the options that are read. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Options without a letter are numbered from here on. */
enum { COMMAND_LONG = 256 };

/* The list ends with a row without a name. --help is in every list, and in no table. */
struct command_option {
    int id; /* what command_getopt returns: the letter, or a number from COMMAND_LONG on */
    const char *name;
    const char *argument; /* NULL: it takes none. FILE and DIR are completed as such */
    const char *meaning;
};

/* Options that several commands have in common: a manual page tells of them once. */
struct command_group {
    const char *heading;
    const struct command_option *options;
};

struct command_term {
    const char *term;
    const char *meaning;
};

/* A list of terms below a heading. The list of sections ends with one without a heading, that of terms with one without
 * a term. */
struct command_section {
    const char *heading;
    const struct command_term *terms;
};

struct command {
    const char *program;
    const char *name;
    int (*run)(int argc, char **argv);
    const char *synopsis; /* what follows the name; several ways are on lines of their own */
    const char *summary;  /* a few words, for lists */
    /* Paragraphs, with an empty line between two. */
    const char *description;
    const struct command_option *options; /* NULL: --help alone */
    const struct command_group *shared;   /* NULL: none */
    const char *words; /* what its first argument may be, with blanks between; NULL: it is free */
    const struct command_section *sections; /* in --help and on the manual page; NULL: none */
    const struct command_section *manual;   /* on the manual page alone; NULL: none */
};

/* A program and its subcommands, in the order in which they are listed. */
struct command_program {
    const char *name;
    const char *summary;
    const char *description;
    const struct command_group *shared;     /* what some of the commands share; NULL: nothing */
    const struct command *const *commands;  /* ends with NULL */
    const struct command_section *sections; /* on its manual page; NULL: none */
};

/* As getopt_long, by the table. -h and --help give 'h'. */
int command_getopt(const struct command *command, int argc, char **argv);
/* Prints the help. The exit code: 0 on stdout, else 2, for wrong usage. */
int command_help(const struct command *command, FILE *out);
/* The commands, a line for each. The exit code likewise. */
int command_list(const struct command_program *program, FILE *out);
/* NULL: there is none of that name. */
const struct command *command_find(const struct command_program *program, const char *name);

/* How many rows the table has; it may be NULL. */
size_t command_count(const struct command_option *options);
extern const struct command_option command_help_option;
