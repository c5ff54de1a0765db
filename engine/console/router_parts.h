/* Answers of routes that are not in router.c: see the table there. */
#pragma once

#include "engine/console/request.h"

struct console;
struct crawl;

/* What answers a request. */
typedef void router_answerer(struct console *console, const struct console_request *request,
                             struct console_response *response);

/* router_orders.c */
router_answerer router_order_pause, router_order_resume, router_order_stop, router_order_reload, router_order_tuning;
router_answerer router_order_seeds, router_order_checkpoint;
/* Whether the crawl is about to end, so that no order makes sense; the response then says so. */
bool router_is_over(const struct console *console, struct console_response *response);
/* router_hosts.c: single hosts */
router_answerer router_hosts, router_host;
/* , "name": number. null if it is below 0. */
void router_write_number(FILE *out, const char *name, int64_t number);
/* router_holds.c: orders about them */
router_answerer router_hold, router_release, router_drop;
/* {"hosts": [...], "domains": [...]} */
void router_write_holds(const struct crawl *crawl, FILE *out);
/* router_why.c */
router_answerer router_why;
/* router_events.c */
router_answerer router_events;
