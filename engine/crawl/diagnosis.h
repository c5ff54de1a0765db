/* One sentence that says why the crawl is not faster. */
#pragma once

#include <stddef.h>

#include "engine/crawl/status.h"

enum { DIAGNOSIS_BYTES = 256 };

/* "politeness 97%: 414 hosts rest, the next is due in 0.8 s; work 3%". Empty as long as nothing is known. It has no
 * characters that JSON would escape. */
void diagnosis_write(const struct status *status, char *text, size_t bytes);
