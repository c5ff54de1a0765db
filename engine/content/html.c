#include "engine/content/html.h"

#include <assert.h>

#include "engine/content/html_tag.h"

struct implementation {
    const char *name;
    bool (*next)(struct html_walk *walk, struct html_tag *tag);
};

static struct implementation choose(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("bmi2"))
        return (struct implementation){"avx512", html_next_avx512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return (struct implementation){"avx2", html_next_avx2};
#endif
    return (struct implementation){"plain", html_next_plain};
}

const char *html_implementation(void)
{
    return choose().name;
}

void html_init(struct html_walk *walk, struct slice document, unsigned flags)
{
    assert(document.len < UINT32_MAX);
    walk->at = document.ptr;
    walk->end = document.ptr + document.len;
    walk->pause = walk->end;
    walk->block.at = NULL;
    walk->next = flags & HTML_PLAIN ? html_next_plain : choose().next;
    walk->flags = flags;
    walk->template_depth = 0;
    walk->foreign_depth = 0;
}
