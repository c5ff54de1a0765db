/* lycosa why DIR URL: what became of a URL in a crawl. Asks crawl.log first; for a URL that is not there, the
 * crawl's own tuning file and seeds (is it in scope?) and its summary (does anything wait, was anything
 * lost?). */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/url/canonical.h"
#include "engine/crawl/crawl.h"
#include "engine/frontier/scope.h"
#include "engine/frontier/seeds.h"
#include "engine/store/crawl_log_find.h"
#include "engine/tuning/tuning.h"
#include "engine/url/url.h"
#include "tools/lycosa/commands.h"

/* The question, and what is known to answer it. */
struct question {
    const char *directory;
    struct url url; /* as the crawl writes it */
    char text[URL_BYTES_MAX];
    struct tuning tuning;
    unsigned rules; /* enum canonical_rule */
    struct scope *scope;
    bool is_seed;
};

/* What the log says of a page. */
struct told {
    bool is_found;
    bool is_repeat; /* of the page whose URL has this hash */
    uint64_t first;
    unsigned distance; /* of their texts; 0 also of equal bodies */
    bool is_near;
};

static void print_or(const char *before, struct slice text)
{
    if (!slice_equals(text, SLICE("-")))
        printf("%s%.*s", before, (int)text.len, text.ptr);
}

/* Which page this one repeats: the last of its annotations tells (crawl/repeats.h). */
static void take_repeat(struct told *told, struct slice said)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)said.len, said.ptr);
    const char *at = strstr(text, "duplicate:");
    if (!at)
        return;
    told->is_near = at > text && at[-1] == '-';
    told->is_repeat = told->is_near ? sscanf(at, "duplicate:%u:%" SCNx64, &told->distance, &told->first) == 2
                                    : sscanf(at, "duplicate:%" SCNx64, &told->first) == 1;
}

static void explain(void *owner, struct slice line, const struct slice columns[CRAWL_LOG_COLUMNS])
{
    struct slice when = columns[CRAWL_LOG_END], status = columns[CRAWL_LOG_STATUS], said = columns[CRAWL_LOG_ANNOTATIONS];
    struct told *told = owner;
    (void)line;
    told->is_found = true;
    take_repeat(told, said);
    if (status.ptr[0] != '-') {
        struct slice size = columns[CRAWL_LOG_SIZE], hops = columns[CRAWL_LOG_HOPS];
        printf("fetched at %.*s: status %.*s, %.*s bytes, hops %.*s", (int)when.len, when.ptr, (int)status.len, status.ptr,
               (int)size.len, size.ptr, (int)hops.len, hops.ptr);
        print_or(", found on ", columns[CRAWL_LOG_VIA]);
        print_or("; ", said);
    } else {
        printf("not fetched: %.*s (status %.*s in crawl.log at %.*s)", (int)said.len, said.ptr, (int)status.len, status.ptr,
               (int)when.len, when.ptr);
        print_or(", found on ", columns[CRAWL_LOG_VIA]);
    }
    printf("\n");
}

static void name_first(void *owner, struct slice line, const struct slice columns[CRAWL_LOG_COLUMNS])
{
    struct told *told = owner;
    struct slice url = columns[CRAWL_LOG_URL];
    (void)line;
    if (!told->is_repeat)
        return; /* it was named */
    told->is_repeat = false;
    if (told->is_near)
        printf("its text is nearly that of %.*s: %u of 64 bits differ\n", (int)url.len, url.ptr, told->distance);
    else
        printf("its body is that of %.*s\n", (int)url.len, url.ptr);
}

/* True if the log knows the URL; its lines are explained. -1: the log cannot be read. */
static int ask_log(const struct question *question)
{
    char path[1100];
    struct told told = {.is_found = false};
    snprintf(path, sizeof path, "%s/crawl.log", question->directory);
    struct crawl_log_find find = {.path = path, .url = url_page(&question->url), .owner = &told, .on_line = explain};
    int error = crawl_log_find(&find);
    if (!error && told.is_repeat) {
        struct crawl_log_find first = {.path = path, .hash = told.first, .owner = &told, .on_line = name_first};
        error = crawl_log_find(&first);
    }
    if (error)
        fprintf(stderr, "lycosa: %s: %s\n", path, strerror(-error));
    return error ? -1 : told.is_found;
}

