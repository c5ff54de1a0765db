/* lf_* for sources compiled with -DLF_MODEL: each operation is a step of the machine in model.h. The value
 * travels as 64 bits; sizes and types come from the pointer. */
#pragma once

#include <stdatomic.h>

#include "tests/support/model.h"

/* What *ptr holds, without _Atomic: the comma drops the qualifier. */
#define MODEL_TYPE(ptr) __typeof__((void)0, *(ptr))

/* Names the function that makes the next call. */
void model_planted_at(const char *function);
#define MODEL_AT model_planted_at(__func__),
uint64_t model_memory_load(const void *ptr, size_t bytes, memory_order order, const char *site);
void model_memory_store(void *ptr, size_t bytes, uint64_t value, memory_order order, const char *site);

enum model_rmw { MODEL_EXCHANGE, MODEL_ADD, MODEL_SUB, MODEL_OR };
struct model_rmw_call {
    size_t bytes;
    enum model_rmw kind;
    uint64_t operand;
    memory_order order;
    const char *site;
};
uint64_t model_memory_rmw(void *ptr, struct model_rmw_call call);

struct model_cas_call {
    size_t bytes;
    uint64_t desired;
    memory_order success, failure;
    bool weak;
    const char *site;
};
bool model_memory_cas(void *ptr, void *expected, struct model_cas_call call);

/* A statement expression, because its value may go unused without a warning; it declares nothing, so that
 * calls nest. */
#define MODEL_VALUE(ptr, bits) ({ (MODEL_TYPE(ptr))(uintptr_t)(bits); })
#define MODEL_RMW(ptr, operation, value, mem, text)                                                          \
    MODEL_VALUE(                                                                                             \
        ptr, MODEL_AT model_memory_rmw((void *)(ptr), (struct model_rmw_call){.bytes = sizeof *(ptr),        \
                                                                              .kind = (operation),           \
                                                                              .operand = (uintptr_t)(value), \
                                                                              .order = memory_order_##mem,   \
                                                                              .site = MODEL_SITE text}))
#define MODEL_CAS(ptr, expected_ptr, wanted, good, bad, spurious, text)                                      \
    (MODEL_AT model_memory_cas((void *)(ptr), (expected_ptr),                                                \
                               (struct model_cas_call){.bytes = sizeof *(ptr),                               \
                                                       .desired = (uintptr_t)(MODEL_TYPE(ptr))(wanted),      \
                                                       .success = memory_order_##good,                       \
                                                       .failure = memory_order_##bad,                        \
                                                       .weak = (spurious),                                   \
                                                       .site = MODEL_SITE text}))

#define lf_load(ptr, order)                                                                                  \
    MODEL_VALUE(ptr, MODEL_AT model_memory_load((const void *)(ptr), sizeof *(ptr), memory_order_##order,    \
                                                MODEL_SITE "load(" #ptr ", " #order ")"))
#define lf_store(ptr, value, order)                                                                          \
    (MODEL_AT model_memory_store((void *)(ptr), sizeof *(ptr), (uintptr_t)(MODEL_TYPE(ptr))(value),          \
                                 memory_order_##order, MODEL_SITE "store(" #ptr ", " #order ")"))
#define lf_exchange(ptr, value, order)                                                                       \
    MODEL_RMW(ptr, MODEL_EXCHANGE, (MODEL_TYPE(ptr))(value), order, "exchange(" #ptr ", " #order ")")
#define lf_fetch_add(ptr, value, order) MODEL_RMW(ptr, MODEL_ADD, value, order, "add(" #ptr ", " #order ")")
#define lf_fetch_sub(ptr, value, order) MODEL_RMW(ptr, MODEL_SUB, value, order, "sub(" #ptr ", " #order ")")
#define lf_fetch_or(ptr, value, order)  MODEL_RMW(ptr, MODEL_OR, value, order, "or(" #ptr ", " #order ")")
#define lf_cas(ptr, expected_ptr, desired, success, failure)                                                 \
    MODEL_CAS(ptr, expected_ptr, desired, success, failure, false, "cas(" #ptr ", " #success ")")
#define lf_cas_weak(ptr, expected_ptr, desired, success, failure)                                            \
    MODEL_CAS(ptr, expected_ptr, desired, success, failure, true, "cas_weak(" #ptr ", " #success ")")

#define lf_plain_read(lvalue)         model_read(lvalue)
#define lf_plain_write(lvalue, value) model_write(lvalue, value)
