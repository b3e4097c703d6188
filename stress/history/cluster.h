/*
 * What rejects pods and what helps them: the plugins of the queue, the kinds of events, the gates.
 *
 * All that the callbacks answer is a function of the object that they get, and of the gates: so the
 * checker knows what the queue was told. An event of KIND_FIT helps the objects of one class, and a
 * gate that is shut refuses those that have this gate.
 */
#ifndef SCHEDQ_HISTORY_CLUSTER_H
#define SCHEDQ_HISTORY_CLUSTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "schedq/schedq.h"

/* A set of them is kept in a byte, as 1 << plugin. */
typedef enum plugin {
    PLUGIN_GATE,   /* refuses in PreEnqueue, hears KIND_GATES */
    PLUGIN_FIT,    /* hears KIND_FIT, with a hint */
    PLUGIN_TAINT,  /* hears KIND_TAINT */
    PLUGIN_LABEL,  /* hears KIND_LABEL, which updates carry too */
    PLUGIN_DEAF,   /* hears wildcards only */
    PLUGIN_OTHERS, /* not registered: hears everything */
    PLUGINS
} plugin_t;

typedef enum kind {
    KIND_WILDCARD,
    KIND_FIT,
    KIND_TAINT,
    KIND_LABEL,
    KIND_GATES,
    KIND_UNHEARD,
    KINDS
} kind_t;

enum { CLASSES = 4, GATES = 2, NO_GATE = GATES, NODES = 3 };

/* A host's log has so many of the newest events. */
enum { HOST_LOG = 4096 };

typedef struct cluster {
    uint64_t bits[PLUGINS]; /* as the queue knows them */
    atomic_bool shut[GATES];
    _Atomic uint64_t log[HOST_LOG]; /* host: sequence << 16 | kind << 8 | class */
} cluster_t;

/** Registers the plugins; ends the process if the queue refuses. */
void cluster_open(cluster_t *cluster, schedq_t *queue, bool host);

/** The queue's set of rejectors for a set of plugins, and back. */
uint64_t cluster_rejectors(const cluster_t *cluster, uint8_t plugins);
uint8_t cluster_plugins(const cluster_t *cluster, uint64_t rejectors);

/* A host's: writes the log; says what an event does for a pod; judges those of a flight. */
void cluster_log(cluster_t *cluster, uint64_t sequence, kind_t kind, unsigned class);
bool cluster_helps(const cluster_t *cluster, kind_t kind, unsigned class, uint64_t object,
                   uint64_t rejectors);
bool cluster_helped(const cluster_t *cluster, uint64_t seen, uint64_t up_to, uint64_t rejectors);

schedq_event_t kind_event(uint8_t kind);
/** The plugins that hear it. */
uint8_t kind_hearers(uint8_t kind);
/** Some plugin has asked for it, or it is a wildcard: schedq_stats counts it. */
bool kind_is_registered(uint8_t kind);
const char *kind_name(uint8_t kind);

/** 0..CLASSES - 1 */
unsigned object_class(uint64_t object);
/** 0..GATES - 1, or NO_GATE: never refused. */
unsigned object_gate(uint64_t object);

#endif
