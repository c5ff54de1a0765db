/* Hosts with more URLs than their share of the memory: the rest waits on disk (slots.h), so that a host with millions of
 * URLs takes a fixed amount of memory and leaves the rest to others.
 *
 * The owner of a host, its holder or its home, moves URLs to the disk. Its home alone brings them back, and the
 * host is LOADING meanwhile: in no heap, with no token, and its home does not change. So a batch that has come finds its host
 * always at the loop that asked for it. A host is loaded while it rests; a rest is mostly longer than that takes.
 *
 * A host that nobody visits is found by nudges: a loop that pushes to a long queue tells the home now and then. Nudges
 * may be lost; the URLs are then moved later. A loop notes in `at_home` which hosts are its own at this moment.
 *
 * Nothing waits for ever: URLs that find no buffer stay in memory, in order, and the loop has the unfinished buffers of its
 * hosts written. URLs that come from disk and find no memory wait in their batch; the loop then moves to
 * the disk what came for their hosts in the meantime. */
#include <assert.h>

#include "engine/frontier/frontier_parts.h"
#include "lockfree/clock.h"
#include "lockfree/container_of.h"

enum {
    /* Part of memory.frontier that is taken for buffers. */
    BUFFERS_DIVISOR = 8,
    BUFFERS_MIN = 16,
    BUFFERS_MAX = 1 << 20,
    /* Batches of a loop that are being loaded, one per host. Each has 50 URLs or so. */
    LOADS_MIN = 4,
    LOADS_MAX = 64,
    /* Slots of the file: 256 GiB. */
    SLOTS_MAX = 1 << 26,
    /* A host's URLs in memory, with their records, as far as its share is concerned: four times what they mostly take. */
    SHARE_URL_BYTES = 512,
    SHARE_MIN = 64,
    /* No host gets more than this part, so that those found first leave memory to those found later. */
    SHARE_DIVISOR_MIN = 8,
    /* A resting host is loaded until so many URLs are in memory, or half of its share: what a visit may fetch. */
    LOADED_MAX = 256,
    /* Pushes to a long queue between two nudges. */
    NUDGE_EVERY = 64,
    NUDGES = 1024,
    /* URLs moved to the disk per turn because of nudges: half a millisecond. */
    STOWED_PER_TURN = 4096,
    /* Per turn, some microseconds each. */
    BATCHES_PER_TURN = LOADS_MAX,
    HUNGRY_PER_TURN = 16,
    FLUSHES_PER_TURN = 16,
    LOOKS_PER_TURN = 64,
};
#define SHARE_EVERY_NS (100 * CLOCK_NS_PER_MS)

static uint64_t clamp(uint64_t value, uint64_t min, uint64_t max)
{
    return value < min ? min : value > max ? max : value;
}

static struct slots_options options_for(const struct tuning *tuning)
{
    unsigned loops = (unsigned)tuning->fixed.crawl.threads;
    uint64_t buffers = tuning->fixed.memory.frontier_bytes / BUFFERS_DIVISOR / SLOTS_BYTES_SMALL;
    buffers = clamp(buffers, BUFFERS_MIN, BUFFERS_MAX);
    return (struct slots_options){.loops = loops,
                                  .buffers = (uint32_t)buffers,
                                  .loads = (uint32_t)clamp(buffers / 8 / loops, LOADS_MIN, LOADS_MAX),
                                  .slots_max = SLOTS_MAX,
                                  .record_bytes_max = SLOTS_RECORD_BYTES_SMALL};
}

size_t frontier_slots_bytes(const struct tuning *tuning)
{
    struct slots_options options = options_for(tuning);
    uint64_t buffers = options.buffers + (uint64_t)options.loops * options.loads;
    return tuning->fixed.state.spill ? buffers * SLOTS_BYTES_SMALL : 0;
}

int frontier_open_slots(struct frontier *frontier, const struct disk *disk, const char *path)
{
    struct slots_options options = options_for(frontier->tuning);
    options.disk = disk;
    options.path = path;
    int error = slots_init(&frontier->slots, &options);
    frontier->has_slots = !error;
    return error;
}

size_t frontier_stock_bytes(const struct frontier *frontier)
{
    return ring_mpmc_bytes(NUDGES) + frontier->hosts.count_max / 8 + 8 + 2 * LF_CACHE_LINE;
}

void frontier_stock_init(struct frontier_loop *loop)
{
    struct frontier *frontier = loop->frontier;
    struct frontier_stock *stock = &loop->stock;
    void *ring = arena_take(&loop->arena, ring_mpmc_bytes(NUDGES), LF_CACHE_LINE);
    ring_mpmc_init(&stock->nudges, ring, NUDGES);
    stock->words = frontier->hosts.count_max / 64 + 1;
    stock->at_home = arena_take(&loop->arena, stock->words * sizeof *stock->at_home, LF_CACHE_LINE);
    stock->slots = frontier->has_slots ? &frontier->slots.loops[loop->index] : NULL;
}

