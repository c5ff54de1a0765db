/* The memory of a model: see model.h for what it admits.
 *
 * An atomic's stores form a list in modification order. Each has a time stamp; stamps of one atomic grow
 * along the list, with gaps for stores that squeeze in later. A view holds for each atomic the stamp of the
 * oldest store that may still be read, and a vector clock of steps. The real memory always holds the last
 * store, so that begin and finish, which run outside, see and set plain values. */
#include "tests/support/model_internal.h"
#include "tests/support/model_atomic.h"

#include <string.h>

#define ATOMICS_MAX 512
#define STORES_MAX  (ATOMICS_MAX + MODEL_STEPS_MAX)
#define CELLS_MAX   1024
#define TABLE_SIZE  4096 /* open addressing, at most half full */
#define STAMP_GAP   1024u
#define ARENA_BYTES (256 * 1024)
#define BLOCK_BYTES 128
#define FREED_FILL  0xdd
#define WILD_BELOW  65536ull
#define WILD_ABOVE  (1ull << 47)

struct view {
    uint32_t clock[MODEL_THREADS_MAX];
    uint32_t atomics; /* entries in use; those beyond are 0 */
    uint32_t seen[ATOMICS_MAX];
};

struct store {
    uint32_t stamp;
    uint64_t value;
    int previous;
    int view;     /* what an acquire takes over, or -1 */
    bool has_rmw; /* the next store is a read-modify-write of this one: nothing may come between */
};

struct access {
    uint32_t when[MODEL_THREADS_MAX];
    const char *site[MODEL_THREADS_MAX];
};

struct atomic {
    uintptr_t address;
    uint8_t bytes;
    int last;
    uint32_t sc_stamp; /* what seq_cst operations have agreed on */
    struct access access;
};

struct cell {
    uintptr_t address;
    size_t bytes;
    struct access reads, writes;
};

/* From an address to an index, emptied by taking a new generation. */
struct table {
    uint32_t generation;
    struct {
        uintptr_t address;
        uint32_t generation;
        uint32_t index;
    } slots[TABLE_SIZE];
};

/* Lives across the runs of a search. */
struct sharing {
    uintptr_t address;
    unsigned threads; /* bit mask */
    bool is_written;
};

struct block {
    uint32_t bytes;
    const char *free_site;
};

static struct view views[MODEL_THREADS_MAX];
static struct view released[MODEL_STEPS_MAX];
static struct store stores[STORES_MAX];
static struct atomic atomics[ATOMICS_MAX];
static struct cell cells[CELLS_MAX];
static struct sharing sharings[TABLE_SIZE / 2];
static struct table atomic_table, cell_table, sharing_table;
static struct {
    unsigned released, stores, atomics, cells;
} used;
static unsigned sharings_used;

/* One arena for each thread and one for begin: a node's address depends on its own thread's steps alone. */
static _Alignas(BLOCK_BYTES) char arenas[MODEL_THREADS_MAX + 1][ARENA_BYTES];
static struct block blocks[MODEL_THREADS_MAX + 1][ARENA_BYTES / BLOCK_BYTES];
static size_t arena_used[MODEL_THREADS_MAX + 1];

static uint32_t *table_slot(struct table *table, uintptr_t address, bool *is_new)
{
    size_t i = (size_t)((address * 0x9e3779b97f4a7c15ull) >> 40) % TABLE_SIZE;
    while (table->slots[i].generation == table->generation && table->slots[i].address != address)
        i = (i + 1) % TABLE_SIZE;
    *is_new = table->slots[i].generation != table->generation;
    table->slots[i].generation = table->generation;
    table->slots[i].address = address;
    return &table->slots[i].index;
}

void model_memory_forget(void)
{
    sharing_table.generation++;
    sharings_used = 0;
}

void model_memory_begin(void)
{
    memset(views, 0, sizeof views);
    memset(&used, 0, sizeof used);
    atomic_table.generation++;
    cell_table.generation++;
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++) {
        memset(blocks[i], 0, arena_used[i] / BLOCK_BYTES * sizeof blocks[i][0]);
        arena_used[i] = 0;
    }
}

