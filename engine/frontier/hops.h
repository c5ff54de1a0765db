/* The path from a seed to a URL, one letter per hop, as crawl.log shows it: "LLE" is something embedded in a
 * page two links away from a seed. Only the last HOPS_SHOWN letters are kept; for a longer path, the number
 * of earlier hops comes first: "12+LLLLLLLLLR". */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { HOPS_SHOWN = 10, HOPS_TEXT_BYTES_MAX = HOPS_SHOWN + 6 };

struct hops {
    uint32_t recent; /* three bits per letter, the newest lowest */
    uint16_t count;  /* all hops; saturates */
};

/* The letters of hops: link, embed, redirect, sitemap and its entries, prerequisite (robots.txt). Any other
 * letter is no hop. */
#define HOPS_LETTERS "-LERMP"

static inline struct hops hops_add(struct hops hops, char letter)
{
    for (uint32_t code = 1; HOPS_LETTERS[code]; code++)
        if (HOPS_LETTERS[code] == letter) {
            hops.recent = (hops.recent << 3 | code) & ((UINT32_C(1) << 3 * HOPS_SHOWN) - 1);
            hops.count += hops.count < UINT16_MAX;
            break;
        }
    return hops;
}

/* Writes up to HOPS_TEXT_BYTES_MAX bytes and returns how many; "-" for a seed. */
size_t hops_write(char *to, struct hops hops);
