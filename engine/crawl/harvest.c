#include "engine/crawl/harvest.h"

#include <stdlib.h>
#include <string.h>

#include "engine/content/limits.h"
#include "engine/crawl/limits.h"
#include "engine/url/canonical.h"
#include "lockfree/clock.h"

/* Two of the longest URLs, or a batch of ordinary ones. */
enum { BATCH_TEXT_BYTES = 4 * URL_BYTES_MAX };

bool harvest_init(struct harvest *harvest, const struct harvest_options *options)
{
    *harvest = (struct harvest){.frontier = options->frontier,
                                .sieve = options->sieve,
                                .journal = options->journal,
                                .spill = options->spill,
                                .later = options->later,
                                .ledger = options->ledger,
                                .stats = options->stats,
                                .tuning = options->tuning,
                                .canonical = options->canonical,
                                .links_per_look =
                                    scope_expressions(options->scope) ? 1 : HARVEST_LINKS_PER_LOOK};
    size_t links_max = options->tuning->fixed.limits.links_per_page_max;
    links_max = links_max ? links_max : 1; /* malloc(0) may be NULL */
    struct link *found = malloc(links_max * sizeof *found);
    char *decoded = malloc(links_max * LINKS_TEXT_PER_LINK);
    harvest->text = malloc(BATCH_TEXT_BYTES);
    harvest->scope = scope_loop_create(options->scope);
    links_init(&harvest->links, found, links_max);
    links_set_text(&harvest->links, decoded, links_max * LINKS_TEXT_PER_LINK);
    return found && decoded && harvest->text && harvest->scope;
}

void harvest_fini(struct harvest *harvest)
{
    free(harvest->links.found);
    free(harvest->links.text);
    free(harvest->text);
    if (harvest->scope)
        scope_loop_destroy(harvest->scope);
}

static void lose(struct harvest *harvest, enum fetch_outcome outcome)
{
    stats_add(&harvest->stats->links_lost, 1);
    stats_add(&harvest->stats->outcomes[outcome], 1);
}

/* Most links of a page are known. They leave the batch here, before their hosts are looked up. */
static void drop_known(struct harvest *harvest)
{
    bool known[SIEVE_BATCH_MAX];
    size_t count = 0;
    sieve_has(harvest->sieve, harvest->hashes, harvest->count, known);
    for (size_t i = 0; i < harvest->count; i++) {
        if (known[i])
            continue;
        if (count < i) {
            harvest->batch[count] = harvest->batch[i];
            harvest->hashes[count] = harvest->hashes[i];
        }
        count++;
    }
    stats_add(&harvest->stats->links_known, harvest->count - count);
    harvest->count = count;
}

/* Neighbouring links mostly lead to the same host: only the first of such a run looks its host up. */
static void find_rows(struct harvest *harvest)
{
    for (size_t i = 0; i < harvest->count; i++) {
        struct harvest_url *found = &harvest->batch[i];
        found->is_like_last = i && slice_equals(url_host_key(&found[-1].url), url_host_key(&found->url));
        if (found->is_like_last)
            continue;
        found->place = (struct frontier_place){.hash = frontier_hash(harvest->frontier, &found->url)};
        frontier_prefetch(harvest->frontier, found->place.hash);
    }
}

/* If the page is on the same host, its path is enough. */
static struct slice via_of(const struct harvest_url *found)
{
    if (!found->via)
        return (struct slice){"", 0};
    bool is_same = slice_equals(url_host_key(found->via), url_host_key(&found->url));
    return is_same ? url_path_query(found->via) : url_page(found->via);
}

static struct host_item *acquire_item(struct harvest *harvest, const struct harvest_url *found)
{
    return host_item_acquire_via(&harvest->frontier->urls, url_path_query(&found->url), via_of(found));
}

/* What is full only in memory, and not by a limit. */
static bool can_spill(const struct harvest *harvest, enum fetch_outcome outcome)
{
    return harvest->spill && (outcome == FETCH_HOSTS_FULL || outcome == FETCH_FRONTIER_FULL);
}

/* FETCH_DONE if there is room, in memory or on disk. Per-host and per-domain limits do not apply to seeds: the operator
 * chose them. */
