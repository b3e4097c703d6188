/*
 * What happens to one pod: the vector's words become a call of the public API, its outcome the
 * vector's words. What surprises:
 *   - A pod that was deleted in flight keeps its token until `done` or `fail`. The queue then says
 *     GONE, which upstream says as "already present", because such a name is always queued again.
 *   - `done` of a pod that is not in flight only ends its nomination.
 *   - An update of a waiting pod keeps its affinity term: kube parses the terms once, and they
 *   cannot change.
 */
#include "pods.h"

#include "classification.h"
#include "groups.h"
#include "result.h"

#include <inttypes.h>
#include <string.h>

#define EVENTS_MAX 64
#define POPPED_MAX 64

/* A pod as schedq_add wants it. */
struct description {
    char name[FULL_NAME_SIZE];
    size_t length;
    schedq_pod_spec_t spec;
};

static struct description
describe(struct world *world, const struct pod_text *text, const struct object *object)
{
    struct description description = {.spec = SCHEDQ_POD_SPEC_INIT};

    description.length = world_full_name(description.name, text->id.name);
    description.spec.object = object_bits(object);
    description.spec.nominated_node = world_node(world, text->nominated);
    description.spec.priority = (int32_t)text->prio.value;
    description.spec.profile = world_profile(world, text->profile)->number;
    description.spec.group = group_number(text->group);
    description.spec.flags = object->affinity != NULL ? SCHEDQ_POD_AFFINITY : 0;
    return description;
}

/* The caller's record of the pod that an operation states in full. */
static struct pod *
note_pod(struct world *world, const struct pod_text *text)
{
    struct pod *pod = world_pod(world, text->id);

    pod->newest = text;
    pod->group = text->group;
    pod->profile = world_profile(world, text->profile);
    return pod;
}

/* Gates ask for it while it is added. */
static void
come(struct world *world, const struct pod_text *text)
{
    struct pod *pod = world_pod(world, text->id);

    pod->group = text->group;
    pod->exists = true;
    if (text->group != NULL) {
        (void)groups_make(world, text->group);
    }
}

void
run_add(struct world *world, const struct operation *operation, FILE *result)
{
    const struct pod_text *text = &operation->pod;
    struct description description = describe(world, text, world_pod_object(world, text));
    schedq_result_t added;

    come(world, text);
    schedq_status_t status =
        schedq_add(world->worker, description.name, description.length, &description.spec, &added);

    if (status == SCHEDQ_OK) {
        note_pod(world, text)->handle = added.pod;
    }
    write_status(world, status, result);
}

/* NULL: no operation made it. */
static struct pod *
take(struct world *world, const schedq_popped_t *popped, FILE *result)
{
    const char *name = popped->name + strlen(NAMESPACE "/");
    struct pod *pod =
        world_find_pod(world, (struct pod_name){name, object_at(popped->object)->uid});

    if (pod == NULL) {
        fprintf(result, "error popped \"%s\", which no operation made", popped->name);
        return NULL;
    }
    pod->handle = popped->pod;
    pod->token = popped->token;
    pod->cycle = popped->cycle;
    pod->in_flight = true;
    pod->position = 0;
    return pod;
}

static void
write_pod_popped(const struct world *world, const struct pod *pod, const schedq_popped_t *popped,
                 FILE *result)
{
    write_identity(pod->id.name, pod->id.uid, result);
    if (world->script->release->hints) {
        write_history(&popped->history, result);
    } else {
        fprintf(result, " attempts=%u", popped->history.attempts);
    }
    fprintf(result, " cycle=%" PRIu64 "%s%s", popped->cycle,
            popped->from_backoff ? " from=backoff" : "",
            world->script->release->entities && popped->flushed ? " flushed=1" : "");
}

static void
write_group_popped(struct world *world, const schedq_popped_group_t *popped,
                   const schedq_popped_t *members, size_t count, FILE *result)
{
    struct group *group = world->groups;

    while (group != NULL && group_number(group->name) != popped->group) {
        group = group->next;
    }
    if (group == NULL) {
        fprintf(result, "error popped group %" PRIu64 ", which no operation made", popped->group);
        return;
    }
    group->token = popped->token;
    world->last_popped = group;
    fprintf(result, "group %s", group->name);
    write_history(&popped->history, result);
    fprintf(result, " cycle=%" PRIu64 "%s pods=", popped->cycle,
            popped->flushed ? " flushed=1" : "");
    for (size_t i = 0; i < count; i++) {
        struct pod *pod = take(world, &members[i], result);

        if (pod != NULL) {
            pod->position = i;
            fprintf(result, "%s%s/%u", i == 0 ? "" : ",", pod->id.name,
                    members[i].history.attempts);
        }
    }
}