static struct host_mover mover_of(struct frontier_loop *loop)
{
    return (struct host_mover){
        .slots = loop->stock.slots, .pool = &loop->urls, .weights = loop->tuning->fixed.priority.url_weights};
}

/* Tells the home to look at the host. */
static void nudge(struct frontier_loop *loop, const struct host *host)
{
    unsigned home = lf_load(&host->home, relaxed);
    ring_mpmc_push(&loop->frontier->loops[home]->stock.nudges, host->id, &loop->backoff);
}

void frontier_stow(struct frontier_loop *loop, struct host *host)
{
    if (!loop->stock.slots)
        return;
    host->share = lf_load(&loop->frontier->share, relaxed);
    if (lf_load(&host->queued, relaxed) < host->share && !host->tail)
        return;
    struct host_mover mover = mover_of(loop);
    uint32_t before = slots_waiting(&host->stowed);
    if (!host_stow(host, &mover))
        loop->stock.lacks_buffers = true;
    loop->stock.stowed += slots_waiting(&host->stowed) - before;
    if (host->tail)
        nudge(loop, host); /* it goes on in a later turn */
}

/* The share. */

/* Hosts that have URLs, as far as this loop can see. */
static uint64_t busy_hosts(const struct frontier *frontier)
{
    int64_t busy = lf_load(&frontier->hosts.count, relaxed);
    for (unsigned i = 0; i < frontier->loop_count; i++)
        busy -= frontier->loops[i] ? lf_load(&frontier->loops[i]->states[HOST_IDLE], relaxed) : 0;
    return busy > 0 ? (uint64_t)busy : 0;
}

/* The first loop does it for all. */
/* Less of the memory is in use than one host may have. */
static bool is_nearly_empty(const struct frontier_loop *loop)
{
    uint32_t chunks = loop->frontier->urls.chunk_count;
    return pool_has_chunks(&loop->urls, chunks - chunks / SHARE_DIVISOR_MIN);
}

/* While the memory is nearly empty, no host has to leave any of it to others. */
static void renew_share(struct frontier_loop *loop, uint64_t now_ns)
{
    struct frontier *frontier = loop->frontier;
    if (loop->index || now_ns < loop->stock.share_next_ns)
        return;
    loop->stock.share_next_ns = now_ns + SHARE_EVERY_NS;
    uint64_t hosts = is_nearly_empty(loop) ? SHARE_DIVISOR_MIN : clamp(busy_hosts(frontier), SHARE_DIVISOR_MIN, UINT32_MAX);
    uint64_t share = frontier->tuning->fixed.memory.frontier_bytes / SHARE_URL_BYTES / hosts;
    if (!frontier_is_roomy(loop))
        share = SHARE_MIN;
    lf_store(&frontier->share, (uint32_t)clamp(share, SHARE_MIN, UINT32_MAX), relaxed);
}

/* Nudges. */

void frontier_nudge(struct frontier_loop *loop, struct host *host, uint32_t queued)
{
    if (queued % NUDGE_EVERY == 0)
        nudge(loop, host);
}

static void take_nudges(struct frontier_loop *loop)
{
    struct frontier_stock *stock = &loop->stock;
    uint64_t id, until = stock->stowed + STOWED_PER_TURN;
    size_t count = ring_mpmc_count(&stock->nudges); /* those who are nudged again wait for the next turn */
    for (; count && stock->stowed < until && ring_mpmc_pop(&stock->nudges, &id, &loop->backoff); count--)
        if (frontier_is_at_home(loop, id))
            frontier_stow(loop, frontier_host_by_id(loop->frontier, (uint32_t)id));
}

/* Has unfinished buffers of hosts at home written, so that others can use them. */
static void flush_some(struct frontier_loop *loop)
{
    struct frontier_stock *stock = &loop->stock;
    unsigned flushed = 0, looks = 0;
    for (uint32_t words = 0; words < stock->words && looks < LOOKS_PER_TURN && flushed < FLUSHES_PER_TURN;
         words++) {
        for (uint64_t bits = stock->at_home[stock->hand]; bits; bits &= bits - 1, looks++) {
            uint32_t id = stock->hand * 64 + (uint32_t)__builtin_ctzll(bits);
            struct slots_queue *queue = &frontier_host_by_id(loop->frontier, id)->stowed;
            flushed += queue->buffer && slots_flush(stock->slots, queue);
        }
        stock->hand = (stock->hand + 1) % stock->words;
    }
    stock->lacks_buffers = false;
}

