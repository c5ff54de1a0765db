/* A crash after every call that changes the disk, of the process and of the machine, with many ways in which unsynced
 * changes survive or not; and a second crash while the first is being recovered from. */
#include <inttypes.h>
#include <malloc.h>

#include "tests/unit/engine/state/recover.h"

enum { SESSIONS = 3, STEPS_MAX = 90, MACHINE_CRASHES = 5, CALLS_OF_RESTORE = 130 };

/* A sanitizer makes the journal reader's buffer dear. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STATES = 5000 };
#else
enum { STATES = 100000 };
#endif

/* What is left of the disk; kept from one state to the next, for its memory. */
static struct disk_model left, interrupted, again;
static uint64_t states, folds, seed_at_fault;
static enum verdict worst; /* the first that was not good */
static char fault[640];

static void set_up(enum script_plant plant)
{
    mallopt(M_MMAP_THRESHOLD, 64 << 20); /* the journal's reader has a buffer of 1 MiB each time */
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    disk_model_init(&left);
    disk_model_init(&interrupted);
    disk_model_init(&again);
    left.loses_truncations = interrupted.loses_truncations = again.loses_truncations = plant == PLANT_NO_CUT;
    worst = VERDICT_GOOD;
    states = folds = 0;
}

static void tear_down(void)
{
    disk_model_fini(&left);
    disk_model_fini(&interrupted);
    disk_model_fini(&again);
}

static void note(struct script *script, enum verdict verdict, const char *when, const struct recovered *found)
{
    states++;
    if (verdict == VERDICT_GOOD || worst != VERDICT_GOOD)
        return;
    worst = verdict;
    snprintf(fault, sizeof fault,
             "%s after a crash of the %s: session %u, call %" PRIu64 ", epoch %" PRIu64 " of %" PRIu64
             " committed and %" PRIu64 " synced: %.200s",
             verdict_names[verdict], when, script->session, script->model.calls, found->epoch,
             script->committed, script->synced, found->message);
}

/* Which commit a resumed crawl may trust: a machine that was restarted, and no session on it yet, has only what is
 * synced. */
static enum resume_trust trust_after(const struct script *script, bool is_machine)
{
    return is_machine || (script->is_new_boot && !script->has_session) ? RESUME_TRUST_SYNCED
                                                                       : RESUME_TRUST_LAST;
}

/* The recovery of `left` is cut off by another crash, and made again. */
static void crash_twice(struct script *script, enum resume_trust trust, const struct recovered *whole)
{
    struct recovered found;
    bool is_machine = script_chance(script, 2);
    struct disk_model_crash none = {.seed = 0}, second = {.is_machine = is_machine};
    second.seed = disk_model_random(&script->random);
    disk_model_crash(&interrupted, &again, &none);
    again.dies_at = 1 + script_chance(script, CALLS_OF_RESTORE);
    recover(&again, trust, &found);
    again.dies_at = 0;
    disk_model_crash(&again, &interrupted, &second);
    trust = is_machine ? RESUME_TRUST_SYNCED : trust;
    enum verdict verdict = recover_and_judge(script, &interrupted, trust, &found);
    if (verdict == VERDICT_GOOD && !is_machine && found.epoch != whole->epoch)
        verdict = VERDICT_UNSTEADY;
    note(script, verdict, is_machine ? "machine in a restore" : "process in a restore", &found);
}

static void crash_once(struct script *script, bool is_machine)
{
    struct disk_model_crash crash = {.is_machine = is_machine, .seed = disk_model_random(&script->random)};
    struct disk_model_crash none = {.seed = 0};
    enum resume_trust trust = trust_after(script, is_machine);
    struct recovered found;
    disk_model_crash(&script->model, &left, &crash);
    disk_model_crash(&left, &interrupted, &none);
    note(script, recover_and_judge(script, &left, trust, &found), is_machine ? "machine" : "process", &found);
    if (script_chance(script, 3) == 0)
        crash_twice(script, trust, &found);
}

static void on_change(void *owner)
{
    struct script *script = owner;
    uint64_t before = script->random; /* the script goes on as if nobody had looked */
    script->random ^= script->model.calls << 20;
    crash_once(script, false);
    for (unsigned i = 0; i < MACHINE_CRASHES; i++)
        crash_once(script, true);
    script->random = before;
}

