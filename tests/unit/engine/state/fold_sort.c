#include "engine/state/fold_sort.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/disk_model.h"

static struct disk_model model;
static uint64_t random_state;

static uint64_t random_key(unsigned kind)
{
    uint64_t random = disk_model_random(&random_state);
    switch (kind) {
    case 0:
        return random;
    case 1:
        return random % 50; /* many are the same, and all in one bin */
    case 2:
        return random % 2 ? 0 : UINT64_MAX;
    default:
        return UINT64_C(0xabcdef) << 40 | random % 100000; /* chosen so that dealing does not help */
    }
}

/* What comes out is in order, and adds up to what went in. */
static void sort(unsigned kind, size_t count, size_t pairs_max)
{
    struct fold_sort sort;
    struct fold_pair pair, last = {0};
    uint64_t in = 0, out = 0;
    CHECK_INT(fold_sort_init(&sort, &(struct fold_sort_options){&model.disk, "d/sort", pairs_max}), 0);
    for (size_t i = 0; i < count; i++) {
        pair = (struct fold_pair){random_key(kind), i};
        in += pair.key * (2 * i + 1);
        CHECK_INT(fold_sort_add(&sort, pair), 0);
    }
    CHECK_INT(fold_sort_finish(&sort), 0);
    CHECK(!disk_model_content(&model, "d/sort").ptr == (count <= pairs_max));
    for (size_t i = 0; i < count; i++) {
        CHECK(fold_sort_next(&sort, &pair));
        CHECK(i == 0 || pair.key >= last.key);
        out += pair.key * (2 * pair.place + 1);
        last = pair;
    }
    CHECK(!fold_sort_next(&sort, &pair) && !sort.error);
    CHECK(in == out);
    fold_sort_fini(&sort);
    CHECK(!disk_model_content(&model, "d/sort").ptr);
}

TEST(any_pairs_come_out_in_order)
{
    static const size_t counts[] = {0, 1, 2, 24, 25, 63, 64, 65, 1000, 30000};
    for (unsigned kind = 0; kind < 4; kind++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            random_state = i;
            disk_model_init(&model);
            sort(kind, counts[i], 64);
            sort(kind, counts[i], 4096);
            sort(kind, counts[i], 1 << 16);
            disk_model_fini(&model);
        }
}

/* Runs that are longer than what is read at a time. */
TEST(long_runs_are_read_piece_by_piece)
{
    random_state = 1;
    disk_model_init(&model);
    sort(0, 100000, 20000);
    disk_model_fini(&model);
}

TEST(every_call_may_fail)
{
    unsigned failed = 0;
    for (uint64_t at = 1; at < 40; at++) {
        struct fold_sort sort;
        struct fold_pair pair;
        size_t count = 0;
        disk_model_init(&model);
        model.fault_at = at;
        model.fault = DISK_MODEL_FAULT_ERROR;
        model.fault_errno = EIO;
        CHECK_INT(fold_sort_init(&sort, &(struct fold_sort_options){&model.disk, "d/sort", 8}), 0);
        for (uint64_t i = 0; i < 100; i++)
            fold_sort_add(&sort, (struct fold_pair){i * 7 % 100, i});
        fold_sort_finish(&sort);
        while (fold_sort_next(&sort, &pair))
            count++;
        CHECK(sort.error == -EIO || (sort.error == 0 && count == 100));
        failed += sort.error != 0;
        fold_sort_fini(&sort);
        CHECK_INT(disk_model_open_count(&model), 0);
        disk_model_fini(&model);
    }
    CHECK(failed > 20);
}
