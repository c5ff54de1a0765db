/* GET /api/v1/why?url=: where a URL is. The loops say whether it is known and in flight; what is done is in crawl.log, which
 * a thread of its own reads, because it may be long. One question at a time.
 *
 *     ASKED  the loops answer -> in flight, or unknown: told at once; else
 *     WAITS  until all that was done by then is in the file
 *     READS  the file is searched -> done; or it waits
 *     PLACED the loop that has its host tells how many are before it, and when the host is visited next */
#include "engine/console/router_why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/console/console.h"
#include "engine/console/pending.h"
#include "engine/console/router_parts.h"
#include "engine/url/canonical.h"
#include "engine/url/json.h"
#include "lockfree/clock.h"

#define NICE 10
/* A commit comes within state.commit; if the disk is slow, the file is searched as it is. */
#define COMMIT_PATIENCE_NS (2 * CLOCK_NS_PER_S)
/* A question that is not asked again for so long has nobody who waits for its answer. */
#define GONE_NS CLOCK_NS_PER_S

static void keep_line(void *owner, struct slice line, const struct slice columns[CRAWL_LOG_COLUMNS])
{
    struct why *why = owner;
    (void)columns;
    free(why->line); /* the last one counts */
    why->line = strndup(line.ptr, line.len);
}

static void *read_log(void *argument)
{
    struct why *why = argument;
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE); /* this thread alone */
    why->error = crawl_log_find(&why->find);
    lf_store(&why->is_read, true, release); /* R1 pairs with A1 in is_read */
    return NULL;
}

/* Whether the file was searched; its thread has ended then. */
static bool is_read(struct why *why)
{
    if (!lf_load(&why->is_read, acquire)) /* A1 pairs with R1 in read_log */
        return false;
    pthread_join(why->thread, NULL);
    return true;
}

static void begin_reading(struct why *why, const struct crawl *crawl)
{
    snprintf(why->path, sizeof why->path, "%s/crawl.log", crawl->directory);
    why->find = (struct crawl_log_find){.path = why->path, .url = url_page(&why->url), .owner = why, .on_line = keep_line};
    lf_store(&why->is_read, false, relaxed);
    free(why->line);
    why->line = NULL;
    why->state = pthread_create(&why->thread, NULL, read_log, why) == 0 ? WHY_READS : WHY_FAILED;
}

/* True: the URL is in its canonical form. */
static bool read_url(struct why *why, const struct console *console, const struct console_request *request,
                     struct console_response *response)
{
    char text[URL_BYTES_MAX];
    url_init(&why->url, why->text, sizeof why->text);
    enum url_error error = URL_EMPTY_HOST;
    if (console_request_value(request, "url", text, sizeof text))
        error = url_parse(&why->url, NULL, slice_of(text));
    if (error != URL_OK) {
        console_response_fail(response, 400, "url is no URL: %s", url_error_text(error));
        return false;
    }
    canonical_apply(&why->url, console->crawl->canonical);
    return true;
}

static void begin(struct why *why, struct console *console, const struct console_request *request,
                  struct console_response *response)
{
    if (why->state == WHY_READS && is_read(why))
        why->state = WHY_IDLE;
    if (why->state == WHY_READS || !crawl_is_answered(console->crawl) ||
        (why->state != WHY_IDLE && clock_now_ns() - why->asked_ns < GONE_NS)) {
        console_response_fail(response, 503, "another question is being answered: try again");
        return;
    }
    why->state = WHY_IDLE;
    if (!why->scope && !(why->scope = scope_loop_create(console->crawl->scope))) {
        console_response_fail(response, 503, "no memory");
        return;
    }
    if (!read_url(why, console, request, response) || !crawl_ask(console->crawl, &why->url))
        return;
    why->state = WHY_ASKED;
    why->since_ns = why->asked_ns = clock_now_ns();
    request->wait->ticket = ++why->tickets;
    response->is_pending = true;
}

static void tell(const struct why *why, const char *state, FILE *out)
{
    fputs("{\"url\": ", out);
    json_write_string(out, url_page(&why->url));
    fprintf(out, ", \"state\": \"%s\"", state);
}

/* Not known: would it be let in? */
static void tell_unknown(const struct why *why, const char *state, FILE *out)
{
    struct scope_answer answer = scope_ask(why->scope, &why->url, &(struct scope_context){0});
    tell(why, state, out);
    fprintf(out, ", \"in_scope\": %s, \"rule\": \"%s\"", answer.is_in ? "true" : "false", scope_rule_name(answer.rule));
    if (answer.item.len) {
        fputs(", \"item\": ", out);
        json_write_string(out, answer.item);
    }
    fputs("}\n", out);
}

