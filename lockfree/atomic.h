/* The only way to an atomic operation in this project.
 *
 * Every operation names its memory order, as a bare word, so that none can be left to the default:
 *
 *     lf_load(&ring->tail, acquire)          lf_cas(&list->next, &seen, node, release, relaxed)
 *
 * The same sources compile in three ways:
 *   default          plain C11
 *   LF_MODEL         every operation goes to the deterministic scheduler in tests/support/model.h
 *   LF_YIELD         every operation may first give up the processor at random (stress)
 *
 * There is no stand-alone fence: ThreadSanitizer does not model it. There is no thread-local state in
 * lockfree/ either: what belongs to a thread is a struct that its owner passes in. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two lines, because the adjacent-line prefetcher pulls pairs. */
#define LF_CACHE_LINE 64
#define LF_ISOLATED   _Alignas(128)

#if defined(LF_MODEL)
#include "tests/support/model_atomic.h"
#else

#if defined(LF_YIELD)
void lf_yield_point(void);
#define LF_POINT() lf_yield_point()
#else
#define LF_POINT() ((void)0)
#endif

#define lf_load(ptr, order)         (LF_POINT(), atomic_load_explicit((ptr), memory_order_##order))
#define lf_store(ptr, value, order) (LF_POINT(), atomic_store_explicit((ptr), (value), memory_order_##order))
#define lf_exchange(ptr, value, order)                                                                       \
    (LF_POINT(), atomic_exchange_explicit((ptr), (value), memory_order_##order))
#define lf_fetch_add(ptr, value, order)                                                                      \
    (LF_POINT(), atomic_fetch_add_explicit((ptr), (value), memory_order_##order))
#define lf_fetch_sub(ptr, value, order)                                                                      \
    (LF_POINT(), atomic_fetch_sub_explicit((ptr), (value), memory_order_##order))
#define lf_fetch_or(ptr, value, order)                                                                       \
    (LF_POINT(), atomic_fetch_or_explicit((ptr), (value), memory_order_##order))
/* A failed compare-and-swap is a load: it cannot release, and it may not be ordered more strongly than a success. What is
 * wrong does not compile. */
#define LF_CAS_ORDERS(success, failure)                                                                      \
    ((void)sizeof(char[memory_order_##failure == memory_order_relaxed ||                                     \
                               (memory_order_##failure == memory_order_acquire &&                            \
                                memory_order_##success != memory_order_relaxed &&                            \
                                memory_order_##success != memory_order_release)                              \
                           ? 1                                                                               \
                           : -1]))
/* Strong compare-and-swap: on failure *expected_ptr becomes what was there. */
#define lf_cas(ptr, expected_ptr, desired, success, failure)                                                 \
    (LF_POINT(), LF_CAS_ORDERS(success, failure),                                                            \
     atomic_compare_exchange_strong_explicit((ptr), (expected_ptr), (desired), memory_order_##success,       \
                                             memory_order_##failure))
/* May fail though *ptr was as expected: for loops. */
#define lf_cas_weak(ptr, expected_ptr, desired, success, failure)                                            \
    (LF_POINT(), LF_CAS_ORDERS(success, failure),                                                            \
     atomic_compare_exchange_weak_explicit((ptr), (expected_ptr), (desired), memory_order_##success,         \
                                           memory_order_##failure))
/* Plain data that an atomic publishes. The model checks these accesses for races; here they are plain. */
#define lf_plain_read(lvalue)         (lvalue)
#define lf_plain_write(lvalue, value) ((lvalue) = (value))
#endif

/* LF_SCALE(usual, model): the size of a batch. In the model the small one, so that a handful of operations
 * gets to what is done once per batch.
 * LF_BUG(name, good, bad): `good`. In the model with MODEL_PLANTED=name in the environment `bad`: a planted
 * bug, by which the tests in tests/model show that they would find it. */
#if defined(LF_MODEL)
#define LF_SCALE(usual, model)  (model)
#define LF_BUG(name, good, bad) (model_is_planted(#name) ? (bad) : (good))
#else
#define LF_SCALE(usual, model)  (usual)
#define LF_BUG(name, good, bad) (good)
#endif

/* For the body of a loop that waits for another thread. The model lets the others run. */
static inline void lf_pause(void)
{
#if defined(LF_MODEL)
    model_pause();
#elif defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}
