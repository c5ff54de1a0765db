/* id_stack: every number is at one place at any time, and its place goes with it. */
#include "lockfree/id_stack.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

enum { IDS = 4 };

static struct id_stack stack;
static _Atomic(uint32_t) below[IDS];
static struct backoff backoffs[MODEL_THREADS_MAX];
static int places[IDS];    /* each is its holder's */
static unsigned held[IDS]; /* how many have a number at the end */

static void begin(void)
{
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        backoff_init(&backoffs[i], i + 1);
    id_stack_init(&stack, below);
    memset(held, 0, sizeof held);
    for (uint32_t id = 1; id < IDS; id++) {
        places[id] = 0;
        id_stack_push(&stack, id, &backoffs[0]);
    }
}

static uint32_t pop(void)
{
    uint32_t id = id_stack_pop(&stack, &backoffs[model_self()]);
    if (id)
        model_write(places[id], model_read(places[id]) + 1);
    return id;
}

static void push(uint32_t id)
{
    if (!id)
        return;
    model_write(places[id], model_read(places[id]) + 1);
    id_stack_push(&stack, id, &backoffs[model_self()]);
}

static void keep(uint32_t id)
{
    held[id]++;
}

static void pop_one(void)
{
    keep(pop());
}

/* Between the look and the swap of the other, the top is the same again and what is below it is not. */
static void pop_two_push_first(void)
{
    uint32_t first = pop(), second = pop();
    push(first);
    keep(second);
}

static void pop_and_push(void)
{
    push(pop());
}

static void finish(void)
{
    uint32_t id;
    while ((id = id_stack_pop(&stack, &backoffs[0])))
        model_check(!held[id]++);
    for (id = 1; id < IDS; id++)
        model_check(held[id] == 1);
}

TEST(a_number_has_one_holder)
{
    struct model_case c = {.name = "id_stack_aba",
                           .begin = begin,
                           .threads = {pop_one, pop_two_push_first},
                           .finish = finish,
                           .preemptions = 4,
                           .weak = 2};
    model_verify(&c);
    c = (struct model_case){.name = "id_stack_three",
                            .begin = begin,
                            .threads = {pop_one, pop_and_push, pop_and_push},
                            .finish = finish,
                            .preemptions = 3,
                            .weak = 1};
    model_verify(&c);
}
