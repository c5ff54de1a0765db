/* Any bytes as the journal of a crawl: it is looked at, restored and replayed, and a second look finds the same commit, also
 * if it is folded in between.
 *
 *   byte 0   1: only what is synced is trusted; 2: checksums are mended; 4: all sessions are of this boot
 *   byte 1   which part of the rest is in the first file, in 256ths; what is left is in the second */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/state/fold_base.h"
#include "engine/state/resume.h"
#include "tests/support/disk_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TRUSTS_SYNCED = 1, MENDS = 2, IS_SAME_BOOT = 4 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Where a frame begins: its checksum becomes right. Without that no input would get far. */
static void mend(char *bytes, size_t len, unsigned mode)
{
    struct journal_frame frame;
    for (size_t at = 0; at + sizeof frame <= len;) {
        memcpy(&frame, bytes + at, sizeof frame);
        frame.magic = JOURNAL_MAGIC;
        if (frame.bytes > len - at - sizeof frame)
            return;
        if (mode & IS_SAME_BOOT && frame.kind == JOURNAL_SESSION &&
            frame.bytes == sizeof(struct journal_session))
            resume_boot_id(bytes + at + sizeof frame + offsetof(struct journal_session, boot_id));
        frame.checksum = journal_checksum(&frame, bytes + at + sizeof frame);
        memcpy(bytes + at, &frame, sizeof frame);
        at += sizeof frame + frame.bytes;
    }
}

static void put(struct disk_model *model, const char *path, struct slice text, unsigned mode)
{
    char *copy = malloc(text.len + 1);
    memcpy(copy, text.ptr, text.len);
    if (mode & MENDS)
        mend(copy, text.len, mode);
    disk_model_put(model, path, (struct slice){copy, text.len});
    free(copy);
}

static bool take(void *owner, const struct record *record, struct slice via)
{
    uint64_t *sum = owner;
    struct slice text = record->type == RECORD_URL     ? record->url.text
                        : record->type == RECORD_VISIT ? record->visit.key
                                                       : via;
    for (size_t i = 0; i < text.len; i++)
        *sum += (unsigned char)text.ptr[i]; /* each byte is there */
    return true;
}

/* The epoch that was restored, or 0. */
static uint64_t resume_once(struct disk_model *model, unsigned mode)
{
    struct resume resume;
    uint64_t epoch = 0, sum = 0;
    enum resume_trust trust = mode & TRUSTS_SYNCED ? RESUME_TRUST_SYNCED : RESUME_TRUST_LAST;
    enum resume_result result = resume_look(&resume, &model->disk, "d", trust);
    require(result != RESUME_REFUSED || resume.message[0]);
    if (result != RESUME_REFUSED && resume_restore(&resume)) {
        epoch = resume.epoch;
        if (epoch)
            resume_replay(&resume, take, &sum);
    }
    resume_fini(&resume);
    require(disk_model_open_count(model) == 0);
    return epoch;
}

/* All of what was restored; false: the fold refuses it. */
static bool fold_all(struct disk_model *model)
{
    static const _Atomic(bool) never;
    struct journal_files files;
    char name[32], path[64];
    require(journal_find(&files, &model->disk, "d/state") == 0);
    struct fold_base_options options = {.disk = &model->disk,
                                        .directory = "d/state",
                                        .scratch = "d/scratch",
                                        .first = files.first,
                                        .last = files.highest,
                                        .epoch_max = UINT64_MAX,
                                        .pairs_max = 4,
                                        .stops = &never};
    bool is_folded = fold_base_write(&options).error == 0;
    require(disk_model_open_count(model) == 0);
    journal_name(name, files.highest);
    snprintf(path, sizeof path, "d/state/%s", name);
    return is_folded && model->disk.rename(model, "d/state/" JOURNAL_FOLD_NAME, path) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct disk_model model;
    if (size < 2)
        return 0;
    unsigned mode = data[0];
    struct slice text = {(const char *)data + 2, size - 2};
    size_t first = text.len * data[1] / 255;
    disk_model_init(&model);
    put(&model, "d/state/journal-000001", (struct slice){text.ptr, first}, mode);
    if (first < text.len)
        put(&model, "d/state/journal-000002", slice_skip(text, first), mode);
    disk_model_put(&model, "d/crawl.log", SLICE("some lines of text"));
    disk_model_put(&model, "d/warc/a.open", SLICE("some records"));
    uint64_t epoch = resume_once(&model, mode);
    require(epoch == 0 || resume_once(&model, mode) == epoch);
    if (epoch && fold_all(&model))
        require(resume_once(&model, mode) == epoch);
    disk_model_fini(&model);
    return 0;
}
