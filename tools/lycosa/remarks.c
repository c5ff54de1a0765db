#include "tools/lycosa/remarks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/crawl/diagnosis.h"
#include "lockfree/clock.h"

/* Reasons that are named; the others are summed up. */
enum { REASONS_MAX = 3 };

/* "2 tls-alert-protocol-version, 1 connect-refused, 4 others" of counts by outcome. */
static void put_reasons(struct text *text, const int64_t *counts)
{
    bool shown[FETCH_OUTCOME_COUNT] = {[FETCH_DONE] = true};
    const char *comma = "";
    for (int place = 0; place < REASONS_MAX; place++, comma = ", ") {
        int most = FETCH_DONE;
        for (int i = 0; i < FETCH_OUTCOME_COUNT; i++)
            if (!shown[i] && counts[i] > 0 && (most == FETCH_DONE || counts[i] > counts[most]))
                most = i;
        if (most == FETCH_DONE)
            return;
        shown[most] = true;
        text_put(text, "%s%" PRId64 " %s", comma, counts[most], fetch_outcome_name((enum fetch_outcome)most));
    }
    int64_t others = 0;
    for (int i = 0; i < FETCH_OUTCOME_COUNT; i++)
        others += shown[i] || counts[i] < 0 ? 0 : counts[i];
    if (others)
        text_put(text, ", %" PRId64 " others", others);
}

void remarks_put_failing(struct text *text, const struct status *status)
{
    if (status->failing_count <= 0)
        return;
    text_put(text, status->failing_count == 1 ? "1 host fails: " : "%" PRId64 " hosts fail: ",
             status->failing_count);
    put_reasons(text, status->failing);
}

void remarks_put_limit(struct text *text, const struct status *status)
{
    char sentence[DIAGNOSIS_BYTES];
    diagnosis_write(status, sentence, sizeof sentence);
    text_put(text, "%s", sentence);
}

void remarks_put_span(struct text *text, double seconds)
{
    if (seconds < 99.5)
        text_put(text, "%.0f s", seconds);
    else if (seconds < 99.5 * 60)
        text_put(text, "%.0f min", seconds / 60);
    else if (seconds < 48 * 3600.0)
        text_put(text, "%.1f h", seconds / 3600);
    else
        text_put(text, "%.1f d", seconds / 86400);
}

void remarks_put_outlook(struct text *text, const struct status *status)
{
    const struct outlook *outlook = &status->outlook;
    if (outlook->by == OUTLOOK_UNKNOWN || (status->phase != CRAWL_RUNNING && status->phase != CRAWL_PAUSED))
        return;
    /* 99.9% is not all */
    text_put(text, "%.0f%% of %s", floor(outlook->share * 100),
             outlook->by == OUTLOOK_QUEUE ? "the URLs found" : outlook_name(outlook->by));
    if (outlook->left_s >= 0) {
        text_put(text, ", ");
        remarks_put_span(text, outlook->left_s);
        text_put(text, " left");
    }
}

void remarks_put_outage(struct text *text, const struct status *status)
{
    if (status->names_outage_s > 0)
        text_put(text, "no name server has answered for %.0f s: see net.dns-servers", status->names_outage_s);
}

void remarks_put_fold(struct text *text, const struct status *status)
{
    if (!status->fold_trouble)
        return;
    text_put(text, "the journal is not folded: %s; ", strerror(-status->fold_trouble));
    if (status->fold_trouble_stays)
        text_put(text, "tried again when the crawl is resumed");
    else if (status->fold_trouble == -ENOSPC)
        text_put(text, "tried again when the disk has twice its length free beside state.reserve");
    else
        text_put(text, "tried again in some minutes");
}

static void put_loss(struct text *text, uint64_t count, const char *what)
{
    if (count)
        text_put(text, "%s%" PRIu64 " %s", text->len ? "; " : "", count, what);
}

