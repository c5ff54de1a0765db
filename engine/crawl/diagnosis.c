#include "engine/crawl/diagnosis.h"

#include <inttypes.h>
#include <stdio.h>

static void explain_rests(const struct status *status, char *text, size_t bytes)
{
    int64_t resting = status->hosts[HOST_RESTING] + status->hosts[HOST_LOADING], due = status->hosts[HOST_READY];
    int len = snprintf(text, bytes, "%" PRId64 " host%s", resting, resting == 1 ? " rests" : "s rest");
    if (due > 0)
        len += snprintf(text + len, bytes - (size_t)len, ", %" PRId64 " wait for their address", due);
    if (status->next_due_s >= 0.1)
        snprintf(text + len, bytes - (size_t)len, ", the next is due in %.1f s", status->next_due_s);
}

/* Held hosts are no limit of the crawl's own, but may be all that is left of it. */
static void explain_holds(const struct status *status, char *text, size_t bytes)
{
    int64_t held = status->hosts[HOST_HELD];
    snprintf(text, bytes, "%" PRId64 " host%s held by the operator", held, held == 1 ? " is" : "s are");
}

/* What the reason means at this moment, and the key that changes it. */
static void explain(enum limited_by by, const struct status *status, char *text, size_t bytes)
{
    uint64_t open = stats_get(&status->now.connections);
    switch (by) {
    case LIMITED_WORK:
        snprintf(text, bytes, "the loops are busy; crawl.threads gives the crawl more cores");
        break;
    case LIMITED_CONNECTIONS:
        snprintf(text, bytes, "all %" PRIu64 " are in use; net.connections allows more", open);
        break;
    case LIMITED_POLITENESS:
        explain_rests(status, text, bytes);
        break;
    case LIMITED_SERVERS:
        snprintf(text, bytes, "every host with URLs is being visited, one connection each; %" PRIu64 " are open", open);
        break;
    case LIMITED_NAMES:
        snprintf(text, bytes, "%" PRId64 " hosts wait for name servers",
                 status->hosts[HOST_RESOLVING] + status->hosts[HOST_ARRIVING]);
        break;
    case LIMITED_STORE:
        snprintf(text, bytes, "pages wait for the disk, %.1f MB are not written yet",
                 (double)status->unwritten_bytes / 1e6);
        break;
    case LIMITED_MEMORY:
        snprintf(text, bytes, "pages wait for memory; memory.pages gives more");
        break;
    case LIMITED_BANDWIDTH:
        snprintf(text, bytes, "net.bandwidth is used up");
        break;
    case LIMITED_PAGES:
        snprintf(text, bytes, "the last pages of crawl.max-pages are in flight");
        break;
    case LIMITED_PAUSED:
        snprintf(text, bytes, status->phase == CRAWL_PAUSED ? "the crawl is paused" : "the crawl is about to end");
        break;
    case LIMITED_EMPTY:
    case LIMITED_COUNT:
        if (status->hosts[HOST_HELD] > 0)
            explain_holds(status, text, bytes);
        else
            snprintf(text, bytes, "no URL waits");
        break;
    }
}

/* The largest share below that of `than`; LIMITED_COUNT: none of at least a per cent. */
static enum limited_by largest(const double limited[LIMITED_COUNT], enum limited_by than)
{
    enum limited_by most = LIMITED_COUNT;
    for (int by = 0; by < LIMITED_COUNT; by++)
        if (by != (int)than && limited[by] >= 0.01 && (most == LIMITED_COUNT || limited[by] > limited[most]))
            most = (enum limited_by)by;
    return most;
}

void diagnosis_write(const struct status *status, char *text, size_t bytes)
{
    enum limited_by first = largest(status->limited, LIMITED_COUNT);
    text[0] = '\0';
    if (first == LIMITED_COUNT)
        return;
    char words[160];
    explain(first, status, words, sizeof words);
    int len = snprintf(text, bytes, "%s %.0f%%: %s", limited_name(first), status->limited[first] * 100, words);
    enum limited_by second = largest(status->limited, first);
    if (second != LIMITED_COUNT && len >= 0 && (size_t)len < bytes)
        len += snprintf(text + len, bytes - (size_t)len, "; %s %.0f%%", limited_name(second), status->limited[second] * 100);
    if (status->hosts[HOST_HELD] <= 0 || first == LIMITED_EMPTY || len < 0 || (size_t)len >= bytes)
        return;
    explain_holds(status, words, sizeof words);
    snprintf(text + len, bytes - (size_t)len, "; %s", words);
}
