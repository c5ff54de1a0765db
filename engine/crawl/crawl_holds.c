/* Orders about single hosts, while the crawl runs.
 *
 *     crawl_order_hosts   another thread asks for it, and looks from time to time how far it is
 *     the housekeeper     makes the next list, writes what is held to DIR/state/held, publishes the list
 *     each loop           adopts it at its next turn, and carries it out (frontier_holds.c)
 *
 * The file is written anew beside the old one, synced and renamed before the list is published: an order that was
 * confirmed holds after a crash, too. Lists are freed when every loop uses a newer one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/loop.h"
#include "lockfree/clock.h"

enum { NONE, ASKED, DONE };

/* So long a host may be on its way from loop to loop, and be looked up only when it arrives. */
#define FORGET_NS (10 * CLOCK_NS_PER_S)
/* HOLDS_MAX lines. */
enum { FILE_BYTES_MAX = HOLDS_MAX * (HOLDS_NAME_BYTES + 8) };

static void path_of(const struct crawl *crawl, const char *name, char path[1100])
{
    snprintf(path, 1100, "%s/state%s", crawl->directory, name);
}

static int write_synced(const struct disk *disk, const char *path, struct slice text)
{
    size_t written;
    int fd = disk->open(disk->owner, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return fd;
    int error = disk_write_all(disk, fd, text, &written);
    error = error ? error : disk->sync(disk->owner, fd);
    int closed = disk->close(disk->owner, fd);
    return error ? error : closed;
}

/* 0, or a negative errno: the old file is still there. */
static int write_file(const struct crawl *crawl, const struct holds *holds)
{
    const struct disk *disk = crawl->disk;
    char path[1100], next[1100], folder[1100], *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return -ENOMEM;
    holds_write(holds, out);
    int error = fclose(out) == 0 ? 0 : -ENOMEM;
    path_of(crawl, "/held", path);
    path_of(crawl, "/held.open", next);
    path_of(crawl, "", folder);
    error = error ? error : write_synced(disk, next, (struct slice){text, len});
    error = error ? error : disk->rename(disk->owner, next, path);
    error = error ? error : disk->sync_directory(disk->owner, folder);
    free(text);
    return error;
}

static void publish(struct crawl *crawl, struct holds *next)
{
    next->older = crawl->holds;
    crawl->holds = next;
    lf_store(&crawl->frontier.holds, next, release); /* R1 pairs with A1 in frontier_holds.c */
}

static void free_list(struct holds *holds)
{
    while (holds) {
        struct holds *older = holds->older;
        free(holds);
        holds = older;
    }
}

/* All before the oldest one that a loop may still use. */
static void free_unused(struct crawl *crawl)
{
    uint32_t adopted = UINT32_MAX;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        uint32_t number = lf_load(&crawl->loops[i].frontier.holds.adopted, acquire); /* A2 pairs with R2 */
        adopted = number < adopted ? number : adopted;
    }
    struct holds *oldest = crawl->holds;
    while (oldest && oldest->number > adopted)
        oldest = oldest->older;
    if (!oldest)
        return;
    free_list(oldest->older);
    oldest->older = NULL;
}

bool crawl_is_carried_out(const struct crawl *crawl, uint32_t number)
{
    for (unsigned i = 0; i < crawl->loop_count; i++)
        if (lf_load(&crawl->loops[i].frontier.holds.done, relaxed) < number)
            return false;
    return true;
}

/* Whether nothing is left that was queued before the last drop and not looked up since. */
static bool may_forget_drops(const struct crawl *crawl, uint64_t now_ns)
{
    for (unsigned i = 0; i < crawl->loop_count; i++)
        if (crawl->loops[i].harvest.spill && spill_count(crawl->loops[i].harvest.spill))
            return false;
    return crawl->holds && crawl_is_carried_out(crawl, crawl->holds->number) &&
           now_ns - crawl->dropped_ns > FORGET_NS;
}

static void carry_out(struct crawl *crawl, struct crawl_hold *hold, uint64_t now_ns)
{
    struct holds *next = NULL;
    free_unused(crawl);
    hold->order.forgets_drops = may_forget_drops(crawl, now_ns);
    hold->error = 0;
    hold->result = holds_follow(crawl->holds, &hold->order, &next);
    if (hold->result != HOLDS_DONE)
        return;
    bool is_kept = crawl->tuning.fixed.state.journal && hold->order.verb != HOLDS_DROP;
    hold->error = is_kept ? write_file(crawl, next) : 0;
    if (hold->error) {
        free(next);
        return;
    }
    if (hold->order.verb == HOLDS_DROP)
        crawl->dropped_ns = now_ns;
    hold->number = next->number;
    publish(crawl, next);
}

uint64_t crawl_keep_holds(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    if (lf_load(&crawl->hold.state, acquire) == ASKED) { /* A3 pairs with R3 */
        carry_out(crawl, &crawl->hold, now_ns);
        lf_store(&crawl->hold.state, DONE, release); /* R4 pairs with A4 */
    }
    return CRAWL_LOOK_NS;
}

bool crawl_order_hosts(struct crawl *crawl, const struct holds_order *order)
{
    if (lf_load(&crawl->hold.state, acquire) == ASKED) /* A4 */
        return false;
    crawl->hold.order = *order;
    lf_store(&crawl->hold.state, ASKED, release); /* R3 pairs with A3 in crawl_keep_holds */
    return true;
}

const struct crawl_hold *crawl_ordered_hosts(const struct crawl *crawl)
{
    return lf_load(&crawl->hold.state, acquire) == ASKED ? NULL : &crawl->hold; /* A4 */
}

/* The newest list is freed at the earliest by the order after the one that replaces it, and the caller gives no order while it
 * reads. */
const struct holds *crawl_list_holds(const struct crawl *crawl)
{
    return lf_load(&crawl->frontier.holds, acquire); /* A1 */
}

void crawl_inquire(struct crawl *crawl, struct inquiry *inquiry)
{
    if (inquiry->has_more)
        inquiry_go_on(inquiry);
    else
        inquiry_send(inquiry, crawl->desks[0]);
}

bool crawl_read_holds(struct crawl *crawl, struct tuning_error *error)
{
    char path[1100];
    const char *why;
    struct holds *holds = NULL;
    path_of(crawl, "/held", path);
    FILE *file = fopen(path, "re");
    if (!file)
        return errno == ENOENT || crawl_refuse(error, "%s: %s", path, strerror(errno));
    char *text = malloc(FILE_BYTES_MAX);
    size_t len = text ? fread(text, 1, FILE_BYTES_MAX, file) : 0;
    bool is_read = text && len < FILE_BYTES_MAX && !ferror(file);
    fclose(file);
    unsigned line = is_read ? holds_read((struct slice){text, len}, &holds, &why) : 0;
    free(text);
    if (!is_read)
        return crawl_refuse(error, "%s: cannot be read, or is too long", path);
    if (line)
        return crawl_refuse(error, "%s, line %u: %s", path, line, why);
    if (holds)
        publish(crawl, holds);
    return true;
}

void crawl_free_holds(struct crawl *crawl)
{
    free_list(crawl->holds);
    crawl->holds = NULL;
}