void remarks_put_lost(struct text *text, const struct status *status)
{
    const struct stats *now = &status->now;
    char buffer[768];
    struct text losses = text_in(buffer, sizeof buffer);
    put_loss(&losses, stats_get(&now->outcomes[FETCH_FRONTIER_FULL]), "URLs lost: raise memory.frontier");
    put_loss(&losses, stats_get(&now->outcomes[FETCH_HOSTS_FULL]), "URLs lost: raise memory.hosts");
    put_loss(&losses, stats_get(&now->outcomes[FETCH_HOST_FULL]), "URLs lost: raise limits.urls-per-host");
    put_loss(&losses, stats_get(&now->outcomes[FETCH_DOMAIN_FULL]),
             "URLs lost: raise limits.hosts-per-domain or limits.urls-per-domain");
    put_loss(&losses, stats_get(&now->outcomes[FETCH_SIEVE_FULL]), "URLs lost: raise memory.sieve");
    put_loss(&losses, stats_get(&now->links_cut),
             "links lost: raise limits.links-per-page or limits.links-per-sitemap");
    put_loss(&losses, stats_get(&now->links_undecided),
             "links left out because expressions took too long: see scope.exclude and scope.include");
    put_loss(&losses, stats_get(&now->robots_lost), "robots.txt files not stored: raise store.buffer");
    put_loss(&losses, status->seeds.out_of_scope, "of the seeds out of scope");
    text_put(text, "%s", buffer);
}

static bool is_idle(const struct status *status)
{
    return status->phase == CRAWL_RUNNING && status->queued && stats_get(&status->now.connections) == 0 &&
           status->hosts[HOST_READY] <= 0;
}

void remarks_put_waiting(struct text *text, const struct status *status)
{
    if (!is_idle(status) || status->waiting_count <= 0 || !status->waiting[0].id)
        return;
    text_put(text, "waiting for %" PRId64 " host%s: ", status->waiting_count,
             status->waiting_count == 1 ? "" : "s");
    for (unsigned i = 0; i < STATUS_WAITING_MAX && status->waiting[i].id; i++) {
        const struct troubles_host *host = &status->waiting[i];
        uint64_t wait_ns = host->retry_ns > status->now_ns ? host->retry_ns - status->now_ns : 0;
        text_put(text, "%s%s, retry in %" PRIu64 " s (%s)", i ? "; " : "", host->name,
                 (wait_ns + CLOCK_NS_PER_S - 1) / CLOCK_NS_PER_S, fetch_outcome_name(host->why));
    }
}

void remarks_put_end(struct text *text, const struct status *status)
{
    uint64_t open = stats_get(&status->now.connections);
    if (status->phase == CRAWL_STOPPING && open)
        text_put(text, "stopping: %" PRIu64 " fetch%s in flight", open, open == 1 ? "" : "es");
    else if (status->phase == CRAWL_ENDING && status->unwritten_bytes)
        text_put(text, "ending: %.1f MB are still to be written", (double)status->unwritten_bytes / 1e6);
}

static void put_scope_rules(struct text *text, const struct status_seeds *seeds)
{
    const char *comma = "";
    for (int rule = 0; rule < SCOPE_RULES; rule++)
        if (seeds->scope[rule]) {
            text_put(text, "%s%" PRIu64 " by %s", comma, seeds->scope[rule],
                     scope_rule_name((enum scope_rule)rule));
            comma = ", ";
        }
}

void remarks_put_nothing(struct text *text, const struct status *status, const struct tuning *tuning)
{
    const struct status_seeds *seeds = &status->seeds;
    int64_t outcomes[FETCH_OUTCOME_COUNT];
    for (int i = 0; i < FETCH_OUTCOME_COUNT; i++)
        outcomes[i] = (int64_t)stats_get(&status->now.outcomes[i]);
    text_put(text, "nothing was fetched: ");
    if (seeds->queued == 0 && seeds->out_of_scope) {
        text_put(text, "no seed is in the scope (");
        put_scope_rules(text, seeds);
        text_put(text, "); see the keys of [scope]");
    } else if (outcomes[FETCH_ADDRESS_FORBIDDEN] && !tuning->fixed.crawl.contact_url[0]) {
        text_put(
            text,
            "crawl.contact-url is not set, and without it only this machine is visited: put the URL of a "
            "page that tells who crawls into a tuning file, '[crawl]' and below it 'contact-url = "
            "https://...'");
    } else if (outcomes[FETCH_ADDRESS_FORBIDDEN]) {
        text_put(text,
                 "the seeds have private addresses, which a crawl with a crawl.contact-url leaves alone: set "
                 "crawl.private-addresses = yes to visit them");
    } else if (status->failing_count > 0) {
        remarks_put_failing(text, status);
    } else {
        size_t before = text->len;
        put_reasons(text, outcomes);
        if (text->len == before)
            text_put(text, "no answer came in time");
    }
}
