/* Single hosts: the largest, and one of them with its queue. What belongs to a host is asked of the loop that has it (pending.h). */
#include <inttypes.h>
#include <string.h>

#include "engine/console/console.h"
#include "engine/console/pending.h"
#include "engine/console/router_parts.h"
#include "engine/url/json.h"

/* A queue as text: more than this is not collected, but told. */
enum { QUEUE_TEXT_BYTES_MAX = 64 << 20 };

static const struct {
    const char *word;
    enum inquiry_by by;
} orders_of_rank[] = {
    {"queue", INQUIRY_BY_QUEUE}, {"failures", INQUIRY_BY_FAILURES}, {"time", INQUIRY_BY_TIME}, {"bytes", INQUIRY_BY_BYTES}};

static void write_key(FILE *out, const struct inquiry_row *row)
{
    fputs("{\"key\": ", out);
    json_write_string(out, (struct slice){row->key, row->key_len});
}

static void write_counts(FILE *out, const struct inquiry_row *row)
{
    fprintf(out, ", \"state\": \"%s\", \"held\": %s, \"queued\": %" PRIu32 ", \"spilled\": %" PRIu32, host_state_name(row->state),
            row->is_held ? "true" : "false", row->queued, row->spilled);
    fprintf(out,
            ", \"visits\": %" PRIu32 ", \"pages\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"spent_ms\": %" PRIu64
            ", \"failures\": %u",
            row->visits, row->pages, row->bytes, row->spent_ms, row->failures);
}

void router_hosts(struct console *console, const struct console_request *request, struct console_response *response)
{
    char word[16] = "queue";
    size_t i = 0, count = sizeof orders_of_rank / sizeof orders_of_rank[0];
    bool has_by = console_request_value(request, "by", word, sizeof word) || request->query.len == 0;
    while (has_by && i < count && strcmp(orders_of_rank[i].word, word) != 0)
        i++;
    if (!has_by || i == count) {
        console_response_fail(response, 400, "by is queue, failures, time or bytes");
        return;
    }
    struct pending *pending = pending_of(console, request, response);
    struct pending_question question = {.kind = INQUIRY_TOP, .by = orders_of_rank[i].by};
    const struct inquiry *inquiry = pending ? pending_ask(pending, &question, response) : NULL;
    if (!inquiry)
        return;
    fprintf(response->out, "{\"by\": \"%s\", \"held\": ", word);
    router_write_holds(console->crawl, response->out);
    fputs(", \"hosts\": [", response->out);
    for (unsigned k = 0; k < inquiry->row_count; k++) {
        fputs(k ? ",\n" : "\n", response->out);
        write_key(response->out, &inquiry->rows[k]);
        write_counts(response->out, &inquiry->rows[k]);
        fputs("}", response->out);
    }
    fputs("]}\n", response->out);
}

void router_write_number(FILE *out, const char *name, int64_t number)
{
    if (number < 0)
        fprintf(out, ", \"%s\": null", name);
    else
        fprintf(out, ", \"%s\": %" PRId64, name, number);
}

static void write_outcome(FILE *out, const char *name, enum fetch_outcome outcome)
{
    if (outcome != FETCH_DONE)
        fprintf(out, ", \"%s\": \"%s\"", name, fetch_outcome_name(outcome));
}

/* What the loop that has the host knows of it. */
static void write_rest(FILE *out, const struct inquiry_host *host)
{
    char text[IP_TEXT_BYTES];
    struct slice address = host->has_ip ? ip_text(&host->ip, text) : (struct slice){"", 0};
    fprintf(out, ", \"in_memory\": %" PRIu32 ", \"on_disk\": %" PRIu32, host->in_memory, host->on_disk);
    if (host->has_ip)
        fprintf(out, ", \"address\": \"%.*s\"", (int)address.len, address.ptr);
    router_write_number(out, "robots_age_ms", host->robots_age_ms);
    fprintf(out, ", \"crawl_delay_ms\": %" PRIu64, host->crawl_delay_ms);
    write_outcome(out, "trouble", host->trouble);
    write_outcome(out, "given_up", host->given_up);
}

