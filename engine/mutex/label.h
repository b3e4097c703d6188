/*
 * labelled: see label.c. An entry of the engine's table.
 */
#ifndef SCHEDQ_MUTEX_LABEL_H
#define SCHEDQ_MUTEX_LABEL_H

#include "mutex/queue.h"

schedq_status_t mutex_labelled(schedq_worker_t *worker, uint64_t label, label_fn *each, void *ctx);

#endif
