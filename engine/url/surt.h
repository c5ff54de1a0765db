/* SURT, the sort-friendly form of a URL that Heritrix and its tools use for scopes and sorted indexes:
 *
 *     https://www.example.org:8443/a?b  ->  https://(org,example,www,:8443)/a?b
 *
 * All in lower case; an IPv4 host is not reversed; userinfo follows the port after an '@'. */
#pragma once

#include "engine/url/limits.h"
#include "engine/url/url.h"

/* Room for any SURT: a URL plus two brackets and one comma more than it had dots. */
#define SURT_BYTES_MAX (URL_BYTES_MAX + 3)

/* How scopes compare: https counts as http. */
enum surt_scheme { SURT_KEEP_SCHEME, SURT_AS_HTTP };

/* Writes the form of `url`, fragment left out, into `buffer` of SURT_BYTES_MAX bytes. */
struct slice surt_write(char *buffer, const struct url *url, enum surt_scheme scheme);

/* The prefix that a seed implies, with https as http: up to the last '/' of the path; without any path also
 * all subdomains ("example.org" gives "http://(org,example,"). The seed is text as a person wrote it,
 * with or without "http://". Answers as url_parse does. */
enum url_error surt_prefix(char *buffer, struct slice seed, struct slice *prefix);
