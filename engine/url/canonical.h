/* Canonicalisation beyond the URL standard: named rules that make different URLs of the same page equal.
 *
 * To fetch a URL as it was linked and use the canonical one only as the key in the sieve, apply the rules to
 * a copy (url_copy). A rule never makes a URL longer. */
#pragma once

#include <stdbool.h>

#include "engine/url/url.h"

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

/* Reads "www,session-ids", also "default", "none" and "all"; white space around names is ignored. False
 * for an unknown name, which is stored in `bad` unless that is NULL. */
bool canonical_parse(unsigned *rules, struct slice names, struct slice *bad);
