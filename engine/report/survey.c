#include "engine/report/survey.h"

#include <errno.h>
#include <stdlib.h>

enum {
    HOSTS_MAX = 1 << 20,
    MIMES_MAX = 1 << 12,
    SEEDS_MAX = 1 << 16,
    MS_PER_HOUR = 3600000,
    EPOCH_HOUR_OF_WEEK = 3 * 24, /* 1970 began on a Thursday */
};

int survey_init(struct survey *survey, const char *name, enum survey_task task)
{
    memset(survey, 0, sizeof *survey);
    survey->name = name;
    survey->task = task;
    survey->queued = -1;
    survey->seconds = -1;
    timeline_init(&survey->timeline);
    samples_init(&survey->samples);
    int error = tasks_init(&survey->tasks);
    error = error ? error : roster_init(&survey->hosts, HOSTS_MAX);
    error = error ? error : roster_init(&survey->mimes, MIMES_MAX);
    error = error ? error : roster_init(&survey->seeds, SEEDS_MAX);
    error = error ? error : roster_init(&survey->outcomes, SURVEY_OUTCOMES_MAX);
    if (error)
        survey_fini(survey);
    return error;
}

void survey_fini(struct survey *survey)
{
    tasks_fini(&survey->tasks);
    roster_fini(&survey->hosts);
    roster_fini(&survey->mimes);
    roster_fini(&survey->seeds);
    roster_fini(&survey->outcomes);
}

/* robots.txt has P as its last hop, here and at Heritrix, which also has lines for names: status 1. */
static bool is_prerequisite(const struct log_line *line)
{
    return (line->hops.len && line->hops.ptr[line->hops.len - 1] == 'P') || line->status == 1;
}

/* "3t" says how many tries there were. */
static bool is_tries(struct slice word)
{
    size_t digits = 0;
    while (digits < word.len && word.ptr[digits] >= '0' && word.ptr[digits] <= '9')
        digits++;
    return digits && digits + 1 == word.len && word.ptr[digits] == 't';
}

static const char *outcome_named(struct slice word)
{
    static const char *const names[] = {
#define SURVEY_OUTCOME(value, number, name, code, class, again) name,
        FETCH_OUTCOMES(SURVEY_OUTCOME)
#undef SURVEY_OUTCOME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (slice_equals(word, slice_of(names[i])))
            return names[i];
    return NULL;
}

/* What Heritrix's codes mean where no annotation says more. */
static struct slice outcome_of_code(int status)
{
    switch (status) {
    case -1:
        return SLICE("name look-up failed (-1)");
    case -2:
        return SLICE("connection failed (-2)");
    case -3:
        return SLICE("connection broken (-3)");
    case -4:
        return SLICE("timeout (-4)");
    case -5:
        return SLICE("unexpected error (-5)");
    case -6:
        return SLICE("name of the host failed (-6)");
    case -7:
        return SLICE("URL not supported (-7)");
    case -8:
        return SLICE("tries used up (-8)");
    case -50:
        return SLICE("waits (-50)");
    case -61:
        return SLICE("robots.txt failed (-61)");
    case -404:
        return SLICE("empty response (-404)");
    case -5000:
        return SLICE("out of scope (-5000)");
    case -5003:
        return SLICE("quota used up (-5003)");
    case -9998:
        return SLICE("robots-denied");
    default:
        return SLICE("another code below 0");
    }
}

/* What the annotations say besides the outcome. */
static bool count_repeat(struct survey *survey, struct slice word, struct timeline_slot *slot)
{
    bool is_exact = slice_starts_with(word, SLICE("duplicate:")),
         is_near = slice_starts_with(word, SLICE("near-duplicate:"));
    survey->duplicates += is_exact;
    slot->duplicates += is_exact;
    survey->near_duplicates += is_near;
    slot->near_duplicates += is_near;
    return is_exact || is_near;
}

/* The outcome is the first annotation that is one. */
static void count_outcome(struct survey *survey, const struct log_line *line, struct timeline_slot *slot)
{
    struct slice rest = line->annotation;
    const char *outcome = NULL;
    if (rest.len == 1 && rest.ptr[0] == '-')
        rest.len = 0;
    while (rest.len) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        struct slice word = {rest.ptr, comma ? (size_t)(comma - rest.ptr) : rest.len};
        rest = slice_skip(rest, comma ? word.len + 1 : word.len);
        if (!count_repeat(survey, word, slot) && !outcome && !is_tries(word))
            outcome = outcome_named(word);
    }
    if (!outcome && line->status > 0) {
        survey->done++;
        return;
    }
    struct roster_entry *entry =
        roster_find(&survey->outcomes, outcome ? slice_of(outcome) : outcome_of_code(line->status));
    entry->urls++;
    entry->pages++; /* sorted by these */
}

static void count_code(struct survey *survey, const struct log_line *line)
{
    int code = line->status < SURVEY_CODE_MIN   ? SURVEY_CODE_MIN
               : line->status > SURVEY_CODE_MAX ? SURVEY_CODE_MAX
                                                : line->status;
    struct survey_count *count = &survey->codes[code - SURVEY_CODE_MIN];
    count->urls++;
    count->bytes += line->size > 0 ? (uint64_t)line->size : 0;
}

static void count_name(struct roster_entry *entry, const struct log_line *line, bool is_page)
{
    entry->urls++;
    entry->pages += is_page;
    entry->failed += !is_page;
    entry->bytes += is_page && line->size > 0 ? (uint64_t)line->size : 0;
    if (is_page && line->took_ms >= 0) {
        entry->took_ms += (uint64_t)line->took_ms;
        entry->timed++;
    }
}

