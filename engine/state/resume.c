#include "engine/state/resume.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void resume_boot_id(char *id)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    memset(id, 0, 40);
    if (!file)
        return; /* no machine has an empty one: it is never the same boot */
    size_t len = fread(id, 1, 36, file);
    id[len] = '\0';
    fclose(file);
}

__attribute__((format(printf, 2, 3))) static bool refuse(struct resume *resume, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(resume->message, sizeof resume->message, format, args);
    va_end(args);
    return false;
}

static bool refuse_place(struct resume *resume, const char *what, struct journal_place place)
{
    char name[32];
    journal_name(name, place.number);
    return refuse(resume, "%s/%s: %s at byte %llu", resume->state, name, what,
                  (unsigned long long)place.offset);
}

static bool refuse_error(struct resume *resume, int error)
{
    return refuse(resume, "%s: %s", resume->state, strerror(-error));
}

static bool open_journal(struct resume *resume, struct journal_reader *reader)
{
    int error = journal_reader_init(reader, resume->disk, resume->state, resume->journal.first);
    return error == 0 || refuse_error(resume, error);
}

/* What the first reading of the journal has found. */
struct survey {
    uint64_t last_epoch; /* of the last COMMIT */
    bool has_commit;
    struct journal_session session;
};

static bool read_session(struct resume *resume, const struct journal_reader *reader,
                         struct journal_session *session)
{
    uint32_t format = 0;
    if (reader->payload.len >= sizeof format)
        memcpy(&format, reader->payload.ptr, sizeof format);
    if (format != JOURNAL_FORMAT || reader->payload.len != sizeof *session)
        return refuse(resume,
                      "%s: another version of lycosa wrote this journal, in format %u; this one, %s, reads format %d",
                      resume->state, format, LYCOSA_VERSION, JOURNAL_FORMAT);
    memcpy(session, reader->payload.ptr, sizeof *session);
    session->boot_id[sizeof session->boot_id - 1] = '\0';
    session->version[sizeof session->version - 1] = '\0';
    return true;
}

static bool survey_frame(struct resume *resume, struct survey *survey, const struct journal_reader *reader)
{
    resume->last_us = reader->frame.wall_us;
    resume->has_ended = false;
    switch ((enum journal_kind)reader->frame.kind) {
    case JOURNAL_DATA:
    case JOURNAL_FILES:
        break;
    case JOURNAL_BASE:
        resume->base_epoch = reader->frame.epoch;
        break;
    case JOURNAL_COMMIT:
        survey->last_epoch = reader->frame.epoch;
        survey->has_commit = true;
        break;
    case JOURNAL_SYNCED:
        resume->synced_epoch = reader->frame.epoch;
        resume->synced_us = reader->frame.wall_us;
        break;
    case JOURNAL_SESSION:
        resume->has_failed = false;
        if (!read_session(resume, reader, &survey->session))
            return false;
        resume->lag_max_us = survey->session.lag_max_us;
        break;
    case JOURNAL_FAILED:
        resume->has_failed = true;
        break;
    case JOURNAL_END:
        resume->has_ended = true;
        break;
    case JOURNAL_KINDS:
    default:
        return refuse_place(resume, "a frame of another version of lycosa", reader->next);
    }
    return true;
}

bool resume_trusts_last(const struct resume *resume)
{
    return resume->is_same_boot && !resume->has_failed && resume->trust == RESUME_TRUST_LAST;
}

/* The end of what was written is normal, and so is a gap behind the last commit that is known: after a crash of the
 * machine, some of what came after it may be there and some not. In the middle of what was committed, something has
 * changed the file: after a crash of the process the commits behind that place were there; after one of the machine
 * those that were synced. */
