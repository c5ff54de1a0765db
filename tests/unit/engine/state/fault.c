/* Each call to the disk fails once, in each way in which it can, while a crawl runs and while one is restored. */
#include <errno.h>
#include <inttypes.h>

#include "tests/unit/engine/state/recover.h"

enum { STEPS = 90, SEED = 4 };

struct fault {
    enum disk_model_fault kind;
    int number; /* errno */
};

static const struct fault faults[] = {
    {DISK_MODEL_FAULT_ERROR, EIO},
    {DISK_MODEL_FAULT_ERROR, ENOSPC},
    {DISK_MODEL_FAULT_ERROR, EINTR},
    {DISK_MODEL_FAULT_SHORT, 0},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

static struct script script;

static void set_fault(struct disk_model *model, const struct fault *fault, uint64_t at)
{
    model->calls = 0;
    model->fault_at = at;
    model->fault = fault->kind;
    model->fault_errno = fault->number;
}

/* A whole crawl from a new directory. */
static void play(const struct fault *fault, uint64_t at)
{
    script_init(&script, SEED, PLANT_NONE);
    set_fault(&script.model, fault, at);
    script_begin(&script, (struct journal_place){.number = 1}, 0);
    script_play(&script, STEPS);
    if (!script.error)
        script_end(&script);
    script_close(&script);
}

/* Which kinds of frames there are, a bit for each. */
static unsigned kinds_in_journal(struct disk_model *model)
{
    struct journal_reader reader;
    struct journal_files files;
    unsigned kinds = 0;
    if (journal_find(&files, &model->disk, "d/state") != 0 || files.first == 0)
        return 0;
    int error = journal_reader_init(&reader, &model->disk, "d/state", files.first);
    while (!error && journal_reader_next(&reader) == JOURNAL_FOUND_FRAME)
        kinds |= 1u << reader.frame.kind;
    journal_reader_fini(&reader);
    return kinds;
}

/* The directory as the crawl has left it, before anything is restored: no file has more than was committed. */
static void check_cut(uint64_t at)
{
    struct recovered raw = {0}, found;
    struct disk_model copy;
    disk_model_init(&copy);
    disk_model_crash(&script.model, &copy, &(struct disk_model_crash){.seed = 0});
    CHECK(recover_log(&raw, disk_model_content(&copy, "d/crawl.log")));
    for (size_t i = 0; i < copy.now.count; i++)
        if (strncmp(copy.now.all[i].path, "d/warc/", 7) == 0)
            CHECK(recover_store(&raw, disk_model_content(&copy, copy.now.all[i].path)));
    CHECK_INT(recover(&copy, RESUME_TRUST_LAST, &found), VERDICT_GOOD);
    if (memcmp(raw.stored, found.stored, sizeof raw.stored) ||
        memcmp(raw.logged, found.logged, sizeof raw.logged))
        check_failed(__FILE__, __LINE__, "call %" PRIu64 ": files were not cut back", at);
    disk_model_fini(&copy);
}

/* Another session goes on, and ends in order. */
static void go_on(struct recovered *found)
{
    script_go_back(&script, found->epoch);
    script_begin(&script, found->end, found->epoch);
    script_play(&script, STEPS);
    script_end(&script);
    CHECK_INT(script.error, 0);
    script_close(&script);
    CHECK_INT(disk_model_open_count(&script.model), 0);
    CHECK_INT(recover_and_judge(&script, &script.model, RESUME_TRUST_SYNCED, found), VERDICT_GOOD);
}

/* What the kernel has dropped after a sync that failed is lost with the machine. Nobody may rely on it. */
static void check_machine_crashes(const struct disk_model *model)
{
    static struct disk_model crashed;
    struct recovered found;
    disk_model_init(&crashed);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        disk_model_crash(model, &crashed, &(struct disk_model_crash){.is_machine = true, .seed = seed});
        CHECK_INT(recover_and_judge(&script, &crashed, RESUME_TRUST_SYNCED, &found), VERDICT_GOOD);
    }
    disk_model_fini(&crashed);
}

static void check_failed_run(const struct fault *fault, uint64_t at)
{
    struct recovered found;
    bool is_full = fault->number == ENOSPC, is_lost = script.model.failed_syncs || script.model.failed_closes;
    unsigned kinds = kinds_in_journal(&script.model);
    CHECK_INT(script.error, -fault->number);
    if (is_full && script.has_session && !is_lost)
        check_cut(at);
    CHECK(!is_full || is_lost || !(kinds >> JOURNAL_FAILED & 1));
    if (script.model.failed_syncs) /* whatever the error: the kernel may have dropped what it had */
        CHECK(kinds >> JOURNAL_FAILED & 1);
    check_machine_crashes(&script.model);
    uint64_t committed = script.committed;
    if (kinds >> JOURNAL_FAILED & 1)
        script.committed = script.synced;
    CHECK_INT(recover_and_judge(&script, &script.model, RESUME_TRUST_LAST, &found), VERDICT_GOOD);
    CHECK(found.epoch <=
          committed + 1); /* a COMMIT may be in the journal whose write was said to fail later */
    go_on(&found);
}

