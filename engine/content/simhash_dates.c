/* The words that fingerprint_normalise leaves out as parts of dates: each at its place. */
#include "engine/content/simhash_parts.h"

#define NAME(...) [SIMHASH_DATE_PLACE(SIMHASH_LETTERS(__VA_ARGS__))] = SIMHASH_LETTERS(__VA_ARGS__)

const uint64_t simhash_dates[128] = {
    NAME('j', 'a', 'n', 'u', 'a', 'r', 'y', 0),
    NAME('f', 'e', 'b', 'r', 'u', 'a', 'r', 'y'),
    NAME('m', 'a', 'r', 'c', 'h', 0, 0, 0),
    NAME('a', 'p', 'r', 'i', 'l', 0, 0, 0),
    NAME('m', 'a', 'y', 0, 0, 0, 0, 0),
    NAME('j', 'u', 'n', 'e', 0, 0, 0, 0),
    NAME('j', 'u', 'l', 'y', 0, 0, 0, 0),
    NAME('a', 'u', 'g', 'u', 's', 't', 0, 0),
    NAME('o', 'c', 't', 'o', 'b', 'e', 'r', 0),
    NAME('n', 'o', 'v', 'e', 'm', 'b', 'e', 'r'),
    NAME('d', 'e', 'c', 'e', 'm', 'b', 'e', 'r'),
    NAME('j', 'a', 'n', 0, 0, 0, 0, 0),
    NAME('f', 'e', 'b', 0, 0, 0, 0, 0),
    NAME('m', 'a', 'r', 0, 0, 0, 0, 0),
    NAME('a', 'p', 'r', 0, 0, 0, 0, 0),
    NAME('j', 'u', 'n', 0, 0, 0, 0, 0),
    NAME('j', 'u', 'l', 0, 0, 0, 0, 0),
    NAME('a', 'u', 'g', 0, 0, 0, 0, 0),
    NAME('s', 'e', 'p', 0, 0, 0, 0, 0),
    NAME('s', 'e', 'p', 't', 0, 0, 0, 0),
    NAME('o', 'c', 't', 0, 0, 0, 0, 0),
    NAME('n', 'o', 'v', 0, 0, 0, 0, 0),
    NAME('d', 'e', 'c', 0, 0, 0, 0, 0),
    NAME('m', 'o', 'n', 'd', 'a', 'y', 0, 0),
    NAME('t', 'u', 'e', 's', 'd', 'a', 'y', 0),
    NAME('t', 'h', 'u', 'r', 's', 'd', 'a', 'y'),
    NAME('f', 'r', 'i', 'd', 'a', 'y', 0, 0),
    NAME('s', 'a', 't', 'u', 'r', 'd', 'a', 'y'),
    NAME('s', 'u', 'n', 'd', 'a', 'y', 0, 0),
    NAME('m', 'o', 'n', 0, 0, 0, 0, 0),
    NAME('t', 'u', 'e', 0, 0, 0, 0, 0),
    NAME('w', 'e', 'd', 0, 0, 0, 0, 0),
    NAME('t', 'h', 'u', 0, 0, 0, 0, 0),
    NAME('f', 'r', 'i', 0, 0, 0, 0, 0),
    NAME('s', 'a', 't', 0, 0, 0, 0, 0),
    NAME('s', 'u', 'n', 0, 0, 0, 0, 0),
    NAME('a', 'm', 0, 0, 0, 0, 0, 0),
    NAME('p', 'm', 0, 0, 0, 0, 0, 0),
    NAME('g', 'm', 't', 0, 0, 0, 0, 0),
    NAME('u', 't', 'c', 0, 0, 0, 0, 0),
};

/* Groups of names by their first three letters: eight in each half of the table. */
enum {
    FEB = 1 << 0,
    JAN = 1 << 1,
    TUE = 1 << 2,
    SEP = 1 << 3,
    THU = 1 << 4,
    MAR = 1 << 5, /* mar may */
    JUL = 1 << 6, /* jul aug */
    GMT = 1 << 7, /* gmt am pm */
    NOV = 1 << 0,
    MON = 1 << 1,
    WED = 1 << 2,
    OCT = 1 << 3, /* oct sat */
    DEC = 1 << 4, /* dec utc */
    APR = 1 << 5,
    JUN = 1 << 6, /* jun sun */
    FRI = 1 << 7,
};

#define BY(letter) [(letter)&31]

const unsigned char simhash_date_groups[2][3][32] = {
    {
        {BY('a') = JUL | GMT, BY('f') = FEB, BY('g') = GMT, BY('j') = JAN | JUL, BY('m') = MAR, BY('p') = GMT,
         BY('s') = SEP, BY('t') = TUE | THU},
        {BY('a') = JAN | MAR, BY('e') = FEB | SEP, BY('h') = THU, BY('m') = GMT, BY('u') = TUE | JUL},
        {
            GMT, /* any byte may stand behind am and pm, so that all have this one */
            GMT,       GMT | FEB, GMT,       GMT, GMT | TUE, GMT, GMT | JUL, GMT, GMT, GMT,       GMT,
            GMT | JUL, GMT,       GMT | JAN, GMT, GMT | SEP, GMT, GMT | MAR, GMT, GMT, GMT | THU, GMT,
            GMT,       GMT,       GMT | MAR, GMT, GMT,       GMT, GMT,       GMT, GMT,
        },
    },
    {
        {BY('a') = APR, BY('d') = DEC, BY('f') = FRI, BY('j') = JUN, BY('m') = MON, BY('n') = NOV,
         BY('o') = OCT, BY('s') = OCT | JUN, BY('u') = DEC, BY('w') = WED},
        {BY('a') = OCT, BY('c') = OCT, BY('e') = WED | DEC, BY('o') = NOV | MON, BY('p') = APR, BY('r') = FRI,
         BY('t') = DEC, BY('u') = JUN},
        {BY('c') = DEC, BY('d') = WED, BY('i') = FRI, BY('n') = MON | JUN, BY('r') = APR, BY('t') = OCT,
         BY('v') = NOV},
    },
};
