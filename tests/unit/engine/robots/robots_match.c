/* The indexed search against the plainest reading of the RFC, on rules and paths drawn at random. */
#include <stdlib.h>

#include "engine/robots/robots.h"
#include "tests/support/check.h"

#define RULES_MAX 40

struct plain_rule {
    char pattern[16];
    bool allow;
};

static bool glob(const char *pattern, const char *path)
{
    if (*pattern == '\0' || (*pattern == '$' && pattern[1] == '\0' && *path == '\0'))
        return true;
    if (*pattern == '*')
        return glob(pattern + 1, path) || (*path && glob(pattern, path + 1));
    return *pattern == *path && *path && !(*pattern == '$' && pattern[1] == '\0') &&
           glob(pattern + 1, path + 1);
}

static bool plain_answer(const struct plain_rule *rules, unsigned count, const char *path)
{
    size_t best = 0;
    bool allow = true;
    for (unsigned i = 0; i < count; i++) {
        size_t len = strlen(rules[i].pattern);
        if (!glob(rules[i].pattern, path) || len < best || (len == best && allow))
            continue;
        allow = rules[i].allow || (len == best && allow);
        best = len;
    }
    return allow;
}

static uint32_t draw(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* Few letters, so that prefixes, repetitions and near misses are common. No "**": it is stored as '*'. */
static void draw_pattern(uint32_t *state, char *pattern)
{
    unsigned len = 1 + draw(state, 9), at = 0;
    pattern[at++] = draw(state, 8) ? '/' : '*';
    while (at < len) {
        char c = "ab/*"[draw(state, 4)];
        if (c != '*' || pattern[at - 1] != '*')
            pattern[at++] = c;
    }
    if (draw(state, 4) == 0)
        pattern[at++] = '$';
    pattern[at] = '\0';
}

static void draw_path(uint32_t *state, char *path)
{
    unsigned len = 1 + draw(state, 12);
    path[0] = '/';
    for (unsigned i = 1; i < len; i++)
        path[i] = "ab/"[draw(state, 3)];
    path[len] = '\0';
}

TEST(random_rules_against_the_plain_reading)
{
    uint32_t state = 12345;
    for (unsigned round = 0; round < 3000; round++) {
        struct plain_rule rules[RULES_MAX];
        char text[RULES_MAX * 40] = "user-agent: *\n";
        unsigned count = draw(&state, RULES_MAX);
        size_t len = strlen(text);
        for (unsigned i = 0; i < count; i++) {
            draw_pattern(&state, rules[i].pattern);
            rules[i].allow = draw(&state, 2);
            len += (size_t)snprintf(text + len, sizeof text - len, "%s: %s\n",
                                    rules[i].allow ? "allow" : "disallow", rules[i].pattern);
        }
        struct robots *robots = malloc(robots_size(len));
        robots_compile(robots, (struct slice){text, len}, SLICE("x"));
        for (unsigned i = 0; i < 20; i++) {
            char path[16];
            draw_path(&state, path);
            bool expected = plain_answer(rules, count, path),
                 actual = robots_allows(robots, slice_of(path), NULL);
            if (expected != actual)
                printf("%s\npath %s\n", text, path);
            CHECK_INT(actual, expected);
        }
        free(robots);
    }
}

/* Rules of 17 letters a and b between '*' and 'c': every pair of bytes is in `path`, hardly any rule
 * matches. */
static size_t write_costly(char *text, size_t size, char *path, size_t path_len)
{
    size_t len = (size_t)snprintf(text, size, "user-agent: *\n");
    uint32_t state = 1;
    for (unsigned i = 0; len + 40 < size; i++) {
        char word[18] = "";
        for (unsigned k = 0; k < 17; k++)
            word[k] = "ab"[i >> k & 1];
        len += (size_t)snprintf(text + len, size - len, "disallow: /*%sc\n", word);
    }
    for (size_t i = 0; i < path_len; i++)
        path[i] = "ab"[draw(&state, 2)];
    memcpy(path, "/acbc", 5);
    return len;
}

TEST(a_match_is_bounded_and_then_the_answer_is_no)
{
    enum { TEXT_BYTES = 490 * 1024 };
    char *text = malloc(TEXT_BYTES), path[1900];
    size_t len = write_costly(text, TEXT_BYTES, path, sizeof path);
    struct robots *robots = malloc(robots_size(len));
    struct robots_rule rule;
    robots_compile(robots, (struct slice){text, len}, SLICE("x"));
    CHECK(!robots_allows(robots, (struct slice){path, sizeof path}, &rule));
    CHECK(rule.gave_up && !rule.allow && rule.pattern.len == 0);
    CHECK(rule.steps >= ROBOTS_STEPS_MAX && rule.steps < ROBOTS_STEPS_MAX + 2 * sizeof path);
    CHECK(robots_allows(robots, SLICE("/short/path"), &rule));
    CHECK(!rule.gave_up && rule.steps > 0 && rule.steps < ROBOTS_STEPS_MAX);
    free(robots);
    free(text);
}
