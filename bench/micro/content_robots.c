/* robots: the rules of real robots.txt files, compiled, and asked about paths that are part usual, part made
 * from the file's own patterns so that they match. */
#include "micro/content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/robots/robots.h"
#include "engine/url/url.h"

#define TARGET_NS  100
#define OWN_PATHS  16 /* made from a file's patterns */
#define LARGE_FILE 200

static const char *const usual_paths[] = {
    "/",
    "/index.html",
    "/about/contact",
    "/wp-content/uploads/2015/03/picture-300x200.jpg",
    "/search?q=crawler&page=2",
    "/2015/03/17/some-article-about-something/",
    "/products/category/item-12345.html?ref=home",
    "/user/login?destination=node/17",
    "/static/css/main.css",
    "/blog/tag/linux/page/3/",
    "/forum/viewtopic.php?f=2&t=1234",
    "/news/world/europe/story_20150317_0042.html",
    "/wiki/Special:RecentChanges",
    "/images/logo.png",
    "/catalog/product_compare/add/product/1234/uenc/abc/",
    "/articles/2015/03/page.html",
};
#define USUAL_PATHS (sizeof usual_paths / sizeof *usual_paths)

struct rule {
    struct slice pattern;
    bool allow;
};

struct file {
    char *text;
    size_t len;
    struct robots *robots;
    struct slice paths[USUAL_PATHS + OWN_PATHS];
    size_t path_count;
    struct rule *rules; /* for the baseline: as written */
    size_t rule_count;
};

struct files {
    struct file *items;
    size_t count;
    size_t rules_min; /* files with fewer are left out */
};

static void add_own_path(struct file *file, struct slice pattern)
{
    char *path = malloc(pattern.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < pattern.len; i++)
        if (pattern.ptr[i] != '$')
            path[len++] = pattern.ptr[i] == '*' ? 'x' : pattern.ptr[i];
    path[len++] = '1';
    file->paths[file->path_count++] = (struct slice){path, len};
}

/* The rules of the groups for "*", read in the simplest way. */
static void read_rules(struct file *file)
{
    bool ours = false;
    char *copy = strdup(file->text), *state;
    for (char *line = strtok_r(copy, "\r\n", &state); line; line = strtok_r(NULL, "\r\n", &state)) {
        char key[16], value[1024];
        line[strcspn(line, "#")] = '\0';
        if (sscanf(line, " %15[A-Za-z-] : %1023s", key, value) != 2)
            continue;
        bool allow = strcasecmp(key, "allow") == 0;
        if (strcasecmp(key, "user-agent") == 0)
            ours = strcmp(value, "*") == 0;
        if (!ours || (!allow && strcasecmp(key, "disallow") != 0))
            continue;
        file->rules = realloc(file->rules, (file->rule_count + 1) * sizeof *file->rules);
        file->rules[file->rule_count++] = (struct rule){{strdup(value), strlen(value)}, allow};
    }
    free(copy);
}

static void free_file(struct file *file)
{
    for (size_t i = 0; i < file->path_count; i++)
        free((char *)(uintptr_t)file->paths[i].ptr);
    for (size_t i = 0; i < file->rule_count; i++)
        free((char *)(uintptr_t)file->rules[i].pattern.ptr);
    free(file->rules);
    free(file->robots);
    free(file->text);
}

static void add_file(void *context, const char *relative)
{
    struct files *files = context;
    struct file file = {0};
    file.text = content_read(relative, &file.len);
    if (!file.text)
        return;
    file.robots = malloc(robots_size(file.len));
    robots_compile(file.robots, (struct slice){file.text, file.len}, SLICE("lycosa"));
    if (file.robots->rule_count < files->rules_min) {
        free_file(&file);
        return;
    }
    for (size_t i = 0; i < USUAL_PATHS; i++)
        file.paths[file.path_count++] = (struct slice){strdup(usual_paths[i]), strlen(usual_paths[i])};
    read_rules(&file);
    for (size_t i = 0; i < OWN_PATHS && file.rule_count; i++)
        add_own_path(&file, file.rules[i * 7 % file.rule_count].pattern);
    files->items = realloc(files->items, (files->count + 1) * sizeof *files->items);
    files->items[files->count++] = file;
}

