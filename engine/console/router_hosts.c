/* Single hosts: the largest, one of them with its queue, and orders to hold, release or drop. What belongs to a host is
 * asked of the loop that has it; the console waits for that, two seconds at most. */
#include <inttypes.h>
#include <string.h>

#include "engine/console/console.h"
#include "engine/console/router_parts.h"
#include "engine/url/json.h"

/* A queue as text: more than this is not collected, but told. */
enum { QUEUE_TEXT_BYTES_MAX = 64 << 20 };

static const struct {
    const char *word;
    enum inquiry_by by;
} orders_of_rank[] = {
    {"queue", INQUIRY_BY_QUEUE}, {"failures", INQUIRY_BY_FAILURES}, {"time", INQUIRY_BY_TIME}, {"bytes", INQUIRY_BY_BYTES}};

static struct slice name_of(const struct holds_target *target)
{
    return (struct slice){target->name, target->len};
}

/* A question; NULL: the response says why there is none. */
static struct inquiry *begin(struct console *console, struct console_response *response)
{
    struct inquiry *inquiry = inquiry_begin(&console->crawl->inquiries);
    if (!inquiry)
        console_response_fail(response, 503, "too many questions wait for the loops: try again");
    return inquiry;
}

/* False: the response says so, and the inquiry is gone. */
static bool ask(struct console *console, struct inquiry *inquiry, struct console_response *response)
{
    if (crawl_inquire(console->crawl, inquiry))
        return true;
    console_response_fail(response, 503, "the loop did not answer");
    return false;
}

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

/* {"hosts": [...], "domains": [...]}, or null while an order is on its way. */
static void write_holds(struct console *console, FILE *out)
{
    static const char *const words[] = {"hosts", "domains"};
    const struct holds *holds;
    if (!crawl_list_holds(console->crawl, &holds)) {
        fputs("null", out);
        return;
    }
    for (int is_domain = 0; is_domain < 2; is_domain++) {
        const char *comma = "";
        fprintf(out, "%s\"%s\": [", is_domain ? ", " : "{", words[is_domain]);
        for (uint32_t i = 0; holds && i < holds->count; i++) {
            const struct holds_entry *entry = &holds->entries[i];
            if (entry->dropped || entry->target.is_domain != is_domain)
                continue;
            fputs(comma, out);
            json_write_string(out, name_of(&entry->target));
            comma = ", ";
        }
        fputs("]", out);
    }
    fputs("}", out);
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
    struct inquiry *inquiry = begin(console, response);
    if (!inquiry)
        return;
    inquiry->kind = INQUIRY_TOP;
    inquiry->by = orders_of_rank[i].by;
    if (!ask(console, inquiry, response))
        return;
    fprintf(response->out, "{\"by\": \"%s\", \"held\": ", word);
    write_holds(console, response->out);
    fputs(", \"hosts\": [", response->out);
    for (unsigned k = 0; k < inquiry->row_count; k++) {
        fputs(k ? ",\n" : "\n", response->out);
        write_key(response->out, &inquiry->rows[k]);
        write_counts(response->out, &inquiry->rows[k]);
        fputs("}", response->out);
    }
    fputs("]}\n", response->out);
    inquiry_end(inquiry);
}

static void write_number(FILE *out, const char *name, int64_t number)
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
    write_number(out, "robots_age_ms", host->robots_age_ms);
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
    write_number(out, "next_visit_ms", host->wait_ms);
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

static void answer_queue(struct console *console, struct inquiry *inquiry, struct console_response *response)
{
    size_t len = 0;
    response->type = "text/plain; charset=utf-8";
    do {
        if (!ask(console, inquiry, response))
            return;
        fwrite(inquiry->text, 1, inquiry->len, response->out);
        len += inquiry->len;
    } while (inquiry->has_more && len < QUEUE_TEXT_BYTES_MAX);
    if (inquiry->is_known)
        write_remarks(response->out, inquiry, inquiry->has_more);
    else
        console_response_fail(response, 404, "no such host is known");
    inquiry_end(inquiry);
}

