/* The sieve on disk of a crawl: set up with it, opened when it is first needed. */
#include <stdio.h>
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/loop.h"

/* Signatures that do not fit their memory go on as mercator does. */
static enum sieve_disk_kind kind_of(const struct sieve *sieve)
{
    switch (sieve->kind) {
    case TUNING_SIEVE_OFFLINE:
        return SIEVE_DISK_OFFLINE;
    case TUNING_SIEVE_ROCKSDB:
        return SIEVE_DISK_ROCKS;
    case TUNING_SIEVE_SIGNATURES:
    case TUNING_SIEVE_BLOOM:
    case TUNING_SIEVE_MERCATOR:
        break;
    }
    return SIEVE_DISK_MERCATOR;
}

bool crawl_init_mill(struct crawl *crawl, struct tuning_error *error)
{
    const struct tuning *tuning = &crawl->tuning;
    bool is_on_disk = sieve_is_on_disk(crawl->sieve.kind);
    if (is_on_disk && !crawl->sieve.asks_later)
        return crawl_refuse(error, "memory.sieve-kind: a sieve on disk needs state.spill = yes");
    if (!crawl->sieve.asks_later)
        return true;
    snprintf(crawl->mill_directory, sizeof crawl->mill_directory, "%s/sieve", crawl->scratch);
    int failed = mill_init(&crawl->mill, &(struct mill_options){.kind = kind_of(&crawl->sieve),
                                                                .disk = crawl->disk,
                                                                .directory = crawl->mill_directory,
                                                                .runs = (unsigned)tuning->fixed.memory.sieve_runs,
                                                                .bytes = sieve_mill_bytes(tuning),
                                                                .loops = crawl->loop_count});
    if (failed)
        return crawl_refuse(error, "memory.sieve: %s", strerror(-failed));
    return !is_on_disk || crawl_open_mill(crawl) == 0 ||
           crawl_refuse(error, "memory.sieve-kind: %s", crawl->mill.failure.text);
}

int crawl_open_mill(struct crawl *crawl)
{
    return crawl->mill.sieve ? 0 : mill_open(&crawl->mill);
}

int crawl_start_mill(struct crawl *crawl)
{
    int error = crawl->mill.is_running ? 0 : crawl_open_mill(crawl);
    return error || crawl->mill.is_running ? error : mill_start(&crawl->mill);
}

void crawl_hurry_mill(struct crawl *crawl)
{
    uint64_t in = 0, out = 0;
    if (!crawl->sieve.asks_later)
        return;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        const struct stats *stats = &crawl->loops[i].stats;
        out += stats_get(&stats->urls_out) + stats_get(&stats->urls_known) + stats_get(&stats->asked);
        in += stats_get(&stats->urls_in);
    }
    uint64_t waiting = in > out ? in - out : 0;
    mill_hurry(&crawl->mill, waiting < CRAWL_HURRY_URLS * crawl->tuning.fixed.net.connections);
}