static enum fetch_outcome find_room(struct harvest *harvest, struct harvest_url *found, unsigned new_hosts)
{
    enum fetch_outcome outcome = frontier_room(harvest->frontier, &found->place, new_hosts);
    if (outcome != FETCH_DONE && found->kind == HOST_ITEM_SEED && outcome != FETCH_HOSTS_FULL)
        outcome = FETCH_DONE;
    if (can_spill(harvest, outcome))
        return FETCH_DONE;
    if (outcome != FETCH_DONE || frontier_is_ample(harvest->frontier))
        return outcome;
    found->item = acquire_item(harvest, found);
    return found->item || harvest->spill ? FETCH_DONE : FETCH_FRONTIER_FULL;
}

/* Checks for room before the sieve is asked, because the sieve remembers every URL it has seen: a URL without
 * room must stay unknown, so that it can be found again. Returns how many are left. */
static size_t keep_those_with_room(struct harvest *harvest, uint8_t *kept)
{
    size_t count = 0;
    unsigned new_hosts = 0;
    for (size_t i = 0; i < harvest->count; i++) {
        struct harvest_url *found = &harvest->batch[i];
        if (found->is_like_last)
            found->place = found[-1].place;
        found->place.url = &found->url;
        found->item = NULL;
        enum fetch_outcome outcome = find_room(harvest, found, new_hosts);
        if (outcome != FETCH_DONE) {
            lose(harvest, outcome);
            continue;
        }
        new_hosts += !found->place.host && !found->is_like_last;
        harvest->hashes[count] = harvest->hashes[i];
        kept[count++] = (uint8_t)i;
    }
    return count;
}

static struct record_url record_of(const struct harvest_url *found, uint64_t signature)
{
    return (struct record_url){.signature = signature,
                               .kind = found->kind,
                               .redirects = found->redirects,
                               .hops_off = found->hops_off,
                               .embed_hops = found->embed_hops,
                               .is_requisite = found->is_requisite,
                               .depth = found->depth,
                               .hop_count = found->hops.count,
                               .recent_hops = found->hops.recent,
                               .source = found->source,
                               .text = url_page(&found->url)};
}

static struct slice page_of(const struct harvest_url *found)
{
    return found->via ? url_page(found->via) : (struct slice){"", 0};
}

/* The item of a URL, filled in. NULL if there is no memory. */
static struct host_item *make_item(struct harvest *harvest, struct harvest_url *found)
{
    struct host_item *item = found->item ? found->item : acquire_item(harvest, found);
    if (!item)
        return NULL;
    item->depth = found->depth;
    item->kind = found->kind;
    item->recent_hops = found->hops.recent;
    item->hop_count = found->hops.count;
    item->source = found->source;
    item->hops_off = found->hops_off;
    item->embed_hops = found->embed_hops & 7;
    item->is_requisite = found->is_requisite;
    item->redirects = found->redirects & 63;
    return item;
}

/* FETCH_DONE, or what is full. */
static enum fetch_outcome push_url(struct harvest *harvest, struct harvest_url *found)
{
    struct host_item *item = make_item(harvest, found);
    if (!item)
        return FETCH_FRONTIER_FULL;
    if (frontier_push(harvest->frontier, &found->place, item))
        return FETCH_DONE;
    host_item_release(&harvest->frontier->urls, item);
    found->item = NULL;
    return FETCH_HOSTS_FULL;
}

/* URLs of a host come back from the disk in order: later ones have to queue up behind them. */
static bool is_behind_others(const struct harvest_url *found)
{
    return found->place.host && lf_load(&found->place.host->spilled, relaxed) > 0;
}

/* The list of orders that the operator has given so far. */
static uint32_t orders_now(const struct harvest *harvest)
{
    return harvest->frontier->holds.list ? harvest->frontier->holds.list->number : 0;
}

/* The signature is of no more use: its place takes the number of the list of orders, so that a later drop is told from an
 * earlier one. */
static void spill_url(struct harvest *harvest, struct harvest_url *found)
{
    struct record_url record = record_of(found, orders_now(harvest));
    spill_push(harvest->spill, &record, page_of(found));
    if (found->place.host)
        lf_fetch_add(&found->place.host->spilled, 1, relaxed);
    stats_add(&harvest->stats->urls_spilled, 1);
}

/* It waits in memory, or on disk. It has been counted before: another loop may finish it at once, and finished must never
 * exceed admitted. */
