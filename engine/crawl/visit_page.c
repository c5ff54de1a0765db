/* Processes the response to a request for a page: its links go to the frontier (visit_links.c), the page to
 * the store, a line to the log. */
#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/crawl/health.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "engine/robots/robots_tag.h"
#include "engine/store/limits.h"
#include "lockfree/clock.h"
#include "net/http_request.h"

/* Keeps a Retry-After within 64 bits of nanoseconds; the tuning file's maximum is far below this. */
enum { RETRY_AFTER_S_MAX = 1000000000 };

/* A page and its verdict, while it is being processed. */
struct reading {
    struct visit *visit;
    struct ledger_verdict verdict;
    struct url url;
    char url_text[URL_BYTES_MAX];
    uint64_t until_ns;      /* if it is stored in steps: the end of its time in this turn; else 0 */
    struct exact_copy copy; /* if the page repeats it */
    char note[128];         /* the annotation */
};

uint64_t visit_retry_after_ns(const struct visit_page *page)
{
    struct slice value = page->known[HTTP_KNOWN_RETRY_AFTER];
    char text[64];
    struct tm date = {0};
    if (value.len == 0 || value.len >= sizeof text)
        return 0;
    memcpy(text, value.ptr, value.len);
    text[value.len] = '\0';
    if (text[0] >= '0' && text[0] <= '9') {
        uint64_t seconds = 0;
        for (size_t i = 0; text[i] >= '0' && text[i] <= '9' && seconds < RETRY_AFTER_S_MAX; i++)
            seconds = seconds * 10 + (uint64_t)(text[i] - '0');
        return seconds * CLOCK_NS_PER_S;
    }
    if (!strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date))
        return 0;
    time_t wait = timegm(&date) - (time_t)(clock_wall_us() / 1000000);
    wait = wait < RETRY_AFTER_S_MAX ? wait : RETRY_AFTER_S_MAX;
    return wait > 0 ? (uint64_t)wait * CLOCK_NS_PER_S : 0;
}

/* 429 Too Many Requests and 503 Service Unavailable. */
static bool asks_for_patience(const struct visit_page *page)
{
    return page->status == 429 || page->status == 503;
}

/* True if the host rests and the URL is tried again. False after the last try: this response is then kept as
 * the page. A host that answers so too many times in a row is given up. */
static bool have_patience(struct visit *visit)
{
    struct visits *visits = visit->visits;
    struct host_item *item = visit->item;
    uint64_t wait_ns = visit_retry_after_ns(&visit->page);
    health_fail(visit->host, FETCH_HOST_BUSY, &visits->tuning->live, visits->stats);
    stats_add(&visits->stats->tries_failed[FETCH_HOST_BUSY], 1);
    visit->times.retry_after_ns =
        wait_ns ? wait_ns : politeness_failure_wait(&visits->tuning->live.retry, visit->host->failures);
    troubles_note(visits->troubles, visit->host, FETCH_HOST_BUSY,
                  visit->host->is_dead ? 0 : clock_now_ns() + visit->times.retry_after_ns);
    if (item->tries >= visits->tuning->live.retry.retries_max)
        return false;
    item->tries++;
    stats_add(&visits->stats->retries, 1);
    visit->item = NULL;
    visit_release_place(visit);
    host_unpop(visit->host, item);
    return true;
}

static void open_url(struct reading *reading)
{
    const struct visit *visit = reading->visit;
    url_init(&reading->url, reading->url_text, sizeof reading->url_text);
    bool fits = url_join(&reading->url, host_key(visit->host), host_item_path(visit->item));
    assert(fits);
    (void)fits;
}

static bool is_unwanted(const struct visit *visit)
{
    bool skips_near = visit->visits->repeats->store == TUNING_DUPLICATES_SKIP;
    return visit->page.tags & (ROBOTS_TAG_NOINDEX | ROBOTS_TAG_NOARCHIVE) ||
           (visit->page.is_near && skips_near) ||
           !scope_wants_mime(&visit->visits->tuning->fixed.scope, visit->page.known[HTTP_KNOWN_CONTENT_TYPE]);
}

/* Looks for an earlier page with the same body. Before the verdict: see repeats.h. */
static void look_for_copy(struct reading *reading)
{
    struct visit_page *page = &reading->visit->page;
    page->is_repeat =
        page->has_digest && page->cut_by == FETCH_DONE && page->head_len <= STORE_REVISIT_HEAD_BYTES_MAX &&
        repeats_find(reading->visit->visits->repeats, page->digest, page->body_len, &reading->copy);
}

/* Whether a body is stored though it is that of an earlier page. */
static bool keeps_copies(const struct repeats *repeats)
{
    return repeats->store == TUNING_DUPLICATES_FULL;
}

/* Whether the body is stored. */
static bool keeps_body(const struct visit *visit)
{
    const struct visit_page *page = &visit->page;
    return !page->is_unwanted && (!page->is_repeat || keeps_copies(visit->visits->repeats));
}

