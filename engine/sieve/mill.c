/* Why answers belong to their questions. A loop's blocks go through `asked` in order. The mill takes them in that order
 * and notes each as a run, in the order of the batch. Answers are given run by run, in the same order, so the n-th answers
 * of a loop are those of the n-th block that it handed over.
 *
 * Answers are written to answers[n % MILL_UNANSWERED_MAX] and published by `answered` (R1 pairs with A1). The place is
 * free by then: a loop hands over block n + MILL_UNANSWERED_MAX only after it has taken all answers of block n, and the
 * mill has acquired that block through `asked`. */
#include "engine/sieve/mill.h"

#include <assert.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lockfree/clock.h"

enum {
    NICE = 10,
    BYTES_PER_QUESTION = 8 + 12, /* in the batch, and while it is looked up */
};

static size_t power_of_two_from(size_t count)
{
    size_t power = 1;
    while (power < count)
        power *= 2;
    return power;
}

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Seven eighths of the memory for what is known, unless RocksDB takes memory of its own. Of the rest, two thirds for the
 * batch, and one for blocks on their way to it. */
static void divide(struct mill *mill, size_t *blocks)
{
    const struct mill_options *options = &mill->options;
    mill->known_bytes = options->kind == SIEVE_DISK_ROCKS ? 0 : options->bytes / 8 * 7;
    size_t rest = options->bytes - mill->known_bytes;
    mill->batch_max = clamp(rest / 3 * 2 / BYTES_PER_QUESTION, MILL_BATCH_MIN, SIEVE_DISK_BATCH_MAX);
    *blocks =
        clamp(rest / 3 / sizeof(struct mill_block) / options->loops, MILL_BLOCKS_MIN, MILL_UNANSWERED_MAX);
}

static void init_loop(struct mill *mill, struct mill_loop *loop, size_t blocks)
{
    size_t capacity = power_of_two_from(blocks);
    struct ring_spsc *rings[] = {&loop->asked, &loop->idle};
    loop->mill = mill;
    loop->block_count = blocks;
    for (unsigned i = 0; i < 2; i++)
        ring_spsc_init(rings[i], arena_take(&mill->arena, ring_spsc_bytes(capacity), LF_CACHE_LINE),
                       capacity);
    loop->answers = arena_take(&mill->arena, MILL_UNANSWERED_MAX * sizeof *loop->answers, LF_CACHE_LINE);
    struct mill_block *memory = arena_take(&mill->arena, blocks * sizeof *memory, LF_CACHE_LINE);
    for (size_t i = 0; i < blocks; i++)
        ring_spsc_push(&loop->idle, (uintptr_t)&memory[i]);
}

static size_t loop_bytes(size_t blocks)
{
    return 2 * (ring_spsc_bytes(power_of_two_from(blocks)) + LF_CACHE_LINE) +
           MILL_UNANSWERED_MAX * sizeof(struct mill_answers) + blocks * sizeof(struct mill_block) +
           2 * LF_CACHE_LINE;
}

int mill_init(struct mill *mill, const struct mill_options *options)
{
    size_t blocks;
    *mill = (struct mill){.options = *options};
    divide(mill, &blocks);
    size_t bitmap_bytes = sieve_disk_words(mill->batch_max) * sizeof *mill->bitmap;
    size_t runs_bytes = options->loops * MILL_UNANSWERED_MAX * sizeof *mill->runs;
    size_t bytes = options->loops * (sizeof *mill->loops + loop_bytes(blocks)) +
                   mill->batch_max * sizeof *mill->batch + bitmap_bytes + runs_bytes + 4 * LF_CACHE_LINE;
    int error = arena_init(&mill->arena, &(struct arena_options){.bytes = bytes});
    if (error)
        return error;
    mill->loops = arena_take(&mill->arena, options->loops * sizeof *mill->loops, LF_CACHE_LINE);
    mill->batch = arena_take(&mill->arena, mill->batch_max * sizeof *mill->batch, LF_CACHE_LINE);
    mill->bitmap = arena_take(&mill->arena, bitmap_bytes, LF_CACHE_LINE);
    mill->runs = arena_take(&mill->arena, runs_bytes, LF_CACHE_LINE);
    for (unsigned i = 0; i < options->loops; i++)
        init_loop(mill, &mill->loops[i], blocks);
    return 0;
}

