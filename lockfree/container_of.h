/* From a member to the struct that it is part of: how intrusive links lead back to their owner. The compiler checks
 * that the pointer has the member's type. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define container_of(pointer, type, member)                                                                  \
    ({                                                                                                       \
        const __typeof__(((type *)0)->member) *member_place = (pointer);                                     \
        (type *)((uintptr_t)member_place - offsetof(type, member));                                          \
    })
