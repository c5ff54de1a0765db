#include "engine/frontier/holds.h"

#include <stdlib.h>
#include <string.h>

#include "engine/url/domain.h"
#include "engine/url/hash.h"
#include "engine/url/url.h"

static struct slice name_of(const struct holds_target *target)
{
    return (struct slice){target->name, target->len};
}

static const char *set(struct holds_target *target, struct slice name, bool is_domain)
{
    if (name.len > sizeof target->name)
        return "it is longer than the name of a host can be";
    *target = (struct holds_target){.is_domain = is_domain, .len = (uint16_t)name.len};
    memcpy(target->name, name.ptr, name.len);
    return NULL;
}

const char *holds_parse_host(struct holds_target *target, struct slice text)
{
    char buffer[URL_BYTES_MAX];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    enum url_error error = url_parse(&url, NULL, text);
    if (error != URL_OK)
        return url_error_text(error);
    if (url_has_userinfo(&url) || url_text(&url).len != url.path + 1u)
        return "a host is a scheme and a name, with a port if it has one: https://example.org";
    return set(target, url_host_key(&url), false);
}

const char *holds_parse_domain(struct holds_target *target, struct slice text)
{
    char buffer[URL_BYTES_MAX], whole[URL_HOST_BYTES_MAX + 16];
    struct url url;
    int len = snprintf(whole, sizeof whole, "http://%.*s/", (int)text.len, text.ptr);
    url_init(&url, buffer, sizeof buffer);
    enum url_error error = text.len > URL_HOST_BYTES_MAX
                               ? URL_TOO_LONG
                               : url_parse(&url, NULL, (struct slice){whole, (size_t)len});
    if (error != URL_OK)
        return url_error_text(error);
    bool has_port = text.ptr[0] != '[' && memchr(text.ptr, ':', text.len); /* also one that the parser leaves out */
    if (url_has_userinfo(&url) || url_text(&url).len != url.path + 1u || url.path != url.host_end || has_port)
        return "a domain is a name alone: example.org";
    if (domain_registrable(url_host(&url)).len != url_host(&url).len)
        return "it is not a registrable domain, but a name below one";
    return set(target, url_host(&url), true);
}

static bool is_same(const struct holds_target *a, const struct holds_target *b)
{
    return a->is_domain == b->is_domain && slice_equals(name_of(a), name_of(b));
}

const struct holds_entry *holds_find(const struct holds *holds, const struct holds_target *target)
{
    for (uint32_t i = 0; holds && i < holds->count; i++)
        if (!holds->entries[i].dropped && is_same(&holds->entries[i].target, target))
            return &holds->entries[i];
    return NULL;
}

static void add(struct holds *holds, const struct holds_entry *entry)
{
    holds->entries[holds->count++] = *entry;
    holds->domains += entry->target.is_domain;
    if (entry->dropped > holds->last_drop)
        holds->last_drop = entry->dropped;
}

/* The entries of `last` that stay. */
static void keep(struct holds *next, const struct holds *last, const struct holds_order *order)
{
    for (uint32_t i = 0; last && i < last->count; i++) {
        const struct holds_entry *entry = &last->entries[i];
        bool is_released =
            order->verb == HOLDS_RELEASE && !entry->dropped && is_same(&entry->target, &order->target);
        bool is_redone = entry->dropped && order->verb == HOLDS_DROP && is_same(&entry->target, &order->target);
        if (!is_released && !is_redone && !(entry->dropped && order->forgets_drops))
            add(next, entry);
    }
}

enum holds_result holds_follow(const struct holds *last, const struct holds_order *order, struct holds **next)
{
    const struct holds_entry *held = holds_find(last, &order->target);
    if (order->verb == HOLDS_HOLD && held)
        return HOLDS_SAME;
    if (order->verb == HOLDS_RELEASE && !held)
        return HOLDS_NOT_HELD;
    uint32_t count = last ? last->count : 0;
    struct holds *made = calloc(1, sizeof *made + (count + 1) * sizeof made->entries[0]);
    if (!made)
        return HOLDS_NO_MEMORY;
    made->number = last ? last->number + 1 : 1;
    keep(made, last, order);
    if (order->verb != HOLDS_RELEASE)
        add(made, &(struct holds_entry){.target = order->target,
                                        .hash = hash_slice(name_of(&order->target)),
                                        .dropped = order->verb == HOLDS_DROP ? made->number : 0});
    if (made->count > HOLDS_MAX) {
        free(made);
        return HOLDS_FULL;
    }
    *next = made;
    return HOLDS_DONE;
}

struct holds_answer holds_ask(const struct holds *holds, struct slice key, struct slice name)
{
    struct holds_answer answer = {0};
    struct slice names[2] = {key, {"", 0}};
    if (holds->domains)
        names[1] = domain_registrable(name);
    uint64_t hashes[2] = {hash_slice(names[0]), hash_slice(names[1])};
    for (uint32_t i = 0; i < holds->count; i++) {
        const struct holds_entry *entry = &holds->entries[i];
        bool is_domain = entry->target.is_domain;
        if (entry->hash != hashes[is_domain] || !slice_equals(name_of(&entry->target), names[is_domain]))
            continue;
        answer.is_held |= !entry->dropped;
        answer.dropped = entry->dropped > answer.dropped ? entry->dropped : answer.dropped;
    }
    return answer;
}

void holds_write(const struct holds *holds, FILE *out)
{
    for (uint32_t i = 0; holds && i < holds->count; i++) {
        const struct holds_target *target = &holds->entries[i].target;
        if (!holds->entries[i].dropped)
            fprintf(out, "%s %.*s\n", target->is_domain ? "domain" : "host", (int)target->len, target->name);
    }
}

static struct slice next_line(struct slice *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    struct slice line = end ? slice_between(text->ptr, end) : *text;
    *text = slice_skip(*text, line.len + (end != NULL));
    const char *comment = memchr(line.ptr, '#', line.len);
    line = comment ? slice_between(line.ptr, comment) : line;
    while (line.len && (line.ptr[line.len - 1] == ' ' || line.ptr[line.len - 1] == '\r'))
        line.len--;
    return line;
}

static const char *read_line(struct holds **holds, struct slice line)
{
    struct holds_order order = {.verb = HOLDS_HOLD};
    struct holds *next = NULL;
    const char *why = "a line is 'host KEY' or 'domain NAME'";
    if (slice_starts_with(line, SLICE("host ")))
        why = holds_parse_host(&order.target, slice_skip(line, 5));
    else if (slice_starts_with(line, SLICE("domain ")))
        why = holds_parse_domain(&order.target, slice_skip(line, 7));
    if (why)
        return why;
    enum holds_result result = holds_follow(*holds, &order, &next);
    if (result == HOLDS_SAME)
        return NULL;
    if (result != HOLDS_DONE)
        return result == HOLDS_FULL ? "there are too many" : "no memory";
    free(*holds);
    *holds = next;
    return NULL;
}

unsigned holds_read(struct slice text, struct holds **holds, const char **why)
{
    *holds = NULL;
    *why = NULL;
    for (unsigned number = 1; text.len; number++) {
        struct slice line = next_line(&text);
        *why = line.len ? read_line(holds, line) : NULL;
        if (*why) {
            free(*holds);
            *holds = NULL;
            return number;
        }
    }
    if (*holds)
        (*holds)->number = 1;
    return 0;
}