void mill_fini(struct mill *mill)
{
    mill_stop(mill);
    if (mill->sieve)
        sieve_disk_close(mill->sieve);
    mill->sieve = NULL;
    if (mill->loops)
        arena_fini(&mill->arena);
    mill->loops = NULL;
}

int mill_open(struct mill *mill)
{
    const struct mill_options *options = &mill->options;
    struct sieve_disk_options sieve = {.kind = options->kind,
                                       .disk = options->disk,
                                       .directory = options->directory,
                                       .batch_max = (uint32_t)mill->batch_max,
                                       .runs = options->runs,
                                       .bytes = mill->known_bytes};
    mill->sieve = sieve_disk_open(&sieve, &mill->failure);
    return mill->sieve ? 0 : mill->failure.code;
}

/* The mill's side. */

static bool bit_of(const uint64_t *bitmap, size_t i)
{
    return bitmap[i / 64] >> i % 64 & 1;
}

static void answer(struct mill *mill, const struct mill_run *run, const uint64_t *bitmap, size_t from)
{
    struct mill_loop *loop = &mill->loops[run->loop];
    uint64_t number = lf_load(&loop->answered, relaxed); /* only the mill writes it */
    struct mill_answers *answers = &loop->answers[number % MILL_UNANSWERED_MAX];
    memset(answers->is_new, 0, sizeof answers->is_new);
    answers->count = run->count;
    for (uint32_t i = 0; i < run->count; i++)
        answers->is_new[i / 64] |= (uint64_t)bit_of(bitmap, from + i) << i % 64;
    lf_store(&loop->answered, number + 1, release); /* R1 */
}

static int fail(struct mill *mill, int error)
{
    mill->failure = *sieve_disk_error(mill->sieve);
    return error;
}

/* Asks about the batch at hand. */
static int ask(struct mill *mill)
{
    const uint64_t begin_ns = clock_now_ns();
    struct sieve_disk_batch batch = {mill->batch, mill->count};
    size_t at = 0;
    int error = sieve_disk_ask(mill->sieve, &batch, mill->bitmap);
    if (error)
        return fail(mill, error);
    for (size_t i = 0; i < mill->run_count; at += mill->runs[i++].count)
        answer(mill, &mill->runs[i], mill->bitmap, at);
    mill->count = mill->run_count = 0;
    mill->asked_ns = clock_now_ns();
    lf_store(&mill->known, sieve_disk_count(mill->sieve), relaxed); /* figures to show */
    lf_store(&mill->work_ns, mill->asked_ns - begin_ns, relaxed);
    return 0;
}

/* What was collected to be learnt. */
static int learn(struct mill *mill)
{
    struct sieve_disk_batch batch = {mill->batch, mill->count};
    int error = sieve_disk_learn(mill->sieve, &batch);
    mill->count = 0;
    return error ? fail(mill, error) : 0;
}

int mill_learn(struct mill *mill, uint64_t signature)
{
    int error = mill->count == MILL_BLOCK_SIGNATURES ? learn(mill) : 0;
    if (!error)
        mill->batch[mill->count++] = signature;
    return error;
}

/* Puts one block of a loop into the batch. False: it has none. */
static bool take_block(struct mill *mill, unsigned index)
{
    struct mill_loop *loop = &mill->loops[index];
    uint64_t item;
    if (!ring_spsc_pop(&loop->asked, &item))
        return false;
    const struct mill_block *block = (const struct mill_block *)(uintptr_t)item;
    memcpy(mill->batch + mill->count, block->signatures, block->count * sizeof *block->signatures);
    mill->count += block->count;
    mill->runs[mill->run_count++] = (struct mill_run){.loop = index, .count = block->count};
    ring_spsc_push(&loop->idle, item); /* hand-over back; there is room for every block */
    return true;
}

static bool is_full(const struct mill *mill)
{
    return mill->count + MILL_BLOCK_SIGNATURES > mill->batch_max;
}

