/* Compresses one record at a time into a gzip member, step by step, each short enough for a loop: igzip at level 1,
 * zlib above. Without compression it copies. Does no I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/tuning/tuning.h"
#include "net/slice.h"

/* igzip's level: fast, and a third less output than level 0. */
enum { PACKER_IGZIP_LEVEL = 1 };

struct isal_zstream;
struct z_stream_s;

struct packer {
    struct isal_zstream *igzip; /* one of the two, or none: a copy */
    struct z_stream_s *zlib;
};

/* Where the output goes; packer_step moves it on. */
struct packer_room {
    char *out;
    size_t len;
};

/* False: no memory. */
bool packer_init(struct packer *packer, const struct tuning *tuning);
/* May be called twice, after a failed packer_init and in the middle of a record. */
void packer_fini(struct packer *packer);

/* Begins a record, whatever became of the last one. */
void packer_begin(struct packer *packer);
/* Takes some of `in`, which is all of the record that was not taken yet, and moves it on. True if the record is
 * complete; false without progress if there is no room. */
bool packer_step(struct packer *packer, struct slice *in, struct packer_room *room);
