/* The stack of Treiber (1986) with one change: the consumer never pops one node, it takes the whole stack by
 * an exchange and turns it round.
 *
 * Why it is correct. A push links its node before what it read as newest and makes it newest by a CAS from
 * that very value, so no node is lost or linked twice. Nobody but the consumer removes nodes, and he removes
 * all: a node that a producer has read as `newest` may be taken, reused and pushed again before its CAS, but
 * then the CAS finds it as newest again with everything below it taken, which is what it will link to: the
 * next pointer is the address alone, never read through. There is no ABA to fear.
 *
 * Parking is a CAS from empty to INBOX_PARKED: it fails if a push came first, and of the pushes after it only
 * the one whose CAS replaces INBOX_PARKED is told. Unparking takes part in that race: it or one push wins.
 * Closing is a CAS from empty, so nothing is in a closed inbox; no CAS expects INBOX_CLOSED, so it stays. */
#include "lockfree/inbox.h"

struct inbox_node *inbox_take(struct inbox *inbox)
{
    /* A1 pairs with R1 in push. */
    struct inbox_node *node = lf_exchange(&inbox->newest, NULL, acquire);
    struct inbox_node *oldest = NULL;
    if (node == INBOX_PARKED)
        return NULL;
    while (node) {
        struct inbox_node *below = lf_plain_read(node->next);
        lf_plain_write(node->next, oldest);
        oldest = node;
        node = below;
    }
    return oldest;
}

bool inbox_park(struct inbox *inbox)
{
    struct inbox_node *empty = NULL;
    /* R2 pairs with A2 in push: what this consumer did is seen by the next. */
    return lf_cas(&inbox->newest, &empty, INBOX_PARKED, release, relaxed);
}

bool inbox_unpark(struct inbox *inbox)
{
    struct inbox_node *parked = INBOX_PARKED;
    if (lf_load(&inbox->newest, relaxed) != parked)
        return false;
    /* A2 pairs with R2 in park: what the last consumer did is seen. */
    return lf_cas(&inbox->newest, &parked, NULL, acquire, relaxed);
}

bool inbox_close(struct inbox *inbox)
{
    struct inbox_node *empty = NULL;
    /* R3 pairs with A3 in try_push and is_closed. */
    return lf_cas(&inbox->newest, &empty, INBOX_CLOSED, release, relaxed);
}
