/* For tests of resumes: a journal on a disk of the test's own, and files beside it. */
#pragma once

#include "engine/state/resume.h"
#include "tests/support/check.h"
#include "tests/support/disk_model.h"

static struct disk_model model;
static struct journal journal;
static struct resume resume;
static struct file warc = {.name = "warc/a", .is_changed = true};
static struct files files = {.all = &warc};

/* A journal on a disk, into which tests write what they like. */
static inline void begin(const char *boot_id)
{
    struct journal_session session = {.version = "1.0", .canonical = 2};
    disk_model_init(&model);
    journal_init(&journal, &model.disk, "d/state");
    CHECK_INT(journal_open(&journal, (struct journal_place){.number = 1}), 0);
    resume_boot_id(session.boot_id);
    if (boot_id)
        snprintf(session.boot_id, sizeof session.boot_id, "%s", boot_id);
    CHECK_INT(journal_begin_session(&journal, 1, &session), 0);
}

static inline void finish(void)
{
    journal_close(&journal);
    disk_model_fini(&model);
}

static inline void add_data(uint64_t epoch)
{
    struct journal_loop loop;
    struct record_url url = {.signature = epoch, .text = SLICE("http://a/")};
    CHECK_INT(journal_loop_init(&loop, 0), 0);
    journal_add_url(&loop, &url, SLICE("http://from/"));
    journal_add_done(&loop, &(struct record_done){.signature = epoch});
    outlet_flush(&loop.outlet);
    CHECK_INT(journal_write(&journal, &loop), 1);
    journal_loop_fini(&loop);
}

/* An epoch with records and a WARC file of ten bytes for each one so far. */
static inline void add_epoch(uint64_t epoch)
{
    add_data(epoch);
    warc.length = 10 * epoch;
    CHECK_INT(journal_commit(&journal, epoch, &files), 0);
}

static inline void put_file(const char *path, size_t len)
{
    char text[200];
    memset(text, 'x', sizeof text);
    disk_model_put(&model, path, (struct slice){text, len});
}

static inline enum resume_result look(enum resume_trust trust)
{
    return resume_look(&resume, &model.disk, "d", trust);
}

/* The epoch that is chosen; 0: none. */
static inline uint64_t chosen(enum resume_trust trust)
{
    enum resume_result result = look(trust);
    uint64_t epoch = result == RESUME_READY ? resume.epoch : 0;
    CHECK(result != RESUME_REFUSED);
    resume_fini(&resume);
    return epoch;
}
