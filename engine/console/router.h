/* From a request to its answer. */
#pragma once

#include "engine/console/guard.h"
#include "engine/console/request.h"

struct console;
struct sample;

struct route {
    const char *method;
    const char *path;
    enum guard_need need;
    void (*answer)(struct console *console, const struct console_request *request,
                   struct console_response *response);
    const char *query; /* names that it takes, separated by spaces */
    const char *summary;
};

extern const struct route router_routes[];
extern const size_t router_count;

/* Checks the request and answers it. `response` is begun; the caller finishes it. */
void router_answer(struct console *console, const struct console_request *request, struct console_response *response);
/* The routes as an OpenAPI document. */
void router_write_openapi(FILE *out);
/* A sample as a JSON object: for events. */
void router_write_sample(FILE *out, const struct sample *sample);
