/* Canonicalisation beyond the URL standard: named rules that make URLs equal which a site serves alike.
 *
 * Which URL is fetched and which is only the key in the sieve is the caller's choice: apply the rules to a
 * copy (url_copy) to keep the URL as it was linked. A rule only ever shortens or rewrites in place. */
#pragma once

#include <stdbool.h>

#include "engine/url.h"

/* The bits of a rule set. They are applied in this order, whatever the order of the names. */
enum canonical_rule {
    CANONICAL_FRAGMENT = 1u << 0,    /* fragment: drop "#..." */
    CANONICAL_USERINFO = 1u << 1,    /* userinfo: drop "user:secret@" */
    CANONICAL_CASE = 1u << 2,        /* case: path and query to lower case */
    CANONICAL_WWW = 1u << 3,         /* www: drop "www.", "www1." ..., but not on a root page */
    CANONICAL_SESSION_IDS = 1u << 4, /* session-ids: jsessionid, phpsessid, sid, ASPSESSIONID, cfid/cftoken */
    CANONICAL_EMPTY_QUERY = 1u << 5, /* empty-query: drop "?", "?&", a leading or trailing "&" */
    CANONICAL_INDEX_PAGE = 1u << 6,  /* index-page: "/index.html", "/default.aspx" ... to "/" */
};

#define CANONICAL_NONE    0u
#define CANONICAL_ALL     ((1u << 7) - 1)
#define CANONICAL_DEFAULT (CANONICAL_FRAGMENT | CANONICAL_USERINFO)

/* Applies the rules to `url` in its buffer. */
void canonical_apply(struct url *url, unsigned rules);

/* The name of the rule with bit `index`, or NULL past the last. */
const char *canonical_name(unsigned index);

/* Reads "www,session-ids", also "default", "none" and "all"; white space around names is free. On an unknown
 * name the answer is false and `bad` (unless NULL) holds it. */
bool canonical_parse(unsigned *rules, struct slice names, struct slice *bad);
