/* The routes as an OpenAPI document, from the table that requests are routed by. */
#include <stdlib.h>
#include <string.h>

#include "engine/console/router.h"
#include "engine/url/json.h"

/* What is to be known of a parameter; a name means the same on every route. */
static const struct parameter {
    const char *name, *schema, *meaning;
    bool is_needed;
} parameters[] = {
    {"step", "{\"type\": \"integer\", \"enum\": [1, 10, 60, 600], \"default\": 1}", "Seconds between two samples", false},
    {"after", "{\"type\": \"integer\", \"minimum\": 0, \"default\": 0}", "The number of the last sample that is known already", false},
    {"lines", "{\"type\": \"string\", \"enum\": [\"1\"]}", "Tells of each line", false},
    {"url", "{\"type\": \"string\"}", "An absolute URL", true},
    {"by", "{\"type\": \"string\", \"enum\": [\"queue\", \"failures\", \"time\", \"bytes\"], \"default\": \"queue\"}", "What hosts are ordered by", false},
    {"key", "{\"type\": \"string\"}", "A host: https://example.org", true},
    {"format", "{\"type\": \"string\", \"enum\": [\"json\", \"text\"], \"default\": \"json\"}", "How it is told", false},
    {"host", "{\"type\": \"string\"}", "A host: https://example.org; this or domain", false},
    {"domain", "{\"type\": \"string\"}", "A registrable domain: example.org; this or host", false},
};

static const struct {
    const char *code, *meaning;
} meanings[] = {{"200", "Done"},
                {"202", "Begun"},
                {"400", "Something in the request is wrong, or not known to this route"},
                {"401", "The token is missing or wrong"},
                {"403", "Not by this name, or from another site"},
                {"404", "There is no such host, or it is not held"},
                {"409", "This makes no sense now"},
                {"413", "The body is too long"},
                {"414", "The address is too long"},
                {"415", "The Content-Type is not text/plain;charset=utf-8"},
                {"431", "The head is too long"},
                {"503", "Not now, or not alive"}};

/* Whether a list of words has this one. */
static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += len)
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    return false;
}

static void write_parameters(FILE *out, const struct route *route)
{
    const char *comma = "";
    fputs("\"parameters\": [", out);
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        const struct parameter *parameter = &parameters[i];
        if (!has_word(route->query, parameter->name))
            continue;
        fprintf(out, "%s{\"name\": \"%s\", \"in\": \"query\", \"required\": %s, \"schema\": %s, \"description\": \"%s\"}", comma,
                parameter->name, parameter->is_needed ? "true" : "false", parameter->schema, parameter->meaning);
        comma = ", ";
    }
    fputs("]", out);
}

/* The statuses that the guard and the server give on this route. */
static const char *common_codes(enum guard_need need)
{
    switch (need) {
    case GUARD_NOTHING:
        return "400 403 414 431";
    case GUARD_METRICS:
    case GUARD_TOKEN:
        return "400 401 403 414 431";
    case GUARD_ORDER:
        return "400 401 403 414 415 431";
    }
    return "";
}

static void write_responses(FILE *out, const struct route *route)
{
    const char *comma = "";
    fputs("\"responses\": {", out);
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        if (!has_word(route->codes, meanings[i].code) && !has_word(common_codes(route->need), meanings[i].code))
            continue;
        fprintf(out, "%s\"%s\": {\"description\": \"%s\"}", comma, meanings[i].code, meanings[i].meaning);
        comma = ", ";
    }
    fputs("}", out);
}

static void write_route(FILE *out, const struct route *route)
{
    static const char *const securities[] = {[GUARD_NOTHING] = "[]",
                                             [GUARD_METRICS] = "[{\"token\": []}, {}]",
                                             [GUARD_TOKEN] = "[{\"token\": []}]",
                                             [GUARD_ORDER] = "[{\"token\": []}]"};
    fprintf(out, "\"%s\": {\"summary\": ",
            strcmp(route->method, "GET") == 0    ? "get"
            : strcmp(route->method, "POST") == 0 ? "post"
                                                 : "patch");
    json_write_string(out, slice_of(route->summary));
    fprintf(out, ", \"security\": %s, ", securities[route->need]);
    write_parameters(out, route);
    if (route->body)
        fprintf(out, ", \"requestBody\": {\"required\": true, \"description\": \"%s\", \"content\": {\"text/plain\": {}}}", route->body);
    fputs(", ", out);
    write_responses(out, route);
    fputs("}", out);
}

void router_write_openapi(FILE *out)
{
    fprintf(out,
            "{\"openapi\": \"3.0.3\", \"info\": {\"title\": \"lycosa\", \"version\": \"%s\"},\n"
            "\"components\": {\"securitySchemes\": {\"token\": {\"type\": \"http\", \"scheme\": \"bearer\"}}},\n\"paths\": {",
            LYCOSA_VERSION);
    for (size_t i = 0; i < router_count; i++) {
        const struct route *route = &router_routes[i];
        bool is_first = i == 0 || strcmp(route[-1].path, route->path) != 0;
        bool is_last = i + 1 == router_count || strcmp(route[1].path, route->path) != 0;
        if (is_first)
            fprintf(out, "%s\n\"%s\": {", i ? "," : "", route->path);
        else
            fputs(", ", out);
        write_route(out, route);
        fputs(is_last ? "}" : "", out);
    }
    fputs("}}\n", out);
}