TEST(a_call_that_fails_ends_the_crawl_in_order)
{
    unsigned failed = 0, passed = 0;
    struct recovered found;
    play(&faults[0], 0);
    CHECK_INT(script.error, 0);
    uint64_t calls = script.model.calls;
    CHECK(script.folds > 0);
    script_fini(&script);
    CHECK(calls > 100);
    for (unsigned i = 0; i < FAULTS; i++)
        for (uint64_t at = 1; at <= calls; at++) {
            play(&faults[i], at);
            CHECK_INT(disk_model_open_count(&script.model), 0);
            CHECK(script.error || !script.model.failed_syncs);
            CHECK_INT(script.model.syncs_after_failure, 0);
            script.model.fault_at = 0;
            if (script.error) {
                failed++;
                check_failed_run(&faults[i], at);
            } else {
                passed++;
                CHECK_INT(recover_and_judge(&script, &script.model, RESUME_TRUST_SYNCED, &found),
                          VERDICT_GOOD);
            }
            CHECK(!script.error || faults[i].kind != DISK_MODEL_FAULT_SHORT);
            script_fini(&script);
        }
    printf("%" PRIu64 " calls: %u runs failed, %u did not care\n", calls, failed, passed);
    CHECK(failed > calls && passed > calls);
}

/* The disk is full after so many bytes. Space that the journal has reserved counts. */
static void play_on_small_disk(uint64_t capacity)
{
    script_init(&script, SEED, PLANT_NONE);
    script.model.capacity = capacity;
    script_begin(&script, (struct journal_place){.number = 1}, 0);
    script_play(&script, STEPS);
    if (!script.error)
        script_end(&script);
    script_close(&script);
    script.model.capacity = 0;
}

TEST(a_full_disk_ends_the_crawl_in_order)
{
    static const struct fault full = {DISK_MODEL_FAULT_ERROR, ENOSPC};
    unsigned failed = 0;
    play_on_small_disk(0);
    CHECK_INT(script.error, 0);
    uint64_t used = disk_model_used(&script.model);
    script_fini(&script);
    for (uint64_t capacity = 1; capacity < used + 2 * SCRIPT_RESERVE_BYTES; capacity += 61) {
        play_on_small_disk(capacity);
        CHECK_INT(disk_model_open_count(&script.model), 0);
        CHECK(!script.error || capacity < used + SCRIPT_RESERVE_BYTES);
        failed += script.error != 0;
        if (script.error)
            check_failed_run(&full, capacity);
        script_fini(&script);
    }
    CHECK(failed > 50);
    printf("%u disks were too small\n", failed);
}

/* A crawl that was killed: what is left of it is restored by a call sequence in which one call fails. */
static void restore_with(const struct fault *fault, uint64_t at, const struct disk_model *killed)
{
    static struct disk_model model;
    struct recovered found;
    disk_model_init(&model);
    disk_model_crash(killed, &model, &(struct disk_model_crash){.seed = 0});
    set_fault(&model, fault, at);
    enum verdict verdict = recover(&model, RESUME_TRUST_LAST, &found);
    model.fault_at = 0;
    CHECK_INT(disk_model_open_count(&model), 0);
    CHECK_INT(model.syncs_after_failure, 0);
    CHECK(verdict == VERDICT_GOOD || found.message[0]);
    CHECK(verdict == VERDICT_GOOD || fault->kind == DISK_MODEL_FAULT_ERROR);
    uint64_t committed = script.committed;
    if (model.failed_syncs) { /* the data may be lost: not even a process that asks again may trust it */
        CHECK(verdict != VERDICT_GOOD);
        script.committed = script.synced;
    }
    CHECK_INT(recover_and_judge(&script, &model, RESUME_TRUST_LAST, &found), VERDICT_GOOD);
    script.committed = committed;
    if (model.failed_syncs)
        check_machine_crashes(&model);
    disk_model_fini(&model);
}

/* All calls of the restore of one crawl that was killed. True: not all that was committed was synced. */
static bool fail_restores(uint64_t seed)
{
    static struct disk_model killed, copy;
    const struct disk_model_crash kill = {.seed = seed}, none = {.seed = 0};
    struct recovered found;
    script_init(&script, seed, PLANT_NONE);
    script_begin(&script, (struct journal_place){.number = 1}, 0);
    script_play(&script, STEPS);
    CHECK_INT(script.error, 0);
    script_die(&script);
    disk_model_init(&killed);
    disk_model_init(&copy);
    disk_model_crash(&script.model, &killed, &kill);
    disk_model_crash(&killed, &copy, &none);
    CHECK_INT(recover_and_judge(&script, &copy, RESUME_TRUST_LAST, &found), VERDICT_GOOD);
    for (unsigned i = 0; i < FAULTS; i++)
        for (uint64_t at = 1; at <= copy.calls; at++)
            restore_with(&faults[i], at, &killed);
    disk_model_fini(&killed);
    disk_model_fini(&copy);
    script_fini(&script);
    return script.synced < script.committed;
}

TEST(a_restore_that_fails_can_be_made_again)
{
    unsigned unsynced = 0;
    for (uint64_t seed = 1; seed <= 8; seed++)
        unsynced += fail_restores(seed);
    CHECK(unsynced >= 4); /* there was something to lose */
}
