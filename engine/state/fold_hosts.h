/* The hosts of which a journal says something behind the end of their last visit: another visit has begun, or a page
 * was fetched. They are as many as there are connections, and in addition those that were being visited when a
 * process was killed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fold_host {
    uint64_t signature;   /* record_host_signature */
    bool is_used;         /* else the place is free */
    uint64_t since;       /* place in the journal of what came first after the last end; 0: nothing did */
    uint64_t first, last; /* places of the first and the last begin since; 0: there is none */
};

struct fold_hosts {
    struct fold_host *hosts;
    size_t count, room;
    uint64_t mixer; /* somebody may have chosen the signatures */
};

void fold_hosts_init(struct fold_hosts *hosts);
void fold_hosts_fini(struct fold_hosts *hosts);

/* A visit begins. Places count from 1. 0 or -ENOMEM, as those that follow. */
int fold_hosts_begin(struct fold_hosts *hosts, uint64_t signature, uint64_t place);
/* A page was fetched. */
int fold_hosts_page(struct fold_hosts *hosts, uint64_t signature, uint64_t place);
/* A visit has ended. */
void fold_hosts_end(struct fold_hosts *hosts, uint64_t signature);
/* NULL: nothing came after the last end. */
const struct fold_host *fold_hosts_find(const struct fold_hosts *hosts, uint64_t signature);
