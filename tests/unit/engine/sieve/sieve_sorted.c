/* Z and its succession: crashes at every call, calls that fail, damage. */
#include "engine/sieve/sieve_sorted.h"

#include <fcntl.h>

#include "tests/unit/engine/sieve/sieve_frame.h"
#include "tests/unit/engine/sieve/mortal_disk.h"

static struct frame frame;
static const enum sieve_disk_kind kinds[] = {SIEVE_DISK_MERCATOR, SIEVE_DISK_OFFLINE};

static struct sieve_disk *open_on(const struct disk *disk, enum sieve_disk_kind kind,
                                  struct sieve_error *error)
{
    struct sieve_disk_options options = frame_options(&frame, kind);
    options.disk = disk;
    return sieve_disk_open(&options, error);
}

static void begin(uint64_t seed)
{
    frame_begin(&frame, seed);
    for (unsigned i = 0; i < 7; i++)
        frame_add(&frame, i == 2 ? 0 : 700, 40, 10);
    frame_answer(&frame);
}

/* All batches from where the sieve stands, the last ones that were answered once more at first. `promised`: what was
 * answered before. */
static unsigned go_on(struct mortal *mortal, enum sieve_disk_kind kind, unsigned promised)
{
    struct disk disk = mortal_disk(mortal);
    struct sieve_error error;
    struct frame_caller caller = {.frame = &frame, .sieve = open_on(&disk, kind, &error)};
    if (!caller.sieve) {
        CHECK(mortal->is_dead || mortal->calls == mortal->dies_at);
        return promised;
    }
    unsigned stands = (unsigned)sieve_disk_version(caller.sieve);
    CHECK(stands >= promised);
    CHECK_INT(sieve_disk_count(caller.sieve), frame.known[stands]);
    CHECK_INT(frame_list(&frame).count >= 1 || stands == 0, true);
    caller.answered = stands;
    /* offline: versions 1 to 3, 4 to 6 and 7 are merged together */
    unsigned first = kind == SIEVE_DISK_OFFLINE && stands ? (stands - 1) / 3 * 3 + 1 : stands;
    for (unsigned version = first; version && version <= stands && !mortal->is_dead; version++)
        CHECK_INT(frame_ask(&caller, version), SIEVE_DISK_NOW);
    if (!mortal->is_dead)
        frame_ask_from(&caller, stands + 1);
    sieve_disk_close(caller.sieve);
    mortal_end(mortal);
    return caller.answered;
}

/* Dies at call n for every n, in every way, and after that in the middle of going on; then comes to the end. */
static void check_deaths(enum sieve_disk_kind kind, enum mortal_death death)
{
    unsigned promised = 0;
    for (unsigned n = 1; promised < frame.count; n++) {
        struct mortal first = {.dies_at = n, .death = death}, second = {.dies_at = 1 + n % 5, .death = death},
                      last = {0};
        promised = go_on(&first, kind, 0);
        CHECK(first.is_dead || promised == frame.count);
        unsigned then = go_on(&second, kind, promised);
        CHECK(then >= promised);
        CHECK_INT(go_on(&last, kind, then), frame.count);
        CHECK_INT(frame_list(&frame).count, 1);
        frame_empty(&frame);
        CHECK(n < 500);
    }
}

TEST(a_crash_at_any_call_loses_nothing)
{
    begin(31);
    for (unsigned kind = 0; kind < 2; kind++)
        for (unsigned death = 0; death < MORTAL_DEATHS; death++)
            check_deaths(kinds[kind], (enum mortal_death)death);
    frame_finish(&frame);
}

TEST(a_call_that_fails_is_told_and_loses_nothing)
{
    begin(37);
    for (unsigned kind = 0; kind < 2; kind++)
        for (unsigned n = 1, answered = 0; answered < frame.count; n++) {
            struct mortal full = {.dies_at = n, .error = -ENOSPC}, last = {0};
            struct disk disk = mortal_disk(&full);
            struct sieve_error error;
            struct frame_caller caller = {.frame = &frame, .sieve = open_on(&disk, kinds[kind], &error)};
            CHECK(caller.sieve);
            int result = frame_ask_from(&caller, 1);
            CHECK_INT(result, full.calls >= n ? -ENOSPC : 0);
            if (result) {
                CHECK(strstr(sieve_disk_error(caller.sieve)->text, "No space left on device"));
                CHECK(strstr(sieve_disk_error(caller.sieve)->text, frame.directory));
            }
            answered = caller.answered;
            sieve_disk_close(caller.sieve);
            mortal_end(&full);
            CHECK_INT(go_on(&last, kinds[kind], answered), frame.count);
            frame_empty(&frame);
            CHECK(n < 500);
        }
    frame_finish(&frame);
}

