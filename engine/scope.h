/* Which URLs belong to the crawl. Rules are asked in a fixed order, and the first that decides gives the
 * answer its name: that is what `lycosa why` prints.
 *
 *   url-bytes      longer than scope.url-bytes                      out
 *   embed          an embedded thing, and scope.embeds is no        out
 *   depth          further from a seed than scope.depth             out
 *   path-segments, path-repeats                                     out (traps)
 *   extension      ends in one of scope.skip-extensions             out
 *   exclude        matches one of scope.exclude                     out
 *   include        matches none of scope.include, if there are any  out
 *   suffix         host ends in none of scope.suffixes, if any      out
 *   host           on a host or domain of the seeds, or mode any    in
 *   surt           below one of scope.surts                         in
 *   hops-off       no more links off the scope's hosts allowed      out, else in
 *
 * Built before the loops start, then only read. What a thread needs to ask is a scope_loop of its own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/tuning.h"
#include "engine/url.h"
#include "net/slice.h"

enum scope_rule {
    SCOPE_URL_BYTES,
    SCOPE_EMBED,
    SCOPE_DEPTH,
    SCOPE_PATH_SEGMENTS,
    SCOPE_PATH_REPEATS,
    SCOPE_EXTENSION,
    SCOPE_EXCLUDE,
    SCOPE_INCLUDE,
    SCOPE_SUFFIX,
    SCOPE_HOST,
    SCOPE_SURT,
    SCOPE_HOPS_OFF,
    SCOPE_RULES,
};

struct scope_answer {
    bool is_in;
    bool is_off; /* in, but off the scope's hosts: one of the hops that scope.hops-off allows */
    enum scope_rule rule;
    struct slice
        item; /* the expression, suffix or prefix that decided, where there are several; else empty */
};

/* What is known of a URL beside its text. */
struct scope_context {
    unsigned depth;
    unsigned hops_off; /* links off the scope's hosts in a row before this one */
    bool is_embed;
};

struct scope;

/* NULL: `error` says which expression or rule is wrong. `tuning` outlives the scope. */
struct scope *scope_create(const struct tuning *tuning, struct tuning_error *error);
void scope_destroy(struct scope *scope);

/* The hosts and domains of seeds. Before the first scope_loop_create. */
void scope_add_seed(struct scope *scope, const struct url *url);

struct scope_loop;
struct scope_loop *scope_loop_create(const struct scope *scope);
void scope_loop_destroy(struct scope_loop *loop);

struct scope_answer scope_ask(struct scope_loop *loop, const struct url *url,
                              const struct scope_context *context);

/* The name of a rule as above. */
const char *scope_rule_name(enum scope_rule rule);

/* Whether a body of this type is to be stored: scope.mime. */
bool scope_wants_mime(const struct tuning *tuning, struct slice mime);
