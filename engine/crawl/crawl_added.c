/* Seeds that come while the crawl runs.
 *
 *     crawl_add_seeds    puts them behind the door, one list at a time
 *     the housekeeper    writes them to DIR/seeds-added.txt, numbers them, adds their hosts to the scope
 *     loop 0             takes them through its harvest, as seeds are taken before the loops run
 *     the housekeeper    waits for the commit that holds them, and opens the door again
 *
 * So a seed that was accepted is in the journal and in a file that the same commit names. A resumed crawl reads that file
 * after its seeds, and takes from it what the sieve does not know: a commit may have come between file and journal.
 *
 * The end. While a list is behind the door, the crawl is not complete, whatever the counters of the loops say. The watch shuts
 * the door before it counts for the last time: so a list is either counted with what it led to, or refused. If the
 * crawl ends for another reason, what is left of a list stays in the file, for a resumed crawl. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/loop.h"
#include "engine/frontier/seeds.h"
#include "lockfree/clock.h"

/* In place of a list. */
enum crawl_door {
    DOOR_OPEN,
    DOOR_CLOSING, /* the watch counts once more */
    DOOR_SHUT,
};

bool crawl_add_seeds(struct crawl *crawl, struct added *added, bool *is_over)
{
    uintptr_t door = DOOR_OPEN;
    bool is_in = lf_cas(&crawl->door, &door, (uintptr_t)added, release, relaxed); /* Hand-over: R1 pairs with A1. */
    *is_over = !is_in && door == DOOR_SHUT;
    return is_in;
}

bool crawl_shut_door(struct crawl *crawl)
{
    uintptr_t door = DOOR_OPEN;
    /* A3 pairs with R3 in answer: what the last list led to is counted. */
    if (!lf_cas(&crawl->door, &door, DOOR_CLOSING, acquire, relaxed))
        return door == DOOR_SHUT;
    bool is_complete = end_is_complete(crawl->loops, crawl->loop_count);
    lf_store(&crawl->door, is_complete ? DOOR_SHUT : DOOR_OPEN, relaxed);
    return is_complete;
}

/* The list behind the door, for the housekeeper, who alone takes it away; NULL: none. */
static struct added *behind_door(const struct crawl *crawl)
{
    uintptr_t door = lf_load(&crawl->door, acquire); /* A1 pairs with R1 in crawl_add_seeds */
    return door > DOOR_SHUT ? (struct added *)door : NULL;
}

/* One line: its number, its host, its place in the file. False: no memory. */
static bool keep_line(struct crawl *crawl, struct added *added, struct added_line *line, FILE *out)
{
    char buffer[URL_BYTES_MAX];
    struct tuning_error why;
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    if (line->fate != ADDED_UNDECIDED || !added_parse(added, line, &url, &why))
        return true;
    if (crawl_seeds_are_strange(crawl, url_host(&url))) {
        line->fate = ADDED_STRANGER;
        return true;
    }
    struct slice text = url_text(&url);
    fprintf(out, "%.*s\n", (int)text.len, text.ptr);
    return crawl_name_source(crawl, &url, &line->source) && scope_add_seed(crawl->scope, &url);
}

static int write_lines(struct crawl *crawl, struct slice text)
{
    int error = 0;
    struct file *file = text.len ? files_open(&crawl->commit.files, CRAWL_ADDED_NAME, true, &error) : NULL;
    return file ? files_append(&crawl->commit.files, file, text) : error;
}

/* Some lines, so that the loops' output does not wait. 0 or a negative errno. */
static int keep_lines(struct crawl *crawl, struct added *added)
{
    char *text = NULL;
    size_t len = 0, until = added->prepared + CRAWL_ADDED_KEPT;
    bool good = true;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return -ENOMEM;
    for (; good && added->prepared < added->count && added->prepared < until; added->prepared++)
        good = keep_line(crawl, added, &added->lines[added->prepared], out);
    good = fclose(out) == 0 && good;
    int error = good ? write_lines(crawl, (struct slice){text, len}) : -ENOMEM;
    free(text);
    return error;
}

static void take_error(struct crawl *crawl, int error)
{
    if (error && !lf_load(&crawl->disk_error, relaxed))
        lf_store(&crawl->disk_error, error, relaxed); /* only the housekeeper writes it */
}

/* `added` is the caller's again. */
static void answer(struct crawl *crawl, struct added *added, enum added_state state)
{
    lf_fetch_add(&crawl->seeds_added, added_count(added, ADDED_ACCEPTED), relaxed);
    if (!lf_load(&crawl->has_ended, relaxed))
        lf_store(&crawl->door, DOOR_OPEN, release);  /* R3 pairs with A3 in crawl_shut_door */
    lf_store(&added->state, (int)state, release); /* R4 pairs with A4 of who waits for it */
}

uint64_t crawl_keep_added(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    struct added *added = behind_door(crawl);
    (void)now_ns;
    if (!added)
        return CRAWL_LOOK_NS;
    if (lf_load(&crawl->disk_error, relaxed)) {
        if (added->prepared < added->count || lf_load(&added->is_taken, acquire)) /* A2: loop 0 does not have it */
            answer(crawl, added, ADDED_FAILED);
        return CRAWL_LOOK_NS;
    }
    if (added->prepared < added->count) {
        take_error(crawl, keep_lines(crawl, added));
        if (added->prepared < added->count)
            return 0;
    }
    if (!added->is_handed) {
        scope_tell_seeds(crawl->scope);
        added->is_handed = true;
        lf_store(&crawl->to_take, added, release); /* Hand-over: R5 pairs with A5 in crawl_take_added. */
    }
    if (!lf_load(&added->is_taken, acquire)) /* A2 pairs with R2 in crawl_take_added */
        return CRAWL_LOOK_NS;
    if (!added->is_hurried)
        commit_hurry(&crawl->commit);
    added->is_hurried = true;
    if (crawl->commit.committed >= added->epoch)
        answer(crawl, added, ADDED_DONE);
    return CRAWL_LOOK_NS;
}