static bool judge_end(struct resume *resume, const struct survey *survey, struct journal_reader *reader)
{
    const unsigned kinds = 1u << JOURNAL_COMMIT | 1u << JOURNAL_SYNCED | 1u << JOURNAL_FAILED;
    bool is_damaged = false, has_commit = false;
    resume->torn = reader->next;
    while (!reader->error && journal_reader_has_later(reader, kinds)) {
        has_commit |= reader->frame.kind == JOURNAL_COMMIT;
        resume->has_failed |= reader->frame.kind == JOURNAL_FAILED;
        if (reader->frame.kind != JOURNAL_SYNCED)
            continue;
        is_damaged |= reader->frame.epoch > survey->last_epoch;
        if (reader->frame.epoch <= resume->synced_epoch)
            continue;
        resume->synced_epoch = reader->frame.epoch;
        resume->synced_us = reader->frame.wall_us;
    }
    if (reader->error)
        return refuse_error(resume, reader->error);
    is_damaged |= has_commit && resume_trusts_last(resume);
    return !is_damaged || refuse_place(resume, "the journal is damaged", resume->torn);
}

static void compare_boot(struct resume *resume, const struct survey *survey)
{
    char boot_id[40];
    resume_boot_id(boot_id);
    resume->is_same_boot = boot_id[0] && strcmp(boot_id, survey->session.boot_id) == 0;
}

/* The first file is gone. Its name may have been lost with the machine before anything was synced; after that it is damage:
 * only a fold removes files, and leaves a base. */
static bool judge_start(struct resume *resume, const struct survey *survey, struct journal_reader *reader)
{
    reader->next.offset--; /* the search begins with the next byte */
    return judge_end(resume, survey, reader);
}

/* All frames, from the first whole one on. */
static bool survey_frames(struct resume *resume, struct survey *survey, struct journal_reader *reader)
{
    enum journal_found found;
    while ((found = journal_reader_next(reader)) == JOURNAL_FOUND_FRAME) {
        uint64_t bytes = sizeof reader->frame + reader->frame.bytes;
        resume->journal_bytes += bytes;
        if (resume->journal.has_base && reader->next.number == resume->journal.first)
            resume->base_bytes += bytes;
        if (!survey_frame(resume, survey, reader))
            return false;
    }
    compare_boot(resume, survey);
    return found != JOURNAL_FOUND_TORN || judge_end(resume, survey, reader);
}

static bool survey_journal(struct resume *resume, struct survey *survey)
{
    const struct journal_files *files = &resume->journal;
    struct journal_reader reader;
    int error = journal_find(&resume->journal, resume->disk, resume->state);
    if (error)
        return refuse_error(resume, error);
    if (files->first == 0)
        return true;
    bool good = open_journal(resume, &reader);
    if (good)
        good = files->first == 1 || files->has_base ? survey_frames(resume, survey, &reader)
                                                    : judge_start(resume, survey, &reader);
    journal_reader_fini(&reader);
    return good;
}

static bool note_files(struct resume *resume, struct slice payload)
{
    int error = lengths_note(&resume->files, payload);
    if (error == -EBADMSG)
        return refuse(resume, "%s: a commit names a file that is none of the crawl's", resume->state);
    return error == 0 || refuse(resume, "no memory for the list of files");
}

/* Behind the commit there may be SYNCED frames, which are kept. */
static bool find_end(struct resume *resume, struct journal_reader *reader)
{
    resume->end = resume->commit;
    while (journal_reader_next(reader) == JOURNAL_FOUND_FRAME && reader->frame.kind == JOURNAL_SYNCED &&
           reader->next.number == resume->commit.number) {
        resume->end = reader->next;
        resume->is_marked |= reader->frame.epoch == resume->epoch;
    }
    return !reader->error || refuse_error(resume, reader->error);
}

/* The second reading, up to the commit that was chosen: which files there are, and how long.
 *
 * A commit is begun after the one before it was made, or after its session has begun. From then on loops seal their part of
 * it, each when it comes to it, and go on; only when all have done so it is made. On a busy machine that takes its time,
 * and what the first of them do meanwhile is not in it. */
