/* Sentences about a crawl for its operator: what fails, what is lost, what it waits for. Each is empty if there is
 * nothing to say. */
#pragma once

#include "engine/crawl/status.h"
#include "engine/tuning/tuning.h"
#include "tools/lycosa/text.h"

/* "35% of max-pages, 2 min left", "81% of the URLs found, 40 s left" */
void remarks_put_outlook(struct text *text, const struct status *status);
/* "58 s", "12 min", "3.4 h", "2.5 d" */
void remarks_put_span(struct text *text, double seconds);
/* "politeness 97%: 414 hosts rest, the next is due in 0.8 s" */
void remarks_put_limit(struct text *text, const struct status *status);
/* "3 hosts fail: 2 tls-alert-protocol-version, 1 connect-refused" */
void remarks_put_failing(struct text *text, const struct status *status);
/* "120 URLs lost: raise memory.frontier" */
void remarks_put_lost(struct text *text, const struct status *status);
/* "no name server has answered for 12 s: see net.dns-servers" */
void remarks_put_outage(struct text *text, const struct status *status);
/* "the journal is not folded: No space left on device; tried again when there is room" */
void remarks_put_fold(struct text *text, const struct status *status);
/* "waiting for 1 host: example.org, retry in 312 s (connect-refused)"; only when nothing else goes on. */
void remarks_put_waiting(struct text *text, const struct status *status);
/* "stopping: 3 fetches in flight", "ending: 4.2 MB are still to be written" */
void remarks_put_end(struct text *text, const struct status *status);
/* Why not one page was fetched. */
void remarks_put_nothing(struct text *text, const struct status *status, const struct tuning *tuning);
