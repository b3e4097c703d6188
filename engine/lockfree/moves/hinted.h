/*
 * The records that a nominator has hints for under a key, copied out: pods nominated to a node
 * (get.c), those of a label (label.c), groups below another (gather.c). Nothing is held between the
 * reading and their use.
 */
#ifndef SCHEDQ_LOCKFREE_HINTED_H
#define SCHEDQ_LOCKFREE_HINTED_H

#include "lockfree/queue.h"

struct hinted {
    struct nominated few[16];
    struct nominated *pods; /* few, or memory of its own */
    size_t count, capacity;
};

/**
 * Inside of a section: reads all of them, to be given back by hinted_free. False: no memory, and
 * nothing to give back.
 *
 * Lock-free: a reading that begins again means that pods came under this key meanwhile.
 */
bool hinted_read(struct worker *worker, struct nominator *nominator, uint64_t key,
                 struct hinted *found);
void hinted_free(struct worker *worker, struct hinted *found);

#endif
