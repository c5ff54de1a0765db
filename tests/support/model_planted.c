/* Bugs planted on purpose, so that the tests can show that they find them: see model_verify in model.h. */
#include "tests/support/model_internal.h"
#include "tests/support/model_atomic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SITES_MAX 1024

static const char *planted; /* value of MODEL_PLANTED, or NULL */
static bool is_listing;
static const char *function_now = ""; /* that makes the next call */

void model_planted_begin(void)
{
    planted = getenv("MODEL_PLANTED");
    is_listing = getenv("MODEL_SITES") != NULL;
}

bool model_planted_is_on(void)
{
    return planted != NULL;
}

bool model_is_planted(const char *bug)
{
    return planted && strcmp(planted, bug) == 0;
}

void model_planted_at(const char *function)
{
    function_now = function;
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A site is FILE:LINE: TEXT, a planted bug KIND@FUNCTION@TEXT. */
bool model_planted_here(const char *kind, const char *site)
{
    if (!planted || !begins_with(planted, kind) || planted[strlen(kind)] != '@')
        return false;
    const char *function = planted + strlen(kind) + 1;
    const char *text = strchr(function, '@'), *here = strstr(site, ": ");
    size_t length = strlen(function_now);
    return text && here && (size_t)(text - function) == length && begins_with(function, function_now) &&
           begins_with(here + 2, text + 1);
}

bool model_planted_is_listing(void)
{
    return is_listing;
}

void model_planted_list(const char *site)
{
    static const char *listed[SITES_MAX];
    static unsigned count;
    for (unsigned i = 0; i < count; i++)
        if (listed[i] == site)
            return;
    if (!is_listing || count == SITES_MAX)
        return;
    listed[count++] = site;
    printf("site %s %s\n", function_now, site);
}
