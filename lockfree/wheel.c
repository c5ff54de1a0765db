/* Varghese and Lauck's hierarchical timing wheel (1987), with slots that are chains of cache lines rather
 * than lists of records: an insert writes one word at the end of a line, a pop reads lines that were fetched
 * ahead.
 *
 * A slot's word tells how full its first chunk is, and all other chunks of a chain are full. So an insert
 * reads the slot's word and stores into the chunk without reading it: the miss is the store buffer's.
 *
 * Level 0 holds ticks drained + 1 to drained + 65,535, a slot each. Level 1 holds epochs of 32,768 ticks;
 * there a chunk has the tick's offset in the epoch beside each id. As an epoch is half of level 0, the next
 * epoch always fits level 0, so it is moved there chunk by chunk while the one before is being popped, and
 * what is left when it begins is moved at once. What lies beyond level 1 is parked with its full tick and
 * placed anew at every 2,048th epoch, which comes before its own: at least 4,096 epochs ahead when it was
 * parked, at least 2,048 then.
 *
 * Moving spreads the ids of one chunk over many slots and may need more chunks than there are. The last
 * chunk is then kept for those ids that found no room, and they go together to the latest of their ticks:
 * late, not lost. */
#include "lockfree/wheel.h"

#include <assert.h>
#include <string.h>

#define SLOTS0        65536u
#define SLOTS1        4096u
#define EPOCH_SHIFT   15
#define UNPARK_EPOCHS (SLOTS1 / 2)
#define BITS_WORDS(n) ((n) / 64 + (n) / 4096) /* with the summary */
#define NEAR          15                      /* ids in a chunk of level 0 */
#define FAR           10
#define PARKED        5
#define NONE          UINT64_MAX

/* Records of the chunk to come are fetched when this many ids are left: its own line has arrived by then. */
#define WARM_AT 7
/* Chunks of the next epoch moved by a pop that finds nothing due: some 10 us. */
#define IDLE_MOVES 64

struct wheel_chunk {
    union {
        uint32_t next; /* all three start with it */
        struct {
            uint32_t next, ids[NEAR];
        } near;
        struct {
            uint32_t next, ids[FAR];
            uint16_t offsets[FAR];
        } far;
        struct {
            uint32_t next, ids[PARKED];
            uint64_t ticks[PARKED];
        } parked;
    };
};
_Static_assert(sizeof(struct wheel_chunk) == 64, "a chunk is a cache line");

struct entry {
    uint64_t tick;
    uint32_t id;
};

/* Level 1 takes more chunks than level 0; any slot may have one that is not full; none is empty. */
uint32_t wheel_chunks_for(uint32_t ids)
{
    uint64_t chunks = (uint64_t)ids / FAR + SLOTS0 + SLOTS1;
    return chunks < ids ? (uint32_t)chunks : ids;
}

static size_t slots_bytes(void)
{
    size_t bytes =
        (BITS_WORDS(SLOTS0) + BITS_WORDS(SLOTS1)) * sizeof(uint64_t) + (SLOTS0 + SLOTS1) * sizeof(uint32_t);
    return (bytes + sizeof(struct wheel_chunk) - 1) / sizeof(struct wheel_chunk) * sizeof(struct wheel_chunk);
}

size_t wheel_bytes(uint32_t chunks_max)
{
    return slots_bytes() + ((size_t)chunks_max + 1) * sizeof(struct wheel_chunk);
}

void wheel_init(struct wheel *wheel, void *memory, const struct wheel_options *options)
{
    assert(options->tick_ns && !(options->tick_ns & (options->tick_ns - 1)));
    assert(options->chunks_max < 1u << 28 && (uintptr_t)memory % sizeof(struct wheel_chunk) == 0);
    memset(memory, 0, slots_bytes());
    uint64_t *bits0 = memory, *bits1 = bits0 + BITS_WORDS(SLOTS0);
    uint32_t *slots = (uint32_t *)(bits1 + BITS_WORDS(SLOTS1));
    *wheel = (struct wheel){
        .bits0 = {.words = bits0, .summary = bits0 + SLOTS0 / 64, .slots = SLOTS0},
        .bits1 = {.words = bits1, .summary = bits1 + SLOTS1 / 64, .slots = SLOTS1},
        .level0 = slots,
        .level1 = slots + SLOTS0,
        .chunks = (struct wheel_chunk *)((char *)memory + slots_bytes()),
        .chunks_max = options->chunks_max,
        .tick_shift = (uint32_t)__builtin_ctzll(options->tick_ns),
        .records = options->records,
        .record_bytes = options->record_bytes,
    };
    wheel->drained = options->now_ns >> wheel->tick_shift;
    wheel->epoch = wheel->drained >> EPOCH_SHIFT;
}

