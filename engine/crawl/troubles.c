#include "engine/crawl/troubles.h"

#include <stdio.h>
#include <string.h>

static void count(struct troubles *troubles, enum fetch_outcome why, int64_t change)
{
    lf_store(&troubles->hosts[why], lf_load(&troubles->hosts[why], relaxed) + change, relaxed);
}

static struct troubles_host *find(struct troubles *troubles, const struct host *host)
{
    for (unsigned i = 0; i < TROUBLES_HOSTS; i++)
        if (troubles->recent[i].id == host->id)
            return &troubles->recent[i];
    return NULL;
}

void troubles_remove(struct troubles *troubles, struct host *host)
{
    struct troubles_host *entry = find(troubles, host);
    count(troubles, (enum fetch_outcome)host->trouble, -1);
    host->trouble = FETCH_DONE;
    if (entry)
        entry->id = 0;
}

void troubles_note(struct troubles *troubles, struct host *host, enum fetch_outcome why, uint64_t retry_ns)
{
    struct slice name = host_authority(host);
    struct troubles_host *entry = find(troubles, host);
    if (host->trouble != FETCH_DONE)
        count(troubles, (enum fetch_outcome)host->trouble, -1);
    host->trouble = (uint8_t)why;
    count(troubles, why, 1);
    if (retry_ns == 0) {
        if (entry)
            entry->id = 0;
        return;
    }
    entry = entry ? entry : &troubles->recent[troubles->next++ % TROUBLES_HOSTS];
    *entry = (struct troubles_host){.id = host->id, .why = why, .retry_ns = retry_ns};
    snprintf(entry->name, sizeof entry->name, "%.*s", (int)name.len, name.ptr);
}

void troubles_turn(struct troubles *troubles)
{
    if (!lf_load(&troubles->is_asked, acquire)) /* A1 pairs with R2: the watch has finished with the copy */
        return;
    memcpy(troubles->copy, troubles->recent, sizeof troubles->copy);
    lf_store(&troubles->is_asked, false, release); /* R1 pairs with A2 in troubles_read */
}

const struct troubles_host *troubles_read(struct troubles *troubles)
{
    return lf_load(&troubles->is_asked, acquire) ? NULL : troubles->copy; /* A2 pairs with R1 */
}

void troubles_ask(struct troubles *troubles)
{
    lf_store(&troubles->is_asked, true, release); /* R2 pairs with A1 in troubles_turn */
}
