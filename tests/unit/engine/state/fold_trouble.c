/* A fold that cannot be made does the crawl no harm: it is told, and tried again where that may help. */
#include "engine/state/fold.h"

#include <errno.h>

#include "engine/state/journal.h"
#include "engine/state/limits.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tests/support/disk_model.h"

static struct disk_model model;
static struct journal journal;
static struct journal_loop loop;
static struct fold fold;

/* A file with a URL and a commit, and the next one begun. */
static void close_file(uint64_t epoch)
{
    static const struct files none;
    journal_add_url(&loop, &(struct record_url){.signature = epoch, .text = SLICE("http://a/")}, SLICE("http://from/"));
    outlet_flush(&loop.outlet);
    CHECK_INT(journal_write(&journal, &loop), 1);
    CHECK_INT(journal_commit(&journal, epoch, &none), 0);
    CHECK_INT(journal_turn_over(&journal), 0);
}

static void init_fold(void)
{
    fold_init(&fold, &(struct fold_options){.disk = &model.disk,
                                            .directory = "d/state",
                                            .scratch = "d/scratch",
                                            .bytes_min = 1,
                                            .is_inline = true});
}

static void close_one_file(void)
{
    disk_model_init(&model);
    journal_init(&journal, &model.disk, "d/state");
    journal.file_bytes_max = 1;
    CHECK_INT(journal_loop_init(&loop, 0), 0);
    CHECK_INT(journal_open(&journal, (struct journal_place){.number = 1}), 0);
    CHECK_INT(journal_begin_session(&journal, 1, &(struct journal_session){.version = "1.0"}), 0);
    close_file(1);
    init_fold();
}

static void finish(void)
{
    journal_close(&journal);
    journal_loop_fini(&loop);
    CHECK_INT(disk_model_open_count(&model), 0);
    disk_model_fini(&model);
}

/* Why nothing is folded, as others are told. */
static int trouble(void)
{
    return lf_load(&fold.trouble, relaxed);
}

static int end_fold(void)
{
    int error;
    CHECK(fold.is_busy);
    CHECK(fold_is_done(&fold, fold.now_ns, &error));
    CHECK_INT(error, 0); /* the crawl goes on */
    return fold.error;
}

TEST(a_fold_waits_for_room_on_the_disk)
{
    close_one_file();
    fold.room = journal.end.offset;
    fold_begin(&fold, 1, 1, 5);
    CHECK(!fold.is_busy);
    CHECK_INT(trouble(), -ENOSPC);
    CHECK(!lf_load(&fold.trouble_stays, relaxed));
    fold.room = UINT64_MAX;
    fold_begin(&fold, 1, 1, 5 + FOLD_LOOK_NS - 1); /* it is not looked all the time */
    CHECK(!fold.is_busy);
    fold_begin(&fold, 1, 1, 5 + FOLD_LOOK_NS);
    CHECK_INT(end_fold(), 0);
    CHECK_INT(trouble(), 0);
    CHECK_INT(lf_load(&fold.folds_told, relaxed), 1);
    finish();
}

TEST(a_fold_that_found_no_room_is_made_again)
{
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG, ENOMEM, EAGAIN};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        close_one_file();
        model.fault_at = model.calls + 12; /* some call that the fold makes */
        model.fault = DISK_MODEL_FAULT_ERROR;
        model.fault_errno = errors[i];
        fold_begin(&fold, 1, 1, 5);
        CHECK_INT(end_fold(), -errors[i]);
        CHECK_INT(trouble(), -errors[i]);
        CHECK(!lf_load(&fold.trouble_stays, relaxed));
        close_file(2);
        fold_begin(&fold, 2, 2, 5 + FOLD_RETRY_NS - 1);
        CHECK(!fold.is_busy);
        fold_begin(&fold, 2, 2, 5 + FOLD_RETRY_NS);
        CHECK_INT(end_fold(), 0);
        CHECK_INT(trouble(), 0);
        finish();
    }
}

TEST(the_wait_begins_when_the_fold_has_ended)
{
    const uint64_t end_ns = 5 + 3 * FOLD_RETRY_NS;
    int error;
    close_one_file();
    model.fault_at = model.calls + 12;
    model.fault = DISK_MODEL_FAULT_ERROR;
    model.fault_errno = ENOSPC;
    fold_begin(&fold, 1, 1, 5);
    CHECK(fold.is_busy && fold_is_done(&fold, end_ns, &error) && fold.error == -ENOSPC);
    fold_begin(&fold, 1, 1, end_ns + FOLD_RETRY_NS - 1);
    CHECK(!fold.is_busy);
    fold_begin(&fold, 1, 1, end_ns + FOLD_RETRY_NS);
    CHECK_INT(end_fold(), 0);
    finish();
}

TEST(a_look_that_fails_is_made_again)
{
    close_one_file();
    model.fault_at = model.calls + 1;
    model.fault = DISK_MODEL_FAULT_ERROR;
    model.fault_errno = EIO;
    fold_begin(&fold, 1, 1, 5);
    CHECK(!fold.is_busy);
    fold_begin(&fold, 1, 1, 5 + FOLD_LOOK_NS - 1);
    CHECK(!fold.is_busy);
    fold_begin(&fold, 1, 1, 5 + FOLD_LOOK_NS);
    CHECK_INT(end_fold(), 0);
    finish();
}

TEST(a_fold_of_a_damaged_journal_is_given_up)
{
    close_one_file();
    model.files[0].now.bytes[40] ^= 1;
    fold_begin(&fold, 1, 1, 5);
    CHECK_INT(end_fold(), -EBADMSG);
    CHECK_INT(trouble(), -EBADMSG);
    CHECK(lf_load(&fold.trouble_stays, relaxed));
    model.files[0].now.bytes[40] ^= 1;
    fold_begin(&fold, 1, 1, 5 + 2 * FOLD_RETRY_NS);
    CHECK(!fold.is_busy);
    CHECK_INT(trouble(), -EBADMSG);
    finish();
}

/* The crawl ends: that is no trouble. */
TEST(a_fold_that_is_stopped_is_none)
{
    close_one_file();
    lf_store(&fold.stops, true, relaxed); /* there is one thread */
    fold_begin(&fold, 1, 1, 5);
    CHECK_INT(end_fold(), -ECANCELED);
    CHECK_INT(trouble(), 0);
    CHECK(!lf_load(&fold.trouble_stays, relaxed));
    finish();
}
