#include "engine/crawl/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "engine/crawl/desk.h"

const char *inquiry_why_text(enum inquiry_why why)
{
    switch (why) {
    case INQUIRY_WHY_NOTHING:
        return "no URL waits";
    case INQUIRY_WHY_HELD:
        return "the operator holds it";
    case INQUIRY_WHY_GIVEN_UP:
        return "it was given up";
    case INQUIRY_WHY_VISITED:
        return "it is being visited";
    case INQUIRY_WHY_NAME:
        return "its name is looked up";
    case INQUIRY_WHY_LOADING:
        return "URLs of it come from disk";
    case INQUIRY_WHY_ROBOTS:
        return "its robots.txt redirects to another host, which was asked";
    case INQUIRY_WHY_REST:
        return "it rests after its last visit";
    case INQUIRY_WHY_FAILURES:
        return "it rests after failures";
    case INQUIRY_WHY_ADDRESS:
        return "its address rests, or other hosts of it are being visited";
    case INQUIRY_WHY_TURN:
        return "it may be visited and waits for its turn";
    case INQUIRY_WHY_COMING:
        return "it is about to be scheduled";
    }
    return "";
}

struct inquiry *inquiry_begin(struct inquiries *inquiries)
{
    for (unsigned i = 0; i < INQUIRIES_MAX; i++) {
        struct inquiry *inquiry = &inquiries->all[i];
        if (lf_load(&inquiry->state, acquire) != INQUIRY_FREE) /* A3 pairs with R3 in desk.c */
            continue;
        char *text = inquiry->text ? inquiry->text : malloc(INQUIRY_TEXT_BYTES);
        memset(inquiry, 0, sizeof *inquiry);
        inquiry->text = text;
        return text ? inquiry : NULL;
    }
    return NULL;
}

void inquiry_fini(struct inquiries *inquiries)
{
    for (unsigned i = 0; i < INQUIRIES_MAX; i++)
        free(inquiries->all[i].text);
}

void inquiry_send(struct inquiry *inquiry, struct desk *desk)
{
    lf_store(&inquiry->state, INQUIRY_ASKED, relaxed);
    inbox_push(&desk->inbox, &inquiry->node); /* hand-over */
}

void inquiry_go_on(struct inquiry *inquiry)
{
    inquiry_send(inquiry, inquiry->desk);
}

bool inquiry_is_answered(const struct inquiry *inquiry)
{
    return lf_load(&inquiry->state, acquire) == INQUIRY_ANSWERED; /* A1 pairs with R1 in desk.c */
}

bool inquiry_leave(struct inquiry *inquiry)
{
    int asked = INQUIRY_ASKED;
    /* R2 pairs with A2 in desk.c: whoever answers now frees it. A1: it was answered at the last moment. */
    return lf_cas(&inquiry->state, &asked, INQUIRY_LEFT, acq_rel, acquire);
}

void inquiry_end(struct inquiry *inquiry)
{
    if (!inquiry->has_more) {
        lf_store(&inquiry->state, INQUIRY_FREE, relaxed); /* only the asker takes free ones */
        return;
    }
    lf_store(&inquiry->state, INQUIRY_LEFT, relaxed);
    inbox_push(&inquiry->desk->inbox, &inquiry->node); /* hand-over: the host is to be let go */
}