/* Slashes and dots behind the scheme. */
static unsigned weight_of(struct slice url)
{
    unsigned marks = 0;
    for (size_t i = 0; i < url.len; i++)
        marks += (url.ptr[i] == '/') + (url.ptr[i] == '.');
    return marks < 2 ? 0 : marks - 2 < SURVEY_WEIGHTS ? marks - 2 : SURVEY_WEIGHTS - 1;
}

static void count_level(struct survey *survey, const struct log_line *line, bool is_first_of_host)
{
    uint64_t took_ms = line->took_ms > 0 ? (uint64_t)line->took_ms : 0;
    uint64_t size = line->size > 0 ? (uint64_t)line->size : 0;
    unsigned level = !is_first_of_host;
    if (survey->task == SURVEY_TASK_VISIT && line->visit) {
        survey->visited++;
        level = tasks_add(&survey->tasks, line->visit, took_ms, size);
    } else if (survey->visited) {
        return; /* others of this log tell their visit */
    }
    if (level == 0)
        survey->weights[weight_of(line->url)]++;
    if (line->took_ms >= 0)
        spread_add(&survey->took_ms[level], took_ms);
    spread_add(&survey->size[level], size);
}

static void count_page(struct survey *survey, const struct log_line *line, struct timeline_slot *slot)
{
    uint64_t size = line->size > 0 ? (uint64_t)line->size : 0;
    bool is_redirect = line->status >= 300 && line->status < 400 && line->status != 304;
    survey->pages++;
    survey->bytes += size;
    survey->redirects += is_redirect;
    survey->week_bytes[(line->end_ms / MS_PER_HOUR + EPOCH_HOUR_OF_WEEK) % SURVEY_WEEK_HOURS] += size;
    slot->pages++;
    slot->bytes += size;
    slot->redirects += is_redirect;
    if (line->outlinks >= 0) {
        slot->linked++;
        slot->outlinks += (uint64_t)line->outlinks;
        survey->outlinks += (uint64_t)line->outlinks;
    }
}

static void count_time(struct survey *survey, uint64_t ms)
{
    survey->first_ms = !survey->urls || ms < survey->first_ms ? ms : survey->first_ms;
    survey->last_ms = ms > survey->last_ms ? ms : survey->last_ms;
}

void survey_take(struct survey *survey, struct slice text)
{
    struct log_line line;
    survey->lines++;
    if (!log_line_read(&line, text)) {
        survey->bad_lines++;
        return;
    }
    if (is_prerequisite(&line)) {
        survey->prerequisites++;
        return;
    }
    bool is_page = line.status > 0;
    unsigned depth = log_line_depth(line.hops);
    struct timeline_slot *slot = timeline_at(&survey->timeline, line.end_ms);
    count_time(survey, line.end_ms);
    survey->urls++;
    slot->urls++;
    survey->depths[depth < SURVEY_DEPTHS ? depth : SURVEY_DEPTHS - 1]++;
    count_code(survey, &line);
    count_outcome(survey, &line, slot);
    struct roster_entry *host = roster_find(&survey->hosts, log_line_host(line.url));
    bool is_first = host->pages == 0;
    count_name(host, &line, is_page);
    count_name(roster_find(&survey->seeds, line.source), &line, is_page);
    if (!is_page) {
        survey->failed++;
        slot->failed++;
        return;
    }
    count_name(roster_find(&survey->mimes, line.mime), &line, is_page);
    count_page(survey, &line, slot);
    count_level(survey, &line, is_first);
}

/* The value behind `"key": ` in the outermost object of what summary.c writes; empty: not there. */
static struct slice value_of(struct slice json, const char *key)
{
    const char *at = memmem(json.ptr, json.len, key, strlen(key));
    if (!at)
        return (struct slice){"", 0};
    at += strlen(key);
    const char *end = json.ptr + json.len, *stop = at;
    while (stop < end && *stop != ',' && *stop != '\n' && *stop != '"')
        stop++;
    return slice_between(at, stop);
}

void survey_take_summary(struct survey *survey, struct slice json)
{
    struct slice end = value_of(json, "\n  \"end\": \""), queued = value_of(json, "\n  \"queued\": "),
                 seconds = value_of(json, "\n  \"seconds\": ");
    char number[32] = "";
    size_t len = end.len < sizeof survey->end ? end.len : sizeof survey->end - 1;
    memcpy(survey->end, end.ptr, len);
    survey->end[len] = '\0';
    if (queued.len && queued.len < sizeof number) {
        memcpy(number, queued.ptr, queued.len);
        survey->queued = strtoll(number, NULL, 10);
    }
    if (seconds.len && seconds.len < sizeof number) {
        memset(number, 0, sizeof number);
        memcpy(number, seconds.ptr, seconds.len);
        survey->seconds = strtod(number, NULL);
    }
}

/* Without visits, a host is a task. */
static void end_hosts(struct survey *survey)
{
    for (size_t i = 0; i < survey->hosts.count; i++) {
        const struct roster_entry *host = &survey->hosts.entries[i];
        struct task task = {.pages = host->pages < UINT32_MAX ? (uint32_t)host->pages : UINT32_MAX,
                            .took_ms = host->took_ms,
                            .bytes = host->bytes};
        if (task.pages)
            tasks_end(&survey->tasks, &task);
    }
}

void survey_finish(struct survey *survey)
{
    if (survey_has_visits(survey))
        tasks_finish(&survey->tasks);
    else
        end_hosts(survey);
    struct roster_entry *done = survey->done ? roster_find(&survey->outcomes, SLICE("done")) : NULL;
    if (done)
        done->urls = done->pages = survey->done;
    roster_sort(&survey->hosts);
    roster_sort(&survey->mimes);
    roster_sort(&survey->seeds);
    roster_sort(&survey->outcomes);
}
