/* Quiescent-state reclamation.
 *
 * After Fraser, "Practical lock-freedom" (2004), and Hart, McKenney, Brown and Walpole, "Performance of
 * memory reclamation for lockless synchronization" (2007), with one difference: an epoch is not a phase that
 * all threads go through together, but a number that each batch of garbage draws for itself.
 *
 * A batch whose nodes have been unlinked increments the domain's epoch; the result is its goal. A thread that
 * is quiescent copies the epoch into `seen`. A batch is released when for each thread t one of these was
 * observed:
 *
 *   (a) t's `seen` is at or above the goal. Then t read an epoch written by the batch's increment or a
 *       later one. All writes to the epoch are increments, so that read synchronises with the batch's
 *       increment (R1 -> A1), and everything t reads after it was read after the nodes were unlinked: t
 *       cannot find them any more. What t read before came before its store of `seen`, and that before our
 *       look at it (R2 -> A2).
 *   (b) t's `seen` is 0: t is offline. We look at it with a read-modify-write, which orders us against t's
 *       own read-modify-write when it comes online. If t's comes first, we see it and t is not offline. If
 *       ours comes first, t's reads it, and so synchronises with us (R3 -> A3): t cannot find what we had
 *       unlinked. What t read before it went offline came before its store of 0 (R4 -> A2, A3).
 *
 * So no stand-alone fence and no sequentially consistent operation is needed, and a reader pays nothing.
 *
 * A slot that has passed a goal has passed it for good, since any later search of its thread begins after the
 * unlinking. So each poll goes on at the slot where the last one stopped. */
#include "lockfree/reclaim.h"

#include <assert.h>

void reclaim_init(struct reclaim *domain, struct reclaim_thread *threads, size_t threads_max,
                  size_t limbo_max)
{
    assert(limbo_max > 0);
    lf_store(&domain->epoch, 1, relaxed);
    domain->threads = threads;
    domain->threads_max = threads_max;
    domain->limbo_max = limbo_max;
    for (size_t i = 0; i < threads_max; i++) {
        struct reclaim_thread *thread = &threads[i];
        lf_store(&thread->seen, 0, relaxed);
        lf_store(&thread->claimed, 0, relaxed);
        thread->domain = domain;
        thread->context = NULL;
        thread->open = thread->closed = (struct reclaim_batch){0};
        thread->goal = 0;
        thread->passed = 0;
    }
}

static void release_all(struct reclaim_batch batch, void *context)
{
    struct reclaim_node *node = batch.first;
    while (node) {
        struct reclaim_node *next = node->next;
        node->release(node, context);
        node = next;
    }
}

void reclaim_fini(struct reclaim *domain)
{
    for (size_t i = 0; i < domain->threads_max; i++) {
        struct reclaim_thread *thread = &domain->threads[i];
        assert(!reclaim_is_online(thread));
        release_all(thread->closed, thread->context);
        release_all(thread->open, thread->context);
        thread->open = thread->closed = (struct reclaim_batch){0};
    }
}

struct reclaim_thread *reclaim_claim(struct reclaim *domain, void *context)
{
    for (size_t i = 0; i < domain->threads_max; i++) {
        struct reclaim_thread *thread = &domain->threads[i];
        uint32_t unclaimed = 0;
        /* A5, pairs with R5: the limbo that the last owner left. */
        if (lf_load(&thread->claimed, relaxed) == 0 &&
            lf_cas(&thread->claimed, &unclaimed, 1, acquire, relaxed)) {
            thread->context = context;
            return thread;
        }
    }
    return NULL;
}

void reclaim_leave(struct reclaim_thread *self)
{
    assert(!reclaim_is_online(self));
    lf_store(&self->claimed, 0, release); /* R5, pairs with A5 in claim */
}

void reclaim_online(struct reclaim_thread *self)
{
    assert(!reclaim_is_online(self));
    uint64_t epoch = lf_load(&self->domain->epoch, acquire); /* A1, pairs with R1 in close_open */
    /* A3, pairs with R3 in has_passed: a plain store could be passed by the reads that follow. */
    lf_exchange(&self->seen, epoch, acq_rel);
}

void reclaim_offline(struct reclaim_thread *self)
{
    assert(reclaim_is_online(self));
    lf_store(&self->seen, 0, release); /* R4, pairs with A2 and A3 in has_passed */
}

static bool has_passed(struct reclaim_thread *thread, uint64_t goal)
{
    uint64_t seen = lf_load(&thread->seen, acquire); /* A2, pairs with R2 in quiescent, R4 in offline */
    if (seen == 0)
        seen = lf_fetch_add(&thread->seen, 0, acq_rel); /* R3, A3: pairs with online's exchange and R4 */
    return LF_BUG(reclaim_no_grace, seen == 0 || seen >= goal, true);
}

static bool is_over(struct reclaim_thread *self)
{
    struct reclaim *domain = self->domain;
    while (self->passed < domain->threads_max && has_passed(&domain->threads[self->passed], self->goal))
        self->passed++;
    return self->passed == domain->threads_max;
}

static void close_open(struct reclaim_thread *self)
{
    self->closed = self->open;
    self->open = (struct reclaim_batch){0};
    /* R1, pairs with A1 in online and quiescent. Acquire too: a node may have been unlinked by others in our
     * stead. */
    self->goal = lf_fetch_add(&self->domain->epoch, 1, acq_rel) + 1;
    self->passed = 0;
}

size_t reclaim_poll(struct reclaim_thread *self)
{
    struct reclaim_batch done = {0};
    if (self->closed.first && is_over(self)) {
        done = self->closed;
        self->closed = (struct reclaim_batch){0};
    }
    if (!self->closed.first && self->open.first)
        close_open(self);
    release_all(done, self->context);
    return self->open.count + self->closed.count;
}

bool reclaim_has_room(const struct reclaim_thread *self, size_t count)
{
    return self->open.count + self->closed.count + count <= self->domain->limbo_max;
}

bool reclaim_retire(struct reclaim_thread *self, struct reclaim_node *node, reclaim_release *release)
{
    assert(reclaim_is_online(self));
    if (!reclaim_has_room(self, 1)) {
        reclaim_poll(self);
        if (!reclaim_has_room(self, 1))
            return false;
    }
    node->release = release;
    node->next = self->open.first;
    self->open.first = node;
    if (++self->open.count % RECLAIM_BATCH == 0)
        reclaim_poll(self);
    return true;
}