/* The session ends in a crash, and the next one begins with what is left. */
static struct recovered crash_for_good(struct script *script)
{
    struct disk_model_crash crash = {.is_machine = script_chance(script, 2),
                                     .seed = disk_model_random(&script->random)};
    struct disk_model_crash none = {.seed = 0};
    enum resume_trust trust = trust_after(script, crash.is_machine);
    struct recovered found;
    disk_model_crash(&script->model, &left, &crash);
    note(script, recover_and_judge(script, &left, trust, &found), "run", &found);
    disk_model_crash(&left, &script->model, &none);
    script->is_new_boot = trust == RESUME_TRUST_SYNCED;
    script_go_back(script, found.epoch);
    return found;
}

/* Several sessions, each but the last ended by a crash. */
static void run(uint64_t seed, enum script_plant plant)
{
    static struct script script;
    struct recovered found = {.end = {.number = 1}};
    script_init(&script, seed, plant);
    for (unsigned i = 0; i < SESSIONS && worst == VERDICT_GOOD; i++) {
        script.model.on_change = on_change;
        script.model.owner = &script;
        script_begin(&script, found.end, found.epoch);
        script_play(&script, (unsigned)script_chance(&script, STEPS_MAX));
        if (script_chance(&script, 4) == 0)
            script_end(&script);
        CHECK_INT(script.error, 0);
        script_die(&script);
        found = crash_for_good(&script);
    }
    folds += script.folds;
    script_fini(&script);
    seed_at_fault = seed;
}

TEST(no_crash_loses_or_doubles_anything)
{
    const char *is_long = getenv("LYCOSA_LONG");
    uint64_t wanted = is_long && strcmp(is_long, "ON") == 0 ? 10 * STATES : STATES;
    set_up(PLANT_NONE);
    for (uint64_t seed = 1; states < wanted; seed++) {
        run(seed, PLANT_NONE);
        if (worst != VERDICT_GOOD)
            check_failed(__FILE__, __LINE__, "seed %" PRIu64 ": %s", seed, fault);
    }
    printf("%" PRIu64 " states in %" PRIu64 " runs with %" PRIu64 " folds\n", states, seed_at_fault, folds);
    CHECK(folds >= seed_at_fault);
    tear_down();
}

/* The checks can fail: each mistake is found, and by a check that fits it. */
TEST(every_planted_mistake_is_found)
{
    static const struct {
        enum script_plant plant;
        const char *name;
        unsigned by; /* a bit for each verdict that may be the first */
    } plants[] = {
        {PLANT_ADOPT_IN_VERDICT, "epoch adopted within a verdict", 1 << VERDICT_STORE},
        {PLANT_ADOPT_AFTER_KNOWN, "epoch adopted between sieve and record", 1 << VERDICT_LINK},
        {PLANT_NO_ADOPTION, "no adoption before a verdict", 1 << VERDICT_LINK | 1 << VERDICT_UNKNOWN},
        {PLANT_LOG_LEFT_OUT, "a commit that does not wait for a log", 1 << VERDICT_LOG | 1 << VERDICT_TORN},
        {PLANT_STORE_LEFT_OUT, "a commit that does not wait for a WARC file",
         1 << VERDICT_STORE | 1 << VERDICT_TORN},
        {PLANT_SYNCS_LOST, "WARC files renamed without a sync", 1 << VERDICT_UNRESTORED | 1 << VERDICT_TORN},
        {PLANT_JOURNAL_SYNCS_LOST, "a journal that is not synced", 1 << VERDICT_LOST | 1 << VERDICT_REFUSED},
        {PLANT_DIRECTORY_SYNCS_LOST, "directories not synced", 1 << VERDICT_LOST | 1 << VERDICT_UNRESTORED},
        {PLANT_NO_CUT, "a restore that does not cut",
         1 << VERDICT_STORE | 1 << VERDICT_TORN | 1 << VERDICT_LOG},
        {PLANT_FOLD_SYNCS_LOST, "a base renamed without a sync",
         1 << VERDICT_LOST | 1 << VERDICT_REFUSED | 1 << VERDICT_UNRESTORED},
        {PLANT_FOLD_RENAME_LOST, "files removed before the base's name is durable",
         1 << VERDICT_LOST | 1 << VERDICT_REFUSED},
        {PLANT_FOLD_TOO_EARLY, "a fold of what is not synced",
         1 << VERDICT_UNRESTORED | 1 << VERDICT_REFUSED | 1 << VERDICT_TORN},
    };
    for (size_t i = 0; i < sizeof plants / sizeof plants[0]; i++) {
        set_up(plants[i].plant);
        for (uint64_t seed = 1; worst == VERDICT_GOOD && seed < 200; seed++)
            run(seed, plants[i].plant);
        printf("%-44s %s, after %" PRIu64 " states\n", plants[i].name, verdict_names[worst], states);
        CHECK(plants[i].by >> worst & 1);
        tear_down();
    }
}
