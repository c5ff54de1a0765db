// xenium (C++): Harris and Michael's list with quiescent-state reclamation, the reclamation that list stands on
// too. Its nodes come from the heap: it has no other way.
#include <cassert> // xenium wants it
#include <optional>

#include <xenium/harris_michael_list_based_set.hpp>
#include <xenium/reclamation/quiescent_state_based.hpp>

#include "micro/lockfree_set.h"

namespace {

using reclaimer = xenium::reclamation::quiescent_state_based;
using set_type = xenium::harris_michael_list_based_set<uint64_t, xenium::policy::reclaimer<reclaimer>>;

struct state {
    set_type *set;
    uint32_t keys;
};

void *begin(const lockfree_row *row, unsigned)
{
    return new state{nullptr, static_cast<uint32_t>(row->argument)};
}

void reset(void *context)
{
    auto *self = static_cast<state *>(context);
    delete self->set;
    self->set = new set_type;
    for (uint64_t key = 0; key < self->keys; key += 2)
        self->set->emplace(key);
}

void finish(void *context)
{
    auto *self = static_cast<state *>(context);
    delete self->set;
    delete self;
}

// The end of a region is the quiescent state: one for each block of operations.
struct thread {
    set_type *set;
    std::optional<reclaimer::region_guard> region;
};

bool find(void *context, uint64_t key)
{
    return static_cast<thread *>(context)->set->contains(key);
}

bool insert(void *context, uint64_t key)
{
    return static_cast<thread *>(context)->set->emplace(key);
}

bool erase(void *context, uint64_t key)
{
    return static_cast<thread *>(context)->set->erase(key);
}

void pass(void *context)
{
    auto *self = static_cast<thread *>(context);
    self->region.reset();
    self->region.emplace();
}

void work(lockfree_worker *worker)
{
    auto *self = static_cast<state *>(worker->state);
    thread here = {self->set, {}};
    lockfree_begin(worker);
    lockfree_set_update(worker, &here, lockfree_set{find, insert, erase, pass},
                        lockfree_set_updates{self->keys, LOCKFREE_LIST_PERCENT});
    lockfree_end(worker);
}

lockfree_row row_of(const char *mix, int keys)
{
    lockfree_row row = {};
    row.bench = "list";
    row.mix = mix;
    row.impl = "xenium";
    row.argument = keys;
    row.begin = begin;
    row.reset = reset;
    row.work = work;
    row.finish = finish;
    return row;
}

lockfree_row rows[] = {row_of(LOCKFREE_LIST_SHORT, 64), row_of(LOCKFREE_LIST_LONG, 512)};

// Not a constructor function: that could run before the rows are initialised.
const bool is_registered = [] {
    for (auto &row : rows)
        lockfree_register(&row);
    return true;
}();

} // namespace
