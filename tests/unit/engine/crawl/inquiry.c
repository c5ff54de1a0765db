#include "engine/crawl/inquiry.h"

#include <poll.h>
#include <pthread.h>

#include "tests/unit/engine/frontier/frontier_web.h"
#include "engine/crawl/desk.h"

static struct inquiries inquiries;
static struct desk desk;
static struct desk *all[1] = {&desk};
static _Atomic(bool) is_over;

static void *run(void *argument)
{
    (void)argument;
    while (!lf_load(&is_over, relaxed)) {
        frontier_turn(&loops[0], now);
        desk_turn(&desk, now);
    }
    return NULL;
}

/* False: not within wait_ms, and the inquiry was left. */
static bool wait_for(struct inquiry *inquiry, unsigned wait_ms)
{
    for (unsigned ms = 0; ms < wait_ms && !inquiry_is_answered(inquiry); ms++)
        poll(NULL, 0, 1);
    return inquiry_is_answered(inquiry) || !inquiry_leave(inquiry);
}

TEST(every_reason_is_put_in_words)
{
    for (int why = 0; why <= INQUIRY_WHY_COMING; why++)
        CHECK(inquiry_why_text((enum inquiry_why)why)[0]);
}

/* As it is used: one thread asks, a loop answers; some questions are left before the answer comes. */
TEST(a_thread_asks_a_loop)
{
    pthread_t thread;
    ratio_mode();
    begin(1, 10);
    desk_init(&desk, &loops[0], all);
    for (unsigned i = 0; i < 200; i++)
        push(&loops[0], i, "/");
    CHECK_INT(pthread_create(&thread, NULL, run, NULL), 0);
    unsigned answered = 0;
    for (int i = 0; i < 2000; i++) {
        struct inquiry *inquiry = inquiry_begin(&inquiries);
        if (!inquiry)
            continue; /* all were left, and not dealt with yet */
        inquiry->kind = i % 3 == 0 ? INQUIRY_TOP : i % 3 == 1 ? INQUIRY_HOST : INQUIRY_QUEUE;
        CHECK(!holds_parse_host(&inquiry->target, SLICE("http://h7.test")));
        inquiry_send(inquiry, &desk);
        if (!wait_for(inquiry, i % 5 == 0 ? 0 : 2000))
            continue;
        answered++;
        CHECK(inquiry->kind == INQUIRY_TOP ? inquiry->row_count == INQUIRY_ROWS_MAX : inquiry->is_known);
        inquiry_end(inquiry);
    }
    CHECK(answered > 100);
    lf_store(&is_over, true, relaxed);
    pthread_join(thread, NULL);
    struct inquiry *inquiry = inquiry_begin(&inquiries);
    if (inquiry) { /* nobody answers any more */
        inquiry_send(inquiry, &desk);
        CHECK(!inquiry_is_answered(inquiry) && inquiry_leave(inquiry));
    }
    finish();
    inquiry_fini(&inquiries);
}