static inline void bits_set(struct wheel_bits *bits, uint32_t slot)
{
    bits->used += !bits->words[slot / 64];
    bits->words[slot / 64] |= UINT64_C(1) << slot % 64;
    bits->summary[slot / 4096] |= UINT64_C(1) << slot / 64 % 64;
}

static inline void bits_clear(struct wheel_bits *bits, uint32_t slot)
{
    if ((bits->words[slot / 64] &= ~(UINT64_C(1) << slot % 64)))
        return;
    bits->summary[slot / 4096] &= ~(UINT64_C(1) << slot / 64 % 64);
    bits->used--;
}

/* The first slot at or after `from` that is not empty, or NONE. */
static uint64_t bits_from(const struct wheel_bits *bits, uint64_t from)
{
    uint64_t rest = bits->words[from / 64] >> from % 64;
    if (rest)
        return from + (uint64_t)__builtin_ctzll(rest);
    for (uint64_t word = from / 64 + 1; word < bits->slots / 64; word = (word / 64 + 1) * 64) {
        rest = bits->summary[word / 64] >> word % 64;
        if (rest) {
            word += (uint64_t)__builtin_ctzll(rest);
            return word * 64 + (uint64_t)__builtin_ctzll(bits->words[word]);
        }
    }
    return NONE;
}

/* How far ahead of `from`, going round, the first slot is that is not empty; NONE when all are. */
static uint64_t bits_distance(const struct wheel_bits *bits, uint64_t from)
{
    if (bits->used == 0)
        return NONE;
    uint64_t slot = bits_from(bits, from);
    if (slot == NONE)
        slot = bits_from(bits, 0);
    return (slot - from) % bits->slots;
}

static uint32_t chunk_take(struct wheel *wheel)
{
    uint32_t number = wheel->chunks_free;
    if (number)
        wheel->chunks_free = wheel->chunks[number].next;
    else if (wheel->chunks_touched < wheel->chunks_max)
        number = ++wheel->chunks_touched;
    wheel->chunks_used += number != 0;
    return number;
}

static void chunk_give(struct wheel *wheel, uint32_t number)
{
    wheel->chunks[number].next = wheel->chunks_free;
    wheel->chunks_free = number;
    wheel->chunks_used--;
}

/* The chunk with a place for one more entry in the chain at *slot, and which place; NULL when no chunk is
 * left. */
static inline struct wheel_chunk *chain_extend(struct wheel *wheel, uint32_t *slot, uint32_t per_chunk,
                                               uint32_t *place)
{
    uint32_t used = *slot & 15;
    if (!*slot || used == per_chunk) {
        uint32_t number = chunk_take(wheel);
        if (!number)
            return NULL;
        wheel->chunks[number].next = *slot >> 4;
        *slot = number << 4;
        used = 0;
    }
    *place = used;
    return &wheel->chunks[(*slot)++ >> 4];
}

/* Gives the first chunk of the chain back, whose entries have been copied. */
static void chain_shorten(struct wheel *wheel, uint32_t *slot, uint32_t per_chunk)
{
    uint32_t number = *slot >> 4, next = wheel->chunks[number].next;
    chunk_give(wheel, number);
    *slot = next ? next << 4 | per_chunk : 0;
}

static inline bool insert_near(struct wheel *wheel, struct entry entry)
{
    uint32_t index = (uint32_t)entry.tick % SLOTS0, place, *slot = &wheel->level0[index];
    bool was_empty = !*slot;
    struct wheel_chunk *chunk = chain_extend(wheel, slot, NEAR, &place);
    if (!chunk)
        return false;
    if (was_empty)
        bits_set(&wheel->bits0, index);
    chunk->near.ids[place] = entry.id;
    return true;
}

static bool insert_far(struct wheel *wheel, struct entry entry)
{
    uint32_t index = (uint32_t)(entry.tick >> EPOCH_SHIFT) % SLOTS1, place;
    struct wheel_chunk *chunk = chain_extend(wheel, &wheel->level1[index], FAR, &place);
    if (!chunk)
        return false;
    bits_set(&wheel->bits1, index);
    chunk->far.ids[place] = entry.id;
    chunk->far.offsets[place] = entry.tick & ((1u << EPOCH_SHIFT) - 1);
    return true;
}

