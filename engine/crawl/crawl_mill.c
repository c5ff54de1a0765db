/* The sieve on disk of a crawl: set up with it, opened when it is first needed. */
#include <stdio.h>
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/loop.h"
#include "lockfree/clock.h"

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

/* URLs that are finished while the sieve answers, as fast as the crawl is at the moment. */
static uint64_t finished_meanwhile(struct crawl *crawl, uint64_t out)
{
    struct crawl_pace *pace = &crawl->pace;
    double finished = pace->out ? (double)(out - pace->out) : 0;
    pace->per_look += (finished - pace->per_look) / CRAWL_HURRY_LOOKS;
    pace->out = out;
    double looks = (double)mill_work_ns(&crawl->mill) / (double)CRAWL_LOOK_NS + 1;
    return (uint64_t)(pace->per_look * looks);
}

void crawl_hurry_mill(struct crawl *crawl)
{
    uint64_t in = 0, out = 0, asked = 0;
    if (!crawl->sieve.asks_later)
        return;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        const struct stats *stats = &crawl->loops[i].stats;
        asked += stats_get(&stats->asked) + stats_get(&stats->urls_known);
        out += stats_get(&stats->urls_out);
        in += stats_get(&stats->urls_in);
    }
    uint64_t waiting = in > out + asked ? in - out - asked : 0;
    uint64_t wanted = CRAWL_HURRY_URLS * crawl->loop_count + CRAWL_HURRY_TIMES * finished_meanwhile(crawl, out);
    mill_hurry(&crawl->mill, waiting < wanted);
}