/* What the harvest counts of a URL. */
struct tally {
    uint64_t in, lost, known, out, scope[SCOPE_RULES];
};

static struct tally tally_of(const struct stats *stats)
{
    struct tally tally = {.in = stats_get(&stats->urls_in),
                          .lost = stats_get(&stats->links_lost),
                          .known = stats_get(&stats->links_known),
                          .out = stats_get(&stats->links_out_of_scope)};
    for (int rule = 0; rule < SCOPE_RULES; rule++)
        tally.scope[rule] = stats_get(&stats->scope[rule]);
    return tally;
}

static void decide(struct added_line *line, const struct tally *before, const struct tally *after)
{
    line->fate = after->lost > before->lost     ? ADDED_LOST
                 : after->in > before->in       ? ADDED_ACCEPTED
                 : after->known > before->known ? ADDED_KNOWN
                 : after->out > before->out     ? ADDED_OUT_OF_SCOPE
                                                : ADDED_BAD;
    for (int rule = 0; rule < SCOPE_RULES; rule++)
        if (after->scope[rule] > before->scope[rule])
            line->rule = (uint8_t)rule;
}

static void take_line(struct harvest *harvest, const struct added *added, struct added_line *line)
{
    char buffer[URL_BYTES_MAX];
    struct tuning_error why;
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    if (line->fate != ADDED_UNDECIDED || !added_parse(added, line, &url, &why))
        return;
    struct harvest_source source = {.url = &url, .base = &url, .source = line->source};
    struct tally before = tally_of(harvest->stats);
    harvest_link(harvest, &source, url_text(&url), HOST_ITEM_SEED);
    harvest_flush(harvest);
    struct tally after = tally_of(harvest->stats);
    decide(line, &before, &after);
}

bool crawl_take_added(struct loop *loop)
{
    struct added *added = lf_load(&loop->crawl->to_take, acquire); /* A5 pairs with R5 in crawl_keep_added */
    if (!added)
        return false;
    const uint64_t until_ns = clock_now_ns() + CRAWL_ADDED_NS;
    for (unsigned i = 0; i < CRAWL_ADDED_TAKEN && added->taken < added->count; i++) {
        if (!harvest_has_room(&loop->harvest) || (i && clock_now_ns() >= until_ns))
            return true;
        take_line(&loop->harvest, added, &added->lines[added->taken++]);
    }
    if (added->taken < added->count)
        return true;
    added->epoch = loop->ledger.adopted;
    lf_store(&loop->crawl->to_take, NULL, relaxed);
    lf_store(&added->is_taken, true, release); /* Hand-over: R2 pairs with A2 in crawl_keep_added. */
    return false;
}

void crawl_take_rest(struct crawl *crawl)
{
    uintptr_t door = lf_exchange(&crawl->door, DOOR_SHUT, acquire); /* A1 pairs with R1 in crawl_add_seeds */
    struct added *added = door > DOOR_SHUT ? (struct added *)door : NULL;
    crawl->rest = added;
    if (!added)
        return;
    while (added->prepared < added->count && !lf_load(&crawl->disk_error, relaxed))
        take_error(crawl, keep_lines(crawl, added));
    for (size_t i = 0; i < added->count; i++)
        if (added->lines[i].fate == ADDED_UNDECIDED)
            added->lines[i].fate = crawl->tuning.fixed.state.journal ? ADDED_KEPT : ADDED_LOST;
}

void crawl_answer_rest(struct crawl *crawl)
{
    if (!crawl->rest)
        return;
    crawl->rest->epoch = crawl->commit.committed;
    answer(crawl, crawl->rest, lf_load(&crawl->disk_error, relaxed) ? ADDED_FAILED : ADDED_DONE);
    crawl->rest = NULL;
}

/* A resumed crawl. */

static bool scope_one(void *owner, const struct url *url)
{
    struct crawl *crawl = owner;
    return scope_add_seed(crawl->scope, url);
}

static bool queue_one(void *owner, const struct url *url)
{
    struct crawl *crawl = owner;
    struct harvest *harvest = &crawl->loops[0].harvest;
    struct harvest_source source = {.url = url, .base = url};
    if (!crawl_name_source(crawl, url, &source.source) || !crawl_make_room(crawl))
        return false;
    harvest_link(harvest, &source, url_text(url), HOST_ITEM_SEED);
    harvest_flush(harvest); /* the URL is valid in this call only */
    return true;
}

bool crawl_restore_added(struct crawl *crawl, struct tuning_error *error)
{
    char path[1100];
    struct seeds_sink scope = {.take = scope_one, .owner = crawl}, queue = {.take = queue_one, .owner = crawl};
    snprintf(path, sizeof path, "%s/" CRAWL_ADDED_NAME, crawl->directory);
    return seeds_take_appended(&scope, path, error) && seeds_take_appended(&queue, path, error);
}
