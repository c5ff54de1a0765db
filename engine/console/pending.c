#include "engine/console/pending.h"

#include <stdlib.h>
#include <string.h>

#include "engine/console/console.h"
#include "lockfree/clock.h"

/* How long a loop, or the housekeeper, may take. A host that is visited elsewhere is waited for half a second. */
#define PATIENCE_NS (2 * CLOCK_NS_PER_S)

void pending_end_question(struct pending *pending)
{
    if (pending->inquiry && !inquiry_leave(pending->inquiry))
        inquiry_end(pending->inquiry);
    pending->inquiry = NULL;
}

/* By the server, with the answer or when the asker has gone. */
static void leave(void *work)
{
    struct pending *pending = work;
    pending_end_question(pending);
    if (pending->console->orderer == pending)
        pending->console->orderer = NULL;
    if (pending->out)
        fclose(pending->out);
    free(pending->text);
    free(pending);
}

struct pending *pending_of(struct console *console, const struct console_request *request, struct console_response *response)
{
    struct console_wait *wait = request->wait;
    if (wait->work)
        return wait->work;
    struct pending *pending = calloc(1, sizeof *pending);
    if (!pending) {
        console_response_fail(response, 503, "no memory");
        return NULL;
    }
    pending->console = console;
    pending->since_ns = clock_now_ns();
    wait->work = pending;
    wait->leave = leave;
    return pending;
}

bool pending_is_over(const struct pending *pending, struct console_response *response)
{
    const struct console *console = pending->console;
    response->is_pending = !console->is_closing && gate_phase(&console->crawl->gate) != CRAWL_ENDING &&
                           clock_now_ns() - pending->since_ns < PATIENCE_NS;
    return !response->is_pending;
}

static bool begin(struct pending *pending, const struct pending_question *question, struct console_response *response)
{
    struct crawl *crawl = pending->console->crawl;
    struct inquiry *inquiry = inquiry_begin(&crawl->inquiries);
    if (!inquiry) {
        if (pending_is_over(pending, response))
            console_response_fail(response, 503, "too many questions wait for the loops: try again");
        return false;
    }
    inquiry->kind = question->kind;
    inquiry->by = question->by;
    inquiry->target = question->target;
    inquiry->path_len = question->path.len < sizeof inquiry->path ? question->path.len : 0;
    if (inquiry->path_len)
        memcpy(inquiry->path, question->path.ptr, inquiry->path_len);
    pending->inquiry = inquiry;
    pending->since_ns = clock_now_ns();
    crawl_inquire(crawl, inquiry);
    return true;
}

struct inquiry *pending_ask(struct pending *pending, const struct pending_question *question, struct console_response *response)
{
    if (!pending->inquiry && !begin(pending, question, response))
        return NULL;
    if (inquiry_is_answered(pending->inquiry))
        return pending->inquiry;
    if (pending_is_over(pending, response))
        console_response_fail(response, 503, "the loop did not answer");
    return NULL;
}

void pending_ask_on(struct pending *pending, struct console_response *response)
{
    pending->since_ns = clock_now_ns();
    crawl_inquire(pending->console->crawl, pending->inquiry);
    response->is_pending = true;
}