/* The seeds go to the scope; on the way it is seen whether the URL is one of them. */
static bool take_seed(void *owner, const struct url *url)
{
    struct question *question = owner;
    char text[URL_BYTES_MAX];
    struct url seed;
    url_init(&seed, text, sizeof text);
    if (url_parse(&seed, NULL, url_text(url)) == URL_OK) {
        canonical_apply(&seed, question->rules);
        question->is_seed |= slice_equals(url_page(&seed), url_page(&question->url));
    }
    return scope_add_seed(question->scope, url);
}

/* A number of summary.json by its key, in the object of that name or, if that is NULL, in the outermost one; 0 if there
 * is none. */
static uint64_t number_in(const char *summary, const char *object, const char *key)
{
    char begin[64], quoted[64];
    snprintf(begin, sizeof begin, "\n  \"%s\": ", object ? object : key);
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(summary, begin);
    const char *end = at ? strchr(at + 1, '\n') : NULL;
    const char *found = at ? strstr(at + (object ? strlen(begin) : 0), quoted) : NULL;
    return found && (!end || found < end) ? strtoull(found + strlen(quoted), NULL, 10) : 0;
}

static void read_summary(const struct question *question, char *summary, size_t size)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/summary.json", question->directory);
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(summary, 1, size - 1, file) : 0;
    if (file)
        fclose(file);
    summary[len] = '\0';
}

/* Links that pages had and the crawl left alone for what they are, not for where they lead: which they were is not
 * recorded, so the URL may be one of them. */
static void explain_left_out(const char *summary)
{
    const struct {
        uint64_t count;
        const char *what;
    } kinds[] = {
        {number_in(summary, "scope", scope_rule_name(SCOPE_EMBED)), "embedded (scope.embeds)"},
        {number_in(summary, "scope", scope_rule_name(SCOPE_DEPTH)), "too deep (scope.depth)"},
        {number_in(summary, "scope", scope_rule_name(SCOPE_REQUISITE)), "on what only was embedded"},
        {number_in(summary, NULL, "links_nofollow"), "nofollow (robots.nofollow)"},
        {number_in(summary, "outcomes", fetch_outcome_name(FETCH_REDIRECTS_TOO_MANY)),
         "redirects too many in a row (limits.redirects)"},
    };
    const char *before = "; or it is one of the links that were left out: ";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].count) {
            printf("%s%" PRIu64 " %s", before, kinds[i].count, kinds[i].what);
            before = ", ";
        }
}

/* "{"connect-refused": 1}" of the hosts that fail, without its braces. */
static struct slice hosts_failing(const char *summary)
{
    static const char key[] = "\n  \"hosts_failing\": {";
    const char *at = strstr(summary, key), *end = at ? strchr(at + sizeof key - 1, '}') : NULL;
    return end ? slice_between(at + sizeof key - 1, end) : (struct slice){"", 0};
}

static void explain_seed(const char *summary, const char *rule)
{
    struct slice failing = hosts_failing(summary);
    bool waits = number_in(summary, NULL, "queued") || summary[0] == '\0';
    printf("not finished: a seed, in scope by rule '%s'; %s", rule,
           waits ? "it waits for its turn" : "there was no room for it");
    if (waits && failing.len)
        printf(" (hosts that fail and are tried again: %.*s)", (int)failing.len, failing.ptr);
}

/* In scope, and no line in the log. */
static void explain_unfinished(const struct question *question, const char *rule)
{
    char summary[16384];
    read_summary(question, summary, sizeof summary);
    uint64_t queued = number_in(summary, NULL, "queued"), lost = number_in(summary, NULL, "links_lost");
    if (question->is_seed) {
        explain_seed(summary, rule);
    } else {
        if (queued == 0 && lost == 0)
            printf("not seen: in scope by rule '%s', but no page that was fetched leads to it", rule);
        else
            printf("not finished: in scope by rule '%s'. %" PRIu64 " URLs wait and %" PRIu64
                   " found no room: it is one of them, or no page that was fetched so far leads to it",
                   rule, queued, lost);
        explain_left_out(summary);
    }
    printf("\n");
}