static struct block *block_of(uintptr_t address)
{
    uintptr_t offset = address - (uintptr_t)arenas;
    if (offset >= sizeof arenas)
        return NULL;
    struct block *b = &blocks[offset / ARENA_BYTES][offset % ARENA_BYTES / BLOCK_BYTES];
    while (!b->bytes && b > &blocks[offset / ARENA_BYTES][0])
        b--;
    return b;
}

static void check_address(uintptr_t address, const char *site)
{
    if (address < WILD_BELOW || address >= WILD_ABOVE)
        model_fail(MODEL_MISUSED, "wild pointer %#jx at %s", (uintmax_t)address, site);
    const struct block *b = block_of(address);
    if (b && b->free_site)
        model_fail(MODEL_FREED, "%s touches memory freed at %s", site, b->free_site);
}

/* Marks the access, and tells whether another thread may have to run before it: the address is written, and
 * used by more threads than one, in some run of this search. */
static bool is_shared(uintptr_t address, bool is_write)
{
    bool is_new;
    uint32_t *index = table_slot(&sharing_table, address, &is_new);
    if (is_new) {
        if (sharings_used == TABLE_SIZE / 2)
            model_fail(MODEL_MISUSED, "too many addresses for the model");
        *index = sharings_used++;
        sharings[*index] = (struct sharing){.address = address};
    }
    struct sharing *s = &sharings[*index];
    bool was_shared = s->is_written && (s->threads & (s->threads - 1));
    s->threads |= 1u << model_self();
    s->is_written |= is_write;
    bool is_now = s->is_written && (s->threads & (s->threads - 1));
    if (is_now && !was_shared)
        model_on_shared();
    return is_now;
}

static uint64_t peek(const void *ptr, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, ptr, bytes);
    return value;
}

static uint64_t truncated(uint64_t value, size_t bytes)
{
    return bytes == 8 ? value : value & ((1ull << (8 * bytes)) - 1);
}

static struct view *view_now(void)
{
    return &views[model_self()];
}

static void view_join(struct view *into, const struct view *from)
{
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        into->clock[i] = from->clock[i] > into->clock[i] ? from->clock[i] : into->clock[i];
    for (unsigned i = into->atomics; i < from->atomics; i++)
        into->seen[i] = 0;
    if (from->atomics > into->atomics)
        into->atomics = from->atomics;
    for (unsigned i = 0; i < from->atomics; i++)
        into->seen[i] = from->seen[i] > into->seen[i] ? from->seen[i] : into->seen[i];
}

static void view_copy(struct view *into, const struct view *from)
{
    memcpy(into, from, offsetof(struct view, seen) + from->atomics * sizeof from->seen[0]);
}

static uint32_t seen_by(const struct view *v, unsigned index)
{
    return index < v->atomics ? v->seen[index] : 0;
}

static void view_see(struct view *v, unsigned index, uint32_t stamp)
{
    for (; v->atomics <= index; v->atomics++)
        v->seen[v->atomics] = 0;
    v->seen[index] = stamp;
}

static struct atomic *atomic_at(const void *ptr, size_t bytes, const char *site)
{
    bool is_new;
    uint32_t *index = table_slot(&atomic_table, (uintptr_t)ptr, &is_new);
    if (is_new) {
        if (used.atomics == ATOMICS_MAX)
            model_fail(MODEL_MISUSED, "too many atomics for the model at %s", site);
        *index = used.atomics++;
        stores[used.stores] =
            (struct store){.stamp = 1, .value = peek(ptr, bytes), .previous = -1, .view = -1};
        atomics[*index] =
            (struct atomic){.address = (uintptr_t)ptr, .bytes = (uint8_t)bytes, .last = (int)used.stores++};
    }
    struct atomic *a = &atomics[*index];
    if (a->bytes != bytes)
        model_fail(MODEL_MISUSED, "%zu bytes of an atomic of %u at %s", bytes, a->bytes, site);
    if (peek(ptr, bytes) != stores[a->last].value)
        model_fail(MODEL_MISUSED, "an atomic was changed by other means than lf_*, seen at %s", site);
    return a;
}

static memory_order order_here(memory_order order, const char *site)
{
    return model_planted_here("relaxed", site) ? memory_order_relaxed : order;
}

struct call {
    struct model_step *step;
    struct atomic *atomic;
    struct view *view;
    unsigned index;
    uint32_t floor; /* no store older than this may be read or overtaken */
};

