#include "engine/console/errand.h"

#include <stdlib.h>
#include <string.h>

#include "engine/console/console.h"
#include "lockfree/clock.h"

/* How long a loop, or the housekeeper, may take. A host that is visited elsewhere is waited for half a second. */
#define PATIENCE_NS (2 * CLOCK_NS_PER_S)

void errand_end_question(struct errand *errand)
{
    if (errand->inquiry && !inquiry_leave(errand->inquiry))
        inquiry_end(errand->inquiry);
    errand->inquiry = NULL;
}

/* By the server, with the answer or when the asker has gone. */
static void leave(void *work)
{
    struct errand *errand = work;
    errand_end_question(errand);
    if (errand->console->orderer == errand)
        errand->console->orderer = NULL;
    if (errand->out)
        fclose(errand->out);
    free(errand->text);
    free(errand);
}

struct errand *errand_of(struct console *console, const struct console_request *request, struct console_response *response)
{
    struct console_wait *wait = request->wait;
    if (wait->work)
        return wait->work;
    struct errand *errand = calloc(1, sizeof *errand);
    if (!errand) {
        console_response_fail(response, 503, "no memory");
        return NULL;
    }
    errand->console = console;
    errand->since_ns = clock_now_ns();
    wait->work = errand;
    wait->leave = leave;
    return errand;
}

bool errand_is_over(const struct errand *errand, struct console_response *response)
{
    const struct console *console = errand->console;
    response->is_pending = !console->is_closing && gate_phase(&console->crawl->gate) != CRAWL_ENDING &&
                           clock_now_ns() - errand->since_ns < PATIENCE_NS;
    return !response->is_pending;
}

static bool begin(struct errand *errand, const struct errand_question *question, struct console_response *response)
{
    struct crawl *crawl = errand->console->crawl;
    struct inquiry *inquiry = inquiry_begin(&crawl->inquiries);
    if (!inquiry) {
        if (errand_is_over(errand, response))
            console_response_fail(response, 503, "too many questions wait for the loops: try again");
        return false;
    }
    inquiry->kind = question->kind;
    inquiry->by = question->by;
    inquiry->target = question->target;
    inquiry->path_len = question->path.len < sizeof inquiry->path ? question->path.len : 0;
    if (inquiry->path_len)
        memcpy(inquiry->path, question->path.ptr, inquiry->path_len);
    errand->inquiry = inquiry;
    errand->since_ns = clock_now_ns();
    crawl_inquire(crawl, inquiry);
    return true;
}

struct inquiry *errand_ask(struct errand *errand, const struct errand_question *question, struct console_response *response)
{
    if (!errand->inquiry && !begin(errand, question, response))
        return NULL;
    if (inquiry_is_answered(errand->inquiry))
        return errand->inquiry;
    if (errand_is_over(errand, response))
        console_response_fail(response, 503, "the loop did not answer");
    return NULL;
}

void errand_ask_on(struct errand *errand, struct console_response *response)
{
    errand->since_ns = clock_now_ns();
    crawl_inquire(errand->console->crawl, errand->inquiry);
    response->is_pending = true;
}