static void place_url(struct harvest *harvest, struct harvest_url *found)
{
    bool waits = harvest->spill && is_behind_others(found);
    enum fetch_outcome outcome = waits ? FETCH_FRONTIER_FULL : push_url(harvest, found);
    if (outcome == FETCH_DONE)
        return;
    if (found->item)
        host_item_release(&harvest->frontier->urls, found->item);
    if (harvest->spill) {
        spill_url(harvest, found);
        return;
    }
    stats_count_out(harvest->stats);
    lose(harvest, outcome);
}

/* Admits a URL to the crawl. */
static void queue_url(struct harvest *harvest, struct harvest_url *found)
{
    stats_add(&harvest->stats->urls_in, 1);
    place_url(harvest, found);
}

static void give_back(struct harvest *harvest, struct harvest_url *found)
{
    if (found->item)
        host_item_release(&harvest->frontier->urls, found->item);
}

static void admit(struct harvest *harvest, struct harvest_url *found, uint64_t signature)
{
    struct record_url record = record_of(found, signature);
    if (harvest->journal) /* before it is queued, so that no verdict on it can be of an earlier epoch */
        journal_add_url(harvest->journal, &record, page_of(found));
    queue_url(harvest, found);
}

/* The sieve on disk is asked. The journal has the URL from now on: if it is known, that does no harm. */
static void ask_later(struct harvest *harvest, struct harvest_url *found, uint64_t signature)
{
    struct record_url record = record_of(found, signature);
    give_back(harvest, found);
    if (harvest->journal)
        journal_add_url(harvest->journal, &record, page_of(found));
    stats_add(&harvest->stats->urls_in, 1);
    later_push(harvest->later, &record, page_of(found));
}

void harvest_flush(struct harvest *harvest)
{
    enum sieve_answer answers[SIEVE_BATCH_MAX];
    uint8_t kept[SIEVE_BATCH_MAX];
    drop_known(harvest);
    find_rows(harvest);
    size_t count = keep_those_with_room(harvest, kept);
    sieve_add(harvest->sieve, harvest->hashes, count, answers);
    for (size_t i = 0; i < count; i++) {
        struct harvest_url *found = &harvest->batch[kept[i]];
        switch (answers[i]) {
        case SIEVE_NEW:
            admit(harvest, found, harvest->hashes[i]);
            break;
        case SIEVE_KNOWN:
            give_back(harvest, found);
            stats_add(&harvest->stats->links_known, 1);
            break;
        case SIEVE_LATER:
            ask_later(harvest, found, harvest->hashes[i]);
            break;
        case SIEVE_FULL:
            give_back(harvest, found);
            lose(harvest, FETCH_SIEVE_FULL);
            break;
        }
    }
    harvest->count = harvest->text_used = 0;
}

bool harvest_has_room(const struct harvest *harvest)
{
    return (!harvest->journal || journal_has_room(harvest->journal)) &&
           (!harvest->spill || spill_has_room(harvest->spill)) &&
           (!harvest->later || later_has_room(harvest->later));
}

/* What a record says, ready to be queued. `via_url` is where the page goes that led to it. */
static struct harvest_url found_of(struct harvest *harvest, const struct record_url *record, struct slice via,
                                   struct url *via_url)
{
    struct harvest_url found = {.depth = record->depth,
                                .kind = record->kind,
                                .hops = {.recent = record->recent_hops, .count = record->hop_count},
                                .source = record->source,
                                .hops_off = record->hops_off,
                                .redirects = record->redirects,
                                .embed_hops = record->embed_hops,
                                .is_requisite = record->is_requisite};
    url_open(&found.url, record->text);
    if (via.len) {
        url_open(via_url, via);
        found.via = via_url;
    }
    found.place.hash = frontier_hash(harvest->frontier, &found.url);
    return found;
}

void harvest_restore(struct harvest *harvest, const struct record_url *record, struct slice via)
{
    struct url via_url;
    struct harvest_url found = found_of(harvest, record, via, &via_url);
    found.place.url = &found.url;
    found.place.host = hosts_find(&harvest->frontier->frontier->hosts, &found.url, found.place.hash);
    queue_url(harvest, &found);
}

void harvest_restore_asked(struct harvest *harvest, const struct record_url *record, struct slice via)
{
    stats_add(&harvest->stats->urls_in, 1);
    later_push(harvest->later, record, via);
}

/* What the sieve on disk takes for new is let in, unless a limit was reached meanwhile. */
static void let_in(struct harvest *harvest, const struct later_answer *answer)
{
    struct url via_url;
    struct harvest_url found = found_of(harvest, &answer->url, answer->via, &via_url);
    found.place.url = &found.url;
    enum fetch_outcome outcome = find_room(harvest, &found, 0);
    if (outcome == FETCH_DONE) {
        place_url(harvest, &found);
        return;
    }
    stats_count_out(harvest->stats);
    lose(harvest, outcome);
}