static void answer_host(struct console *console, struct inquiry *inquiry, struct console_response *response)
{
    if (!ask(console, inquiry, response))
        return;
    if (inquiry->is_known)
        write_host(response->out, inquiry);
    else
        console_response_fail(response, 404, "no such host is known");
    inquiry_end(inquiry);
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
    struct inquiry *inquiry = begin(console, response);
    if (!inquiry)
        return;
    inquiry->kind = is_text ? INQUIRY_QUEUE : INQUIRY_HOST;
    inquiry->target = target;
    if (is_text)
        answer_queue(console, inquiry, response);
    else
        answer_host(console, inquiry, response);
}

/* host= or domain=, one of them. */
static bool read_target(const struct console_request *request, struct holds_target *target, struct console_response *response)
{
    char host[HOLDS_NAME_BYTES + 8], domain[HOLDS_NAME_BYTES + 8];
    bool has_host = console_request_value(request, "host", host, sizeof host),
         has_domain = console_request_value(request, "domain", domain, sizeof domain);
    const char *why = "give host=https://example.org or domain=example.org";
    if (has_host && !has_domain)
        why = holds_parse_host(target, slice_of(host));
    else if (has_domain && !has_host)
        why = holds_parse_domain(target, slice_of(domain));
    if (why)
        console_response_fail(response, 400, "%s: %s", has_domain ? "no domain" : "no host", why);
    return !why;
}

/* An order for a host with a wrong scheme or a typing error would do nothing, for ever. */
static bool is_known(struct console *console, const struct holds_target *target, struct console_response *response)
{
    if (target->is_domain)
        return true;
    struct inquiry *inquiry = begin(console, response);
    if (!inquiry)
        return false;
    inquiry->kind = INQUIRY_HOST;
    inquiry->target = *target;
    if (!ask(console, inquiry, response))
        return false;
    bool is_found = inquiry->is_known;
    inquiry_end(inquiry);
    if (!is_found)
        console_response_fail(response, 404, "no such host is known; a domain can be held before its hosts are found");
    return is_found;
}

static void refuse(const struct crawl_hold *done, struct console_response *response)
{
    switch (done->result) {
    case HOLDS_NOT_HELD:
        console_response_fail(response, 404, "it is not held; what its domain holds is released with the domain");
        return;
    case HOLDS_FULL:
        console_response_fail(response, 409, "no more than %d hosts and domains can be held or dropped at a time", HOLDS_MAX);
        return;
    case HOLDS_DONE:
        console_response_fail(response, 503, "DIR/state/held: %s", strerror(-done->error));
        return;
    case HOLDS_SAME:
    case HOLDS_NO_MEMORY:
        console_response_fail(response, 503, "no memory");
    }
}

static void order(struct console *console, const struct console_request *request, struct console_response *response,
                  enum holds_verb verb)
{
    struct holds_order wanted = {.verb = verb};
    struct crawl_hold done = {.error = 0};
    if (router_is_over(console, response) || !read_target(request, &wanted.target, response) ||
        (verb != HOLDS_RELEASE && !is_known(console, &wanted.target, response)))
        return;
    enum crawl_ordered ordered = crawl_order_hosts(console->crawl, &wanted, &done);
    bool is_same = ordered == CRAWL_ORDER_REFUSED && done.result == HOLDS_SAME;
    if (ordered == CRAWL_ORDER_LATE)
        console_response_fail(response, 503, "the last order is not carried out yet: try again");
    else if (ordered == CRAWL_ORDER_REFUSED && !is_same)
        refuse(&done, response);
    else {
        response->status = ordered == CRAWL_ORDER_BEGUN ? 202 : 200;
        fprintf(response->out, "{\"order\": \"%s\", \"held\": ", ordered == CRAWL_ORDER_BEGUN ? "begun" : "done");
        write_holds(console, response->out);
        fputs("}\n", response->out);
    }
}

void router_hold(struct console *console, const struct console_request *request, struct console_response *response)
{
    order(console, request, response, HOLDS_HOLD);
}

void router_release(struct console *console, const struct console_request *request, struct console_response *response)
{
    order(console, request, response, HOLDS_RELEASE);
}

void router_drop(struct console *console, const struct console_request *request, struct console_response *response)
{
    order(console, request, response, HOLDS_DROP);
}