static struct call begin_call(const void *ptr, size_t bytes, const char *site, bool is_write)
{
    struct call call;
    model_planted_list(site);
    check_address((uintptr_t)ptr, site);
    call.step = model_thread_step(site, is_shared((uintptr_t)ptr, is_write));
    check_address((uintptr_t)ptr, site);
    call.atomic = atomic_at(ptr, bytes, site);
    call.index = (unsigned)(call.atomic - atomics);
    call.view = view_now();
    unsigned self = model_self();
    call.atomic->access.when[self] = ++call.view->clock[self];
    call.atomic->access.site[self] = site;
    call.floor = seen_by(call.view, call.index);
    return call;
}

static uint32_t floor_for(const struct call *call, memory_order order)
{
    uint32_t sc = call->atomic->sc_stamp;
    return order == memory_order_seq_cst && sc > call->floor ? sc : call->floor;
}

static bool is_acquire(memory_order order)
{
    return order == memory_order_acquire || order == memory_order_acq_rel || order == memory_order_seq_cst ||
           order == memory_order_consume;
}

static bool is_release(memory_order order)
{
    return order == memory_order_release || order == memory_order_acq_rel || order == memory_order_seq_cst;
}

/* The store `way` places before the last. */
static int store_back(const struct atomic *a, unsigned way)
{
    int i = a->last;
    while (way--)
        i = stores[i].previous;
    return i;
}

static void finish_read(struct call *call, int from, memory_order order)
{
    const struct store *s = &stores[from];
    view_see(call->view, call->index, s->stamp);
    if (is_acquire(order) && s->view >= 0)
        view_join(call->view, &released[s->view]);
    if (order == memory_order_seq_cst && s->stamp > call->atomic->sc_stamp)
        call->atomic->sc_stamp = s->stamp;
    call->step->reads = true;
    call->step->before = s->value;
    call->step->is_weak = from != call->atomic->last;
}

/* Puts a store behind `after` in modification order. */
static struct store *insert_store(struct call *call, int after, uint64_t value, memory_order order)
{
    struct atomic *a = call->atomic;
    if (used.stores == STORES_MAX)
        model_fail(MODEL_LIVELOCK, "too many stores at %s", call->step->site);
    int fresh = (int)used.stores++;
    uint32_t stamp = stores[after].stamp + STAMP_GAP;
    if (after == a->last) {
        a->last = fresh;
    } else {
        int next = a->last;
        while (stores[next].previous != after)
            next = stores[next].previous;
        stamp = stores[after].stamp + (stores[next].stamp - stores[after].stamp) / 2;
        stores[next].previous = fresh;
    }
    struct store *s = &stores[fresh];
    *s = (struct store){.stamp = stamp, .value = value, .previous = after, .view = -1};
    view_see(call->view, call->index, stamp);
    if (is_release(order)) {
        s->view = (int)used.released++;
        view_copy(&released[s->view], call->view);
    }
    if (order == memory_order_seq_cst && stamp > a->sc_stamp)
        a->sc_stamp = stamp;
    uint64_t last = stores[a->last].value;
    memcpy((void *)a->address, &last, a->bytes);
    call->step->writes = true;
    call->step->after = value;
    call->step->is_weak |= a->last != fresh;
    model_thread_on_write();
    return s;
}

static bool has_room_behind(const struct atomic *a, int index)
{
    if (index == a->last)
        return true;
    int next = a->last;
    while (stores[next].previous != index)
        next = stores[next].previous;
    return !stores[index].has_rmw && stores[next].stamp - stores[index].stamp > 1;
}

uint64_t model_memory_load(const void *ptr, size_t bytes, memory_order order, const char *site)
{
    if (!model_is_running())
        return peek(ptr, bytes);
    order = order_here(order, site);
    struct call call = begin_call(ptr, bytes, site, false);
    uint32_t floor = floor_for(&call, order);
    unsigned ways = 0;
    for (int i = call.atomic->last; i >= 0 && stores[i].stamp >= floor; i = stores[i].previous)
        ways++;
    int from = store_back(call.atomic, model_choose_weak(ways));
    finish_read(&call, from, order);
    return stores[from].value;
}

