/* A bar on a terminal that shows how far a long job is; nothing elsewhere. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool is_terminal;
    uint64_t bytes_all;
    uint64_t bytes_before; /* of files that are done */
    uint64_t shown_ns;     /* when it was last drawn */
};

/* `bytes_all` is what the whole job reads. */
void progress_init(struct progress *progress, uint64_t bytes_all);
/* As a call-back: the owner is the progress, `bytes` those of the job at hand. */
void progress_show(void *owner, uint64_t bytes);
/* Takes the bar away, so that a line can be written. */
void progress_clear(const struct progress *progress);
