/* Which URLs belong to the crawl. The rules apply in a fixed order. The first one that decides is part of the
 * answer, and `lycosa why` prints its name.
 *
 *   url-bytes      longer than scope.url-bytes                      out
 *   name-bytes     a host name that is too long for DNS             out
 *   bad-port       a port of another service, not in allow-ports    out
 *   embed          an embed, and scope.embeds is no                 out
 *   depth          more links away from a seed than scope.depth     out
 *   path-segments, path-repeats   traps                             out
 *   extension      ends in one of scope.skip-extensions             out
 *   exclude        matches one of scope.exclude                     out
 *   include        matches none of scope.include, if there are any  out
 *   suffix         host ends in none of scope.suffixes, if any      out
 *   host           on a host or domain of the seeds, or mode any    in
 *   surt           below one of scope.surts                         in
 *   hops-off       no more links off the scope's hosts allowed      out, else in
 *   requisite      what a page in scope embeds, wherever that is,   in
 *                  if scope.embeds is anywhere: asked in place of include and all after it
 *
 * What scope.exclude or scope.include cannot decide in the steps that a URL has (expressions.h) is out.
 *
 * Built before the loops start, but seeds may be added later, by one thread. Each thread asks through a scope_loop of its
 * own. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/tuning/tuning.h"
#include "engine/url/url.h"
#include "net/slice.h"

enum scope_rule {
    SCOPE_URL_BYTES,
    SCOPE_NAME_BYTES,
    SCOPE_BAD_PORT,
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
    SCOPE_REQUISITE,
    SCOPE_RULES,
};

struct scope_answer {
    bool is_in;
    bool is_off;       /* in, but off the hosts in scope: one of the hops that scope.hops-off allows */
    bool is_requisite; /* in only because a page in scope embeds it: its own links are not followed */
    bool is_undecided; /* out because an expression needs too many steps for this URL (expressions.h) */
    enum scope_rule rule;
    struct slice
        item; /* the expression, suffix or prefix that decided, where there are several; else empty */
};

/* What is known about a URL besides its text. */
struct scope_context {
    unsigned depth;      /* links, this one included */
    unsigned hops_off;   /* links in a row off the hosts in scope, before this one */
    unsigned embed_hops; /* embeds and their redirects in a row; 0: reached by a link */
    bool is_embed;
};

struct scope;

/* NULL: `error` says which expression or rule is wrong. `tuning` must outlive the scope. */
struct scope *scope_create(const struct scope_tuning_fixed *tuning, struct tuning_error *error);
void scope_destroy(struct scope *scope);
/* The regular expressions of the scope. If there are any, each question may take a millisecond. */
size_t scope_expressions(const struct scope *scope);

/* Adds the host or domain of a seed. One thread at a time, also while others ask. False: no memory. */
bool scope_add_seed(struct scope *scope, const struct url *url);
/* Makes added seeds count for threads that ask already. A thread that is handed one of these seeds afterwards finds
 * its host in scope, even if it was told before that this host is out of scope. */
void scope_tell_seeds(struct scope *scope);

struct scope_loop;
/* NULL: no memory. */
struct scope_loop *scope_loop_create(const struct scope *scope);
void scope_loop_destroy(struct scope_loop *loop);

struct scope_answer scope_ask(struct scope_loop *loop, const struct url *url,
                              const struct scope_context *context);

/* Whether the URL's host is one that any crawl would ask: its name fits the name service, its port is no other
 * service's. For a URL that is no link, such as the redirect of a robots.txt, this is the only question. */
bool scope_may_connect(const struct scope_tuning_fixed *tuning, const struct url *url);

/* The name of a rule as above. */
const char *scope_rule_name(enum scope_rule rule);

/* Whether a body of this type is to be stored: scope.mime. */
bool scope_wants_mime(const struct scope_tuning_fixed *tuning, struct slice mime);
