/* The input is a path, a newline, and a robots.txt. The compiled form must stay within its size, answer like
 * its copy, and name a pattern that a second compilation of that single rule also finds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/robots/robots.h"
#include "engine/robots/robots_tag.h"
#include "engine/url/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static struct robots *compile(struct slice text)
{
    struct robots *robots = malloc(robots_size(text.len));
    robots_compile(robots, text, SLICE("lycosa"));
    require(robots->bytes <= robots_size(text.len));
    return robots;
}

/* The rule that decided, alone in a file, decides alike. */
static void check_rule_alone(const struct robots_rule *rule, struct slice path)
{
    size_t size = rule->pattern.len + 40;
    char *text = malloc(size);
    int len = snprintf(text, size, "user-agent: *\n%s: ", rule->allow ? "allow" : "disallow");
    memcpy(text + len, rule->pattern.ptr, rule->pattern.len);
    struct robots *robots = compile((struct slice){text, (size_t)len + rule->pattern.len});
    struct robots_rule again;
    require(robots_allows(robots, path, &again) == rule->allow);
    require(slice_equals(again.pattern, rule->pattern));
    free(robots);
    free(text);
}

static void check_sitemaps(const struct robots *robots)
{
    uint32_t cursor = 0, count = 0;
    struct slice text;
    while (robots_sitemap(robots, &cursor, &text)) {
        require(text.len > 0);
        count++;
    }
    require(count == robots->sitemap_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *newline = size ? memchr(text, '\n', size) : NULL;
    struct slice path = newline ? slice_between(text, newline) : (struct slice){text, 0};
    struct slice file = newline ? slice_between(newline + 1, text + size) : (struct slice){text, size};
    if (path.len > URL_BYTES_MAX)
        return 0;
    struct robots *robots = compile(file), *copy = malloc(robots->bytes);
    struct robots_rule rule, other;
    memcpy(copy, robots, robots->bytes);
    bool allowed = robots_allows(robots, path, &rule);
    require(robots_allows(copy, path, &other) == allowed && slice_equals(rule.pattern, other.pattern));
    require(rule.allow == allowed);
    if (rule.pattern.len)
        check_rule_alone(&rule, path);
    check_sitemaps(copy);
    robots_tag_parse(file, SLICE("lycosa"));
    free(copy);
    free(robots);
    return 0;
}
