#include "macro/crawl_rounds.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "macro/crawl_pairs.h"

/* 10 KB pages with 20 links. */
#define PAGE_BYTES 10240

enum { THIS, OTHER, BUILDS };

struct webs {
    struct crawl_web web[CRAWL_ROUNDS_WEBS];
    struct crawl_web_truth truth[CRAWL_ROUNDS_WEBS];
    char hosts[16], pages[16];
    const char *options[CRAWL_ROUNDS_WEBS][12];
    bool is_open[CRAWL_ROUNDS_WEBS];
};

/* What is needed for one row after another. */
struct turns {
    const struct crawl_rounds *rounds;
    const struct crawl_settings *settings;
    struct webs webs;
    struct crawl_report *report, *pairs;
    struct crawl_run runs[CRAWL_ROUNDS_ROWS_MAX][BUILDS]; /* of this round; pages = 0: it was not crawled */
};

static bool is_wanted(const struct turns *turns, const struct crawl_rounds_row *row)
{
    return crawl_filter_wants(&turns->settings->filter, row->name);
}

static bool open_web(struct webs *webs, enum crawl_rounds_web which)
{
    static const char *const shares[CRAWL_ROUNDS_WEBS][2] = {{NULL, NULL}, {"--gzip", "1"}, {"--https", "1"}};
    const char *const options[] = {"--plain",        "--hosts",        webs->hosts, "--pages", webs->pages,
                                   shares[which][0], shares[which][1], NULL};
    struct crawl_web *web = &webs->web[which];
    memcpy(webs->options[which], options, sizeof options);
    webs->is_open[which] = crawl_web_begin(web, &(struct crawl_web_options){.web = webs->options[which]});
    return webs->is_open[which] && crawl_web_write_seeds(web) &&
           crawl_web_write_truth(web, PAGE_BYTES, &webs->truth[which]);
}

/* The plain web, for wrk, and what the wanted rows need. */
static bool open_webs(struct turns *turns)
{
    bool good = true;
    snprintf(turns->webs.hosts, sizeof turns->webs.hosts, "%u", turns->settings->hosts);
    snprintf(turns->webs.pages, sizeof turns->webs.pages, "%u", turns->settings->pages);
    good = open_web(&turns->webs, CRAWL_ROUNDS_PLAIN);
    for (unsigned i = 0; i < turns->rounds->count && good; i++) {
        const struct crawl_rounds_row *row = &turns->rounds->rows[i];
        if (is_wanted(turns, row) && !turns->webs.is_open[row->web])
            good = open_web(&turns->webs, row->web);
    }
    return good;
}

static void close_webs(struct webs *webs)
{
    for (int i = 0; i < CRAWL_ROUNDS_WEBS; i++)
        if (webs->is_open[i])
            crawl_web_finish(&webs->web[i], false);
}

/* Set-up is measured by a crawl that ends after one page, and not counted. It runs twice, the first time for
 * nothing: memory that nobody has used for a while is slower to get, on a virtual machine ten times. */
static bool crawl(struct turns *turns, const struct crawl_rounds_row *row, const struct crawl_build *build,
                  struct crawl_run *run)
{
    char tuning[2048];
    struct crawl_run setup;
    const struct crawl_web *web = &turns->webs.web[row->web];
    const struct crawl_web_truth *truth = &turns->webs.truth[row->web];
    snprintf(tuning, sizeof tuning, "%s%s", crawl_run_rude, row->tuning);
    struct crawl_run_options options = {.tuning = tuning, .seeds = row->seeds, .build = build}, short_options = options;
    short_options.pages_max = 1;
    if (!crawl_run(web, &short_options, &setup) || !crawl_run(web, &short_options, &setup) ||
        !crawl_run(web, &options, run))
        return false;
    crawl_run_without(run, &setup);
    if (run->pages != truth->pages)
        fprintf(stderr, "bench_crawl: %s: %llu pages of %llu\n", row->name, (unsigned long long)run->pages,
                (unsigned long long)truth->pages);
    return run->pages == truth->pages;
}

static const char *name_of(const struct crawl_rounds_row *row, unsigned build, char name[96])
{
    snprintf(name, 96, build == OTHER ? "%s (other)" : "%s", row->name);
    return name;
}

