/* The regular expressions of scope.exclude and scope.include, and how much time they may take.
 *
 * Some expressions take seconds for some URLs, and whoever writes a page chooses its URLs. So each URL has a fixed number of
 * steps for all expressions together, about a millisecond. If they do not suffice, or the memory for backtracking
 * does not, the answer is "undecided". Steps are counted and not timed: a URL has the same answer on any machine, however busy.
 *
 * Counting makes matching some three times as slow. A URL that is short enough for that is matched without counting first,
 * with a limit that nearly all expressions keep, and with counting only if one exceeds the limit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/tuning/tuning.h"
#include "net/slice.h"

struct expressions;

/* NULL: `error` names the expression that is wrong; `key` is that of the list. The list must outlive the result, which threads
 * may share. */
struct expressions *expressions_create(const char *key, const char *list, struct tuning_error *error);
/* NULL is allowed. */
void expressions_destroy(struct expressions *expressions);
size_t expressions_count(const struct expressions *expressions);

/* What a thread needs to match: a few kilobytes, and up to EXPRESSIONS_STACK_BYTES while URLs ask for it. */
struct expressions_loop;
/* Memory for backtracking: a stack for PCRE2's compiled code (JIT), else the heap. A group that repeats for each character of the
 * longest URL, 8,192 of them, needs half of it. */
#define EXPRESSIONS_STACK_BYTES (1u << 20)
/* NULL: no memory. */
struct expressions_loop *expressions_loop_create(void);
/* NULL is allowed. */
void expressions_loop_destroy(struct expressions_loop *loop);

struct expressions_answer {
    bool is_match;
    bool is_undecided;      /* no match, but an expression was given up */
    struct slice expression; /* that matched, or the first that was given up; else empty */
};

/* Begins with a URL that `count` expressions will be asked about. `text` must stay valid until the last answer. */
void expressions_begin(struct expressions_loop *loop, struct slice text, size_t count);
/* Looks for the first expression that matches. */
struct expressions_answer expressions_ask(struct expressions_loop *loop, const struct expressions *expressions);
