/*
 * Where a pod that moves has to be published, and that it is found there: what "publish, then
 * switch" needs of each place.
 *
 *   find      which containers these are; makes a band or a lot if need be
 *   prepare   room in them
 *   publish   the pod's next ref goes there
 *             the caller's full fence, and what he has to look at behind it
 *   announce  the bin is marked, then the deadline lowered: whoever should look, will
 *             the caller's switch
 *             the caller tells sleepers and hosts (publish_wake)
 * What orders what: bin.h (the mark), deadline.h, stamps.c (the caller's look), switch.h.
 * Lock-free, like these.
 */
#ifndef SCHEDQ_LOCKFREE_DESTINATION_H
#define SCHEDQ_LOCKFREE_DESTINATION_H

#include "lockfree/moves/publish.h"
#include "lockfree/moves/route.h"

struct destination {
    enum place place;
    uint8_t gate;
    struct band *band; /* ACTIVE */
    struct bin *bin;   /* ACTIVE: of the band; backoff; parked, gated: by age, or NULL */
    struct lot *lot;   /* parked, gated, hosts' backoff, or NULL */
    int64_t key;
    struct tie tie;
    int64_t due; /* when time has to look; SCHEDQ_NO_DEADLINE */
};

/** What decides where exactly. */
struct moving {
    const struct description *description; /* the newest */
    const schedq_history_t *history;       /* as it is in the new place */
    uint64_t unschedulable, pending;       /* the same; without the bit of the gate */
    int64_t since;                         /* parked, gated: from when the limit counts */
    uint8_t profile;
};

/** False: no memory. */
bool destination_find(struct worker *worker, const struct way *way, const struct moving *moving,
                      struct destination *destination);

/** False: no memory, nothing changed. */
bool destination_prepare(struct worker *worker, const struct destination *destination);

void destination_publish(struct worker *worker, const struct destination *destination, uint64_t ref,
                         uint32_t cause);

/** After a full fence. False: the band is retired; find, prepare and publish again. */
bool destination_announce(struct worker *worker, const struct destination *destination);

/** Makes time look at what is due then: the timer thread, or who sleeps. After a full fence. */
void destination_due(struct worker *worker, int64_t due);

/** Can a pod be popped there? */
bool destination_is_poppable(const struct queue *queue, enum place place);

#endif