/* Collects the stores, last first, behind which a store may go. */
static unsigned places(const struct call *call, uint32_t floor, int *found)
{
    unsigned count = 0;
    for (int i = call->atomic->last; i >= 0 && stores[i].stamp >= floor && count < 16; i = stores[i].previous)
        if (has_room_behind(call->atomic, i))
            found[count++] = i;
    return count;
}

void model_memory_store(void *ptr, size_t bytes, uint64_t value, memory_order order, const char *site)
{
    value = truncated(value, bytes);
    if (!model_is_running()) {
        memcpy(ptr, &value, bytes);
        return;
    }
    order = order_here(order, site);
    struct call call = begin_call(ptr, bytes, site, true);
    int found[16];
    unsigned ways = places(&call, floor_for(&call, order), found);
    insert_store(&call, found[model_choose_weak(ways)], value, order);
}

static void read_and_write(struct call *call, int from, uint64_t value, memory_order order)
{
    finish_read(call, from, order);
    struct store *s = insert_store(call, from, value, order);
    int inherited = stores[from].view;
    stores[from].has_rmw = true;
    if (inherited >= 0 && s->view >= 0)
        view_join(&released[s->view], &released[inherited]);
    else if (inherited >= 0)
        s->view = inherited;
}

static uint64_t rmw_result(enum model_rmw kind, uint64_t old, uint64_t operand)
{
    switch (kind) {
    case MODEL_EXCHANGE:
        return operand;
    case MODEL_ADD:
        return old + operand;
    case MODEL_SUB:
        return old - operand;
    case MODEL_OR:
        return old | operand;
    }
    return old;
}

uint64_t model_memory_rmw(void *ptr, struct model_rmw_call c)
{
    if (!model_is_running()) {
        uint64_t old = peek(ptr, c.bytes), value = rmw_result(c.kind, old, c.operand);
        memcpy(ptr, &value, c.bytes);
        return old;
    }
    if (model_planted_here("split", c.site)) {
        uint64_t old = model_memory_load(ptr, c.bytes, c.order, c.site);
        model_memory_store(ptr, c.bytes, rmw_result(c.kind, old, c.operand), c.order, c.site);
        return old;
    }
    c.order = order_here(c.order, c.site);
    struct call call = begin_call(ptr, c.bytes, c.site, true);
    int found[16];
    unsigned ways = places(&call, floor_for(&call, c.order), found);
    int from = found[model_choose_weak(ways)];
    uint64_t old = stores[from].value;
    read_and_write(&call, from, truncated(rmw_result(c.kind, old, c.operand), c.bytes), c.order);
    return old;
}

/* Ways of a compare-and-swap: each store it may read, except that equal ones need room behind them; and,
 * last, failing in spite of an equal value. */
bool model_memory_cas(void *ptr, void *expected, struct model_cas_call c)
{
    uint64_t wanted = peek(expected, c.bytes), desired = truncated(c.desired, c.bytes);
    if (!model_is_running()) {
        uint64_t old = peek(ptr, c.bytes);
        memcpy(old == wanted ? ptr : expected, old == wanted ? &desired : &old, c.bytes);
        return old == wanted;
    }
    if (model_planted_here("split", c.site)) {
        uint64_t old = model_memory_load(ptr, c.bytes, c.success, c.site);
        if (old == wanted)
            model_memory_store(ptr, c.bytes, desired, c.success, c.site);
        memcpy(expected, &old, c.bytes);
        return old == wanted;
    }
    c.success = order_here(c.success, c.site);
    c.failure = order_here(c.failure, c.site);
    struct call call = begin_call(ptr, c.bytes, c.site, true);
    int found[16];
    unsigned ways = 0;
    uint32_t floor = floor_for(&call, c.success);
    for (int i = call.atomic->last; i >= 0 && stores[i].stamp >= floor && ways < 15; i = stores[i].previous)
        if (stores[i].value != wanted || has_room_behind(call.atomic, i))
            found[ways++] = i;
    bool may_fail = c.weak && stores[found[0]].value == wanted;
    unsigned way = model_choose_weak(ways + may_fail);
    bool is_spurious = way == ways;
    int from = found[is_spurious ? 0 : way];
    uint64_t old = stores[from].value;
    if (is_spurious || old != wanted) {
        finish_read(&call, from, c.failure);
        call.step->is_weak |= is_spurious;
        memcpy(expected, &old, c.bytes);
        return false;
    }
    read_and_write(&call, from, desired, c.success);
    return true;
}