TEST(a_full_disk_gets_its_room_back)
{
    begin(41);
    struct mortal full = {.dies_at = 2, .error = -ENOSPC};
    struct disk disk = mortal_disk(&full);
    struct sieve_error error;
    struct frame_caller caller = {.frame = &frame, .sieve = open_on(&disk, SIEVE_DISK_MERCATOR, &error)};
    CHECK_INT(frame_ask(&caller, 1), -ENOSPC);
    mortal_end(&full);
    CHECK_INT(frame_list(&frame).count, 0);
    sieve_disk_close(caller.sieve);
    frame_finish(&frame);
}

/* A sieve that has answered versions 1 to 6, and is closed. */
static void make(enum sieve_disk_kind kind)
{
    struct sieve_error error;
    struct frame_caller caller = {.frame = &frame, .sieve = open_on(&disk_system, kind, &error)};
    for (unsigned version = 1; version <= 6; version++) {
        CHECK(frame_ask(&caller, version) >= 0);
        if (version % 3 == 0)
            CHECK_INT(frame_merge(&caller), 0);
    }
    sieve_disk_close(caller.sieve);
}

static void flip(const char *path, off_t at)
{
    char byte;
    int fd = open(path, O_RDWR);
    CHECK_INT(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    CHECK_INT(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void check_names(const struct sieve_error *error, const char *path, off_t block)
{
    char offset[64];
    snprintf(offset, sizeof offset, "offset %lld", (long long)block * SIEVE_FILE_BLOCK_BYTES);
    CHECK_INT(error->code, -EBADMSG);
    CHECK(strncmp(error->text, path, strlen(path)) == 0);
    CHECK(strstr(error->text, offset));
}

TEST(damage_is_refused_with_file_and_offset)
{
    begin(43);
    make(SIEVE_DISK_OFFLINE);
    const char *path = frame_path(&frame, "Z-000006");
    char name[512];
    snprintf(name, sizeof name, "%s", path);
    off_t blocks = disk_system.size(NULL, name) / SIEVE_FILE_BLOCK_BYTES;
    off_t signatures = (off_t)sieve_file_blocks(frame.known[6]);
    CHECK_INT(blocks, signatures + 2); /* one of answers, and the tail */
    for (off_t block = 0; block < blocks; block++) {
        off_t at = block * SIEVE_FILE_BLOCK_BYTES + 9;
        struct sieve_error error;
        flip(name, at);
        struct frame_caller caller = {.frame = &frame,
                                      .sieve = open_on(&disk_system, SIEVE_DISK_OFFLINE, &error)};
        CHECK_INT(caller.sieve == NULL, block == blocks - 1);
        if (caller.sieve) {
            caller.answered = 6;
            int result = block < signatures ? frame_ask_from(&caller, 7) : frame_ask(&caller, 4);
            CHECK_INT(result, -EBADMSG);
            error = *sieve_disk_error(caller.sieve);
            sieve_disk_close(caller.sieve);
        }
        check_names(&error, name, block);
        flip(name, at);
    }
    struct mortal last = {0};
    CHECK_INT(go_on(&last, SIEVE_DISK_OFFLINE, 6), frame.count);
    frame_finish(&frame);
}

TEST(a_file_of_another_length_is_refused)
{
    begin(47);
    make(SIEVE_DISK_MERCATOR);
    char name[512];
    snprintf(name, sizeof name, "%s", frame_path(&frame, "Z-000006"));
    off_t bytes = disk_system.size(NULL, name);
    for (off_t length = 0; length < bytes; length += 1000) {
        struct sieve_error error;
        CHECK_INT(truncate(name, length), 0);
        CHECK(open_on(&disk_system, SIEVE_DISK_MERCATOR, &error) == NULL);
        CHECK_INT(error.code, -EBADMSG);
        CHECK(strstr(error.text, name));
        CHECK_INT(disk_system.size(NULL, name), length); /* it is left to whoever wants to look at it */
        frame_empty(&frame);
        make(SIEVE_DISK_MERCATOR);
    }
    frame_finish(&frame);
}

TEST(an_older_whole_file_counts_if_the_newest_is_damaged)
{
    begin(53);
    make(SIEVE_DISK_MERCATOR);
    FILE *newer = fopen(frame_path(&frame, "Z-000009"), "w");
    fprintf(newer, "this is not a sieve");
    fclose(newer);
    fclose(fopen(frame_path(&frame, "Z-000007.open"), "w"));
    fclose(fopen(frame_path(&frame, "run-01"), "w"));
    fclose(fopen(frame_path(&frame, "a letter"), "w"));
    struct sieve_error error;
    struct sieve_disk *sieve = open_on(&disk_system, SIEVE_DISK_MERCATOR, &error);
    CHECK(sieve);
    CHECK_INT(sieve_disk_version(sieve), 6);
    sieve_disk_close(sieve);
    CHECK_INT(unlink(frame_path(&frame, "a letter")), 0); /* it is not the sieve's */
    struct frame_names left = frame_list(&frame);
    CHECK_INT(left.count, 1);
    CHECK_STR(left.names[0], "Z-000006");
    frame_finish(&frame);
}
