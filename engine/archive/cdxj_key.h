/* The key by which a URL is found in an index: what pywb, and the Python module "surt" that it asks, make of it.
 *
 *     https://www.Example.org:8443/A//b/?z=1&a=2   ->   org,example:8443)/a/b?a=2&z=1
 *
 * Scheme, userinfo, fragment and "www." are left out; the names of the host stand in reverse, addresses of IPv4 as well. Path
 * and query are unescaped as often as possible and escaped once; the whole is in lower case. Of a path, double
 * slashes and the last slash go; of a query, session ids, and if nothing is left the '?'. The arguments of a query are
 * sorted. What is no http or https URL ("urn:...", "dns:...") is its own key; white space in it is escaped.
 *
 * Two rules of that module are left out: session ids of ASP.NET within a path, and names of hosts that are no names
 * (the URL standard refuses them). Pure. */
#pragma once

#include "engine/archive/limits.h"
#include "net/slice.h"

/* Writes the key to `buffer` of CDXJ_KEY_BYTES_MAX bytes. Empty: the URL is too long. */
struct slice cdxj_key_write(char *buffer, struct slice url);