static bool run_row(struct turns *turns, unsigned i, unsigned build)
{
    char name[96];
    const struct crawl_rounds_row *row = &turns->rounds->rows[i];
    const struct crawl_build *other = build == OTHER ? turns->settings->other : NULL;
    name_of(row, build, name);
    if (other && row->needs && !crawl_build_knows(other, row->needs)) {
        crawl_report_row(turns->report, name)->note = "the other build has no such key";
        return true;
    }
    if (!crawl(turns, row, other, &turns->runs[i][build]))
        return false;
    crawl_report_add_run(turns->report, name, &turns->runs[i][build]);
    return true;
}

/* By this build and by the other, if there is one. */
static bool run_rows(struct turns *turns, unsigned round)
{
    const unsigned builds = turns->settings->other ? BUILDS : 1;
    memset(turns->runs, 0, sizeof turns->runs);
    for (unsigned i = 0; i < turns->rounds->count; i++)
        for (unsigned b = 0; b < builds && is_wanted(turns, &turns->rounds->rows[i]); b++)
            if (!run_row(turns, i, (b + round) % builds))
                return false;
    return true;
}

static void add_pair(struct turns *turns, const struct crawl_pairs_side *side, const struct crawl_pairs_side *other)
{
    if (side->run->pages && other->run->pages)
        crawl_pairs_add(turns->pairs, side, other);
}

static void add_pairs(struct turns *turns)
{
    for (unsigned i = 0; i < turns->rounds->count; i++) {
        const struct crawl_rounds_row *row = &turns->rounds->rows[i];
        const struct crawl_pairs_side side = {row->name, &turns->runs[i][THIS]};
        add_pair(turns, &side, &(struct crawl_pairs_side){"other build", &turns->runs[i][OTHER]});
        for (unsigned k = 0; k < turns->rounds->count && row->of; k++)
            if (strcmp(turns->rounds->rows[k].name, row->of) == 0)
                add_pair(turns, &side, &(struct crawl_pairs_side){row->of, &turns->runs[k][THIS]});
    }
}

static void run_peers(struct turns *turns)
{
    struct crawl_peer_result result;
    struct crawl_web_options options = {.web = turns->webs.options[CRAWL_ROUNDS_PLAIN]};
    for (int peer = 0; peer < CRAWL_PEER_COUNT; peer++) {
        const char *name = crawl_peer_name((enum crawl_peer)peer);
        const char *absent = crawl_peer_absent((enum crawl_peer)peer);
        if (!crawl_filter_wants(&turns->settings->filter, name))
            continue;
        if (absent)
            crawl_report_row(turns->report, name)->note = absent;
        else if (crawl_peer_run((enum crawl_peer)peer, &options, turns->settings->seconds * 2, &result))
            crawl_report_add_peer(turns->report, name, &result);
        else
            crawl_report_row(turns->report, name)->note = "fetched nothing";
    }
}

static bool run_round(struct turns *turns, unsigned round)
{
    struct crawl_peer_result result;
    if (!crawl_peer_wrk(turns->webs.web[CRAWL_ROUNDS_PLAIN].http_port, turns->webs.truth[CRAWL_ROUNDS_PLAIN].page,
                        turns->settings->seconds, &result))
        return false;
    crawl_report_add_peer(turns->report, "wrk on one page", &result);
    if (!run_rows(turns, round))
        return false;
    add_pairs(turns);
    if (turns->rounds->with_peers && turns->settings->peers)
        run_peers(turns);
    return true;
}

bool crawl_rounds_run(const struct crawl_rounds *rounds, const struct crawl_settings *settings,
                      struct crawl_report *report)
{
    static struct turns turns;
    assert(rounds->count <= CRAWL_ROUNDS_ROWS_MAX);
    turns = (struct turns){.rounds = rounds, .settings = settings, .report = report, .pairs = rounds->pairs};
    crawl_pairs_begin(turns.pairs, report);
    bool good = open_webs(&turns);
    for (unsigned i = 0; i < settings->repeats && good; i++)
        good = run_round(&turns, i);
    close_webs(&turns.webs);
    if (turns.pairs->count == 0)
        report->below = NULL;
    return good;
}
