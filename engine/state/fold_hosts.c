#include "engine/state/fold_hosts.h"

#include <errno.h>
#include <stdlib.h>

#include "lockfree/clock.h"

enum { ROOM_MIN = 1024 };

void fold_hosts_init(struct fold_hosts *hosts)
{
    *hosts = (struct fold_hosts){.mixer = clock_now_ns() * 0x9e3779b97f4a7c15 | 1};
}

void fold_hosts_fini(struct fold_hosts *hosts)
{
    free(hosts->hosts);
    hosts->hosts = NULL;
    hosts->room = hosts->count = 0;
}

/* The place of a host, or the free one where it would be. There is always one free. A host of which nothing
 * is to be said keeps its place until the table grows. */
static struct fold_host *find(const struct fold_hosts *hosts, uint64_t signature)
{
    size_t i = (signature * hosts->mixer >> 32) & (hosts->room - 1);
    while (hosts->hosts[i].is_used && hosts->hosts[i].signature != signature)
        i = (i + 1) & (hosts->room - 1);
    return &hosts->hosts[i];
}

static bool grow(struct fold_hosts *hosts)
{
    struct fold_hosts old = *hosts;
    size_t open = 0, room = ROOM_MIN;
    if (hosts->room && hosts->count < hosts->room / 2)
        return true;
    for (size_t i = 0; i < old.room; i++)
        open += old.hosts[i].since != 0;
    while (open >= room / 4)
        room *= 2;
    struct fold_host *all = calloc(room, sizeof *all);
    if (!all)
        return false;
    hosts->hosts = all;
    hosts->room = room;
    hosts->count = open;
    for (size_t i = 0; i < old.room; i++)
        if (old.hosts[i].since)
            *find(hosts, old.hosts[i].signature) = old.hosts[i];
    free(old.hosts);
    return true;
}

static struct fold_host *note(struct fold_hosts *hosts, uint64_t signature, uint64_t place)
{
    if (!grow(hosts))
        return NULL;
    struct fold_host *host = find(hosts, signature);
    hosts->count += !host->is_used;
    host->signature = signature;
    host->is_used = true;
    if (!host->since)
        host->since = place;
    return host;
}

int fold_hosts_begin(struct fold_hosts *hosts, uint64_t signature, uint64_t place)
{
    struct fold_host *host = note(hosts, signature, place);
    if (!host)
        return -ENOMEM;
    host->last = place;
    if (!host->first)
        host->first = place;
    return 0;
}

int fold_hosts_page(struct fold_hosts *hosts, uint64_t signature, uint64_t place)
{
    return note(hosts, signature, place) ? 0 : -ENOMEM;
}

void fold_hosts_end(struct fold_hosts *hosts, uint64_t signature)
{
    struct fold_host *host = hosts->room ? find(hosts, signature) : NULL;
    if (host)
        host->since = host->first = host->last = 0;
}

const struct fold_host *fold_hosts_find(const struct fold_hosts *hosts, uint64_t signature)
{
    const struct fold_host *host = hosts->room ? find(hosts, signature) : NULL;
    return host && host->since ? host : NULL;
}