static bool insert_parked(struct wheel *wheel, struct entry entry)
{
    uint32_t place;
    struct wheel_chunk *chunk = chain_extend(wheel, &wheel->parked, PARKED, &place);
    if (!chunk)
        return false;
    chunk->parked.ids[place] = entry.id;
    chunk->parked.ticks[place] = entry.tick;
    return true;
}

static inline bool insert(struct wheel *wheel, struct entry entry)
{
    if (entry.tick <= wheel->drained)
        entry.tick = wheel->drained + 1;
    if (entry.tick - wheel->drained < SLOTS0)
        return insert_near(wheel, entry);
    if ((entry.tick >> EPOCH_SHIFT) - wheel->epoch < SLOTS1)
        return insert_far(wheel, entry);
    return insert_parked(wheel, entry);
}

enum wheel_answer wheel_insert(struct wheel *wheel, uint32_t id, uint64_t deadline_ns)
{
    uint64_t below = (UINT64_C(1) << wheel->tick_shift) - 1;
    uint64_t tick = (deadline_ns >> wheel->tick_shift) + ((deadline_ns & below) != 0);
    if (!insert(wheel, (struct entry){tick, id}))
        return WHEEL_FULL;
    wheel->count++;
    return WHEEL_OK;
}

static uint32_t chunks_left(const struct wheel *wheel)
{
    return wheel->chunks_max - wheel->chunks_used;
}

/* Places entries whose chunk has just been given back, so that one chunk at least is there. It is kept for
 * those that would need a chunk of their own when it is the last; they go to one place, where one chunk is
 * enough for them. */
static void spread(struct wheel *wheel, const struct entry *entries, unsigned count)
{
    struct entry stranded[FAR];
    unsigned strandeds = 0;
    uint64_t latest = 0;
    for (unsigned i = 0; i < count; i++) {
        if (chunks_left(wheel) > 1) {
            insert(wheel, entries[i]);
            continue;
        }
        stranded[strandeds++] = entries[i];
        latest = entries[i].tick > latest ? entries[i].tick : latest;
    }
    for (unsigned i = 0; i < strandeds; i++) {
        bool placed = insert(wheel, (struct entry){latest, stranded[i].id});
        assert(placed);
        (void)placed;
    }
}

/* Moves one chunk of level 1 to level 0. */
static void move_chunk(struct wheel *wheel, uint64_t epoch)
{
    uint32_t index = (uint32_t)epoch % SLOTS1, *slot = &wheel->level1[index];
    const struct wheel_chunk *chunk = &wheel->chunks[*slot >> 4];
    struct entry entries[FAR];
    unsigned count = *slot & 15;
    for (unsigned i = 0; i < count; i++)
        entries[i] = (struct entry){epoch << EPOCH_SHIFT | chunk->far.offsets[i], chunk->far.ids[i]};
    chain_shorten(wheel, slot, FAR);
    if (!*slot)
        bits_clear(&wheel->bits1, index);
    spread(wheel, entries, count);
}

/* Moves chunks of the next epoch ahead of time, if chunks are not scarce: a chunk spreads over at most FAR
 * others. */
static void move_ahead(struct wheel *wheel, unsigned chunks)
{
    uint64_t epoch = (wheel->drained >> EPOCH_SHIFT) + 1;
    while (chunks-- && wheel->level1[epoch % SLOTS1] && chunks_left(wheel) > FAR)
        move_chunk(wheel, epoch);
}

static void unpark(struct wheel *wheel)
{
    uint32_t chain = wheel->parked;
    wheel->parked = 0;
    while (chain) {
        const struct wheel_chunk *chunk = &wheel->chunks[chain >> 4];
        struct entry entries[PARKED];
        unsigned count = chain & 15;
        for (unsigned i = 0; i < count; i++)
            entries[i] = (struct entry){chunk->parked.ticks[i], chunk->parked.ids[i]};
        chain_shorten(wheel, &chain, PARKED);
        spread(wheel, entries, count);
    }
}

static void enter_epoch(struct wheel *wheel, uint64_t epoch)
{
    wheel->epoch = epoch;
    wheel->drained = (epoch << EPOCH_SHIFT) - 1;
    if (epoch % UNPARK_EPOCHS == 0)
        unpark(wheel);
    while (wheel->level1[epoch % SLOTS1])
        move_chunk(wheel, epoch);
}

/* The first tick after `drained` with a slot that is not empty, or NONE. */
static uint64_t next_tick(const struct wheel *wheel)
{
    uint64_t distance = bits_distance(&wheel->bits0, (wheel->drained + 1) % SLOTS0);
    return distance == NONE ? NONE : wheel->drained + 1 + distance;
}

