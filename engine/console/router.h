/* From a request to its answer. */
#pragma once

#include "engine/console/guard.h"
#include "engine/console/request.h"
#include "engine/crawl/gate.h"

struct console;
struct sample;

struct route {
    const char *method;
    const char *path;
    enum guard_need need;
    void (*answer)(struct console *console, const struct console_request *request,
                   struct console_response *response);
    const char *query; /* names that it takes, separated by spaces */
    const char *codes; /* statuses that it may have, separated by spaces, besides those of all routes */
    const char *summary;
    const char *body; /* what its body is; NULL: it needs none */
};

extern const struct route router_routes[];
extern const size_t router_count;

/* Checks the request and answers it. `response` is begun; the caller finishes it. */
void router_answer(struct console *console, const struct console_request *request, struct console_response *response);
/* Ends what a request waited for that will not be asked again. */
void router_leave(struct console *console, struct console_wait *wait);
/* The routes as an OpenAPI document. */
void router_write_openapi(FILE *out);
/* Events: router_events.c. A note is one line, in whatever characters. */
void router_write_sample(FILE *out, const struct sample *sample, uint64_t number);
void router_write_phase(FILE *out, enum crawl_phase phase);
void router_write_note(FILE *out, const char *line);
