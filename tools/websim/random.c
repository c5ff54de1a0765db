#include "tools/websim/random.h"

/* clang-format off */
/* 2^(i/64) in Q30. */
static const uint32_t exp2_table[65] = {
    1073741824, 1085434106, 1097253708, 1109202018, 1121280436, 1133490379, 1145833280, 1158310587,
    1170923762, 1183674286, 1196563654, 1209593378, 1222764986, 1236080024, 1249540052, 1263146652,
    1276901417, 1290805962, 1304861917, 1319070932, 1333434672, 1347954824, 1362633090, 1377471191,
    1392470869, 1407633882, 1422962010, 1438457051, 1454120821, 1469955159, 1485961921, 1502142985,
    1518500250, 1535035634, 1551751076, 1568648537, 1585730000, 1602997467, 1620452965, 1638098541,
    1655936265, 1673968228, 1692196547, 1710623359, 1729250827, 1748081133, 1767116489, 1786359126,
    1805811301, 1825475297, 1845353420, 1865448001, 1885761398, 1906295993, 1927054196, 1948038440,
    1969251188, 1990694927, 2012372174, 2034285470, 2056437387, 2078830522, 2101467502, 2124350982,
    2147483648,
};

/* log2(1 + i/64) in Q16. */
static const uint32_t log2_table[65] = {
    0, 1466, 2909, 4331, 5732, 7112, 8473, 9814, 11136, 12440, 13727, 14996, 16248, 17484, 18704, 19909,
    21098, 22272, 23433, 24579, 25711, 26830, 27936, 29029, 30109, 31178, 32234, 33279, 34312, 35334,
    36346, 37346, 38336, 39316, 40286, 41246, 42196, 43137, 44068, 44990, 45904, 46809, 47705, 48593,
    49472, 50344, 51207, 52063, 52911, 53751, 54584, 55410, 56229, 57040, 57845, 58643, 59434, 60219,
    60997, 61769, 62534, 63294, 64047, 64794, 65536,
};
/* clang-format on */

#define LOG2_E_Q16 94548

uint64_t websim_skewed(uint64_t bits, uint64_t n, unsigned power)
{
    uint64_t u = bits >> 32, v = u * u >> 32;
    if (power == 3)
        v = v * u >> 32;
    return websim_below(v << 32 | (uint32_t)bits, n);
}

int64_t websim_log2_q16(uint64_t x)
{
    int whole = 63 - __builtin_clzll(x);
    uint64_t fraction = (x << (63 - whole)) << 1; /* what follows the leading one, from the top bit down */
    unsigned index = (unsigned)(fraction >> 58);
    uint64_t rest = (fraction >> 42) & 0xffff;
    uint64_t low = log2_table[index], high = log2_table[index + 1];
    return ((int64_t)whole << 16) + (int64_t)(low + ((high - low) * rest >> 16));
}

uint64_t websim_exp2_q16(int64_t x_q16)
{
    unsigned whole = (unsigned)(x_q16 >> 16), index = (unsigned)(x_q16 >> 10) & 63;
    uint64_t rest = (uint64_t)x_q16 & 1023;
    uint64_t low = exp2_table[index], high = exp2_table[index + 1];
    uint64_t mantissa = low + ((high - low) * rest >> 10);
    if (whole >= 30)
        return mantissa << (whole - 30);
    return (mantissa + (UINT64_C(1) << (29 - whole))) >> (30 - whole);
}

void websim_lognormal_init(struct websim_lognormal *law, uint64_t mean, unsigned spread_percent)
{
    int64_t spread = (int64_t)spread_percent * WEBSIM_Q16 / 100;
    /* The mean of a log-normal is its median times e^(s^2/2). */
    law->middle_q16 = websim_log2_q16(mean) - ((spread * spread >> 17) * LOG2_E_Q16 >> 16);
    law->spread_q16 = spread * LOG2_E_Q16 >> 16;
}

uint64_t websim_lognormal_draw(const struct websim_lognormal *law, uint64_t bits)
{
    /* Eight uniform bytes: mean 1020, standard deviation 209.0 (65536 / 209.0 = 313.5). */
    uint64_t pairs = (bits & UINT64_C(0x00ff00ff00ff00ff)) + (bits >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    int64_t sum = (int64_t)(pairs * UINT64_C(0x0001000100010001) >> 48);
    int64_t normal_q16 = (sum - 1020) * 627 / 2;
    int64_t x = law->middle_q16 + (law->spread_q16 * normal_q16 >> 16);
    return websim_exp2_q16(x < 0 ? 0 : x > (int64_t)40 << 16 ? (int64_t)40 << 16 : x);
}