static bool begin_files(struct content_row *row, size_t rules_min)
{
    struct files *files = calloc(1, sizeof *files);
    files->rules_min = rules_min;
    row->context = files;
    row->items = row->bytes = 0;
    if (!content_each_file("robots", add_file, files) || !files->count)
        return false;
    for (size_t i = 0; i < files->count; i++) {
        row->items += files->items[i].path_count;
        row->bytes += files->items[i].len;
    }
    return true;
}

static bool begin(struct content_row *row)
{
    return begin_files(row, 1);
}

static bool begin_large(struct content_row *row)
{
    return begin_files(row, LARGE_FILE);
}

static void finish(struct content_row *row)
{
    struct files *files = row->context;
    for (size_t i = 0; i < files->count; i++)
        free_file(&files->items[i]);
    free(files->items);
    free(files);
}

static uint64_t pass_match(struct content_row *row)
{
    const struct files *files = row->context;
    uint64_t allowed = 0;
    for (size_t f = 0; f < files->count; f++)
        for (size_t i = 0; i < files->items[f].path_count; i++)
            allowed += robots_allows(files->items[f].robots, files->items[f].paths[i], NULL);
    return allowed;
}

static uint64_t pass_compile(struct content_row *row)
{
    const struct files *files = row->context;
    uint64_t bytes = 0;
    for (size_t f = 0; f < files->count; f++) {
        const struct file *file = &files->items[f];
        bytes += robots_compile(file->robots, (struct slice){file->text, file->len}, SLICE("lycosa"))->bytes;
    }
    return bytes;
}

static bool glob(struct slice pattern, struct slice path)
{
    while (pattern.len && pattern.ptr[0] != '*') {
        if (pattern.len == 1 && pattern.ptr[0] == '$')
            return !path.len;
        if (!path.len || path.ptr[0] != pattern.ptr[0])
            return false;
        pattern = slice_skip(pattern, 1);
        path = slice_skip(path, 1);
    }
    if (!pattern.len)
        return true;
    for (pattern = slice_skip(pattern, 1);; path = slice_skip(path, 1)) {
        if (glob(pattern, path))
            return true;
        if (!path.len)
            return false;
    }
}

/* Each rule in turn, as written, without a normal form. */
static uint64_t pass_linear(struct content_row *row)
{
    const struct files *files = row->context;
    uint64_t allowed = 0;
    for (size_t f = 0; f < files->count; f++) {
        const struct file *file = &files->items[f];
        for (size_t i = 0; i < file->path_count; i++) {
            size_t best = 0;
            bool allow = true;
            for (size_t r = 0; r < file->rule_count; r++) {
                const struct rule *rule = &file->rules[r];
                if (rule->pattern.len < best || !glob(rule->pattern, file->paths[i]))
                    continue;
                allow = rule->allow || (rule->pattern.len == best && allow);
                best = rule->pattern.len;
            }
            allowed += allow;
        }
    }
    return allowed;
}

static struct content_row rows[] = {
    {.name = "robots/match",
     .what = "may a path be fetched, by a real file's rules",
     .unit = CONTENT_NS_PER_ITEM,
     .role = CONTENT_OURS,
     .target = TARGET_NS,
     .begin = begin,
     .pass = pass_match,
     .finish = finish},
    {.name = "robots/linear",
     .what = "the same, each rule tried in turn",
     .unit = CONTENT_NS_PER_ITEM,
     .role = CONTENT_BASELINE,
     .begin = begin,
     .pass = pass_linear,
     .finish = finish},
    {.name = "robots/match-large",
     .what = "files of 200 rules and more",
     .unit = CONTENT_NS_PER_ITEM,
     .role = CONTENT_OURS,
     .begin = begin_large,
     .pass = pass_match,
     .finish = finish},
    {.name = "robots/linear-large",
     .what = "the same, each rule tried in turn",
     .unit = CONTENT_NS_PER_ITEM,
     .role = CONTENT_BASELINE,
     .begin = begin_large,
     .pass = pass_linear,
     .finish = finish},
    {.name = "robots/compile",
     .what = "compile real files",
     .unit = CONTENT_MB_PER_SECOND,
     .role = CONTENT_OURS,
     .begin = begin,
     .pass = pass_compile,
     .finish = finish},
};

__attribute__((constructor)) static void register_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        content_register(&rows[i]);
}
