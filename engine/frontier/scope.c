#include "engine/frontier/scope.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/frontier/expressions.h"
#include "engine/frontier/scope_traps.h"
#include "engine/url/domain.h"
#include "engine/url/hash.h"
#include "engine/url/surt.h"
#include "lockfree/atomic.h"

enum {
    NAME_BYTES_MAX = 253, /* the longest name in DNS, as text (RFC 1035, 2.3.4) */
    HOST_CACHE_SLOTS = 4096,
    SEED_SLOTS_MIN = 64,
};

/* Open addressing, never more than half full. One thread adds while others look. A set that has become too small is
 * left as it is, because others may look into it still: `last` has it. */
struct hash_set {
    struct hash_set *last;
    size_t size, count;
    _Atomic(uint64_t) slots[];
};

struct scope {
    const struct scope_tuning_fixed *tuning;
    struct expressions *exclude, *include;
    _Atomic(struct hash_set *) seeds; /* host keys without scheme, or registrable domains */
    _Atomic(uint32_t) additions;      /* calls of scope_tell_seeds */
};

enum { CACHED_UNKNOWN, CACHED_IN, CACHED_OUT };

/* Caches the answers of the rule `host` for recent hosts. */
struct scope_loop {
    const struct scope *scope;
    struct expressions_loop *expressions;
    uint16_t good_port; /* the last one that is no bad port: most links have it, too */
    struct {
        uint64_t hash;
        uint32_t additions; /* when it was asked */
        uint8_t answer;
    } hosts[HOST_CACHE_SLOTS];
};

static const char *const rule_names[SCOPE_RULES] = {
    [SCOPE_URL_BYTES] = "url-bytes",
    [SCOPE_NAME_BYTES] = "name-bytes",
    [SCOPE_BAD_PORT] = "bad-port",
    [SCOPE_EMBED] = "embed",
    [SCOPE_DEPTH] = "depth",
    [SCOPE_PATH_SEGMENTS] = "path-segments",
    [SCOPE_PATH_REPEATS] = "path-repeats",
    [SCOPE_EXTENSION] = "extension",
    [SCOPE_EXCLUDE] = "exclude",
    [SCOPE_INCLUDE] = "include",
    [SCOPE_SUFFIX] = "suffix",
    [SCOPE_HOST] = "host",
    [SCOPE_SURT] = "surt",
    [SCOPE_HOPS_OFF] = "hops-off",
    [SCOPE_REQUISITE] = "requisite",
};

const char *scope_rule_name(enum scope_rule rule)
{
    return rule_names[rule];
}

/* Relaxed: a hash that is not seen yet is one that was not there yet; R1 in scope_tell_seeds orders those that must be. */
static _Atomic(uint64_t) *set_slot(struct hash_set *set, uint64_t hash)
{
    size_t at = hash & (set->size - 1);
    for (uint64_t found; (found = lf_load(&set->slots[at], relaxed)) && found != hash;)
        at = (at + 1) & (set->size - 1);
    return &set->slots[at];
}

static bool set_has(const struct scope *scope, uint64_t hash)
{
    struct hash_set *set = lf_load(&scope->seeds, acquire); /* A2 pairs with R2 in set_grow */
    return lf_load(set_slot(set, hash | 1), relaxed) != 0;
}

/* NULL: no memory. */
static struct hash_set *set_create(size_t size)
{
    struct hash_set *set = calloc(1, sizeof *set + size * sizeof set->slots[0]);
    if (set)
        set->size = size;
    return set;
}

static struct hash_set *set_grow(struct scope *scope, struct hash_set *set)
{
    struct hash_set *larger = set_create(set->size * 2);
    if (!larger)
        return NULL;
    larger->last = set;
    larger->count = set->count;
    for (size_t i = 0; i < set->size; i++) {
        uint64_t hash = lf_load(&set->slots[i], relaxed);
        if (hash)
            lf_store(set_slot(larger, hash), hash, relaxed);
    }
    lf_store(&scope->seeds, larger, release); /* R2 pairs with A2 in set_has */
    return larger;
}

/* False: no memory. */
static bool set_add(struct scope *scope, uint64_t hash)
{
    struct hash_set *set = lf_load(&scope->seeds, relaxed); /* only this thread changes it */
    if (set->count * 2 >= set->size && !(set = set_grow(scope, set)))
        return false;
    _Atomic(uint64_t) *slot = set_slot(set, hash | 1);
    set->count += lf_load(slot, relaxed) == 0;
    lf_store(slot, hash | 1, relaxed);
    return true;
}

static void free_sets(struct hash_set *set)
{
    while (set) {
        struct hash_set *last = set->last;
        free(set);
        set = last;
    }
}

struct scope *scope_create(const struct scope_tuning_fixed *tuning, struct tuning_error *error)
{
    struct scope *scope = calloc(1, sizeof *scope);
    struct hash_set *seeds = set_create(SEED_SLOTS_MIN);
    if (!scope || !seeds) {
        snprintf(error->message, sizeof error->message, "no memory for the scope");
        free(scope);
        free(seeds);
        return NULL;
    }
    scope->tuning = tuning;
    lf_store(&scope->seeds, seeds, relaxed); /* nobody else has it yet */
    scope->exclude = expressions_create("exclude", tuning->exclude, error);
    if (scope->exclude)
        scope->include = expressions_create("include", tuning->include, error);
    if (scope->include)
        return scope;
    scope_destroy(scope);
    return NULL;
}

