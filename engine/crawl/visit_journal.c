/* What the journal is told of a visit, so that a crawl that is resumed keeps the host's rest and limits. */
#include "engine/crawl/visit_parts.h"
#include "engine/crawl/visits.h"
#include "lockfree/clock.h"

static struct record_visit record_of(const struct visit *visit)
{
    const struct host *host = visit->host;
    return (struct record_visit){.address = host->ip,
                                 .crawl_delay_ms = (uint32_t)(host->crawl_delay_ns / CLOCK_NS_PER_MS),
                                 .key = host_key(host)};
}

void visit_record_begin(const struct visit *visit)
{
    const struct ledger *ledger = visit->visits->ledger;
    struct record_visit record = record_of(visit);
    if (!ledger->journal)
        return;
    record.host_us = ledger_wall_us(ledger, visit->begin_ns);
    journal_add_visit(ledger->journal, &record);
}

void visit_record_end(const struct visit *visit, uint64_t end_ns)
{
    const struct ledger *ledger = visit->visits->ledger;
    const struct host *host = visit->host;
    struct record_visit record = record_of(visit);
    /* Without room the end is left out. A resumed crawl then takes the visit for one that went on until the process
     * died, and lets the host rest for longer than it need. */
    if (!ledger->journal || !journal_has_room(ledger->journal))
        return;
    struct frontier_rests rests = frontier_rests(visit->visits->frontier, host, &visit->times, end_ns);
    record.is_end = true;
    record.host_us = ledger_wall_us(ledger, rests.host_ns);
    record.address_us = ledger_wall_us(ledger, rests.address_ns);
    record.dead_why = host->is_dead ? host->dead_why : FETCH_DONE;
    record.failures = host->failures;
    record.pages = host->pages;
    record.bytes = host->bytes;
    record.spent_ns = host->spent_ns + visit->times.spent_ns;
    journal_add_visit(ledger->journal, &record);
}