/* As a link it is out of scope. */
static void explain_out_of_scope(const struct question *question, struct scope_loop *loop,
                                 struct scope_answer answer)
{
    struct scope_context embedded = {.is_embed = true, .embed_hops = 1};
    printf("%sout of scope by rule '%s'%s%.*s", question->is_seed ? "a seed, but " : "",
           scope_rule_name(answer.rule), answer.item.len ? ": " : "", (int)answer.item.len,
           answer.item.len ? answer.item.ptr : "");
    if (answer.is_undecided)
        printf(", which takes too long for this URL to be decided");
    if (scope_ask(loop, &question->url, &embedded).is_in)
        printf("; a page in scope may embed it (scope.embeds), but none that was fetched does");
    printf("\n");
}

static int fail(const char *message)
{
    fprintf(stderr, "lycosa: %s\n", message);
    return LYCOSA_EXIT_FAILED;
}

static int ask_scope(struct question *question)
{
    struct tuning_error error;
    char path[1100];
    snprintf(path, sizeof path, "%s/seeds.txt", question->directory);
    struct seeds_sink sink = {.take = take_seed, .owner = question};
    if (!seeds_take_argument(&sink, path, &error))
        return fail(error.message);
    snprintf(path, sizeof path, "%s/" CRAWL_ADDED_NAME, question->directory);
    if (!seeds_take_appended(&sink, path, &error))
        return fail(error.message);
    struct scope_loop *loop = scope_loop_create(question->scope);
    if (!loop)
        return fail("no memory");
    struct scope_answer answer = scope_ask(loop, &question->url, &(struct scope_context){0});
    if (answer.is_in)
        explain_unfinished(question, scope_rule_name(answer.rule));
    else
        explain_out_of_scope(question, loop, answer);
    scope_loop_destroy(loop);
    return LYCOSA_EXIT_DONE;
}

/* Reads how the crawl was tuned, and brings the URL into the form that the crawl gives it. */
static bool open_crawl(struct question *question)
{
    struct tuning_error error;
    char path[1100];
    snprintf(path, sizeof path, "%s/tuning.ini", question->directory);
    tuning_init(&question->tuning);
    if (!tuning_load(&question->tuning, path, &error) ||
        !crawl_canonical_rules(&question->tuning.fixed.scope, &question->rules, &error) ||
        !(question->scope = scope_create(&question->tuning.fixed.scope, &error))) {
        fail(error.message);
        return false;
    }
    canonical_apply(&question->url, question->rules);
    return true;
}

const struct command lycosa_why = {
    .program = "lycosa",
    .name = "why",
    .run = lycosa_why_main,
    .synopsis = "DIR URL",
    .summary = "what became of a URL in a crawl",
    .description = "Tells what became of a URL in the crawl in DIR: fetched, failed, forbidden, waiting, out of scope.",
};

int lycosa_why_main(int argc, char **argv)
{
    static struct question question;
    int option = command_getopt(&lycosa_why, argc, argv);
    if (option != -1 || argc - optind != 2)
        return command_help(&lycosa_why, option == 'h' ? stdout : stderr);
    const char *text = argv[optind + 1];
    question.directory = argv[optind];
    url_init(&question.url, question.text, sizeof question.text);
    enum url_error error = url_parse(&question.url, NULL, slice_of(text));
    if (error != URL_OK) {
        fprintf(stderr, "lycosa: '%s' is no URL: %s\n", text, url_error_text(error));
        return LYCOSA_EXIT_USAGE;
    }
    int code = LYCOSA_EXIT_FAILED;
    if (open_crawl(&question)) {
        int found = ask_log(&question);
        code = found < 0 ? LYCOSA_EXIT_FAILED : found ? LYCOSA_EXIT_DONE : ask_scope(&question);
        scope_destroy(question.scope);
    }
    return code;
}
