#include "engine/console/router_parts.h"

#include <inttypes.h>
#include <string.h>

#include "engine/console/console.h"
#include "engine/tuning/tuning_table.h"
#include "engine/url/json.h"
#include "lockfree/clock.h"

/* How long an order may take before it is answered with 202. */
#define PATIENCE_NS (2 * CLOCK_NS_PER_S)
/* Seeds whose answer nobody has asked for so long have no owner any more. */
#define GONE_NS CLOCK_NS_PER_S

static void tell_phase(struct console_response *response, const char *phase)
{
    fprintf(response->out, "{\"phase\": \"%s\"}\n", phase);
}

/* An order to stop counts before the watch has seen it. */
bool router_is_over(const struct console *console, struct console_response *response)
{
    enum crawl_phase phase = gate_phase(&console->crawl->gate);
    if (phase != CRAWL_ENDING && lf_load(&console->crawl->stops, relaxed))
        phase = CRAWL_STOPPING;
    if (phase != CRAWL_STOPPING && phase != CRAWL_ENDING)
        return false;
    console_response_fail(response, 409, "the crawl is %s", gate_phase_name(phase));
    return true;
}

void router_order_pause(struct console *console, const struct console_request *request,
                        struct console_response *response)
{
    (void)request;
    if (router_is_over(console, response))
        return;
    if (lf_load(&console->crawl->is_pausing, relaxed)) {
        console_response_fail(response, 409, "the crawl is paused already");
        return;
    }
    crawl_pause(console->crawl);
    tell_phase(response, "paused");
}

void router_order_resume(struct console *console, const struct console_request *request,
                         struct console_response *response)
{
    (void)request;
    if (router_is_over(console, response))
        return;
    if (!lf_load(&console->crawl->is_pausing, relaxed)) {
        console_response_fail(response, 409, "the crawl is not paused");
        return;
    }
    crawl_unpause(console->crawl);
    tell_phase(response, "running");
}

void router_order_stop(struct console *console, const struct console_request *request,
                       struct console_response *response)
{
    const struct crawl *crawl = console->crawl;
    (void)request;
    if (lf_load(&crawl->stops, relaxed) > 1 || gate_phase(&crawl->gate) == CRAWL_ENDING) {
        console_response_fail(response, 409, "the crawl is ending");
        return;
    }
    crawl_stop(console->crawl); /* a second time: at once */
    tell_phase(response, "stopping");
}

void router_order_reload(struct console *console, const struct console_request *request,
                         struct console_response *response)
{
    (void)request;
    if (!console->crawl->options->tuning_path) {
        console_response_fail(response, 409, "the crawl was started without a tuning file (-c FILE)");
        return;
    }
    crawl_reload(console->crawl);
    response->status = 202;
    fputs("{\"reload\": \"begun; the crawl's status tells how it ended\"}\n", response->out);
}

/* What becomes of each key that an order names. */
static void tell_keys(const struct tuning *before, const struct tuning *after, const bool *named, FILE *out)
{
    const char *comma = "";
    fputs("{", out);
    for (size_t i = 0; i < tuning_keys_count; i++) {
        const struct tuning_key *key = &tuning_keys[i];
        if (!named[i])
            continue;
        const char *fate = !tuning_key_differs(key, before, after) ? "unchanged" : tuning_key_is_live(key) ? "set" : "fixed";
        fprintf(out, "%s\"%s.%s\": \"%s\"", comma, key->section, key->name, fate);
        comma = ", ";
    }
    fputs("}\n", out);
}

void router_order_tuning(struct console *console, const struct console_request *request,
                         struct console_response *response)
{
    static struct tuning before, after; /* large; the console has one thread */
    bool named[TUNING_KEYS_MAX];
    struct tuning_error error;
    before = *crawl_borrow_tuning(console->crawl);
    crawl_return_tuning(console->crawl);
    after = before;
    if (!tuning_parse_order(&after, request->body, named, &error))
        console_response_fail(response, 400, "%s", error.message);
    else if (!crawl_patch_tuning(console->crawl, request->body))
        console_response_fail(response, 503, "the last change is not taken over yet: try again");
    else
        tell_keys(&before, &after, named, response->out);
}

static void tell_fates(const struct added *added, FILE *out)
{
    static const enum added_fate told[] = {ADDED_ACCEPTED, ADDED_KNOWN, ADDED_OUT_OF_SCOPE, ADDED_BAD, ADDED_LOST, ADDED_KEPT};
    uint64_t rules[SCOPE_RULES] = {0};
    const char *comma = "";
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        uint64_t count = added_count(added, told[i]) + (told[i] == ADDED_BAD ? added_count(added, ADDED_STRANGER) : 0);
        fprintf(out, "%s\"%s\": %" PRIu64, i ? ", " : "{", added_fate_name(told[i]), count);
    }
    for (size_t i = 0; i < added->count; i++)
        rules[added->lines[i].rule] += added->lines[i].fate == ADDED_OUT_OF_SCOPE;
    fputs(", \"rules\": {", out);
    for (int rule = 0; rule < SCOPE_RULES; rule++)
        if (rules[rule]) {
            fprintf(out, "%s\"%s\": %" PRIu64, comma, scope_rule_name((enum scope_rule)rule), rules[rule]);
            comma = ", ";
        }
    fputs("}", out);
}

