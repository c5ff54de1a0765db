/* lycosa robots --agent NAME FILE URL...: may a crawler of that name fetch each URL, and which rule decided.
 * FILE is a robots.txt, "-" for stdin; without URLs they are read from stdin, one per line. */
#include <getopt.h>
#include <stdlib.h>

#include "engine/robots/robots.h"
#include "engine/url/url.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/json.h"
#include "tools/lycosa/lines.h"

#define READ_BYTES (ROBOTS_BYTES_MAX + 1) /* one more than is read tells that there was more */

struct job {
    const struct robots *robots;
    bool json;
};

enum { OPTION_AGENT = COMMAND_LONG, OPTION_JSON };

static const struct command_option known[] = {
    {OPTION_AGENT, "agent", "NAME", "the crawler's product token, as in its User-Agent header"},
    {OPTION_JSON, "json", NULL, "one object per URL"},
    {0},
};

const struct command lycosa_robots = {
    .program = "lycosa",
    .name = "robots",
    .run = lycosa_robots_main,
    .synopsis = "--agent NAME [--json] FILE [URL...]",
    .summary = "may a URL be fetched, and which rule of a robots.txt says so",
    .description = "Tells for each URL whether the robots.txt in FILE lets a crawler fetch it, and by which rule. "
                   "FILE may be '-' for stdin; without URLs they are read from stdin, one per line.",
    .options = known,
};

static void print_json(struct slice input, enum url_error error, bool allowed, const struct robots_rule *rule)
{
    lycosa_json_member(stdout, true, "url", input);
    if (error != URL_OK) {
        lycosa_json_member(stdout, false, "error", slice_of(url_error_text(error)));
    } else {
        printf(",\"allowed\":%s", allowed ? "true" : "false");
        if (rule->pattern.len) {
            lycosa_json_member(stdout, false, "rule", rule->allow ? SLICE("allow") : SLICE("disallow"));
            lycosa_json_member(stdout, false, "pattern", rule->pattern);
        }
    }
    fputs("}\n", stdout);
}

static void print_plain(struct slice input, enum url_error error, bool allowed,
                        const struct robots_rule *rule)
{
    if (error != URL_OK) {
        printf("error: %s\t%.*s\n", url_error_text(error), (int)input.len, input.ptr);
        return;
    }
    printf("%s\t%.*s\t", allowed ? "allow" : "disallow", (int)input.len, input.ptr);
    if (rule->pattern.len)
        printf("%s: %.*s\n", rule->allow ? "Allow" : "Disallow", (int)rule->pattern.len, rule->pattern.ptr);
    else
        puts("no rule");
}

/* A URL, or a path that begins with '/'. */
static void answer(void *owner, struct slice input)
{
    const struct job *job = owner;
    char buffer[URL_BYTES_MAX], base_buffer[64];
    struct url url, base;
    struct robots_rule rule = {.allow = true};
    bool allowed = false;
    url_init(&base, base_buffer, sizeof base_buffer);
    url_parse(&base, NULL, SLICE("http://localhost/"));
    url_init(&url, buffer, sizeof buffer);
    bool is_path = input.len && input.ptr[0] == '/';
    enum url_error error = url_parse(&url, is_path ? &base : NULL, input);
    if (error == URL_OK)
        allowed = robots_allows(job->robots, url_path_query(&url), &rule);
    if (job->json)
        print_json(input, error, allowed, &rule);
    else
        print_plain(input, error, allowed, &rule);
}

static struct robots *read_robots(const char *path, struct slice agent)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = malloc(READ_BYTES);
    size_t len = fread(text, 1, READ_BYTES, file);
    struct robots *robots = ferror(file) ? NULL : malloc(robots_size(len));
    if (robots)
        robots_compile(robots, (struct slice){text, len}, agent);
    free(text);
    if (file != stdin)
        fclose(file);
    return robots;
}

static int run(struct job *job, char **urls)
{
    if (!*urls)
        return lycosa_each_line("lycosa robots", answer, job);
    for (; *urls; urls++)
        answer(job, slice_of(*urls));
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("lycosa robots: stdout");
        return LYCOSA_EXIT_FAILED;
    }
    return LYCOSA_EXIT_DONE;
}

int lycosa_robots_main(int argc, char **argv)
{
    const char *agent = NULL;
    struct job job = {0};
    optind = 1;
    for (int option; (option = command_getopt(&lycosa_robots, argc, argv)) != -1;) {
        if (option == OPTION_AGENT)
            agent = optarg;
        else if (option == OPTION_JSON)
            job.json = true;
        else
            return command_help(&lycosa_robots, option == 'h' ? stdout : stderr);
    }
    bool file_is_stdin = optind < argc && strcmp(argv[optind], "-") == 0;
    if (!agent || optind == argc || (file_is_stdin && optind + 1 == argc))
        return command_help(&lycosa_robots, stderr);
    struct robots *robots = read_robots(argv[optind], slice_of(agent));
    if (!robots) {
        fprintf(stderr, "lycosa robots: ");
        perror(argv[optind]);
        return LYCOSA_EXIT_FAILED;
    }
    job.robots = robots;
    int code = run(&job, argv + optind + 1);
    free(robots);
    return code;
}
