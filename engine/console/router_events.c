/* Server-sent events: `sample` each second, with its number as id; `phase` when it changes, and at the beginning; `note`, a line
 * for the operator. A reader that names the last sample it has gets those it has missed, if they are at most ten minutes old. */
#include <inttypes.h>
#include <stdlib.h>

#include "engine/console/console.h"
#include "engine/console/router.h"
#include "engine/console/router_parts.h"
#include "engine/url/json.h"

static void write_values(FILE *out, const struct sample *sample)
{
    char buffer[SAMPLE_NAME_BYTES];
    for (unsigned i = 0; i < SAMPLE_COUNT; i++)
        fprintf(out, "%s\"%s\": %" PRIu64, i ? ", " : "{", sample_name(i, buffer), sample->values[i]);
    fputs("}", out);
}

void router_write_sample(FILE *out, const struct sample *sample, uint64_t number)
{
    fprintf(out, "id: %" PRIu64 "\nevent: sample\ndata: ", number);
    write_values(out, sample);
    fputs("\n\n", out);
}

void router_write_phase(FILE *out, enum crawl_phase phase)
{
    fprintf(out, "event: phase\ndata: {\"phase\": \"%s\"}\n\n", gate_phase_name(phase));
}

void router_write_note(FILE *out, const char *line)
{
    fputs("event: note\ndata: {\"note\": ", out);
    json_write_string(out, slice_of(line));
    fputs("}\n\n", out);
}

/* False: it is no number of a sample. */
static bool read_last(const char *text, uint64_t *number)
{
    char *end;
    if (!text[0] || text[0] < '0' || text[0] > '9')
        return false;
    *number = strtoull(text, &end, 10);
    return *end == '\0';
}

/* The server sends what comes afterwards; see server.c. */
void router_events(struct console *console, const struct console_request *request, struct console_response *response)
{
    const struct recent_level *level = recent_level(&console->history, 1);
    uint64_t last = level->count;
    if (request->last_event && !read_last(request->last_event, &last)) {
        console_response_fail(response, 400, "Last-Event-ID is the number of a sample");
        return;
    }
    response->type = "text/event-stream";
    response->is_stream = true;
    router_write_phase(response->out, console->status.phase);
    uint64_t first = recent_first(level);
    if (last > level->count)
        last = 0; /* of an earlier process */
    for (uint64_t number = last + 1 > first ? last + 1 : first; number <= level->count; number++)
        router_write_sample(response->out, recent_at(level, number), number);
}
