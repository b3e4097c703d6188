/*
 * A queue of this process, and what its callers hold: objects, the handle and the token of each
 * pod, numbers of nodes, bits of plugins. Where a pod is, in which order and since when is asked of
 * the queue alone.
 */
#ifndef CONFORM_WORLD_H
#define CONFORM_WORLD_H

#include "callbacks.h"
#include "script.h"

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define NAMESPACE "default"
#define FULL_NAME_SIZE (sizeof NAMESPACE + 64)
#define PLUGINS_MAX 63
#define NS_PER_MS INT64_C(1000000)
#define WORKERS_MAX 16

struct profile {
    struct profile *next;
    const char *name;
    schedq_profile_t number;
    const char *plugins[PLUGINS_MAX]; /* by the number of their bit */
};

/** A pod of the script by name and uid, alive or not. */
struct pod {
    struct pod *next;
    struct pod_name id;
    const struct profile *profile;
    const struct pod_text *newest; /* its newest object, as the script states it */
    schedq_pod_t handle;
    schedq_token_t token;
    uint64_t cycle;
    bool in_flight; /* the token is not used up */
    const char *group;
    bool exists;     /* added, and not deleted since */
    size_t position; /* among those of its pop */
};

/** A group of the script, declared or not. */
struct group {
    struct group *next;
    const char *name, *parent;
    int64_t min;
    bool exists;
    schedq_token_t token; /* of its last cycle */
};

struct node {
    struct node *next; /* by name */
    const char *name;
    uint64_t number;
};

struct world {
    struct script *script;
    schedq_t *queue;
    schedq_worker_t *workers[WORKERS_MAX];
    size_t worker_count;
    size_t turn;
    schedq_worker_t *worker; /* whose turn it is */
    int64_t now_ns;
    struct profile *profiles;
    struct pod *pods;
    struct node *nodes;
    struct group *groups;
    /* what upstream counts as incoming by deletions of pods that it does not have, by place */
    uint64_t phantoms[SCHEDQ_ASIDE + 1];
    const struct group *last_popped; /* by the last pop that took anything; NULL: a pod */
    uint64_t node_count;
};

/**
 * Creates the queue as the script's head says, with that many workers. Reports and returns false if
 * the library refuses.
 */
bool world_open(struct world *world, struct script *script, uint8_t engine, size_t workers);
/** Destroys the queue. False: the library refused, which was reported. */
bool world_close(struct world *world);
/** Passes the turn to the next worker. */
void world_pass_turn(struct world *world);
/** A time of the vector on the queue's clock. */
int64_t world_time(int64_t time_ms);
/** Sets the clock. */
void world_set_time(struct world *world, int64_t time_ms);
/** Nanoseconds since the vector's time 0. */
int64_t world_since(int64_t time_ns);

/** NULL: no operation has made it. */
struct pod *world_find_pod(const struct world *world, struct pod_name id);
/** Finds or makes it. */
struct pod *world_pod(struct world *world, struct pod_name id);
/** The profile of that name; NULL if no operation and no plugin has one. */
const struct profile *world_profile(const struct world *world, const char *name);
/** Writes "namespace/name" and returns its length. */
uint32_t world_full_name(char name[FULL_NAME_SIZE], const char *pod);
/** Number of a node, which the queue knows it by; 0 for NULL. */
uint64_t world_node(struct world *world, const char *name);
/**
 * The rejectors of these names; an unknown one is an error in `result`, as all that goes wrong
 * while it runs.
 */
bool world_rejectors(const struct profile *profile, const struct list *names, uint64_t *set,
                     FILE *result);
/** Interns an event. */
bool world_event(const struct world *world, const struct event_text *text, schedq_event_t *event,
                 FILE *result);
/** Numbers and labels of a pod, for the queue to hold. */
struct object *world_pod_object(struct world *world, const struct pod_text *text);
/** Another object with that number; 0 if the number is not given. */
uint64_t world_number_object(struct world *world, struct number number);

#endif
