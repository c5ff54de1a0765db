/* Orders to hold, release or drop a host or a domain.
 *
 *     the host is looked up     a loop answers; not for a domain, nor a release
 *     it is handed over         one order at a time: others wait
 *     it is taken up            the housekeeper has written it down and published it, or refuses it
 *     it is carried out         each loop is through with it
 *
 * The request is asked again meanwhile (pending.h), and each part has two seconds. */
#include <string.h>

#include "engine/console/console.h"
#include "engine/console/pending.h"
#include "engine/console/router_parts.h"
#include "engine/url/json.h"
#include "lockfree/clock.h"

static struct slice name_of(const struct holds_target *target)
{
    return (struct slice){target->name, target->len};
}

void router_write_holds(const struct crawl *crawl, FILE *out)
{
    static const char *const words[] = {"hosts", "domains"};
    const struct holds *holds = crawl_list_holds(crawl);
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
static bool is_known(struct pending *pending, const struct holds_target *target, struct console_response *response)
{
    struct pending_question question = {.kind = INQUIRY_HOST, .target = *target};
    const struct inquiry *inquiry = pending_ask(pending, &question, response);
    if (!inquiry)
        return false;
    pending->is_known = inquiry->is_known;
    pending_end_question(pending);
    pending->since_ns = clock_now_ns();
    if (!pending->is_known)
        console_response_fail(response, 404, "no such host is known; a domain can be held before its hosts are found");
    return pending->is_known;
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

/* True once it is handed over. */
static bool hand_over(struct pending *pending, const struct holds_order *order, struct console_response *response)
{
    struct console *console = pending->console;
    if (pending->is_handed_over)
        return true;
    if (!console->orderer && crawl_order_hosts(console->crawl, order)) {
        console->orderer = pending;
        pending->is_handed_over = true;
        pending->since_ns = clock_now_ns();
        return true;
    }
    if (pending_is_over(pending, response))
        console_response_fail(response, 503, "the last order is not carried out yet: try again");
    return false;
}

static void tell(const struct pending *pending, const char *how, struct console_response *response)
{
    fprintf(response->out, "{\"order\": \"%s\", \"held\": ", how);
    router_write_holds(pending->console->crawl, response->out);
    fputs("}\n", response->out);
}

/* True once the housekeeper has published it. */
static bool is_taken_up(struct pending *pending, struct console_response *response)
{
    if (pending->number)
        return true;
    const struct crawl_hold *done = crawl_ordered_hosts(pending->console->crawl);
    if (!done) {
        if (pending_is_over(pending, response))
            console_response_fail(response, 503, "nobody has taken the order up yet; it may still be carried out");
        return false;
    }
    pending->console->orderer = NULL;
    if (done->result == HOLDS_SAME) {
        tell(pending, "done", response);
    } else if (done->result != HOLDS_DONE || done->error) {
        refuse(done, response);
    } else {
        pending->number = done->number;
        pending->since_ns = clock_now_ns();
    }
    return pending->number;
}

static void order(struct console *console, const struct console_request *request, struct console_response *response,
                  enum holds_verb verb)
{
    struct holds_order wanted = {.verb = verb};
    bool is_first = !request->wait->work;
    if ((is_first && router_is_over(console, response)) || !read_target(request, &wanted.target, response))
        return;
    struct pending *pending = pending_of(console, request, response);
    if (!pending)
        return;
    bool is_any = wanted.target.is_domain || verb == HOLDS_RELEASE;
    if ((!is_any && !pending->is_known && !is_known(pending, &wanted.target, response)) ||
        !hand_over(pending, &wanted, response) || !is_taken_up(pending, response))
        return;
    if (crawl_is_carried_out(console->crawl, pending->number)) {
        tell(pending, "done", response);
    } else if (pending_is_over(pending, response)) {
        response->status = 202;
        tell(pending, "begun", response);
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
