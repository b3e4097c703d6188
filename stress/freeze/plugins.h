/* The plugins of a run: what rejects pods, what gates them, and which events help. */
#ifndef SCHEDQ_FREEZE_PLUGINS_H
#define SCHEDQ_FREEZE_PLUGINS_H

#include "run.h"

/** Registers them, if the engine has events; ends the process if the queue refuses. */
void plugins_register(run_t *run);

/** A random set of rejectors, sometimes empty. */
uint64_t plugins_rejectors(actor_t *actor);
/** A random event, sometimes a wildcard. */
schedq_event_t plugins_event(actor_t *actor);

/** After these, and some time, no pod waits any more, if the run drains. */
extern const schedq_event_t plugins_free_all[2];

#endif
