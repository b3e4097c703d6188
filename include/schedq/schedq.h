/**
 * schedq: which pod (job, task) does a scheduler look at next.
 *
 * Includes all of the queue: schedq/queue.h, to begin with, and what it needs (base.h, config.h);
 * events.h, host.h, look.h, wait.h.
 */
#ifndef SCHEDQ_SCHEDQ_H
#define SCHEDQ_SCHEDQ_H

#include <schedq/base.h>
#include <schedq/config.h>
#include <schedq/events.h>
#include <schedq/host.h>
#include <schedq/look.h>
#include <schedq/queue.h>
#include <schedq/wait.h>

#endif