static void check_order(const struct access *earlier, enum model_verdict verdict, const char *site)
{
    const struct view *v = view_now();
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        if (i != model_self() && earlier->when[i] > v->clock[i])
            model_fail(verdict, "no order between %s and, in thread %u, %s", site, i, earlier->site[i]);
}

static struct cell *cell_at(const void *ptr, size_t bytes, const char *site)
{
    bool is_new;
    uint32_t *index = table_slot(&cell_table, (uintptr_t)ptr, &is_new);
    if (is_new) {
        if (used.cells == CELLS_MAX)
            model_fail(MODEL_MISUSED, "too many plain cells for the model at %s", site);
        *index = used.cells++;
        cells[*index] = (struct cell){.address = (uintptr_t)ptr, .bytes = bytes};
    }
    return &cells[*index];
}

void model_memory_read(const void *ptr, size_t bytes, const char *site)
{
    if (!model_is_running())
        return;
    check_address((uintptr_t)ptr, site);
    model_thread_step(site, false);
    struct cell *cell = cell_at(ptr, bytes, site);
    check_order(&cell->writes, MODEL_RACED, site);
    unsigned self = model_self();
    cell->reads.when[self] = ++view_now()->clock[self];
    cell->reads.site[self] = site;
}

void model_memory_write(void *ptr, size_t bytes, const char *site)
{
    if (!model_is_running())
        return;
    check_address((uintptr_t)ptr, site);
    model_thread_step(site, false);
    struct cell *cell = cell_at(ptr, bytes, site);
    check_order(&cell->writes, MODEL_RACED, site);
    check_order(&cell->reads, MODEL_RACED, site);
    unsigned self = model_self();
    cell->writes.when[self] = ++view_now()->clock[self];
    cell->writes.site[self] = site;
}

void *model_memory_alloc(size_t bytes)
{
    unsigned arena = model_is_running() ? model_self() : MODEL_THREADS_MAX;
    size_t offset = arena_used[arena], span = (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    if (offset + span > ARENA_BYTES || bytes == 0)
        model_fail(MODEL_MISUSED, "no room for %zu bytes", bytes);
    arena_used[arena] += span;
    blocks[arena][offset / BLOCK_BYTES] = (struct block){.bytes = (uint32_t)bytes};
    return memset(arenas[arena] + offset, MODEL_FRESH, span);
}

/* A free is a write to the whole block: every earlier access must have happened before it. */
void model_memory_free(void *ptr, const char *site)
{
    check_address((uintptr_t)ptr, site);
    struct block *b = block_of((uintptr_t)ptr);
    if (!b)
        model_fail(MODEL_MISUSED, "%s of memory that is not the model's", site);
    uintptr_t begin = (uintptr_t)ptr, end = begin + b->bytes;
    if (model_is_running()) {
        model_thread_step(site, false);
        for (unsigned i = 0; i < used.atomics; i++)
            if (atomics[i].address >= begin && atomics[i].address < end)
                check_order(&atomics[i].access, MODEL_FREED, site);
        for (unsigned i = 0; i < used.cells; i++)
            if (cells[i].address >= begin && cells[i].address < end) {
                check_order(&cells[i].reads, MODEL_FREED, site);
                check_order(&cells[i].writes, MODEL_FREED, site);
            }
    }
    memset(ptr, FREED_FILL, b->bytes);
    b->free_site = site;
}

void model_memory_finish(void)
{
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++)
        for (size_t offset = 0; offset < arena_used[i]; offset += BLOCK_BYTES) {
            const struct block *b = &blocks[i][offset / BLOCK_BYTES];
            for (uint32_t k = 0; b->free_site && k < b->bytes; k++)
                if ((unsigned char)arenas[i][offset + k] != FREED_FILL)
                    model_fail(MODEL_FREED, "memory was written after %s", b->free_site);
        }
}

uint32_t model_time(void)
{
    return ++view_now()->clock[model_self()];
}

uint32_t model_time_seen(unsigned thread)
{
    return view_now()->clock[thread];
}
