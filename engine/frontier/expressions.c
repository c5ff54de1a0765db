#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/frontier/expressions.h"

#include <pcre2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    EXPRESSIONS_MAX = 256,
    STACK_BYTES_MIN = 32 << 10,
    /* Steps for one URL. Most steps take 4 to 8 ns, without JIT twice as long. */
    STEPS_MAX = 100000,
    /* A step for an iterator that has moved by this many bytes. */
    BYTES_PER_STEP = 8,
    /* Without counting, an expression without groups may read the whole URL once for each of its bytes: half a
     * millisecond for this many bytes. */
    QUICK_BYTES_MAX = 1 << 20,
    /* Without counting, PCRE2 limits the steps for each byte at which a match may begin: half a millisecond in all. */
    QUICK_STEPS_MAX = 1 << 17,
    QUICK_STEPS_MIN = 16,
};

struct expressions {
    size_t count;
    struct {
        struct slice text;
        pcre2_code *quick;
        pcre2_code *counted; /* tells of each step by a callout */
    } list[EXPRESSIONS_MAX];
};

struct expressions_loop {
    pcre2_match_data *match;
    pcre2_match_context *quick, *counted;
    pcre2_jit_stack *stack;
    struct slice text;
    bool is_quick;           /* the text is short enough to match it without counting */
    size_t steps_left;
    size_t start, position; /* at the last step */
};

/* NULL: `code` and `at` say why. */
static pcre2_code *compile(struct slice text, uint32_t options, int *code, PCRE2_SIZE *at)
{
    pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)text.ptr, text.len, options, code, at, NULL);
    if (compiled)
        pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* if there is no JIT, matching works without it */
    return compiled;
}

static bool add(struct expressions *expressions, const char *key, struct slice text, struct tuning_error *error)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    PCRE2_UCHAR why[128];
    if (expressions->count == EXPRESSIONS_MAX) {
        snprintf(error->message, sizeof error->message, "scope.%s: more than %d expressions", key,
                 EXPRESSIONS_MAX);
        return false;
    }
    __auto_type added = &expressions->list[expressions->count++];
    added->text = text;
    added->quick = compile(text, 0, &code, &at);
    if (added->quick)
        added->counted = compile(text, PCRE2_AUTO_CALLOUT, &code, &at);
    if (added->counted)
        return true;
    pcre2_get_error_message(code, why, sizeof why);
    snprintf(error->message, sizeof error->message, "scope.%s: '%.*s': %s at position %zu", key, (int)text.len,
             text.ptr, (const char *)why, (size_t)at);
    return false;
}

struct expressions *expressions_create(const char *key, const char *list, struct tuning_error *error)
{
    struct expressions *expressions = calloc(1, sizeof *expressions);
    struct slice rest = slice_of(list), item;
    if (!expressions)
        snprintf(error->message, sizeof error->message, "no memory for the scope");
    while (expressions && tuning_next_item(&rest, &item))
        if (!add(expressions, key, item, error)) {
            expressions_destroy(expressions);
            return NULL;
        }
    return expressions;
}

void expressions_destroy(struct expressions *expressions)
{
    for (size_t i = 0; expressions && i < expressions->count; i++) {
        pcre2_code_free(expressions->list[i].quick);
        pcre2_code_free(expressions->list[i].counted);
    }
    free(expressions);
}

size_t expressions_count(const struct expressions *expressions)
{
    return expressions->count;
}

/* Called by PCRE2 before each item of an expression. What it skips to find the next possible beginning takes no steps. */
static int on_step(pcre2_callout_block *block, void *owner)
{
    struct expressions_loop *loop = owner;
    size_t moved = 0;
    if (block->start_match == loop->start)
        moved = block->current_position > loop->position ? block->current_position - loop->position
                                                         : loop->position - block->current_position;
    size_t steps = 1 + moved / BYTES_PER_STEP;
    loop->start = block->start_match;
    loop->position = block->current_position;
    if (steps > loop->steps_left) {
        loop->steps_left = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    loop->steps_left -= steps;
    return 0;
}

/* NULL: no memory. */
static pcre2_match_context *create_context(pcre2_jit_stack *stack)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    if (!context)
        return NULL;
    pcre2_jit_stack_assign(context, NULL, stack);
    pcre2_set_heap_limit(context, EXPRESSIONS_STACK_BYTES / 1024); /* in KiB */
    return context;
}

struct expressions_loop *expressions_loop_create(void)
{
    struct expressions_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    loop->match = pcre2_match_data_create(1, NULL);
    loop->stack = pcre2_jit_stack_create(STACK_BYTES_MIN, EXPRESSIONS_STACK_BYTES, NULL);
    loop->quick = create_context(loop->stack);
    loop->counted = create_context(loop->stack);
    if (!loop->match || !loop->quick || !loop->counted) { /* a library without JIT has no stack for it */
        expressions_loop_destroy(loop);
        return NULL;
    }
    pcre2_set_callout(loop->counted, on_step, loop);
    return loop;
}

void expressions_loop_destroy(struct expressions_loop *loop)
{
    if (!loop)
        return;
    pcre2_match_context_free(loop->quick);
    pcre2_match_context_free(loop->counted);
    pcre2_jit_stack_free(loop->stack);
    pcre2_match_data_free(loop->match);
    free(loop);
}

void expressions_begin(struct expressions_loop *loop, struct slice text, size_t count)
{
    size_t bytes = (text.len + 1) * count; /* a match may begin after the last byte, too */
    loop->text = text;
    loop->steps_left = STEPS_MAX;
    loop->is_quick = bytes * (text.len + 1) <= QUICK_BYTES_MAX;
    if (loop->is_quick && count)
        pcre2_set_match_limit(loop->quick, (uint32_t)(QUICK_STEPS_MAX / bytes + QUICK_STEPS_MIN));
}

static int match(struct expressions_loop *loop, const pcre2_code *code, pcre2_match_context *context)
{
    return pcre2_match(code, (PCRE2_SPTR)loop->text.ptr, loop->text.len, 0, 0, loop->match, context);
}

/* PCRE2's answer: below 0 none, of which PCRE2_ERROR_NOMATCH is the only certain one. */
static int match_counted(struct expressions_loop *loop, const pcre2_code *code)
{
    if (loop->steps_left == 0)
        return PCRE2_ERROR_MATCHLIMIT;
    loop->start = loop->position = 0;
    return match(loop, code, loop->counted);
}

struct expressions_answer expressions_ask(struct expressions_loop *loop, const struct expressions *expressions)
{
    struct expressions_answer answer = {0};
    for (size_t i = 0; i < expressions->count; i++) {
        __auto_type asked = &expressions->list[i];
        int found = loop->is_quick ? match(loop, asked->quick, loop->quick) : PCRE2_ERROR_MATCHLIMIT;
        if (found < 0 && found != PCRE2_ERROR_NOMATCH)
            found = match_counted(loop, asked->counted);
        if (found >= 0)
            return (struct expressions_answer){.is_match = true, .expression = asked->text};
        if (found != PCRE2_ERROR_NOMATCH && !answer.is_undecided)
            answer = (struct expressions_answer){.is_undecided = true, .expression = asked->text};
    }
    return answer;
}
