/* The unit tests' frame: TEST(name) { ... } registers itself, CHECK reports and ends the program.
 * A test that cannot run here calls SKIP("why"): the program goes on with the next one, and exits with 77
 * if all were skipped. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct check_test {
    const char *name;
    void (*run)(void);
    struct check_test *next;
};

void check_register(struct check_test *test);
void check_failed(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4), noreturn));
void check_skip(const char *why) __attribute__((noreturn));

/* A copy of `len` bytes that ends right before an unreadable page: one byte of over-read is a crash.
 * Freed by check_guard_free. */
char *check_guard_copy(const void *bytes, size_t len);
void check_guard_free(char *copy, size_t len);

/* Path of a file below ../shared/corpora, or NULL where the corpora are absent. Static storage. */
const char *check_corpus(const char *relative);
/* The whole file, NUL-terminated, malloc'ed; ends the test if it cannot be read. */
char *check_read_file(const char *path, size_t *len);

#define TEST(test_name)                                                                                      \
    static void test_##test_name(void);                                                                      \
    __attribute__((constructor)) static void register_##test_name(void)                                      \
    {                                                                                                        \
        static struct check_test self = {.name = #test_name, .run = test_##test_name};                       \
        check_register(&self);                                                                               \
    }                                                                                                        \
    static void test_##test_name(void)

#define SKIP(why) check_skip(why)

/* Tests of how long something takes are not for ThreadSanitizer, which slows code down twentyfold. */
#ifdef __SANITIZE_THREAD__
#define SKIP_IF_SLOWED_DOWN() SKIP("ThreadSanitizer slows it down")
#else
#define SKIP_IF_SLOWED_DOWN() ((void)0)
#endif

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            check_failed(__FILE__, __LINE__, "%s", #condition);                                              \
    } while (0)

#define CHECK_INT(actual, expected)                                                                          \
    do {                                                                                                     \
        long long check_a = (long long)(actual), check_e = (long long)(expected);                            \
        if (check_a != check_e)                                                                              \
            check_failed(__FILE__, __LINE__, "%s is %lld, expected %lld", #actual, check_a, check_e);        \
    } while (0)

#define CHECK_STR(actual, expected)                                                                          \
    do {                                                                                                     \
        const char *check_a = (actual), *check_e = (expected);                                               \
        if (strcmp(check_a, check_e) != 0)                                                                   \
            check_failed(__FILE__, __LINE__, "%s is \"%s\", expected \"%s\"", #actual, check_a, check_e);    \
    } while (0)

/* For struct slice: compares with a C string. */
#define CHECK_SLICE(actual, expected)                                                                        \
    do {                                                                                                     \
        __auto_type check_a = (actual);                                                                      \
        const char *check_e = (expected);                                                                    \
        if (check_a.len != strlen(check_e) || memcmp(check_a.ptr, check_e, check_a.len) != 0)                \
            check_failed(__FILE__, __LINE__, "%s is \"%.*s\", expected \"%s\"", #actual, (int)check_a.len,   \
                         check_a.ptr, check_e);                                                              \
    } while (0)