/* All that the host has beyond its share; the housekeeper does not run yet. */
static int stow_all(struct frontier_loop *loop, struct host *host)
{
    int served = 0;
    do {
        frontier_stow(loop, host);
        served = slots_serve(loop->stock.slots->slots);
    } while (host->tail && served > 0);
    slots_flush(loop->stock.slots, &host->stowed);
    return served < 0 ? served : 0;
}

int64_t frontier_restore_stow(struct frontier_loop *loop)
{
    const struct hosts *hosts = &loop->frontier->hosts;
    uint64_t before = loop->stock.stowed;
    lf_store(&loop->frontier->share, SHARE_MIN, relaxed); /* one thread */
    for (uint32_t id = 1; id <= lf_load(&hosts->begun, relaxed) && id <= hosts->count_max; id++) {
        bool is_long = lf_load(&hosts->records[id].queued, relaxed) > SHARE_MIN;
        int error = is_long ? stow_all(loop, &hosts->records[id]) : 0;
        if (error)
            return error;
    }
    int served = slots_serve(loop->stock.slots->slots);
    return served < 0 ? served : (int64_t)(loop->stock.stowed - before);
}

/* Loading. */

static void join_hungry(struct frontier_stock *stock, struct host *host)
{
    host->message.next = NULL;
    if (stock->hungry)
        stock->last_hungry->next = &host->message;
    else
        stock->hungry = &host->message;
    stock->last_hungry = &host->message;
}

static void await_batch(struct frontier_loop *loop, struct host *host, bool is_asked)
{
    if (!is_asked)
        join_hungry(&loop->stock, host);
    frontier_set_state(loop, host, HOST_LOADING);
    frontier_keep(loop, host);
    loop->stock.loading++;
}

bool frontier_load(struct frontier_loop *loop, struct host *host, uint64_t now_ns)
{
    struct frontier_stock *stock = &loop->stock;
    uint32_t wanted = host->share / 2 < LOADED_MAX ? host->share / 2 : LOADED_MAX;
    bool is_due = host->waiting && host->next_ns <= now_ns && host_state(host) != HOST_LOADING;
    if (!slots_waiting(&host->stowed) || is_due || (host->waiting && host->waiting >= wanted))
        return false;
    bool is_asked = slots_load(stock->slots, &host->stowed);
    if (!is_asked && host->waiting)
        return false;
    await_batch(loop, host, is_asked);
    return true;
}

bool frontier_load_on(struct frontier_loop *loop, struct host *host)
{
    if (!slots_waiting(&host->stowed))
        return false;
    await_batch(loop, host, slots_load(loop->stock.slots, &host->stowed));
    return true;
}

/* Hosts that wait for a batch to be free. What came for them in the meantime must not keep memory from others. */
static void feed_hungry(struct frontier_loop *loop)
{
    struct frontier_stock *stock = &loop->stock;
    for (int i = 0; i < HUNGRY_PER_TURN && stock->hungry; i++) {
        struct host *host = container_of(stock->hungry, struct host, message);
        stock->hungry = host->message.next;
        frontier_stow(loop, host);
        if (!slots_load(stock->slots, &host->stowed))
            join_hungry(stock, host);
    }
}

static void take_batch(struct frontier_loop *loop, struct slots_buffer *batch, uint64_t now_ns)
{
    struct frontier_stock *stock = &loop->stock;
    struct host *host = container_of(batch->queue, struct host, stowed);
    struct host_mover mover = mover_of(loop);
    assert(host_state(host) == HOST_LOADING);
    if (!host_unstow(host, &mover, batch)) {
        frontier_stow(loop, host);
        slots_flush(stock->slots, &host->stowed);
        batch->below = stock->unfinished;
        stock->unfinished = batch;
        return;
    }
    slots_accept(stock->slots, batch);
    slots_release(stock->slots, batch);
    stock->loading--;
    frontier_place_host(loop, host, now_ns);
}

static void take_batches(struct frontier_loop *loop, uint64_t now_ns)
{
    struct frontier_stock *stock = &loop->stock;
    struct slots_buffer *batch = stock->unfinished, *next;
    stock->unfinished = NULL;
    for (; batch; batch = next) {
        next = batch->below;
        take_batch(loop, batch, now_ns);
    }
    for (int i = 0; i < BATCHES_PER_TURN && (batch = slots_loaded(stock->slots)); i++)
        take_batch(loop, batch, now_ns);
}

void frontier_stock_turn(struct frontier_loop *loop, uint64_t now_ns)
{
    if (!loop->stock.slots)
        return;
    renew_share(loop, now_ns);
    take_nudges(loop);
    if (loop->stock.loading) {
        take_batches(loop, now_ns);
        feed_hungry(loop);
    }
    if (loop->stock.lacks_buffers)
        flush_some(loop);
}