static schedq_status_t
pop_any(struct world *world, schedq_popped_group_t *group, schedq_popped_t members[POPPED_MAX],
        size_t *count)
{
    if (world->script->config.groups.value == 1) {
        return schedq_try_pop_group(world->worker, group, members, POPPED_MAX, count);
    }
    group->group = 0;
    return schedq_try_pop(world->worker, members);
}

void
run_pop(struct world *world, const struct operation *operation, FILE *result)
{
    schedq_popped_t members[POPPED_MAX];
    schedq_popped_group_t group;
    size_t count;
    schedq_status_t status = pop_any(world, &group, members, &count);

    (void)operation;
    if (status == SCHEDQ_OK && group.group != 0) {
        write_group_popped(world, &group, members, count, result);
    } else if (status == SCHEDQ_OK) {
        const struct pod *pod = take(world, members, result);

        world->last_popped = NULL;
        if (pod != NULL) {
            write_pod_popped(world, pod, members, result);
        }
    } else if (status == SCHEDQ_EMPTY) {
        fputs("empty", result);
    } else if (status == SCHEDQ_CLOSED) {
        fputs("closed", result);
    } else {
        write_status(world, status, result);
    }
}

static bool
read_failure(const struct profile *profile, const struct operation *operation,
             schedq_failure_t *failure, FILE *result)
{
    *failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    return world_rejectors(profile, &operation->plugins, &failure->unschedulable, result) &&
           world_rejectors(profile, &operation->pending, &failure->pending, result);
}

static void
fail_in_flight(struct world *world, const struct operation *operation, struct pod *pod,
               FILE *result)
{
    schedq_pod_spec_t newest;
    schedq_failure_t failure;
    schedq_status_t status;

    if (operation->cycle.given && (uint64_t)operation->cycle.value != pod->cycle) {
        fprintf(result, "error cycle=%" PRId64 " is not the cycle of its pop, %" PRIu64,
                operation->cycle.value, pod->cycle);
        return;
    }
    if (!read_failure(pod->profile, operation, &failure, result)) {
        return;
    }
    if (world->script->release->hints) {
        const struct object *object = world_pod_object(world, &operation->pod);
        newest = describe(world, &operation->pod, object).spec;
        failure.newest = &newest;
        note_pod(world, &operation->pod);
    }
    status = schedq_fail(world->worker, &pod->token, &failure, NULL);
    if (status == SCHEDQ_OK || status == SCHEDQ_GONE) {
        pod->in_flight = false;
    }
    if (status == SCHEDQ_GONE) {
        fputs("error present", result);
    } else {
        write_status(world, status, result);
    }
}

/* Binding failed after `done`: the counters are the operation's. */
static void
fail_after_done(struct world *world, const struct operation *operation, FILE *result)
{
    const struct pod_text *text = &operation->pod;
    struct description description = describe(world, text, world_pod_object(world, text));
    schedq_history_t history = {
        .attempts = (uint32_t)operation->attempts.value,
        .rejections = (uint32_t)operation->unschedulable.value,
        .errors = (uint32_t)operation->errors.value,
        .initial_attempt_ns =
            operation->initial_attempt.given ? world_time(operation->initial_attempt.value) : 0,
    };
    schedq_failure_t failure;
    schedq_result_t added;
    schedq_status_t status;

    history.timestamp_ns = history.initial_attempt_ns;
    if (!read_failure(world_profile(world, text->profile), operation, &failure, result)) {
        return;
    }
    status = schedq_readd(world->worker, description.name, description.length, &description.spec,
                          &history, &failure, &added);
    if (status == SCHEDQ_OK) {
        note_pod(world, text)->handle = added.pod;
    }
    if (status == SCHEDQ_EXISTS) {
        fputs("error present", result);
    } else {
        write_status(world, status, result);
    }
}

void
run_fail(struct world *world, const struct operation *operation, FILE *result)
{
    struct pod *pod = world_find_pod(world, operation->pod.id);

    if (operation->after_done.value == 1) {
        fail_after_done(world, operation, result);
    } else if (pod == NULL || !pod->in_flight) {
        fputs("error not in flight: there is no token to fail with", result);
    } else {
        fail_in_flight(world, operation, pod, result);
    }
}

static schedq_status_t
nominate(struct world *world, struct pod_name id, uint64_t node)
{
    const struct pod *pod = world_find_pod(world, id);
    schedq_status_t status = SCHEDQ_NOT_FOUND;

    if (pod != NULL && pod->handle.bits != 0) {
        status = schedq_nominate(world->worker, pod->handle, node);
    }
    return status == SCHEDQ_NOT_FOUND && node == 0 ? SCHEDQ_OK : status;
}

void
run_nominate(struct world *world, const struct operation *operation, FILE *result)
{
    const char *node = operation->node;

    if (node == NULL || strcmp(node, "-") == 0) {
        node = NULL;
    } else if (strcmp(node, "status") == 0) {
        node = operation->pod.nominated;
    }
    write_status(world, nominate(world, operation->pod.id, world_node(world, node)), result);
}