void scope_destroy(struct scope *scope)
{
    expressions_destroy(scope->exclude);
    expressions_destroy(scope->include);
    free_sets(lf_load(&scope->seeds, relaxed)); /* nobody else has it any more */
    free(scope);
}

/* What the rule `host` compares: the authority, or the registrable domain of its name. */
static uint64_t seed_hash(const struct scope *scope, const struct url *url)
{
    return hash_slice(scope->tuning->mode == TUNING_SCOPE_DOMAINS ? domain_registrable(url_host(url))
                                                                  : url_authority(url));
}

size_t scope_expressions(const struct scope *scope)
{
    return expressions_count(scope->exclude) + expressions_count(scope->include);
}

bool scope_add_seed(struct scope *scope, const struct url *url)
{
    if (scope->tuning->mode == TUNING_SCOPE_ANY)
        return true; /* nobody asks for it */
    return set_add(scope, seed_hash(scope, url));
}

void scope_tell_seeds(struct scope *scope)
{
    lf_fetch_add(&scope->additions, 1, release); /* R1 pairs with A1 in is_on_seed_host */
}

struct scope_loop *scope_loop_create(const struct scope *scope)
{
    struct scope_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->scope = scope;
    loop->good_port = 80;
    loop->expressions = expressions_loop_create();
    if (loop->expressions)
        return loop;
    free(loop);
    return NULL;
}

void scope_loop_destroy(struct scope_loop *loop)
{
    expressions_loop_destroy(loop->expressions);
    free(loop);
}

static bool is_on_seed_host(struct scope_loop *loop, const struct url *url)
{
    if (loop->scope->tuning->mode == TUNING_SCOPE_ANY)
        return true;
    uint64_t hash = hash_slice(url_authority(url));
    uint32_t additions = lf_load(&loop->scope->additions, acquire); /* A1 pairs with R1 in scope_tell_seeds */
    __auto_type cached = &loop->hosts[hash % HOST_CACHE_SLOTS];
    bool is_old = cached->answer == CACHED_OUT && cached->additions != additions;
    if (cached->hash != hash || cached->answer == CACHED_UNKNOWN || is_old) {
        cached->hash = hash;
        cached->additions = additions;
        cached->answer = set_has(loop->scope, seed_hash(loop->scope, url)) ? CACHED_IN : CACHED_OUT;
    }
    return cached->answer == CACHED_IN;
}

/* The item of `list` that `text` ends with; empty if there is none. */
static struct slice find_suffix(const char *list, struct slice text)
{
    struct slice rest = slice_of(list), item;
    while (tuning_next_item(&rest, &item))
        if (text.len >= item.len && slice_equals_nocase(slice_skip(text, text.len - item.len), item))
            return item;
    return (struct slice){NULL, 0};
}

/* ".jpg" of "/a/b.jpg", compared without its dot. */
static struct slice find_extension(const struct scope_tuning_fixed *tuning, struct slice path)
{
    struct slice rest = slice_of(tuning->skip_extensions), item;
    while (tuning_next_item(&rest, &item)) {
        if (item.ptr[0] == '.')
            item = slice_skip(item, 1);
        if (path.len > item.len && path.ptr[path.len - item.len - 1] == '.' &&
            slice_equals_nocase(slice_skip(path, path.len - item.len), item))
            return item;
    }
    return (struct slice){NULL, 0};
}

/* Whether scope.allow-ports has the port. */
static bool is_allowed_port(const struct scope_tuning_fixed *tuning, unsigned port)
{
    struct slice rest = slice_of(tuning->allow_ports), item;
    char text[8];
    size_t len = (size_t)snprintf(text, sizeof text, "%u", port);
    while (tuning_next_item(&rest, &item))
        if (slice_equals(item, (struct slice){text, len}))
            return true;
    return false;
}

static bool has_bad_port(const struct scope_tuning_fixed *tuning, const struct url *url)
{
    bool is_own = url->port == (url_is_https(url) ? 443 : 80);
    return !is_own && scope_is_bad_port(url->port) && !is_allowed_port(tuning, url->port);
}

/* Whether the name is too long, without the trailing dot of the root. */
static bool has_long_name(const struct url *url)
{
    struct slice host = url_host(url);
    return host.len - (host.len && host.ptr[host.len - 1] == '.') > NAME_BYTES_MAX;
}

bool scope_may_connect(const struct scope_tuning_fixed *tuning, const struct url *url)
{
    return !has_long_name(url) && !has_bad_port(tuning, url);
}

static struct slice find_surt(const struct scope_tuning_fixed *tuning, const struct url *url)
{
    struct slice rest = slice_of(tuning->surts), item;
    if (rest.len == 0)
        return (struct slice){NULL, 0};
    char buffer[SURT_BYTES_MAX];
    struct slice surt = surt_write(buffer, url, SURT_AS_HTTP);
    while (tuning_next_item(&rest, &item))
        if (slice_starts_with(surt, item))
            return item;
    return (struct slice){NULL, 0};
}