static struct slice next_line(struct slice *text)
{
    const char *end = memchr(text->ptr, '\n', text->len);
    struct slice line = slice_between(text->ptr, end);
    *text = slice_skip(*text, line.len + 1);
    return line;
}

static void write_host(FILE *out, const struct inquiry *inquiry)
{
    const struct inquiry_host *host = &inquiry->host;
    struct slice text = {inquiry->text, inquiry->len};
    write_key(out, &host->row);
    write_counts(out, &host->row);
    router_write_number(out, "next_visit_ms", host->wait_ms);
    fprintf(out, ", \"why\": \"%s\"", inquiry_why_text(host->why));
    if (host->is_whole)
        write_rest(out, host);
    fputs(",\n\"queue\": ", out);
    if (!host->is_whole) {
        fputs("null}\n", out);
        return;
    }
    fputs("[", out);
    for (const char *comma = "\n"; text.len; comma = ",\n") {
        fputs(comma, out);
        json_write_string(out, next_line(&text));
    }
    fputs("]}\n", out);
}

/* What is not listed, in lines of its own: no URL begins with #. */
static void write_remarks(FILE *out, const struct inquiry *inquiry, bool is_cut)
{
    const struct inquiry_host *host = &inquiry->host;
    if (inquiry->is_refused)
        fprintf(out, "# %s: its %" PRIu32 " URLs cannot be listed at this moment, ask again\n",
                inquiry_why_text(host->why), host->row.queued);
    if (is_cut)
        fprintf(out, "# there are more in memory\n");
    if (host->on_disk)
        fprintf(out, "# %" PRIu32 " more wait on disk, in the queue of this host\n", host->on_disk);
    if (host->row.spilled)
        fprintf(out, "# %" PRIu32 " more wait on disk, among the URLs of other hosts\n", host->row.spilled);
}

/* A piece at a time, and other requests between them. */
static void answer_queue(struct pending *pending, struct inquiry *inquiry, struct console_response *response)
{
    if (!pending->out && !(pending->out = open_memstream(&pending->text, &pending->len))) {
        console_response_fail(response, 503, "no memory");
        return;
    }
    fwrite(inquiry->text, 1, inquiry->len, pending->out);
    if (inquiry->has_more && !pending->console->is_closing && ftell(pending->out) < QUEUE_TEXT_BYTES_MAX) {
        pending_ask_on(pending, response);
        return;
    }
    fflush(pending->out);
    response->type = "text/plain; charset=utf-8";
    fwrite(pending->text, 1, pending->len, response->out);
    write_remarks(response->out, inquiry, inquiry->has_more);
}

void router_host(struct console *console, const struct console_request *request, struct console_response *response)
{
    char key[HOLDS_NAME_BYTES + 8], format[8] = "json";
    struct holds_target target;
    bool has_key = console_request_value(request, "key", key, sizeof key);
    const char *why = has_key ? holds_parse_host(&target, slice_of(key)) : "give one as key=https://example.org";
    console_request_value(request, "format", format, sizeof format);
    bool is_text = strcmp(format, "text") == 0;
    if (why) {
        console_response_fail(response, 400, "no host: %s", why);
        return;
    }
    if (!is_text && strcmp(format, "json") != 0) {
        console_response_fail(response, 400, "format is json or text");
        return;
    }
    struct pending *pending = pending_of(console, request, response);
    struct pending_question question = {.kind = is_text ? INQUIRY_QUEUE : INQUIRY_HOST, .target = target};
    struct inquiry *inquiry = pending ? pending_ask(pending, &question, response) : NULL;
    if (!inquiry)
        return;
    if (!inquiry->is_known)
        console_response_fail(response, 404, "no such host is known");
    else if (is_text)
        answer_queue(pending, inquiry, response);
    else
        write_host(response->out, inquiry);
}