/* The first epoch that has to be entered: level 1 has ids for it, or parked ones are to be looked at. Or
 * NONE. */
static uint64_t next_epoch(const struct wheel *wheel)
{
    uint64_t distance = bits_distance(&wheel->bits1, (wheel->epoch + 1) % SLOTS1);
    uint64_t epoch = distance == NONE ? NONE : wheel->epoch + 1 + distance;
    uint64_t look = (wheel->epoch / UNPARK_EPOCHS + 1) * UNPARK_EPOCHS;
    return wheel->parked && look < epoch ? look : epoch;
}

static void warm_records(struct wheel *wheel, uint32_t slot)
{
    const struct wheel_chunk *chunk = &wheel->chunks[slot >> 4];
    if (wheel->records)
        for (uint32_t i = 0; i < (slot & 15); i++)
            __builtin_prefetch(wheel->records + chunk->near.ids[i] * wheel->record_bytes);
    wheel->warmed = slot >> 4;
}

/* The first chunk of the slot at `drained` is the next to be popped from. */
static void start_chunk(struct wheel *wheel)
{
    uint32_t slot = wheel->level0[wheel->drained % SLOTS0], next = wheel->chunks[slot >> 4].next;
    if (wheel->warmed != slot >> 4)
        warm_records(wheel, slot);
    move_ahead(wheel, 1);
    if (next) {
        wheel->following = next << 4 | NEAR;
    } else {
        uint64_t tick = next_tick(wheel);
        wheel->following = tick == NONE ? 0 : wheel->level0[tick % SLOTS0];
    }
    __builtin_prefetch(&wheel->chunks[wheel->following >> 4]);
}

/* Goes on to the next tick up to `limit` that has ids. False when there is none: all up to `limit` is then
 * popped. */
static bool advance(struct wheel *wheel, uint64_t limit)
{
    for (;;) {
        uint64_t tick = next_tick(wheel), epoch = next_epoch(wheel);
        uint64_t start = epoch == NONE ? NONE : epoch << EPOCH_SHIFT;
        if (start <= tick && start <= limit && start != NONE) {
            enter_epoch(wheel, epoch);
            continue;
        }
        bool found = tick <= limit && tick != NONE;
        if (found || limit > wheel->drained)
            wheel->drained = found ? tick : limit;
        if (wheel->epoch < wheel->drained >> EPOCH_SHIFT)
            wheel->epoch = wheel->drained >> EPOCH_SHIFT;
        if (found)
            start_chunk(wheel);
        else
            move_ahead(wheel, IDLE_MOVES);
        return found;
    }
}

static void finish_chunk(struct wheel *wheel, uint32_t *slot)
{
    chain_shorten(wheel, slot, NEAR);
    if (*slot) {
        start_chunk(wheel);
        return;
    }
    bits_clear(&wheel->bits0, (uint32_t)wheel->drained % SLOTS0);
}

bool wheel_pop(struct wheel *wheel, uint64_t now_ns, uint32_t *id)
{
    uint32_t *slot = &wheel->level0[wheel->drained % SLOTS0];
    if (!*slot) {
        if (!advance(wheel, now_ns >> wheel->tick_shift))
            return false;
        slot = &wheel->level0[wheel->drained % SLOTS0];
    }
    uint32_t left = --*slot & 15;
    *id = wheel->chunks[*slot >> 4].near.ids[left];
    wheel->count--;
    if (left == WARM_AT && wheel->following)
        warm_records(wheel, wheel->following);
    if (!left)
        finish_chunk(wheel, slot);
    return true;
}

size_t wheel_pop_batch(struct wheel *wheel, uint64_t now_ns, uint32_t *ids, size_t count)
{
    size_t popped = 0;
    while (popped < count && wheel_pop(wheel, now_ns, &ids[popped]))
        popped++;
    return popped;
}

uint64_t wheel_next_due(const struct wheel *wheel)
{
    if (wheel->level0[wheel->drained % SLOTS0])
        return wheel->drained << wheel->tick_shift;
    uint64_t tick = next_tick(wheel), epoch = next_epoch(wheel);
    if (epoch != NONE && epoch << EPOCH_SHIFT < tick)
        tick = epoch << EPOCH_SHIFT;
    return tick == NONE ? WHEEL_NEVER : tick << wheel->tick_shift;
}

uint64_t wheel_count(const struct wheel *wheel)
{
    return wheel->count;
}

uint32_t wheel_chunks_used(const struct wheel *wheel)
{
    return wheel->chunks_used;
}