/* Makes the digest of a page that takes steps, and if its body is stored its records. False if that takes more steps. */
static bool prepare(struct reading *reading, const struct visit_record *record)
{
    struct visit *visit = reading->visit;
    struct visit_page *page = &visit->page;
    struct visits *visits = visit->visits;
    bool is_first = visits->repeats->has_exact || page->is_unwanted || store_has_lines(visits->store);
    if (is_first && !page->has_digest &&
        visit_prepare_digest(visit, record, reading->until_ns) != STORE_READY)
        return false;
    /* What is begun is stored, even if a copy has come meanwhile. */
    if (!store_holds(visits->store, visit_response(page)) || keeps_copies(visits->repeats))
        look_for_copy(reading);
    return !keeps_body(visit) || visit_prepare(visit, record, reading->until_ns) == STORE_READY;
}

/* Later pages may refer to this one. */
static void add_copy(struct reading *reading, const struct visit_record *record)
{
    struct visit *visit = reading->visit;
    struct visits *visits = visit->visits;
    struct exact_source source = {.url = record->url, .date_us = visit_date_us(visit)};
    if (visit->page.has_digest && !visit->page.is_repeat && visit->page.cut_by == FETCH_DONE)
        repeats_add(visits->repeats, visits->ledger->loop, visit->page.digest, &source);
}

/* False if the store or the log has no room now, or if the page takes more steps. */
static bool store_page(struct reading *reading)
{
    struct visit *visit = reading->visit;
    struct visits *visits = visit->visits;
    struct visit_record record = {.url = url_page(&reading->url), .path = host_item_path(visit->item)};
    if (reading->until_ns && !prepare(reading, &record))
        return false;
    if (!reading->until_ns)
        look_for_copy(reading);
    if (!ledger_begin(visits->ledger))
        return false;
    bool is_skipped = visit->page.is_repeat && visits->repeats->store == TUNING_DUPLICATES_SKIP;
    if (!visits->store)
        add_copy(reading, &record);
    if (!visits->store || visit->page.is_unwanted || is_skipped)
        return true;
    if (visit->page.is_repeat && visits->repeats->store == TUNING_DUPLICATES_REVISIT)
        record.repeats = &reading->copy;
    if (!visit_store(visit, &record))
        return false;
    stats_add(&visits->stats->stored, 1);
    reading->verdict.is_stored = true;
    add_copy(reading, &record);
    return true;
}

/* Calls on_page of the program that runs the crawl. */
static void show_page(struct reading *reading)
{
    struct visit *visit = reading->visit;
    const struct visits_sink *sink = &visit->visits->sink;
    enum fetch_outcome decoded = FETCH_DONE;
    if (!sink->on_page)
        return;
    struct crawl_page page = {
        .url = url_page(&reading->url),
        .status = visit->page.status,
        .head = {visit_response(&visit->page), visit->page.head_len},
        .body = visit_decode_body(visit, &decoded),
        .mime = visit->page.known[HTTP_KNOWN_CONTENT_TYPE],
        .is_truncated = visit->page.cut_by != FETCH_DONE,
        .fetched_us = visit_date_us(visit),
    };
    sink->on_page(sink->owner, &page);
}

/* What crawl.log says besides: a certificate's fault, and which page this one repeats. */
static struct slice annotate(struct reading *reading)
{
    const struct visit *visit = reading->visit;
    struct stats *stats = visit->visits->stats;
    char repeat[REPEATS_NOTE_CHARS] = "";
    if (visit->page.is_repeat) {
        stats_add(&stats->duplicates, 1);
        repeats_note_exact(&reading->copy, repeat);
    } else if (visit->page.is_near) {
        stats_add(&stats->near_duplicates, 1);
        repeats_note_near(&visit->page.near, repeat);
    }
    const char *fault = visit->certificate != FETCH_DONE ? fetch_outcome_name(visit->certificate) : "";
    int len = fault[0] || repeat[0] ? snprintf(reading->note, sizeof reading->note, "%s%s%s", fault,
                                               fault[0] && repeat[0] ? "," : "", repeat)
                                    : 0;
    return (struct slice){reading->note, (size_t)len};
}

void visit_tell_verdict(struct visit *visit, struct ledger_verdict *verdict)
{
    const struct conn_times *times = &visit->conn.times;
    if (!visit->number)
        visit->number = ledger_number_visit(visit->visits->ledger);
    verdict->visit = visit->number;
    verdict->outlinks = visit->page.has_outlinks ? (int64_t)visit->page.outlinks : -1;
    verdict->first_byte_ms =
        times->first_byte_ns ? (int64_t)((times->first_byte_ns - times->request_ns) / CLOCK_NS_PER_MS) : -1;
}

