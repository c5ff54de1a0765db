/* Numbers that are the same on every machine: hashes, and draws from distributions in integer arithmetic.
 *
 * Fixed-point numbers are Q16: 65536 is one. No floating point and no libm, whose last digits differ. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Shares are given in millionths. */
#define WEBSIM_PPM 1000000u
#define WEBSIM_Q16 65536

/* A bijection of 64-bit numbers in which every input bit reaches every output bit. */
static inline uint64_t websim_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    return x;
}

static inline uint64_t websim_hash(uint64_t seed, uint64_t a)
{
    return websim_mix(seed + a * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x2545f4914f6cdd1d));
}

/* Uniform in [0, n). */
static inline uint64_t websim_below(uint64_t bits, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)bits * n) >> 64);
}

static inline bool websim_chance(uint64_t bits, uint32_t ppm)
{
    return websim_below(bits, WEBSIM_PPM) < ppm;
}

/* In [0, n), small numbers more often: the share below x is (x/n)^(1/power), power 2 or 3. */
uint64_t websim_skewed(uint64_t bits, uint64_t n, unsigned power);

/* log2(x) for x >= 1, and 2^x rounded to the nearest integer for 0 <= x < 48. Error below 1 in 10,000. */
int64_t websim_log2_q16(uint64_t x);
uint64_t websim_exp2_q16(int64_t x_q16);

/* Log-normal with the given mean and the standard deviation of its logarithm in hundredths; 0 gives the mean
 * itself. The normal behind it is a sum of eight uniform bytes: its tails end at 4.9 deviations. */
struct websim_lognormal {
    int64_t middle_q16; /* log2 of the median */
    int64_t spread_q16;
};
void websim_lognormal_init(struct websim_lognormal *law, uint64_t mean, unsigned spread_percent);
uint64_t websim_lognormal_draw(const struct websim_lognormal *law, uint64_t bits);
