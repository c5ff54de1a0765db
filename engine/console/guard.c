#include "engine/console/guard.h"

#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define BEARER     "Bearer "
#define ORDER_TYPE "text/plain;charset=utf-8"

bool guard_make_token(struct guard *guard)
{
    unsigned char bytes[GUARD_TOKEN_CHARS / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(guard->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool has_port(struct slice name)
{
    const char *colon = memrchr(name.ptr, ':', name.len);
    return colon && !memchr(colon, ']', (size_t)(name.ptr + name.len - colon));
}

static void add_name(struct guard *guard, struct slice name, uint16_t port)
{
    size_t len = strlen(guard->names), room = sizeof guard->names - len;
    if (name.len == 0)
        return;
    int written = has_port(name)
                      ? snprintf(guard->names + len, room, "%.*s\n", (int)name.len, name.ptr)
                      : snprintf(guard->names + len, room, "%.*s:%u\n", (int)name.len, name.ptr, (unsigned)port);
    if (written < 0 || (size_t)written >= room)
        guard->names[len] = '\0';
}

void guard_set_names(struct guard *guard, const char *names, uint16_t port)
{
    guard->names[0] = '\0';
    add_name(guard, SLICE("localhost"), port);
    for (const char *at = names; *at;) {
        size_t len = strcspn(at, "\n");
        add_name(guard, (struct slice){at, len}, port);
        at += len + (at[len] == '\n');
    }
}

/* A browser leaves the port out where it is 80. */
static bool is_name(struct slice name, struct slice asked)
{
    bool is_80 = name.len > 3 && memcmp(name.ptr + name.len - 3, ":80", 3) == 0;
    return name.len && (asked.len == name.len || (is_80 && asked.len == name.len - 3)) &&
           strncasecmp(name.ptr, asked.ptr, asked.len) == 0;
}

static bool is_known(const struct guard *guard, const char *host)
{
    struct slice asked = slice_of(host);
    for (const char *at = guard->names; *at;) {
        size_t len = strcspn(at, "\n");
        if (is_name((struct slice){at, len}, asked))
            return true;
        at += len + 1;
    }
    return false;
}

unsigned guard_check_sender(const struct guard *guard, const struct console_request *request, const char **why)
{
    if (request->is_local)
        return 0;
    *why = "this is neither the address that was connected to nor one of the names in control.names";
    if (!request->host || !(is_known(guard, request->host) || is_name(slice_of(request->local), slice_of(request->host))))
        return 403;
    *why = "another site may not ask this one";
    const char *origin = request->origin, *site = request->fetch_site;
    if (origin && (strncasecmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, request->host) != 0))
        return 403;
    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return 403;
    return 0;
}

/* In a time that does not depend on where they differ. */
static bool is_token(const struct guard *guard, const char *authorization)
{
    unsigned char difference = 0;
    if (!authorization || strncasecmp(authorization, BEARER, strlen(BEARER)) != 0)
        return false;
    const char *token = authorization + strlen(BEARER);
    if (strlen(token) != strlen(guard->token) || !guard->token[0])
        return false;
    for (size_t i = 0; guard->token[i]; i++)
        difference |= (unsigned char)(token[i] ^ guard->token[i]);
    return difference == 0;
}

/* "text/plain; charset=UTF-8" is the same. */
static bool is_order_type(const char *type)
{
    const char *wanted = ORDER_TYPE;
    for (; type && *type; type++) {
        if (*type == ' ')
            continue;
        if (!*wanted || strncasecmp(type, wanted, 1) != 0)
            return false;
        wanted++;
    }
    return type && !*wanted;
}

unsigned guard_check_need(const struct guard *guard, const struct console_request *request, enum guard_need need,
                          const char **why)
{
    if (request->is_local || need == GUARD_NOTHING || (need == GUARD_METRICS && guard->metrics_open))
        return 0;
    *why = "the token is missing or wrong; it is in control.json, in the directory of the crawl";
    if (!is_token(guard, request->authorization))
        return 401;
    *why = "an order has the Content-Type " ORDER_TYPE;
    return need == GUARD_ORDER && !is_order_type(request->content_type) ? 415 : 0;
}