static struct scope_answer out(enum scope_rule rule, struct slice item)
{
    return (struct scope_answer){.rule = rule, .item = item};
}

static struct scope_answer in(enum scope_rule rule, struct slice item)
{
    return (struct scope_answer){.is_in = true, .rule = rule, .item = item};
}

/* scope.exclude: what could not be decided is out. */
static struct scope_answer ask_excluded(struct scope_loop *loop)
{
    struct expressions_answer found = expressions_ask(loop->expressions, loop->scope->exclude);
    struct scope_answer answer = out(SCOPE_EXCLUDE, found.expression);
    answer.is_in = !found.is_match && !found.is_undecided;
    answer.is_undecided = found.is_undecided;
    return answer;
}

/* scope.include: what could not be decided is out. Without expressions everything is in. */
static struct scope_answer ask_included(struct scope_loop *loop)
{
    struct expressions_answer found = expressions_ask(loop->expressions, loop->scope->include);
    struct scope_answer answer = out(SCOPE_INCLUDE, found.is_match ? (struct slice){NULL, 0} : found.expression);
    answer.is_in = found.is_match || expressions_count(loop->scope->include) == 0;
    answer.is_undecided = found.is_undecided;
    return answer;
}

/* The rules that exclude; is_in of the answer means that none did. */
static struct scope_answer ask_limits(struct scope_loop *loop, const struct url *url,
                                      const struct scope_context *context)
{
    const struct scope_tuning_fixed *tuning = loop->scope->tuning;
    const struct slice none = {NULL, 0};
    struct slice item;
    if (url_page(url).len > tuning->url_bytes_max)
        return out(SCOPE_URL_BYTES, none);
    if (has_long_name(url))
        return out(SCOPE_NAME_BYTES, none);
    if (url->port != loop->good_port && has_bad_port(tuning, url))
        return out(SCOPE_BAD_PORT, none);
    loop->good_port = url->port;
    if (context->is_embed && tuning->embeds == TUNING_EMBEDS_NO)
        return out(SCOPE_EMBED, none);
    if (tuning->depth_max && context->depth > tuning->depth_max)
        return out(SCOPE_DEPTH, none);
    unsigned segments = scope_count_segments(url_path(url));
    if (segments > tuning->path_segments_max)
        return out(SCOPE_PATH_SEGMENTS, none);
    if (segments > tuning->path_repeats_max &&
        scope_repeats_itself(url_path(url), (unsigned)tuning->path_repeats_max))
        return out(SCOPE_PATH_REPEATS, none);
    if (tuning->skip_extensions[0] && (item = find_extension(tuning, url_path(url))).ptr)
        return out(SCOPE_EXTENSION, item);
    expressions_begin(loop->expressions, url_page(url), scope_expressions(loop->scope));
    return ask_excluded(loop);
}

/* The rules that include: hosts, prefixes, hops off the scope. */
static struct scope_answer ask_places(struct scope_loop *loop, const struct url *url,
                                      const struct scope_context *context)
{
    const struct scope_tuning_fixed *tuning = loop->scope->tuning;
    const struct slice none = {NULL, 0};
    struct scope_answer included = ask_included(loop);
    if (!included.is_in)
        return included;
    if (tuning->suffixes[0] && !find_suffix(tuning->suffixes, url_host(url)).ptr)
        return out(SCOPE_SUFFIX, none);
    if (is_on_seed_host(loop, url))
        return in(SCOPE_HOST, none);
    struct slice surt = find_surt(tuning, url);
    if (surt.ptr)
        return in(SCOPE_SURT, surt);
    struct scope_answer answer = in(SCOPE_HOPS_OFF, none);
    answer.is_off = answer.is_in = context->hops_off < tuning->hops_off_max;
    return answer;
}

struct scope_answer scope_ask(struct scope_loop *loop, const struct url *url,
                              const struct scope_context *context)
{
    const struct scope_tuning_fixed *tuning = loop->scope->tuning;
    struct scope_answer answer = ask_limits(loop, url, context);
    if (!answer.is_in)
        return answer;
    answer = ask_places(loop, url, context);
    bool is_requisite = tuning->embeds == TUNING_EMBEDS_ANYWHERE && context->embed_hops > 0 &&
                        context->embed_hops <= tuning->embed_hops_max;
    if ((answer.is_in && !answer.is_off) || !is_requisite)
        return answer;
    answer = in(SCOPE_REQUISITE, (struct slice){NULL, 0});
    answer.is_requisite = true;
    return answer;
}

bool scope_wants_mime(const struct scope_tuning_fixed *tuning, struct slice mime)
{
    struct slice rest = slice_of(tuning->mime), item;
    if (rest.len == 0)
        return true;
    while (tuning_next_item(&rest, &item))
        if (mime.len >= item.len && slice_equals_nocase((struct slice){mime.ptr, item.len}, item))
            return true;
    return false;
}
