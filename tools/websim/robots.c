#include "tools/websim/robots.h"

#include <stdio.h>
#include <strings.h>

enum {
    BITS_ROBOTS = 48,
    BITS_RULES,
    BITS_DELAY,
    BITS_SITEMAP,
};

struct rule {
    bool allow;
    const char *pattern;
};

/* Every host with rules has the last one; which of the others is a draw. They speak of leaves of its tree
 * only. Longer patterns come before shorter ones that contradict them: the order must not matter. */
static const struct rule some_rules[] = {
    {true, "/private/*/"},    {true, "/search/river-*.html"},
    {false, "/search/*.php"}, {false, "/search/*.html$"},
    {false, "/img/1"},        {false, "/*?cat=winter"},
    {true, "/private/s"},     {false, "/private/"},
};

#define RULES_MAX (sizeof some_rules / sizeof *some_rules)

enum websim_robots websim_robots_of(const struct websim_web *web, uint32_t host)
{
    const struct websim_parameters *p = &web->parameters;
    const uint64_t shares[] = {
        [WEBSIM_ROBOTS_ABSENT] = p->robots_absent, [WEBSIM_ROBOTS_RULES] = p->robots_rules,
        [WEBSIM_ROBOTS_AGENT] = p->robots_agent,   [WEBSIM_ROBOTS_DELAY] = p->robots_delay,
        [WEBSIM_ROBOTS_ERROR] = p->robots_error,   [WEBSIM_ROBOTS_MOVED] = p->robots_moved,
        [WEBSIM_ROBOTS_CLOSED] = p->robots_closed,
    };
    uint64_t at = websim_below(websim_host_bits(web, host, BITS_ROBOTS), WEBSIM_PPM);
    for (unsigned i = WEBSIM_ROBOTS_ABSENT; i <= WEBSIM_ROBOTS_CLOSED; i++) {
        if (at < shares[i])
            return (enum websim_robots)i;
        at -= shares[i];
    }
    return WEBSIM_ROBOTS_ALLOWING;
}

bool websim_robots_has_sitemap(const struct websim_web *web, uint32_t host)
{
    return websim_chance(websim_host_bits(web, host, BITS_SITEMAP), (uint32_t)web->parameters.sitemaps);
}

uint32_t websim_robots_delay_ms(const struct websim_web *web, uint32_t host)
{
    uint64_t most = web->parameters.crawl_delay_ms;
    if (websim_robots_of(web, host) != WEBSIM_ROBOTS_DELAY)
        return 0;
    return (uint32_t)(most - websim_below(websim_host_bits(web, host, BITS_DELAY), most * 9 / 10 + 1));
}

/* The rules of a host for the agent that it names, or for all others. */
static size_t rules_of(const struct websim_web *web, uint32_t host, bool named, struct rule *rules)
{
    static const struct rule nothing = {false, "/"};
    uint64_t bits = websim_host_bits(web, host, BITS_RULES);
    size_t count = 0;
    switch (websim_robots_of(web, host)) {
    case WEBSIM_ROBOTS_ABSENT:
    case WEBSIM_ROBOTS_ALLOWING:
        return 0;
    case WEBSIM_ROBOTS_CLOSED:
    case WEBSIM_ROBOTS_ERROR:
        rules[0] = nothing;
        return 1;
    case WEBSIM_ROBOTS_AGENT:
        if (!named) {
            rules[0] = nothing;
            return bits >> 32 & 1; /* half of them shut the others out, half let them in */
        }
        break;
    case WEBSIM_ROBOTS_RULES:
    case WEBSIM_ROBOTS_DELAY:
    case WEBSIM_ROBOTS_MOVED:
        break;
    }
    for (size_t i = 0; i < RULES_MAX; i++)
        if (i == RULES_MAX - 1 || (bits >> i & 1))
            rules[count++] = some_rules[i];
    return count;
}

bool websim_robots_matches(const char *pattern, struct slice path)
{
    size_t star_at = 0;
    const char *after_star = NULL;
    size_t at = 0;
    for (;;) {
        if (*pattern == '\0' || (pattern[0] == '$' && pattern[1] == '\0' && at == path.len))
            return true;
        if (*pattern == '*') {
            after_star = ++pattern;
            star_at = at;
        } else if (at < path.len && *pattern == path.ptr[at]) {
            pattern++;
            at++;
        } else if (after_star && star_at < path.len) {
            pattern = after_star;
            at = ++star_at;
        } else {
            return false;
        }
    }
}

bool websim_robots_allows(const struct websim_web *web, uint32_t host, const char *agent, struct slice path)
{
    struct rule rules[RULES_MAX];
    size_t count = rules_of(web, host, strcasecmp(agent, web->parameters.agent) == 0, rules), longest = 0;
    bool allowed = true;
    if (slice_equals(path, SLICE("/robots.txt")))
        return true;
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(rules[i].pattern);
        if (!websim_robots_matches(rules[i].pattern, path) || len < longest)
            continue;
        allowed = rules[i].allow || (len == longest && allowed);
        longest = len;
    }
    return allowed;
}

static char *write_group(char *at, const char *agent, const struct rule *rules, size_t count)
{
    at += snprintf(at, 64, "User-agent: %s\n", agent);
    for (size_t i = 0; i < count; i++)
        at += snprintf(at, 64, "%s: %s\n", rules[i].allow ? "Allow" : "Disallow", rules[i].pattern);
    if (count == 0)
        at = websim_write_text(at, "Disallow:\n");
    return at;
}

size_t websim_robots_write(const struct websim_web *web, uint32_t host, char *out)
{
    struct rule rules[RULES_MAX];
    char *at = websim_write_text(out, "# a simulated host\n");
    size_t count = rules_of(web, host, true, rules);
    uint32_t delay = websim_robots_delay_ms(web, host);
    if (websim_robots_of(web, host) == WEBSIM_ROBOTS_AGENT) {
        /* Two groups for one agent count as one. */
        size_t half = count / 2;
        at = write_group(at, web->parameters.agent, rules, half ? half : count);
        at = websim_write_text(at, "\nUser-agent: somebot\nUser-agent: otherbot\nDisallow: /\n\n");
        if (half)
            at = write_group(at, web->parameters.agent, rules + half, count - half);
        *at++ = '\n';
        count = rules_of(web, host, false, rules);
    }
    at = write_group(at, "*", rules, count);
    if (delay)
        at += snprintf(at, 64, "Crawl-delay: %u.%03u\n", delay / 1000, delay % 1000);
    if (websim_robots_has_sitemap(web, host)) {
        at = websim_write_text(at, "Sitemap: ");
        at += websim_host_origin(web, host, at);
        at = websim_write_text(at, "/sitemap.xml\n");
    }
    return (size_t)(at - out);
}
