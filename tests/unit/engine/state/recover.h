/* Recovers what a script has left on its disk, and compares it with what the script knows. */
#pragma once

#include "tests/unit/engine/state/script.h"

/* What can be wrong, in the order in which it is looked for. */
enum verdict {
    VERDICT_GOOD,
    VERDICT_REFUSED,    /* resume_look says that the directory is damaged */
    VERDICT_LOST,       /* a commit that must be there is not */
    VERDICT_UNRESTORED, /* resume_restore fails */
    VERDICT_UNREPLAYED,
    VERDICT_TORN,     /* a file does not end with a whole record, or has not got its final name */
    VERDICT_STORE,    /* I1, G2: the WARC files do not hold each verdict once */
    VERDICT_LOG,      /* the same for crawl.log */
    VERDICT_UNKNOWN,  /* I2: a URL is done that was not admitted */
    VERDICT_LINK,     /* I3: the link of a page that is done was not admitted */
    VERDICT_INEXACT,  /* more or less came back than belongs to the commit */
    VERDICT_UNSTEADY, /* G6: a second restore gives something else */
    VERDICT_COUNT,
};

static const char *const verdict_names[] = {
    "good",  "refused", "commit lost",    "not restored",    "not replayed", "torn file",
    "store", "log",     "I2 unknown URL", "I3 unknown link", "inexact",      "second restore differs"};

struct recovered {
    uint64_t epoch;
    struct journal_place end; /* where the next session goes on */
    unsigned admitted[SCRIPT_URLS], done[SCRIPT_URLS];
    unsigned known[SCRIPT_URLS]; /* done, and folded */
    bool has_repetition;         /* what was folded is told twice */
    unsigned stored[SCRIPT_URLS], logged[SCRIPT_URLS];
    char message[512];
};

static inline bool recover_take(void *owner, const struct record *record, struct slice via)
{
    struct recovered *found = owner;
    (void)via;
    if (record->type == RECORD_URL && record->url.signature < SCRIPT_URLS)
        found->admitted[record->url.signature]++;
    if (record->type == RECORD_DONE && record->done.signature < SCRIPT_URLS)
        found->done[record->done.signature]++;
    for (size_t i = 0; record->type == RECORD_KNOWN && i < record->known.count; i++) {
        uint64_t signature = record_known_at(&record->known, i);
        if (signature >= SCRIPT_URLS || found->admitted[signature])
            found->has_repetition = true;
        else
            found->admitted[signature] = found->known[signature] = 1;
    }
    return true;
}

static inline bool recover_store(struct recovered *found, struct slice text)
{
    while (text.len) {
        unsigned url, body;
        char head[10] = "";
        memcpy(head, text.ptr, text.len < 9 ? text.len : 9);
        if (text.len < 10 || sscanf(head, "W%3u %3u ", &url, &body) != 2 || url >= SCRIPT_URLS)
            return false;
        if (text.len < 10u + body || text.ptr[9 + body] != '\n')
            return false;
        found->stored[url]++;
        text = slice_skip(text, 10u + body);
    }
    return true;
}

static inline bool recover_log(struct recovered *found, struct slice text)
{
    for (; text.len; text = slice_skip(text, 5)) {
        unsigned url;
        char line[6] = "";
        memcpy(line, text.ptr, text.len < 5 ? text.len : 5);
        if (text.len < 5 || sscanf(line, "L%3u", &url) != 1 || line[4] != '\n' || url >= SCRIPT_URLS)
            return false;
        found->logged[url]++;
    }
    return true;
}

static inline bool recover_files(const struct disk_model *model, struct recovered *found)
{
    bool good = recover_log(found, disk_model_content(model, "d/crawl.log"));
    for (size_t i = 0; i < model->now.count; i++) {
        const char *path = model->now.all[i].path;
        if (strncmp(path, "d/warc/", 7) == 0)
            good = good && !strstr(path, ".open") && recover_store(found, disk_model_content(model, path));
    }
    return good;
}

/* Brings the directory back to a commit; `found` is filled. */
static inline enum verdict recover(struct disk_model *model, enum resume_trust trust, struct recovered *found)
{
    struct resume resume;
    enum verdict verdict = VERDICT_GOOD;
    memset(found, 0, sizeof *found);
    if (resume_look(&resume, &model->disk, "d", trust) == RESUME_REFUSED)
        verdict = VERDICT_REFUSED;
    else if (!resume_restore(&resume))
        verdict = VERDICT_UNRESTORED;
    else if (resume.epoch && !resume_replay(&resume, recover_take, found))
        verdict = VERDICT_UNREPLAYED;
    for (unsigned i = 0; i < SCRIPT_URLS; i++)
        if (found->known[i]) {
            found->has_repetition |= found->done[i] > 1; /* one that counts for a visit that is open may be */
            found->done[i] = 1;
        }
    found->epoch = resume.epoch;
    found->end = resume.end;
    memcpy(found->message, resume.message, sizeof found->message);
    resume_fini(&resume);
    if (verdict == VERDICT_GOOD && !recover_files(model, found))
        verdict = VERDICT_TORN;
    return verdict;
}

/* Whether what came back is right. `least` is the epoch of a commit that must not be lost. */
static inline enum verdict recover_judge(const struct script *script, const struct recovered *found,
                                         uint64_t least)
{
    if (found->epoch < least)
        return VERDICT_LOST;
    for (unsigned i = 0; i < SCRIPT_URLS; i++) {
        if (found->stored[i] != (found->done[i] != 0))
            return VERDICT_STORE;
        if (found->logged[i] != (found->done[i] != 0))
            return VERDICT_LOG;
        if (found->done[i] && !found->admitted[i])
            return VERDICT_UNKNOWN;
        for (unsigned k = 0; k < SCRIPT_LINKS && found->done[i]; k++)
            if (!found->admitted[script_link(i, k)])
                return VERDICT_LINK;
    }
    for (unsigned i = 0; i < SCRIPT_URLS; i++) {
        bool is_out = script->admitted_in[i] && script->admitted_in[i] <= found->epoch;
        bool is_done = script->done_in[i] && script->done_in[i] <= found->epoch;
        if (found->admitted[i] != is_out || found->done[i] != is_done || found->has_repetition)
            return VERDICT_INEXACT;
    }
    return VERDICT_GOOD;
}

static inline enum verdict recover_and_judge(const struct script *script, struct disk_model *model,
                                             enum resume_trust trust, struct recovered *found)
{
    uint64_t least = trust == RESUME_TRUST_LAST ? script->committed : script->synced;
    enum verdict verdict = recover(model, trust, found);
    enum verdict judged = recover_judge(script, found, least);
    return verdict != VERDICT_GOOD && judged != VERDICT_LOST ? verdict : judged;
}