static bool read_commits(struct resume *resume)
{
    struct journal_reader reader;
    uint64_t before_us = 0;
    bool good = open_journal(resume, &reader), is_found = false;
    while (good && !is_found && journal_reader_next(&reader) == JOURNAL_FOUND_FRAME) {
        if (reader.frame.kind == JOURNAL_SESSION) {
            good = read_session(resume, &reader, &resume->session);
            before_us = reader.frame.wall_us;
        }
        if (reader.frame.kind == JOURNAL_COMMIT || reader.frame.kind == JOURNAL_FILES)
            good = note_files(resume, reader.payload);
        if (reader.frame.kind != JOURNAL_COMMIT)
            continue;
        is_found = reader.frame.epoch == resume->epoch;
        resume->commit = reader.next;
        resume->commit_us = reader.frame.wall_us;
        resume->covers_us = before_us;
        before_us = reader.frame.wall_us;
    }
    if (good && is_found)
        good = find_end(resume, &reader);
    else if (good)
        good = reader.error ? refuse_error(resume, reader.error)
                            : refuse(resume, "%s: its last commit cannot be found", resume->state);
    journal_reader_fini(&reader);
    return good;
}

enum resume_result resume_look(struct resume *resume, const struct disk *disk, const char *directory,
                               enum resume_trust trust)
{
    struct survey survey = {0};
    *resume = (struct resume){.disk = disk, .directory = directory, .trust = trust, .end = {.number = 1}};
    snprintf(resume->state, sizeof resume->state, "%s/state", directory);
    if (!survey_journal(resume, &survey))
        return RESUME_REFUSED;
    resume->epoch = resume_trusts_last(resume) ? survey.last_epoch : resume->synced_epoch;
    if (resume->journal.has_base && (resume->epoch == 0 || resume->epoch < resume->base_epoch)) {
        struct journal_place base = {.number = resume->journal.first};
        refuse_place(resume, "the journal is damaged", resume->torn.number ? resume->torn : base);
        return RESUME_REFUSED; /* what was folded was synced: there is no way back behind it */
    }
    if (!survey.has_commit || resume->epoch == 0)
        return RESUME_NOTHING;
    return read_commits(resume) ? RESUME_READY : RESUME_REFUSED;
}

void resume_fini(struct resume *resume)
{
    lengths_fini(&resume->files);
}

bool resume_replay(struct resume *resume, resume_take *take, void *owner)
{
    struct journal_reader reader;
    struct record record;
    struct journal_session session = {0};
    uint64_t last_us = 0;
    bool good = open_journal(resume, &reader);
    while (good &&
           (reader.next.number < resume->commit.number ||
            (reader.next.number == resume->commit.number && reader.next.offset < resume->commit.offset))) {
        struct slice via = {"", 0};
        if (journal_reader_next(&reader) != JOURNAL_FOUND_FRAME) {
            good = reader.error ? refuse_error(resume, reader.error)
                                : refuse_place(resume, "the journal has changed", reader.next);
            break;
        }
        if (reader.frame.kind == JOURNAL_SESSION) {
            struct record_session begins = {
                .begin_us = reader.frame.wall_us, .last_us = last_us, .last_lag_max_us = session.lag_max_us};
            good = read_session(resume, &reader, &session) &&
                   take(owner, &(struct record){.type = RECORD_SESSION, .session = begins}, via);
        }
        if (reader.frame.kind == JOURNAL_DATA || reader.frame.kind == JOURNAL_COMMIT)
            last_us = reader.frame.wall_us;
        if (reader.frame.kind != JOURNAL_DATA)
            continue;
        struct slice rest = reader.payload;
        while (good && record_read(&rest, &record)) {
            if (record.type == RECORD_VIA)
                via = record.via;
            else
                good = take(owner, &record, via);
        }
        if (good && rest.len)
            good = refuse_place(resume, "records of another version of lycosa", reader.next);
    }
    journal_reader_fini(&reader);
    return good;
}