void harvest_answers(struct harvest *harvest)
{
    struct sieve *sieve = harvest->sieve->sieve;
    struct later_answer answer;
    if (!later_count(harvest->later) || !sieve_is_settled(sieve))
        return;
    for (unsigned i = 0; i < HARVEST_UNSPILL_MAX && spill_has_room(harvest->spill); i++) {
        if (!later_next(harvest->later, &answer))
            return;
        if (answer.is_new && sieve_confirm(sieve, answer.url.signature)) {
            let_in(harvest, &answer);
        } else {
            stats_add(&harvest->stats->links_known, 1);
            stats_count_known(harvest->stats);
        }
        later_pop(harvest->later);
    }
}

/* One less on disk. The host may have been retired and made anew since it was counted there. */
static void uncount(struct host *host)
{
    uint32_t spilled = lf_load(&host->spilled, relaxed);
    while (spilled && !lf_cas_weak(&host->spilled, &spilled, spilled - 1, relaxed, relaxed))
        ;
}

/* Whether the operator has dropped what waited for the host since the URL was spilled. */
static bool is_dropped(const struct harvest *harvest, const struct record_url *record, const struct url *url)
{
    const struct holds *holds = harvest->frontier->holds.list;
    return holds && holds->last_drop > record->signature &&
           holds_ask(holds, url_host_key(url), url_host(url)).dropped > record->signature;
}

/* Gives a dropped URL its verdict. False: there is no room for it now. */
static bool drop_url(struct harvest *harvest, const struct harvest_url *found, const struct record_url *record,
                     struct slice via)
{
    struct ledger_verdict verdict = {.outcome = FETCH_DROPPED, .size = -1};
    struct host *host = hosts_find(&harvest->frontier->frontier->hosts, &found->url, found->place.hash);
    if (!ledger_begin(harvest->ledger))
        return false;
    ledger_finish_record(harvest->ledger, record, via, &verdict);
    if (host)
        uncount(host);
    return true;
}

void harvest_unspill(struct harvest *harvest)
{
    struct record_url record;
    struct slice via;
    struct url via_url;
    for (unsigned i = 0; i < HARVEST_UNSPILL_MAX && spill_count(harvest->spill); i++) {
        if (!frontier_is_roomy(harvest->frontier) || !spill_front(harvest->spill, &record, &via))
            return;
        struct harvest_url found = found_of(harvest, &record, via, &via_url);
        found.place.url = &found.url;
        if (is_dropped(harvest, &record, &found.url)) {
            if (!drop_url(harvest, &found, &record, via))
                return;
        } else if (push_url(harvest, &found) != FETCH_DONE) {
            return; /* no room for another host: those that are idle are being retired */
        } else {
            uncount(found.place.host);
        }
        spill_pop(harvest->spill);
    }
}

/* The letter of a hop. Entries of a sitemap count as 'M', a sitemap that has moved as a redirect. */
static char hop_of(const struct harvest_source *source, enum host_item_kind kind)
{
    if (kind == HOST_ITEM_SITEMAP && source->redirects)
        return HOST_ITEM_REDIRECT;
    if (kind == HOST_ITEM_LINK && source->is_sitemap)
        return HOST_ITEM_SITEMAP;
    return (char)kind;
}

/* Embeds in a row, and their redirects, this hop included. */
static unsigned embed_hops(const struct harvest_source *source, char hop)
{
    enum { COUNTED_MAX = 7 };
    bool is_one = hop == HOST_ITEM_EMBED || (hop == HOST_ITEM_REDIRECT && source->embed_hops);
    if (!is_one)
        return 0;
    return source->embed_hops < COUNTED_MAX ? source->embed_hops + 1 : COUNTED_MAX;
}

static void leave_out(struct harvest *harvest, struct scope_answer answer)
{
    stats_add(&harvest->stats->links_out_of_scope, 1);
    stats_add(&harvest->stats->links_undecided, answer.is_undecided);
    stats_add(&harvest->stats->scope[answer.rule], 1);
}

