#include "engine/console/page.h"

#include <bearssl.h>
#include <stdio.h>
#include <string.h>

/* The build names the file. */
__asm__(".section .rodata\n"
        ".global lycosa_page_begin\n"
        ".global lycosa_page_end\n"
        "lycosa_page_begin:\n"
        ".incbin \"" PAGE_PATH "\"\n"
        "lycosa_page_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char lycosa_page_begin[], lycosa_page_end[];

enum { DIGEST_CHARS = 44 };

static void write_base64(const unsigned char digest[br_sha256_SIZE], char text[DIGEST_CHARS + 1])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *at = text;
    for (unsigned i = 0; i < br_sha256_SIZE; i += 3) {
        unsigned bits = (unsigned)digest[i] << 16 | (i + 1 < br_sha256_SIZE ? (unsigned)digest[i + 1] << 8 : 0) |
                        (i + 2 < br_sha256_SIZE ? digest[i + 2] : 0);
        for (unsigned shift = 24; shift; at++) {
            shift -= 6;
            *at = letters[bits >> shift & 63];
        }
    }
    text[DIGEST_CHARS - 1] = '='; /* 32 bytes: the last group has two */
    text[DIGEST_CHARS] = '\0';
}

/* 'sha256-...' of what stands between two tags; 'none' if they are not there. */
static void write_source(struct slice text, const char *begin, const char *end, char source[DIGEST_CHARS + 16])
{
    unsigned char digest[br_sha256_SIZE];
    char base64[DIGEST_CHARS + 1];
    br_sha256_context context;
    const char *from = memmem(text.ptr, text.len, begin, strlen(begin));
    const char *to = from ? memmem(from, (size_t)(text.ptr + text.len - from), end, strlen(end)) : NULL;
    snprintf(source, DIGEST_CHARS + 16, "'none'");
    if (!to)
        return;
    from += strlen(begin);
    br_sha256_init(&context);
    br_sha256_update(&context, from, (size_t)(to - from));
    br_sha256_out(&context, digest);
    write_base64(digest, base64);
    snprintf(source, DIGEST_CHARS + 16, "'sha256-%s'", base64);
}

void page_write_policy(struct slice text, char policy[PAGE_POLICY_BYTES])
{
    char script[DIGEST_CHARS + 16], style[DIGEST_CHARS + 16];
    write_source(text, "<script>", "</script>", script);
    write_source(text, "<style>", "</style>", style);
    snprintf(policy, PAGE_POLICY_BYTES,
             "default-src 'none'; script-src %s; style-src %s; connect-src 'self'; img-src data:; frame-ancestors 'none'; "
             "base-uri 'none'; form-action 'none'",
             script, style);
}

void page_init(struct page *page)
{
    page->text = slice_between(lycosa_page_begin, lycosa_page_end);
    page_write_policy(page->text, page->policy);
}
