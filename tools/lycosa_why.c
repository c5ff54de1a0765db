/* lycosa why DIR URL: what became of a URL in a crawl. Asks crawl.log first; of a URL that is not there, the
 * scope of the crawl's own tuning file and seeds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/canonical.h"
#include "engine/crawl.h"
#include "engine/scope.h"
#include "engine/seeds.h"
#include "engine/tuning.h"
#include "engine/url.h"
#include "tools/lycosa_commands.h"

/* The columns of crawl.log that answer. */
enum { COLUMN_STATUS = 1, COLUMN_SIZE, COLUMN_URL, COLUMN_HOPS, COLUMN_ANNOTATION = 11, COLUMNS };

static int split(char *line, char *columns[COLUMNS])
{
    int count = 0;
    for (char *rest = NULL, *field = strtok_r(line, " \n", &rest); field && count < COLUMNS;
         field = strtok_r(NULL, " \n", &rest))
        columns[count++] = field;
    return count;
}

static void explain(char *const columns[COLUMNS], const char *when)
{
    if (columns[COLUMN_STATUS][0] != '-')
        printf("fetched at %s: status %s, %s bytes, hops %s (%s)\n", when, columns[COLUMN_STATUS],
               columns[COLUMN_SIZE], columns[COLUMN_HOPS], columns[COLUMN_ANNOTATION]);
    else
        printf("not fetched: %s (status %s in crawl.log at %s)\n", columns[COLUMN_ANNOTATION],
               columns[COLUMN_STATUS], when);
}

/* True if the log knows the URL; its lines are explained. -1: the log cannot be read. */
static int ask_log(const char *directory, struct slice url)
{
    char path[1100], *line = NULL, *columns[COLUMNS];
    size_t size = 0;
    int found = 0;
    snprintf(path, sizeof path, "%s/crawl.log", directory);
    FILE *log = fopen(path, "re");
    if (!log) {
        fprintf(stderr, "lycosa: %s: %s\n", path, strerror(errno));
        return -1;
    }
    while (getline(&line, &size, log) > 0)
        if (memmem(line, strlen(line), url.ptr, url.len) && split(line, columns) == COLUMNS &&
            slice_equals(slice_of(columns[COLUMN_URL]), url)) {
            explain(columns, columns[0]);
            found = 1;
        }
    free(line);
    fclose(log);
    return found;
}

static void add_seed(void *owner, const struct url *url)
{
    scope_add_seed(owner, url);
}

/* The URL as the crawl wrote it. */
static bool canonicalise(struct url *url, const char *directory, struct tuning *tuning)
{
    struct tuning_error error;
    char path[1100];
    unsigned rules;
    snprintf(path, sizeof path, "%s/tuning.ini", directory);
    tuning_init(tuning);
    if (!tuning_load(tuning, path, &error) || !crawl_canonical_rules(tuning, &rules, &error)) {
        fprintf(stderr, "lycosa: %s\n", error.message);
        return false;
    }
    canonical_apply(url, rules);
    return true;
}

static int ask_scope(const char *directory, const struct tuning *tuning, const struct url *url)
{
    struct tuning_error error;
    char path[1100];
    struct scope *scope = scope_create(tuning, &error);
    if (!scope) {
        fprintf(stderr, "lycosa: %s\n", error.message);
        return LYCOSA_EXIT_FAILED;
    }
    snprintf(path, sizeof path, "%s/seeds.txt", directory);
    struct seeds_sink sink = {.take = add_seed, .owner = scope};
    if (!seeds_take_argument(&sink, path, &error)) {
        fprintf(stderr, "lycosa: %s\n", error.message);
        scope_destroy(scope);
        return LYCOSA_EXIT_FAILED;
    }
    struct scope_loop *loop = scope_loop_create(scope);
    struct scope_answer answer = scope_ask(loop, url, &(struct scope_context){0});
    if (answer.is_in)
        printf("not seen: in scope by rule '%s', but no page that was fetched links to it\n",
               scope_rule_name(answer.rule));
    else
        printf("out of scope by rule '%s'%s%.*s\n", scope_rule_name(answer.rule), answer.item.len ? ": " : "",
               (int)answer.item.len, answer.item.len ? answer.item.ptr : "");
    scope_loop_destroy(loop);
    scope_destroy(scope);
    return LYCOSA_EXIT_DONE;
}

int lycosa_why_main(int argc, char **argv)
{
    static struct tuning tuning;
    char text[URL_BYTES_MAX];
    struct url url;
    if (argc != 3) {
        fprintf(stderr, "usage: lycosa why DIR URL\n");
        return LYCOSA_EXIT_USAGE;
    }
    url_init(&url, text, sizeof text);
    enum url_error error = url_parse(&url, NULL, slice_of(argv[2]));
    if (error != URL_OK) {
        fprintf(stderr, "lycosa: '%s' is no URL: %s\n", argv[2], url_error_text(error));
        return LYCOSA_EXIT_USAGE;
    }
    int found = canonicalise(&url, argv[1], &tuning) ? ask_log(argv[1], url_page(&url)) : -1;
    if (found < 0)
        return LYCOSA_EXIT_FAILED;
    return found ? LYCOSA_EXIT_DONE : ask_scope(argv[1], &tuning, &url);
}
