/* What a watchdog asks for: see watch.c. Entry of the engine's table. */
#ifndef SCHEDQ_MUTEX_WATCH_H
#define SCHEDQ_MUTEX_WATCH_H

#include "mutex/queue.h"

schedq_status_t mutex_watch(schedq_worker_t *worker, struct watching *watching);

#endif
