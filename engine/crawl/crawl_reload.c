/* The tuning file, read again while the crawl runs.
 *
 *     crawl_reload    any thread asks for it
 *     the housekeeper reads the file
 *     the watch       publishes a snapshot
 *     each loop       adopts the snapshot at its next turn
 *
 * A published snapshot is never changed. It is freed when a newer one is live and no loop uses it any
 * more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/loop.h"
#include "lockfree/clock.h"

struct crawl_reload {
    struct crawl_reload *next;
    struct tuning tuning;      /* of the file; once it is live, the loops use it */
    struct tuning_error error; /* why it could not be read; empty: no error */
};

uint64_t crawl_read_tuning(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    unsigned asked = lf_load(&crawl->reloads_asked, relaxed);
    (void)now_ns;
    if (asked == crawl->reloads_done || lf_load(&crawl->reloaded, relaxed))
        return CRAWL_LOOK_NS; /* not asked for, or the watch has not taken the last one yet */
    struct crawl_reload *reload = calloc(1, sizeof *reload);
    if (!reload)
        return CLOCK_NS_PER_S; /* no memory: try again later */
    crawl->reloads_done = asked;
    tuning_init(&reload->tuning);
    if (!crawl->options->tuning_path)
        crawl_refuse(&reload->error, "the crawl was started without one (-c FILE)");
    else
        tuning_load(&reload->tuning, crawl->options->tuning_path, &reload->error);
    lf_store(&crawl->reloaded, reload, release); /* Hand-over: R1 pairs with A1 in crawl_adopt_tuning. */
    return CRAWL_LOOK_NS;
}

static void note(const struct crawl *crawl, const struct crawl_reload *reload, const char *refused)
{
    const struct crawl_hooks *hooks = &crawl->options->hooks;
    char line[768];
    if (reload->error.message[0])
        snprintf(line, sizeof line, "tuning not reloaded: %s", reload->error.message);
    else if (refused)
        snprintf(line, sizeof line, "tuning reloaded, but keys such as '%s' cannot change while a crawl runs",
                 refused);
    else
        snprintf(line, sizeof line, "tuning reloaded from %s", crawl->options->tuning_path);
    if (hooks->on_note)
        hooks->on_note(hooks->owner, line);
}

static void free_list(struct crawl_reload *reload)
{
    while (reload) {
        struct crawl_reload *next = reload->next;
        free(reload);
        reload = next;
    }
}

/* How many loops use this snapshot. */
static unsigned users_of(const struct crawl *crawl, const struct crawl_reload *reload)
{
    unsigned users = 0;
    for (unsigned i = 0; i < crawl->loop_count; i++) /* A3 pairs with R3 in adopt_tuning of loop.c */
        users += lf_load(&crawl->loops[i].adopted, acquire) == &reload->tuning;
    return users;
}

/* Another thread reads one of these snapshots. */
static bool is_borrowed(const struct crawl *crawl, const struct crawl_reload *list)
{
    const struct tuning *borrowed = lf_load(&crawl->borrowed, seq_cst); /* S1; A5 pairs with R5 */
    for (; list; list = list->next)
        if (&list->tuning == borrowed)
            return true;
    return false;
}

/* The list begins with the newest. A loop may be about to adopt any snapshot that is newer than its own, so
 * only those older than every loop's own can be freed. */
static void free_unused(struct crawl *crawl)
{
    unsigned users = 0;
    struct crawl_reload *at = crawl->reloads;
    for (; at; at = at->next) {
        users += users_of(crawl, at);
        if (users == crawl->loop_count)
            break;
    }
    struct crawl_reload *old = at ? at->next : NULL;
    if (old && is_borrowed(crawl, old))
        return;
    if (at)
        at->next = NULL;
    free_list(old);
}

bool crawl_patch_tuning(struct crawl *crawl, struct slice text)
{
    char *copy = strndup(text.ptr, text.len), *none = NULL;
    if (copy && lf_cas(&crawl->patch, &none, copy, release, relaxed)) /* Hand-over: R4 pairs with A4. */
        return true;
    free(copy);
    return false;
}

const struct tuning *crawl_borrow_tuning(struct crawl *crawl)
{
    const struct tuning *live;
    do {
        live = lf_load(&crawl->live, acquire); /* A2 */
        lf_store(&crawl->borrowed, live, seq_cst);
    } while (lf_load(&crawl->live, seq_cst) != live); /* S1: the watch frees nothing that it sees as borrowed */
    return live;
}

void crawl_return_tuning(struct crawl *crawl)
{
    lf_store(&crawl->borrowed, NULL, release); /* R5 pairs with A5 in is_borrowed */
}

static void publish(struct crawl *crawl, struct crawl_reload *reload)
{
    reload->next = crawl->reloads;
    crawl->reloads = reload;
    lf_store(&crawl->live, &reload->tuning, seq_cst); /* R2 pairs with A2 in adopt_tuning of loop.c; S1 */
}

/* A piece of a tuning file that somebody has checked before: what does not fit is told, and left out. */
static void take_patch(struct crawl *crawl)
{
    char *text = lf_exchange(&crawl->patch, NULL, acquire); /* A4 pairs with R4. */
    struct crawl_reload *reload = text ? calloc(1, sizeof *reload) : NULL;
    const char *refused = NULL;
    if (reload) {
        struct tuning next = *crawl_tuning(crawl);
        reload->tuning = next;
        if (tuning_parse(&next, "the order", slice_of(text), &reload->error)) {
            tuning_reload(&reload->tuning, &next, &refused);
            publish(crawl, reload);
        } else {
            free(reload);
        }
    }
    free(text);
}

uint64_t crawl_adopt_tuning(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    const char *refused = NULL;
    (void)now_ns;
    free_unused(crawl);
    take_patch(crawl);
    struct crawl_reload *reload = lf_load(&crawl->reloaded, acquire); /* A1 pairs with R1. */
    if (!reload)
        return CRAWL_LOOK_NS;
    lf_store(&crawl->reloaded, NULL, relaxed);
    if (reload->error.message[0]) {
        note(crawl, reload, NULL);
        free(reload);
        return CRAWL_LOOK_NS;
    }
    struct tuning next = *crawl_tuning(crawl);
    crawl_override(&reload->tuning, &crawl->options->overrides);
    tuning_reload(&next, &reload->tuning, &refused);
    reload->tuning = next;
    publish(crawl, reload);
    note(crawl, reload, refused);
    return CRAWL_LOOK_NS;
}

void crawl_free_reloads(struct crawl *crawl)
{
    free(lf_load(&crawl->reloaded, relaxed));
    free(lf_load(&crawl->patch, relaxed));
    free_list(crawl->reloads);
    crawl->reloads = NULL;
}