void
run_done(struct world *world, const struct operation *operation, FILE *result)
{
    struct pod *pod = world_find_pod(world, operation->pod.id);
    schedq_status_t status;

    if (pod == NULL || !pod->in_flight) {
        write_status(world, nominate(world, operation->pod.id, 0), result);
        return;
    }
    status = schedq_done(world->worker, pod->token);
    if (status == SCHEDQ_OK || status == SCHEDQ_GONE) {
        pod->in_flight = false;
        status = SCHEDQ_OK;
    }
    write_status(world, status, result);
}

static bool
read_events(const struct world *world, const struct operation *operation,
            schedq_event_t events[EVENTS_MAX], FILE *result)
{
    if (operation->event_count > EVENTS_MAX) {
        fprintf(result, "error %zu events, expected at most %d", operation->event_count,
                EVENTS_MAX);
        return false;
    }
    for (size_t i = 0; i < operation->event_count; i++) {
        if (!world_event(world, &operation->events[i], &events[i], result)) {
            return false;
        }
    }
    return true;
}

/* What a queued pod's object keeps when a newer one replaces it. */
static void
keep_affinity(struct world *world, const struct description *description, struct object *object)
{
    schedq_result_t found;

    if (schedq_find(world->worker, description->name, description->length, &found) == SCHEDQ_OK &&
        found.place != SCHEDQ_INFLIGHT && strcmp(object_at(found.object)->uid, object->uid) == 0) {
        object->affinity = object_at(found.object)->affinity;
    }
}

/*
 * Upstream drops the update of an unknown member without a root, where the
 * library adds the pod: so that call is not made.
 */
static bool
is_dropped(struct world *world, const struct pod_text *text, const struct description *description)
{
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;
    schedq_result_t found;

    return text->group != NULL &&
           schedq_find(world->worker, description->name, description->length, &found) ==
               SCHEDQ_NOT_FOUND &&
           (schedq_group_get(world->worker, description->spec.group, &info) != SCHEDQ_OK ||
            info.root == 0);
}

void
run_update(struct world *world, const struct operation *operation, FILE *result)
{
    const struct pod_text *text = &operation->pod;
    const struct pod *known = world_find_pod(world, text->id);
    struct object *object = world_pod_object(world, text);
    struct description description = describe(world, text, object);
    schedq_event_t events[EVENTS_MAX] = {SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE};
    size_t count = operation->changed.value == 1 ? 1 : 0;
    uint64_t old_object = world_number_object(world, operation->old_number);
    schedq_result_t updated;
    schedq_status_t status;

    keep_affinity(world, &description, object);
    description.spec.flags = SCHEDQ_POD_ADD | (object->affinity != NULL ? SCHEDQ_POD_AFFINITY : 0);
    if (world->script->release->hints) {
        count = operation->event_count;
        if (!read_events(world, operation, events, result) ||
            (known != NULL && !check_classification(world->script->release->preset, known->newest,
                                                    text, events, count, result))) {
            return;
        }
    }
    if (is_dropped(world, text, &description)) {
        write_status(world, SCHEDQ_OK, result);
        return;
    }
    come(world, text);
    status = schedq_update(world->worker, description.name, description.length, &description.spec,
                           old_object, events, count, &updated);
    if (status == SCHEDQ_OK) {
        note_pod(world, text)->handle = updated.pod;
    }
    write_status(world, status, result);
}

/*
 * Upstream takes a queued record out also for a pod that it does not have (one that is done), and
 * puts it back: its members count as incoming once more. The library has no pod to delete then.
 */
static void
count_phantom(struct world *world, const char *name)
{
    schedq_group_info_t group = SCHEDQ_GROUP_INFO_INIT, root = SCHEDQ_GROUP_INFO_INIT;

    if (schedq_group_get(world->worker, group_number(name), &group) == SCHEDQ_OK &&
        group.root != 0 && schedq_group_get(world->worker, group.root, &root) == SCHEDQ_OK) {
        world->phantoms[root.place] += root.waiting;
    }
}

void
run_delete(struct world *world, const struct operation *operation, FILE *result)
{
    char name[FULL_NAME_SIZE];
    uint32_t length = world_full_name(name, operation->pod.id.name);
    schedq_status_t status = schedq_delete_name(world->worker, name, length, NULL);

    struct pod *pod = world_find_pod(world, operation->pod.id);

    if (pod != NULL) {
        pod->exists = false;
    }
    if (status == SCHEDQ_NOT_FOUND && operation->pod.group != NULL) {
        count_phantom(world, operation->pod.group);
    }
    write_status(world, status == SCHEDQ_NOT_FOUND ? SCHEDQ_OK : status, result);
}