static void count_kinds(struct visit *visit)
{
    const struct visit_page *page = &visit->page;
    struct census *types = &visit->visits->types, *domains = &visit->visits->domains;
    unsigned type = census_find_type(types, page->known[HTTP_KNOWN_CONTENT_TYPE], VISIT_TYPES_MAX);
    census_count(types, type, page->body_len);
    if (visit->domain == CENSUS_OTHERS)
        visit->domain = (uint16_t)census_find_domain(domains, host_name(visit->host), VISIT_DOMAINS_MAX);
    census_count(domains, visit->domain, page->body_len);
}

/* Counts and logs the finished page. */
static void conclude(struct reading *reading)
{
    struct visit *visit = reading->visit;
    struct visit_page *page = &visit->page;
    struct host_item *item = visit->item;
    struct ledger_verdict *verdict = &reading->verdict;
    show_page(reading);
    verdict->status = page->status;
    verdict->is_page = true;
    verdict->size = (int64_t)page->body_len;
    verdict->start_ns = visit->conn.times.request_ns;
    verdict->end_ns = visit->visits->reads_since_ns;
    verdict->mime = page->known[HTTP_KNOWN_CONTENT_TYPE];
    verdict->annotation = annotate(reading);
    visit_tell_verdict(visit, verdict);
    if (page->cut_by != FETCH_DONE) {
        verdict->outcome = page->cut_by;
        stats_add(&visit->visits->stats->truncated, page->cut_by != FETCH_TYPE_UNWANTED);
    }
    visit->item = NULL;
    visit->holds_page = false;
    if (fetch_outcome_class(page->cut_by) != FETCH_OUTCOME_HOST && !asks_for_patience(page)) {
        lf_store(&visit->host->failures, 0, relaxed);
        troubles_forget(visit->visits->troubles, visit->host);
    }
    host_count(&visit->host->pages, 1);
    frontier_count_page(visit->visits->frontier->frontier, visit->host);
    stats_add(&visit->visits->stats->pages, 1);
    stats_add(&visit->visits->stats->statuses[page->status / 100], 1);
    stats_add(&visit->visits->stats->codes[page->status], 1);
    stats_record(&visit->visits->stats->body_bytes, page->body_len);
    count_kinds(visit);
    ledger_finish(visit->visits->ledger, visit->host, item, verdict);
}

/* Its links are taken. */
static void finish_reading(struct reading *reading)
{
    struct visit *visit = reading->visit;
    visit->page.is_read = true;
    if (!visit->visits->store)
        return;
    visit->page.is_unwanted = is_unwanted(visit);
    if (!visit_is_long(visit) && !visit->page.has_digest)
        visit_make_digests(visit);
}

/* Looks for an earlier page with the same body before this one is read: then its text, and perhaps its links, need not be looked
 * at. Long pages are always read. */
static void look_early(struct reading *reading)
{
    struct visit *visit = reading->visit;
    const struct repeats *repeats = visit->visits->repeats;
    /* Once: a page that the reader has begun, or that waits for memory to be read, is read to its end. Otherwise the reader would
     * stay taken, and read on in memory that the visit has released. */
    if (visit->page.has_looked)
        return;
    visit->page.has_looked = true;
    if (!repeats->has_exact || (repeats->follows && !repeats->has_near) || visit_is_long(visit) ||
        visit->page.status / 100 != 2)
        return;
    if (!visit->page.has_digest)
        visit_make_digests(visit);
    look_for_copy(reading);
}

/* Whether the links of the page are left alone because an earlier page has the same body. */
static bool skips_links(struct reading *reading)
{
    struct visit *visit = reading->visit;
    struct visit_page *page = &visit->page;
    look_early(reading);
    if (!page->is_repeat || visit->visits->repeats->follows)
        return false;
    page->outcome = FETCH_DONE;
    page->tags = visit->visits->tuning->live.robots.meta ? page->robots_tags : 0;
    return true;
}

bool visit_read_page(struct visit *visit)
{
    struct reading reading; /* not zeroed as a whole: url_text is long */
    reading.visit = visit;
    reading.verdict = (struct ledger_verdict){.outcome = FETCH_DONE};
    reading.until_ns = visit_takes_steps(visit) ? clock_now_ns() + VISIT_STORE_NS_MAX : 0;
    bool is_again = visit->page.is_read;
    if (!is_again && asks_for_patience(&visit->page) && have_patience(visit))
        return true;
    open_url(&reading);
    if (!is_again && !skips_links(&reading) && !visit_read_links(visit, &reading.url)) {
        visit_stall(visit);
        return false;
    }
    __builtin_prefetch(host_first(visit->host)); /* to be popped next */
    if (!is_again)
        finish_reading(&reading);
    if (!reading.until_ns && visit_takes_steps(visit)) /* by what its links take */
        reading.until_ns = clock_now_ns() + VISIT_STORE_NS_MAX;
    reading.verdict.outcome = visit->page.outcome;
    if (!store_page(&reading)) {
        visit_stall(visit);
        return false;
    }
    reading.verdict.digest = visit->page.has_digest ? visit->page.digest : NULL;
    conclude(&reading);
    return true;
}
