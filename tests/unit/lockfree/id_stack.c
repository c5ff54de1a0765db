#include "lockfree/id_stack.h"

#include <pthread.h>

#include "tests/support/check.h"

enum { IDS = 200, THREADS = 4, ROUNDS = 100000 };

static struct id_stack stack;
static _Atomic(uint32_t) below[IDS + 1];
static unsigned owner[IDS + 1]; /* plain: a number's place is its holder's alone */

TEST(last_in_first_out)
{
    struct backoff backoff;
    backoff_init(&backoff, 1);
    id_stack_init(&stack, below);
    CHECK_INT(id_stack_pop(&stack, &backoff), 0);
    for (uint32_t id = 1; id <= 3; id++)
        id_stack_push(&stack, id, &backoff);
    CHECK_INT(id_stack_pop(&stack, &backoff), 3);
    id_stack_push(&stack, 7, &backoff);
    CHECK_INT(id_stack_pop(&stack, &backoff), 7);
    CHECK_INT(id_stack_pop(&stack, &backoff), 2);
    CHECK_INT(id_stack_pop(&stack, &backoff), 1);
    CHECK_INT(id_stack_pop(&stack, &backoff), 0);
}

static void *hold_some(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument;
    struct backoff backoff;
    backoff_init(&backoff, self);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t ids[3];
        for (int i = 0; i < 3; i++)
            if ((ids[i] = id_stack_pop(&stack, &backoff))) {
                CHECK_INT(owner[ids[i]], 0);
                owner[ids[i]] = self;
            }
        for (int i = 0; i < 3; i++)
            if (ids[i]) {
                CHECK_INT(owner[ids[i]], self);
                owner[ids[i]] = 0;
                id_stack_push(&stack, ids[i], &backoff);
            }
    }
    return NULL;
}

TEST(threads_never_hold_the_same_number)
{
    pthread_t threads[THREADS];
    struct backoff backoff;
    backoff_init(&backoff, 99);
    id_stack_init(&stack, below);
    for (uint32_t id = 1; id <= IDS; id++)
        id_stack_push(&stack, id, &backoff);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, hold_some, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unsigned count = 0;
    while (id_stack_pop(&stack, &backoff))
        count++;
    CHECK_INT(count, IDS);
}
