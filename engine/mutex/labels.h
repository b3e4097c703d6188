/*
 * Which pods have a label: chains of them, by a hash of it.
 *
 * Few queues know labels, so they are not in the record: links lie in an array by its number, made
 * when the first pod has one, beside as many chains as there are records. A chain may have pods of
 * several labels.
 */
#ifndef SCHEDQ_MUTEX_LABELS_H
#define SCHEDQ_MUTEX_LABELS_H

#include "mutex/entry.h"

struct label_link {
    uint64_t label; /* 0: none */
    uint32_t next, prev;
};

struct labels {
    struct memory *memory;
    const struct entries *entries;
    struct label_link *links; /* by record number */
    uint32_t *heads;          /* as many */
    uint32_t numbers;         /* a power of two, or 0 */
    uint32_t count;           /* pods that have one */
};

void mutex_labels_open(struct labels *labels, struct memory *memory, const struct entries *entries);
void mutex_labels_shut(struct labels *labels);

/** Room for all records. False: no memory, nothing changed. */
bool mutex_labels_reserve(struct labels *labels);

/** Puts a pod in, or takes it out. */
void mutex_labels_enter(struct labels *labels, uint32_t index, uint64_t label);
void mutex_labels_leave(struct labels *labels, uint32_t index);

/** The label of a pod that is in. */
static inline uint64_t
mutex_labels_of(const struct labels *labels, uint32_t index)
{
    return labels->links[index].label;
}

/** The pods of a label, one after the other; NO_ENTRY: no more. */
uint32_t mutex_labels_first(const struct labels *labels, uint64_t label);
uint32_t mutex_labels_next(const struct labels *labels, uint32_t index);

/** Gives back what no pod needs. */
void mutex_labels_trim(struct labels *labels);

#endif