/* Blocks of all loops by turns. */
static void take_blocks(struct mill *mill)
{
    for (bool has_some = true; has_some;) {
        has_some = false;
        for (unsigned i = 0; i < mill->options.loops; i++) {
            if (is_full(mill))
                return;
            has_some |= take_block(mill, i);
        }
    }
}

static bool is_due(const struct mill *mill)
{
    if (is_full(mill))
        return true;
    if (mill->count == 0)
        return false;
    bool hurries = lf_load(&mill->hurries, relaxed);
    uint64_t wait_ns = (hurries ? MILL_HURRIED_PER_WORK : MILL_IDLE_PER_WORK) * mill_work_ns(mill);
    return clock_now_ns() - mill->asked_ns >= (wait_ns < MILL_WAIT_NS ? wait_ns : MILL_WAIT_NS);
}

static void *run(void *argument)
{
    struct mill *mill = argument;
    setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* on Linux, of this thread alone */
    while (!lf_load(&mill->stops, relaxed)) {
        take_blocks(mill);
        if (!is_due(mill)) {
            poll(NULL, 0, MILL_LOOK_NS / CLOCK_NS_PER_MS);
            continue;
        }
        int error = ask(mill);
        if (error) {
            lf_store(&mill->error, error, release); /* R2 pairs with A2 in whoever asks for the reason */
            break;
        }
    }
    return NULL;
}

int mill_start(struct mill *mill)
{
    int error = mill->count ? learn(mill) : 0;
    if (!error)
        error = -pthread_create(&mill->thread, NULL, run, mill);
    mill->is_running = error == 0;
    return error;
}

void mill_stop(struct mill *mill)
{
    if (!mill->is_running)
        return;
    lf_store(&mill->stops, true, relaxed);
    pthread_join(mill->thread, NULL);
    mill->is_running = false;
}

/* A loop's side. */

static void hand_over(struct mill_loop *loop)
{
    /* Hand-over: the block is the mill's. There is room: the ring holds all blocks. */
    ring_spsc_push(&loop->asked, (uintptr_t)loop->filling);
    loop->filling = NULL;
    loop->handed++;
}

bool mill_has_room(struct mill_loop *loop, size_t count)
{
    size_t at_hand = loop->filling ? MILL_BLOCK_SIGNATURES - loop->filling->count : 0;
    size_t blocks =
        count > at_hand ? (count - at_hand + MILL_BLOCK_SIGNATURES - 1) / MILL_BLOCK_SIGNATURES : 0;
    return ring_spsc_count(&loop->idle) >= blocks &&
           loop->handed - loop->taken + blocks + 1 < MILL_UNANSWERED_MAX;
}

void mill_push(struct mill_loop *loop, uint64_t signature)
{
    uint64_t item = 0;
    if (!loop->filling) {
        bool has_one = ring_spsc_pop(&loop->idle, &item);
        assert(has_one);
        (void)has_one;
        loop->filling = (struct mill_block *)(uintptr_t)item;
        loop->filling->count = 0;
        loop->filling_ns = clock_now_ns();
    }
    loop->filling->signatures[loop->filling->count++] = signature;
    if (loop->filling->count == MILL_BLOCK_SIGNATURES)
        hand_over(loop);
}

/* A block that is not full goes to a mill that is in a hurry and has none of this loop's left; or when it has waited for
 * long enough. */
static void hand_over_rest(struct mill_loop *loop)
{
    if (!loop->filling || ring_spsc_count(&loop->asked) ||
        loop->handed - loop->taken + 1 >= MILL_UNANSWERED_MAX)
        return;
    if (lf_load(&loop->mill->hurries, relaxed) || clock_now_ns() - loop->filling_ns >= MILL_WAIT_NS)
        hand_over(loop);
}

bool mill_next(struct mill_loop *loop, bool *is_new)
{
    if (lf_load(&loop->answered, acquire) == loop->taken) { /* A1 */
        hand_over_rest(loop);
        return false;
    }
    const struct mill_answers *answers = &loop->answers[loop->taken % MILL_UNANSWERED_MAX];
    *is_new = bit_of(answers->is_new, loop->at++);
    if (loop->at == answers->count) {
        loop->taken++;
        loop->at = 0;
    }
    return true;
}
