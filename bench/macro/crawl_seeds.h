/* Seeds of more hosts than memory holds, in a whole crawl: what memory is needed for 1 and for 10 million of them. */
#pragma once

#include "macro/crawl_parts.h"

/* Nothing, if --filter leaves the rows out. False if a crawl failed. */
bool crawl_seeds(const struct crawl_settings *settings, struct crawl_report *report);
