/* Another program that runs a crawl: pages go to a sink of its own, nothing is stored. engine/crawl/README.md
 * shows this program; the test beside it runs it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/crawl/crawl.h"

static struct crawl crawl;

/* On the thread of a loop: what is shared with other pages must be made for that. stdio locks. */
static void on_page(void *owner, const struct crawl_page *page)
{
    fprintf(owner, "%d %zu %.*s\n", page->status, page->body.len, (int)page->url.len, page->url.ptr);
}

static void on_interrupt(int number)
{
    (void)number;
    crawl_stop(&crawl);
}

int main(int argc, char **argv)
{
    static struct tuning tuning;
    struct tuning_error error;
    if (argc < 4) {
        fprintf(stderr, "usage: own_sink TUNING DIR SEED...\n");
        return 2;
    }
    tuning_init(&tuning);
    if (!tuning_load(&tuning, argv[1], &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 4;
    }
    tuning.fixed.store.kind = TUNING_STORE_NONE;
    struct crawl_options options = {.tuning = &tuning,
                                    .directory = argv[2],
                                    .seeds = argv + 3,
                                    .seed_count = (unsigned)argc - 3,
                                    .hooks = {.owner = stdout, .on_page = on_page}};
    signal(SIGINT, on_interrupt);
    if (!crawl_run(&crawl, &options, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    fprintf(stderr, "%s\n", end_name(crawl.end.why));
    return crawl.end.why == CRAWL_END_COMPLETE ? 0 : 5;
}
