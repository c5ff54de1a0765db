#include "tests/support/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_SKIPPED 77

static struct check_test *first;
static struct check_test **last = &first;
static const struct check_test *running;
static jmp_buf after_skip;

void check_register(struct check_test *test)
{
    *last = test;
    last = &test->next;
}

void check_failed(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "%s:%d: in %s: ", file, line, running ? running->name : "main");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}

void check_skip(const char *why)
{
    printf("skipped %s: %s\n", running->name, why);
    longjmp(after_skip, 1);
}

static size_t guard_span(size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (len + page - 1) / page * page + page;
}

char *check_guard_copy(const void *bytes, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), span = guard_span(len);
    char *map = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED);
    CHECK(mprotect(map + span - page, page, PROT_NONE) == 0);
    char *copy = map + span - page - len;
    if (len)
        memcpy(copy, bytes, len);
    return copy;
}

void check_guard_free(char *copy, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), span = guard_span(len);
    munmap(copy + len + page - span, span);
}

const char *check_corpus(const char *relative)
{
    static char path[512];
    snprintf(path, sizeof path, "../shared/corpora/%s", relative);
    return access(path, R_OK) == 0 ? path : NULL;
}

char *check_read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    if (!file || fstat(fileno(file), &status) != 0)
        check_failed(__FILE__, __LINE__, "cannot read %s", path);
    char *text = malloc((size_t)status.st_size + 1);
    *len = fread(text, 1, (size_t)status.st_size, file);
    text[*len] = '\0';
    fclose(file);
    return text;
}

/* Arguments name the tests to run; none means all. */
int main(int argc, char **argv)
{
    static unsigned ran, skipped; /* static: they live across the jump out of a skipped test */
    for (running = first; running; running = running->next) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], running->name) == 0;
        if (!wanted)
            continue;
        if (setjmp(after_skip) == 0) {
            running->run();
            ran++;
        } else {
            skipped++;
        }
    }
    printf("%u ran, %u skipped\n", ran, skipped);
    return ran ? 0 : EXIT_SKIPPED;
}
