#include "macro/crawl_build.h"

#include <string.h>

#include "macro/process.h"

/* One line of a tuning file, with the section that it stands in. */
struct line {
    char section[64], key[64], value[256]; /* key: empty if the line is none with a key */
    const char *text;
    int len;
};

bool crawl_build_open(struct crawl_build *build, const char *directory)
{
    static struct process_result result;
    char program[CRAWL_BUILD_PATH_BYTES + 16];
    snprintf(build->directory, sizeof build->directory, "%s", directory);
    snprintf(program, sizeof program, "%s/lycosa", build->directory);
    char *arguments[] = {program, (char[]){"crawl"}, (char[]){"--print-tuning"}, NULL};
    bool good = process_run(&(struct process_options){.arguments = arguments, .cpu = PROCESS_ANY_CPU}, &result);
    memcpy(build->keys, result.output, sizeof build->keys);
    if (!good)
        fprintf(stderr, "bench_crawl: --other %s: no lycosa there that prints its tuning file\n", directory);
    return good;
}

/* The next line of *text; false at the end. */
static bool next_line(const char **text, struct line *line)
{
    if (**text == '\0')
        return false;
    line->text = *text;
    line->len = (int)strcspn(*text, "\n");
    line->key[0] = line->value[0] = '\0';
    if (**text == '[')
        sscanf(*text, "[%63[^]]", line->section);
    else if (**text != '#' && sscanf(*text, "%63[^ =\n] = %255[^\n]", line->key, line->value) < 1)
        line->key[0] = '\0';
    *text += line->len + (line->text[line->len] == '\n');
    return true;
}

/* Whether a line "# (one of: gzip none zstd; live)" has the word. A key without such a line takes any value. */
static bool has_choice(const struct line *choices, const char *word)
{
    char list[256], *rest = list;
    if (!choices->text || sscanf(choices->text, "# (one of: %255[^;)]", list) != 1)
        return true;
    for (char *item; (item = strsep(&rest, " "));)
        if (strcmp(item, word) == 0)
            return true;
    return false;
}

static bool knows_line(const struct crawl_build *build, const struct line *wanted)
{
    struct line line = {0}, before = {0};
    for (const char *text = build->keys; next_line(&text, &line); before = line)
        if (strcmp(line.section, wanted->section) == 0 && strcmp(line.key, wanted->key) == 0 && line.key[0])
            return has_choice(&before, wanted->value);
    return false;
}

bool crawl_build_knows(const struct crawl_build *build, const char *tuning)
{
    struct line line = {0};
    while (next_line(&tuning, &line))
        if (line.key[0] && !knows_line(build, &line))
            return false;
    return true;
}

/* Sections are written before each key: a section that is not known is an error, too. */
void crawl_build_write(const struct crawl_build *build, const char *tuning, FILE *out)
{
    struct line line = {0};
    while (next_line(&tuning, &line))
        if (line.key[0] && knows_line(build, &line))
            fprintf(out, "[%s]\n%.*s\n", line.section, line.len, line.text);
}