static void tell_line(const struct added *added, const struct added_line *line, FILE *out)
{
    char buffer[URL_BYTES_MAX];
    struct tuning_error why;
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    fprintf(out, "{\"line\": %" PRIu32 ", \"fate\": \"%s\"", line->number, added_fate_name((enum added_fate)line->fate));
    if (line->fate == ADDED_OUT_OF_SCOPE)
        fprintf(out, ", \"rule\": \"%s\"", scope_rule_name((enum scope_rule)line->rule));
    if (line->fate == ADDED_STRANGER)
        fputs(", \"why\": \"crawl.contact-url is not set, and without it only this machine is visited\"", out);
    if (line->fate == ADDED_BAD && !added_parse(added, line, &url, &why)) {
        fputs(", \"why\": ", out);
        json_write_string(out, slice_of(why.message));
    }
    fputs("}", out);
}

static void tell_seeds(const struct console *console, const struct console_request *request, FILE *out)
{
    const struct added *added = console->added;
    char lines[4] = "";
    tell_fates(added, out);
    if (console->crawl->tuning.fixed.state.journal)
        fprintf(out, ", \"epoch\": %" PRIu64, added->epoch);
    if (console_request_value(request, "lines", lines, sizeof lines) && strcmp(lines, "1") == 0) {
        fputs(",\n\"lines\": [", out);
        for (size_t i = 0; i < added->count; i++) {
            fputs(i ? ",\n" : "\n", out);
            tell_line(added, &added->lines[i], out);
        }
        fputs("]", out);
    }
    fputs("}\n", out);
}

/* Whether the list that was handed over last is the console's again. */
static bool is_settled(const struct console *console)
{
    const struct added *added = console->added;
    return !added || lf_load(&added->state, acquire) != ADDED_PENDING; /* A4 pairs with R4 in crawl_added.c */
}

/* The console has one list at a time, also of somebody who has gone. */
static void begin_seeds(struct console *console, const struct console_request *request, struct console_response *response)
{
    bool is_gone = false;
    if (router_is_over(console, response))
        return;
    bool is_claimed = console->added && clock_now_ns() - console->added_asked_ns < GONE_NS;
    if (!is_settled(console) || is_claimed) {
        console_response_fail(response, 503, "other seeds are being taken: try again");
        return;
    }
    added_destroy(console->added);
    console->added = added_create(request->body);
    if (!console->added) {
        console_response_fail(response, 503, "no memory for so many seeds");
    } else if (console->added->count == 0 || !crawl_add_seeds(console->crawl, console->added, &is_gone)) {
        bool is_empty = console->added->count == 0;
        added_destroy(console->added);
        console->added = NULL;
        if (is_empty)
            console_response_fail(response, 400, "no seeds: the body has a URL per line");
        else if (is_gone)
            console_response_fail(response, 409, "the crawl is complete and ends");
        else
            console_response_fail(response, 503, "the crawl looks whether it is complete: try again");
    } else {
        request->wait->ticket = ++console->lists;
        console->added_asked_ns = clock_now_ns();
        response->is_pending = true;
    }
}

/* Answered when what was accepted is committed. */
void router_order_seeds(struct console *console, const struct console_request *request, struct console_response *response)
{
    if (request->wait->ticket == 0) {
        begin_seeds(console, request, response);
        return;
    }
    console->added_asked_ns = clock_now_ns();
    if (!is_settled(console)) {
        response->is_pending = true;
        if (console->is_closing)
            console_response_fail(response, 503, "the crawl has ended before the seeds were taken");
    } else if (lf_load(&console->added->state, acquire) == ADDED_FAILED) { /* A4 */
        console_response_fail(response, 503, "the disk failed: the seeds may be lost");
    } else {
        tell_seeds(console, request, response->out);
        added_destroy(console->added);
        console->added = NULL;
    }
}

/* Answered when it is durable; after two seconds, that it is under way. */
void router_order_checkpoint(struct console *console, const struct console_request *request,
                             struct console_response *response)
{
    struct console_wait *wait = request->wait;
    const struct crawl_durable *durable = &console->crawl->durable;
    if (!console->crawl->tuning.fixed.state.journal) {
        console_response_fail(response, 409, "state.journal = no: there is nothing that could be resumed");
        return;
    }
    if (wait->ticket == 0) {
        if (router_is_over(console, response))
            return;
        wait->ticket = crawl_checkpoint(console->crawl);
        wait->since_ns = clock_now_ns();
    }
    if (lf_load(&durable->done, acquire) >= wait->ticket) { /* A6 pairs with R6 in crawl_checkpoint.c */
        bool is_synced = console->crawl->tuning.fixed.state.sync_ns != 0;
        fprintf(response->out, "{\"epoch\": %" PRIu64 ", \"seconds\": %.3f, \"synced\": %s}\n",
                lf_load(&durable->done_epoch, relaxed), (double)lf_load(&durable->done_took_ns, relaxed) / 1e9,
                is_synced ? "true" : "false");
    } else if (lf_load(&console->crawl->disk_error, relaxed)) {
        console_response_fail(response, 503, "the disk failed: the crawl ends");
    } else if (console->is_closing || clock_now_ns() - wait->since_ns >= PATIENCE_NS) {
        response->status = 202;
        fputs("{\"checkpoint\": \"under way; 'checkpoint' of /api/v1/crawl tells when it is done\"}\n", response->out);
    } else {
        response->is_pending = true;
    }
}