/* `inquiry` is the answer of the loop that has the host; NULL: it gave none. */
static void tell_waiting(const struct why *why, const struct crawl_whereabouts *found, const struct inquiry *inquiry, FILE *out)
{
    bool is_told = inquiry && inquiry->is_known;
    const struct inquiry_host *host = is_told ? &inquiry->host : NULL;
    tell(why, "waiting", out);
    if (found->has_host) {
        fprintf(out, ", \"host\": {\"state\": \"%s\", \"queued\": %" PRIu32, found->is_host_visited ? "visited" : "waiting",
                found->host_queued);
        router_write_number(out, "place", is_told && inquiry->place ? (int64_t)inquiry->place : -1);
        router_write_number(out, "next_visit_ms", is_told ? host->wait_ms : -1);
        fprintf(out, ", \"why\": \"%s\"}", is_told ? inquiry_why_text(host->why) : "");
    }
    fputs("}\n", out);
}

static void tell_done(const struct why *why, FILE *out)
{
    tell(why, "done", out);
    fputs(", \"log\": ", out);
    json_write_string(out, slice_of(why->line));
    fputs("}\n", out);
}

static void tell_in_flight(const struct why *why, FILE *out)
{
    tell(why, "in flight", out);
    fputs("}\n", out);
}

static bool is_robots(const struct url *url)
{
    return slice_equals(url_path_query(url), SLICE("/robots.txt"));
}

/* True if the loops' answer is enough. A robots.txt is fetched without being admitted. */
static bool answer_by_loops(struct why *why, struct crawl *crawl, FILE *out)
{
    const struct crawl_whereabouts *found = &crawl->question.answer;
    if (found->is_in_flight)
        tell_in_flight(why, out);
    else if (!found->is_known && found->is_sure && !is_robots(&why->url))
        tell_unknown(why, "unknown", out);
    else
        return false;
    return true;
}

/* What the file tells; false: nothing, and the URL waits. */
static bool answer_by_log(const struct why *why, const struct crawl *crawl, struct console_response *response)
{
    const struct crawl_whereabouts *found = &crawl->question.answer;
    if (why->error)
        console_response_fail(response, 503, "crawl.log: %s", strerror(-why->error));
    else if (why->line)
        tell_done(why, response->out);
    else if (found->is_known)
        return false;
    else
        tell_unknown(why, found->is_sure ? "unknown" : "unsure", response->out);
    return true;
}

/* True once it is told. Without an answer of the loop, what is known is. */
static bool answer_by_host(struct why *why, struct console *console, const struct console_request *request,
                           struct console_response *response)
{
    const struct crawl_whereabouts *found = &console->crawl->question.answer;
    struct pending_question question = {.kind = INQUIRY_HOST, .path = url_path_query(&why->url)};
    const char *bad = holds_parse_host(&question.target, url_host_key(&why->url));
    struct pending *pending = bad || !found->has_host ? NULL : pending_of(console, request, response);
    const struct inquiry *inquiry = pending ? pending_ask(pending, &question, response) : NULL;
    if (response->is_pending)
        return false;
    if (response->status != 200) { /* the loop was not quick enough: no reason to say nothing */
        response->status = 200;
        rewind(response->out);
    }
    tell_waiting(why, found, inquiry, response->out);
    return true;
}

static void go_on(struct why *why, struct console *console, const struct console_request *request, struct console_response *response)
{
    struct crawl *crawl = console->crawl;
    why->asked_ns = clock_now_ns();
    if (why->state == WHY_ASKED && crawl_is_answered(crawl)) {
        if (answer_by_loops(why, crawl, response->out)) {
            why->state = WHY_IDLE;
            return;
        }
        why->epoch = lf_load(&crawl->commit.epoch, relaxed); /* what was done is of this one at most */
        why->state = WHY_WAITS;
    }
    bool is_in_file = lf_load(&crawl->durable.committed, relaxed) >= why->epoch;
    if (why->state == WHY_WAITS && (is_in_file || why->asked_ns - why->since_ns > COMMIT_PATIENCE_NS))
        begin_reading(why, crawl);
    if (why->state == WHY_READS && is_read(why))
        why->state = answer_by_log(why, crawl, response) ? WHY_IDLE : WHY_PLACED;
    if (why->state == WHY_PLACED && answer_by_host(why, console, request, response))
        why->state = WHY_IDLE;
    if (why->state == WHY_IDLE || response->is_pending)
        return;
    if (why->state == WHY_FAILED || console->is_closing) {
        console_response_fail(response, 503, why->state == WHY_FAILED ? "no thread to read crawl.log" : "the crawl has ended");
        why->state = why->state == WHY_FAILED ? WHY_IDLE : why->state;
    } else {
        response->is_pending = true;
    }
}

void router_why(struct console *console, const struct console_request *request, struct console_response *response)
{
    struct why *why = &console->question;
    if (request->wait->ticket == 0)
        begin(why, console, request, response);
    else if (request->wait->ticket == why->tickets)
        go_on(why, console, request, response);
    else
        console_response_fail(response, 503, "another question was asked meanwhile: try again");
}

void router_why_fini(struct why *why)
{
    lf_store(&why->find.stops, true, relaxed); /* a hint: the thread looks once per piece of the file */
    if (why->state == WHY_READS)
        pthread_join(why->thread, NULL);
    if (why->scope)
        scope_loop_destroy(why->scope);
    free(why->line);
    *why = (struct why){.state = WHY_IDLE};
}
