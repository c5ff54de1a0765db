/* Who may do what, decided before a request is routed.
 *
 * By the Unix socket, whoever may open it. By TCP:
 *
 *   - The Host field must be the address that the connection came to, or a name that we are known by: else a page whose name was made to lead here (DNS
 *     rebinding) would be taken for ours.
 *   - An Origin must be ours, and Sec-Fetch-Site must not tell of another site.
 *   - All but the page itself and the health checks needs the token, in a field that no form and no other site can set.
 *   - What changes something also needs a Content-Type that a form cannot send without asking first.
 *
 * No cookies, and no Access-Control field ever: there is nothing that a browser would send by itself. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/console/request.h"

enum { GUARD_TOKEN_CHARS = 64 };

struct guard {
    char token[GUARD_TOKEN_CHARS + 1];
    char names[1024]; /* that we are known by, each with its port, separated by newlines */
    bool metrics_open;
};

/* What a route needs by TCP. */
enum guard_need {
    GUARD_NOTHING, /* the page, which has no data; health */
    GUARD_METRICS, /* the token, unless metrics are open */
    GUARD_TOKEN,
    GUARD_ORDER, /* the token, and the Content-Type of an order */
};

/* A new random token. False: the system has no random bytes. */
bool guard_make_token(struct guard *guard);
/* "localhost" with this port, and whatever else is in `names` (separated by newlines); a name without a port gets it. */
void guard_set_names(struct guard *guard, const char *names, uint16_t port);

/* Checks that do not depend on the route: 0, or the status with which the request is refused; `why` says why. */
unsigned guard_check_sender(const struct guard *guard, const struct console_request *request, const char **why);
/* Checks that depend on the route; otherwise the same. */
unsigned guard_check_need(const struct guard *guard, const struct console_request *request, enum guard_need need,
                          const char **why);