void harvest_link(struct harvest *harvest, const struct harvest_source *source, struct slice text,
                  enum host_item_kind kind)
{
    if (harvest->count == SIEVE_BATCH_MAX || harvest->text_used + URL_BYTES_MAX > BATCH_TEXT_BYTES)
        harvest_flush(harvest);
    struct harvest_url *found = &harvest->batch[harvest->count];
    url_init(&found->url, harvest->text + harvest->text_used, URL_BYTES_MAX);
    if (url_parse(&found->url, source->base, text) != URL_OK) {
        stats_add(&harvest->stats->links_bad, 1);
        return;
    }
    canonical_apply(&found->url, harvest->canonical);
    char hop = hop_of(source, kind);
    struct scope_context context = {.depth = source->depth + (hop == HOST_ITEM_LINK),
                                    .hops_off = source->hops_off,
                                    .embed_hops = embed_hops(source, hop),
                                    .is_embed = kind == HOST_ITEM_EMBED};
    struct scope_answer answer = scope_ask(harvest->scope, &found->url, &context);
    if (!answer.is_in) {
        leave_out(harvest, answer);
        return;
    }
    found->depth = (uint16_t)(context.depth < UINT16_MAX ? context.depth : UINT16_MAX);
    found->kind = (uint8_t)kind;
    found->hops_off = (uint8_t)(answer.is_off ? source->hops_off + 1 : 0);
    found->redirects = (uint8_t)source->redirects;
    found->embed_hops = (uint8_t)context.embed_hops;
    found->is_requisite = answer.is_requisite;
    found->hops = hops_add(source->hops, hop);
    found->source = source->source;
    found->via = harvest->tuning->fixed.log.via && kind != HOST_ITEM_SEED ? source->url : NULL;
    harvest->text_used += found->url.len;
    harvest->hashes[harvest->count++] = url_hash(&found->url);
}

/* A frame is a page of its own; but one that lives elsewhere belongs to the page that shows it, and is fetched if what
 * pages need is fetched anywhere. */
static enum host_item_kind kind_of(const struct tuning *tuning, enum link_kind kind)
{
    if (kind == LINK_SITEMAP)
        return HOST_ITEM_SITEMAP;
    if (kind == LINK_FRAME && tuning->fixed.scope.embeds == TUNING_EMBEDS_ANYWHERE)
        return HOST_ITEM_EMBED;
    return link_is_embed(kind) ? HOST_ITEM_EMBED : HOST_ITEM_LINK;
}

char harvest_hop(const struct harvest *harvest, const struct harvest_source *source, const struct link *link)
{
    return hop_of(source, kind_of(harvest->tuning, (enum link_kind)link->kind));
}

/* One link of a page, if it may be followed. */
static void take_link(struct harvest *harvest, const struct harvest_source *source, const struct link *link)
{
    if (link->flags & LINK_NOFOLLOW && harvest->tuning->live.robots.nofollow) {
        stats_add(&harvest->stats->links_nofollow, 1);
        return;
    }
    enum host_item_kind kind = kind_of(harvest->tuning, (enum link_kind)link->kind);
    if (kind == HOST_ITEM_EMBED && !harvest->tuning->fixed.scope.embeds) {
        leave_out(harvest, (struct scope_answer){.rule = SCOPE_EMBED}); /* the scope would say the same, but only after parsing the URL */
        return;
    }
    if (kind != HOST_ITEM_EMBED && source->is_requisite) {
        leave_out(harvest, (struct scope_answer){.rule = SCOPE_REQUISITE}); /* its embeds are wanted, its links are not */
        return;
    }
    harvest_link(harvest, source, link->url, kind);
}

size_t harvest_links(struct harvest *harvest, const struct harvest_source *source, size_t from,
                     uint64_t until_ns)
{
    struct links *links = &harvest->links;
    struct harvest_source of_head = *source;
    size_t left = links->count - from;
    size_t at = from, to = from + (left < HARVEST_LINKS_PER_STEP ? left : HARVEST_LINKS_PER_STEP);
    of_head.base = source->url;
    if (from == 0) {
        stats_add(&harvest->stats->links, links->count + links->dropped);
        stats_add(&harvest->stats->links_lost, links->dropped);
        stats_add(&harvest->stats->links_cut, links->dropped);
    }
    while (at < to) {
        const struct link *link = &links->found[at++];
        take_link(harvest, link->flags & LINK_OF_HEAD ? &of_head : source, link);
        if ((at - from) % harvest->links_per_look == 0 && clock_now_ns() >= until_ns)
            break;
    }
    harvest_flush(harvest);
    return at;
}
