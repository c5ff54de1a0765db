/* Prose: a pool of generated sentences, made once, of which pages are pasted together. */
#pragma once

#include <stdint.h>

/* Stays in the second-level cache beside everything else. */
#define WEBSIM_TEXT_BYTES  (64 * 1024)
#define WEBSIM_TEXT_PIECE  1024 /* longest run without a new draw */
#define WEBSIM_TEXT_STARTS 2048
/* What a piece may be longer than asked for, to end with a word. */
#define WEBSIM_TEXT_SLACK 16

struct websim_text {
    char pool[WEBSIM_TEXT_BYTES + WEBSIM_TEXT_PIECE + WEBSIM_TEXT_SLACK];
    uint32_t starts[WEBSIM_TEXT_STARTS]; /* where words begin */
};

void websim_text_init(struct websim_text *text, uint64_t seed);
/* Whole words, `len` to len + WEBSIM_TEXT_SLACK bytes of them; returns the end. */
char *websim_text_write(const struct websim_text *text, uint64_t bits, char *out, uint64_t len);
