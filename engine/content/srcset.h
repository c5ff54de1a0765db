/* The candidates of a srcset attribute, as the HTML standard splits them. */
#pragma once

#include <stdbool.h>

#include "net/slice.h"

/* Takes the next candidate's URL off the front of `*rest`. False at the end. */
bool srcset_next(struct slice *rest, struct slice *url);
