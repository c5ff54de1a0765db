/* A file is read twice: once to see whether any group names the crawler and how many rules there are, once to
 * compile the rules of those groups, or of the groups for "*" if none does. */
#include "engine/robots/robots.h"

#include <assert.h>

#include "engine/robots/robots_pattern.h"
#include "engine/robots/robots_rules.h"
#include "engine/url/limits.h"

/* "allow:x" and a line end: no rule is shorter, so an index of 16 bits reaches all of them. */
#define LINE_BYTES_MIN 8
_Static_assert(ROBOTS_BYTES_MAX / LINE_BYTES_MIN < UINT16_MAX, "rules fit their indexes");
_Static_assert(ROBOTS_BYTES_MAX *ROBOTS_PATTERN_GROWTH < ROBOTS_TEXT_MASK, "patterns fit their offsets");

enum key { KEY_OTHER, KEY_AGENT, KEY_ALLOW, KEY_DISALLOW, KEY_DELAY, KEY_SITEMAP };

struct line {
    enum key key;
    struct slice value;
};

/* Where in the groups the reader is. A group's rules are for all the user agents above them; records of other
 * kinds do not end the list of user agents (RFC 9309, 2.2.4). */
struct reader {
    struct slice rest, agent;
    bool has_carriages;      /* some line may end in a carriage return */
    bool in_agents;          /* the last line of this protocol was a user agent */
    bool for_agent, for_all; /* the present group names the crawler, or all */
    bool agent_seen;         /* some group names the crawler */
};

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static enum key key_of(struct slice name)
{
    static const struct {
        struct slice name;
        enum key key;
    } keys[] = {{{"user-agent", 10}, KEY_AGENT},
                {{"allow", 5}, KEY_ALLOW},
                {{"disallow", 8}, KEY_DISALLOW},
                {{"crawl-delay", 11}, KEY_DELAY},
                {{"sitemap", 7}, KEY_SITEMAP}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (slice_equals_nocase(name, keys[i].name))
            return keys[i].key;
    return KEY_OTHER;
}

static struct line parse_line(struct slice text)
{
    const char *hash = memchr(text.ptr, '#', text.len);
    if (hash)
        text = slice_between(text.ptr, hash);
    const char *colon = memchr(text.ptr, ':', text.len);
    if (!colon)
        return (struct line){.key = KEY_OTHER};
    enum key key = key_of(slice_trim(slice_between(text.ptr, colon)));
    return (struct line){key, slice_trim(slice_between(colon + 1, text.ptr + text.len))};
}

/* Letters, '_' and '-' (RFC 9309, 2.2.1): the rest, as in "name/1.0", is not compared. */
static struct slice product_token(struct slice text)
{
    size_t i = 0;
    while (i < text.len && ((slice_lower(text.ptr[i]) >= 'a' && slice_lower(text.ptr[i]) <= 'z') ||
                            text.ptr[i] == '_' || text.ptr[i] == '-'))
        i++;
    return (struct slice){text.ptr, i};
}

static void read_agent(struct reader *reader, struct slice value)
{
    if (!reader->in_agents)
        reader->for_agent = reader->for_all = false;
    reader->in_agents = true;
    struct slice token = product_token(value);
    if (token.len && slice_equals_nocase(token, reader->agent))
        reader->for_agent = reader->agent_seen = true;
    if (value.len && value.ptr[0] == '*' && (value.len == 1 || slice_is_blank(value.ptr[1])))
        reader->for_all = true;
}

/* Up to the next line feed or carriage return. */
static struct slice first_line(const struct reader *reader)
{
    struct slice text = reader->rest;
    const char *feed = memchr(text.ptr, '\n', text.len);
    struct slice line = feed ? slice_between(text.ptr, feed) : text;
    const char *carriage = reader->has_carriages ? memchr(line.ptr, '\r', line.len) : NULL;
    return carriage ? slice_between(line.ptr, carriage) : line;
}

/* Returns the length of a line that is too short for a key and a value, with its end, or 0. This makes half a
 * megabyte of empty lines cheap. */
static size_t short_line(struct slice text)
{
    for (size_t i = 0; i < LINE_BYTES_MIN - 1 && i < text.len; i++)
        if (is_line_end(text.ptr[i]))
            return i + 1;
    return 0;
}

/* The next line with a key and a value; false at the end. */
static bool next_line(struct reader *reader, struct line *line)
{
    while (reader->rest.len) {
        size_t idle = short_line(reader->rest);
        if (idle) {
            reader->rest = slice_skip(reader->rest, idle);
            continue;
        }
        struct slice text = first_line(reader);
        reader->rest = slice_skip(reader->rest, text.len + (text.len < reader->rest.len));
        if (text.len < LINE_BYTES_MIN - 1)
            continue; /* too short for a key and a value */
        *line = parse_line(text);
        if (line->key == KEY_AGENT)
            read_agent(reader, line->value);
        else if (line->key == KEY_ALLOW || line->key == KEY_DISALLOW)
            reader->in_agents = false;
        if (line->key != KEY_OTHER)
            return true;
    }
    return false;
}

/* At most ROBOTS_BYTES_MAX bytes, without an incomplete last line and without a byte order mark. */
static struct slice readable_part(struct slice text, bool *truncated)
{
    *truncated = text.len > ROBOTS_BYTES_MAX;
    if (*truncated) {
        text.len = ROBOTS_BYTES_MAX;
        while (text.len && !is_line_end(text.ptr[text.len - 1]))
            text.len--;
    }
    if (slice_starts_with(text, SLICE("\xef\xbb\xbf")))
        text = slice_skip(text, 3);
    return text;
}

static bool is_rule(const struct line *line)
{
    return (line->key == KEY_ALLOW || line->key == KEY_DISALLOW) && line->value.len;
}

struct counts {
    uint32_t for_agent, for_all, sitemaps;
    bool agent_seen;
};

static struct reader reader_of(struct slice text, struct slice agent)
{
    return (struct reader){.rest = text, .agent = agent, .has_carriages = memchr(text.ptr, '\r', text.len)};
}

static struct counts count_rules(struct reader reader)
{
    struct counts counts = {0};
    struct line line;
    while (next_line(&reader, &line)) {
        counts.sitemaps += line.key == KEY_SITEMAP;
        counts.for_agent += is_rule(&line) && reader.for_agent;
        counts.for_all += is_rule(&line) && reader.for_all;
    }
    counts.agent_seen = reader.agent_seen;
    return counts;
}

/* The pairs of bytes that occur in every path that matches the pattern. */
static uint64_t pattern_pairs(struct slice pattern)
{
    uint64_t pairs = 0;
    for (;;) {
        const char *star = memchr(pattern.ptr, '*', pattern.len);
        if (!star)
            return pairs | robots_pairs(pattern);
        pairs |= robots_pairs(slice_between(pattern.ptr, star));
        pattern = slice_skip(pattern, (size_t)(star - pattern.ptr) + 1);
    }
}

/* Whether the rule says what the last one said. */
static bool is_again(const struct robots *robots, const struct robots_entry *entry, const char *text)
{
    const struct robots_entry *last = entry - 1;
    return robots->rule_count > 1 && last->len == entry->len &&
           !((last->text_flags ^ entry->text_flags) & ~ROBOTS_TEXT_MASK) &&
           memcmp(robots_entry_text(robots, last), text, entry->len) == 0;
}

/* Compiles one rule; its text goes to `*text`, which moves on. */
static void add_rule(struct robots *robots, const struct line *line, char **text)
{
    uint64_t pairs;
    size_t used = (size_t)(*text - (char *)robots);
    if (used + sizeof pairs + line->value.len * ROBOTS_PATTERN_GROWTH > ROBOTS_COMPILED_BYTES_MAX) {
        robots->truncated = true;
        return;
    }
    char *normal = *text + sizeof pairs;
    size_t len = robots_pattern_normalise(normal, line->value);
    if (len > 2 * URL_BYTES_MAX || (normal[0] != '/' && normal[0] != '*'))
        return; /* longer than any URL, or not the start of a path: cannot match */
    bool anchored = normal[len - 1] == '$';
    struct slice pattern = {normal, len - anchored};
    const char *star = memchr(normal, '*', pattern.len);
    bool wild = star && star < normal + pattern.len - 1;
    bool trailing = star && !wild; /* "/a*" and "/a*$" match what "/a" matches */
    struct robots_entry *entry = &robots_entries(robots)[robots->rule_count++];
    if (wild) {
        pairs = pattern_pairs(pattern);
        memcpy(*text, &pairs, sizeof pairs);
    } else {
        memmove(*text, normal, len);
        normal = *text;
    }
    *entry = (struct robots_entry){.literal = (uint16_t)(star ? (size_t)(star - pattern.ptr) : pattern.len),
                                   .len = (uint16_t)len};
    entry->head = robots_head((struct slice){normal, entry->literal});
    entry->text_flags = (uint32_t)(normal - ((char *)robots + robots->text));
    entry->text_flags |= line->key == KEY_ALLOW ? ROBOTS_ALLOW : 0;
    entry->text_flags |= wild ? ROBOTS_WILD : 0;
    entry->text_flags |= anchored && !trailing ? ROBOTS_END : 0;
    if (is_again(robots, entry, normal))
        robots->rule_count--; /* thousands of equal ones would take long to sort */
    else
        *text = normal + len;
}

/* Seconds with a fraction, in milliseconds; 0 if it is no number. */
static uint32_t read_delay(struct slice value)
{
    uint64_t ms = 0, unit = 1000;
    size_t i = 0;
    for (; i < value.len && value.ptr[i] >= '0' && value.ptr[i] <= '9' && ms < ROBOTS_DELAY_MS_MAX; i++)
        ms = ms * 10 + (uint64_t)(value.ptr[i] - '0') * 1000;
    if (i < value.len && value.ptr[i] == '.')
        for (i++; i < value.len && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++)
            ms += (uint64_t)(value.ptr[i] - '0') * (unit /= 10);
    return ms < ROBOTS_DELAY_MS_MAX ? (uint32_t)ms : ROBOTS_DELAY_MS_MAX;
}

static void read_delays_and_rules(struct robots *robots, struct reader reader, char **text)
{
    struct line line;
    while (next_line(&reader, &line)) {
        bool ours = robots->for_all ? reader.for_all : reader.for_agent;
        if (ours && is_rule(&line))
            add_rule(robots, &line, text);
        if (ours && line.key == KEY_DELAY && read_delay(line.value) > robots->crawl_delay_ms)
            robots->crawl_delay_ms = read_delay(line.value);
    }
}

static void read_sitemaps(struct robots *robots, struct reader reader, char **text)
{
    struct line line;
    while (next_line(&reader, &line)) {
        if (line.key != KEY_SITEMAP || !line.value.len)
            continue;
        uint32_t len = (uint32_t)line.value.len;
        memcpy(*text, &len, sizeof len);
        memcpy(*text + sizeof len, line.value.ptr, len);
        *text += sizeof len + len;
        robots->sitemap_count++;
    }
}

static size_t lines_max(size_t len)
{
    return (len < ROBOTS_BYTES_MAX ? len : ROBOTS_BYTES_MAX) / LINE_BYTES_MIN + 1;
}

/* Of the compiled form, without the scratch memory behind it. */
static size_t compiled_max(size_t len)
{
    size_t read = len < ROBOTS_BYTES_MAX ? len : ROBOTS_BYTES_MAX;
    size_t per_line =
        sizeof(struct robots_entry) + sizeof(uint64_t) /* pairs */ + sizeof(uint32_t) /* sitemap */;
    size_t bytes = sizeof(struct robots) + lines_max(len) * per_line + read * ROBOTS_PATTERN_GROWTH;
    return (bytes + 15) / 16 * 16;
}

size_t robots_size(size_t len)
{
    return compiled_max(len) + robots_rules_scratch(lines_max(len));
}

/* Moves the patterns down, behind the rules that are left after equal ones were merged. */
static char *close_gap(struct robots *robots, const char *end)
{
    char *begin = (char *)robots + robots->text;
    char *moved = (char *)(robots_entries(robots) + robots->rule_count);
    memmove(moved, begin, (size_t)(end - begin));
    robots->text = (uint32_t)(moved - (char *)robots);
    return moved + (end - begin);
}

struct robots *robots_compile(void *buffer, struct slice text, struct slice agent)
{
    struct robots *robots = robots_without_file(buffer, true);
    void *scratch = (char *)buffer + compiled_max(text.len);
    text = readable_part(text, &robots->truncated);
    agent = product_token(agent);
    struct reader reader = reader_of(text, agent);
    struct counts counts = count_rules(reader);
    robots->for_all = !counts.agent_seen;
    uint32_t count = robots->for_all ? counts.for_all : counts.for_agent;
    char *end = (char *)(robots_entries(robots) + count);
    robots->text = (uint32_t)(end - (char *)robots);
    read_delays_and_rules(robots, reader, &end);
    robots_rules_finish(robots, scratch);
    end = close_gap(robots, end);
    robots->sitemaps = (uint32_t)(end - (char *)robots);
    if (counts.sitemaps)
        read_sitemaps(robots, reader, &end);
    robots->bytes = (uint32_t)(end - (char *)robots);
    assert((char *)robots + robots->bytes <= (char *)scratch);
    return robots;
}

struct robots *robots_without_file(void *buffer, bool allow)
{
    struct robots *robots = memset(buffer, 0, sizeof *robots); /* equal rules are equal in every byte */
    robots->bytes = robots->text = robots->sitemaps = sizeof *robots;
    robots->disallow_all = !allow;
    return robots;
}

bool robots_sitemap(const struct robots *robots, uint32_t *cursor, struct slice *text)
{
    uint32_t len;
    if (robots->sitemaps + *cursor == robots->bytes)
        return false;
    const char *at = (const char *)robots + robots->sitemaps + *cursor;
    memcpy(&len, at, sizeof len);
    *text = (struct slice){at + sizeof len, len};
    *cursor += (uint32_t)sizeof len + len;
    return true;
}

enum robots_action robots_from_status(struct robots_fetch fetch)
{
    if (fetch.status >= 200 && fetch.status < 300)
        return ROBOTS_PARSE;
    if (fetch.status >= 300 && fetch.status < 400)
        return fetch.has_location && fetch.redirects < ROBOTS_REDIRECTS_MAX ? ROBOTS_FOLLOW
                                                                            : ROBOTS_ALLOW_ALL;
    if (fetch.status >= 400 && fetch.status < 500)
        return ROBOTS_ALLOW_ALL;
    return ROBOTS_DISALLOW_ALL;
}
