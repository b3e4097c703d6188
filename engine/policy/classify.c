/*
 * What an update of a pod or a node means to waiting pods (schedq_classify_*): kube's change
 * detectors, in kube's order.
 *
 * The caller gives numbers in place of contents, so nothing here looks into an object.
 */
#include <schedq/schedq.h>

#include <stdbool.h>

static int64_t
quantity_of(const schedq_quantity_t *requests, size_t count, uint64_t resource)
{
    for (size_t i = 0; i < count; i++) {
        if (requests[i].resource == resource) {
            return requests[i].milli;
        }
    }
    return INT64_MIN; /* missing is less than any amount */
}

/* Is there less of some resource of `from` in `to`? */
static bool
shrank(const schedq_quantity_t *from, size_t from_count, const schedq_quantity_t *to,
       size_t to_count)
{
    for (size_t i = 0; i < from_count; i++) {
        int64_t there = quantity_of(to, to_count, from[i].resource);

        if (there == INT64_MIN || there < from[i].milli) {
            return true;
        }
    }
    return false;
}

/* The events of one resource. */
struct pod_events {
    schedq_event_t update, label, scale_down, scale_up, gates_eliminated, toleration, claim;
};

#define POD_EVENTS(resource)                                                              \
    {                                                                                     \
        SCHEDQ_EVENT_##resource##_POD_UPDATE, SCHEDQ_EVENT_##resource##_POD_UPDATE_LABEL, \
            SCHEDQ_EVENT_##resource##_POD_UPDATE_SCALE_DOWN,                              \
            SCHEDQ_EVENT_##resource##_POD_UPDATE_SCALE_UP,                                \
            SCHEDQ_EVENT_##resource##_POD_UPDATE_GATES_ELIMINATED,                        \
            SCHEDQ_EVENT_##resource##_POD_UPDATE_TOLERATION,                              \
            SCHEDQ_EVENT_##resource##_POD_UPDATE_GENERATED_CLAIM                          \
    }

static const struct pod_events *
events_of(const schedq_pod_facts_t *facts)
{
    static const struct pod_events unscheduled = POD_EVENTS(UNSCHEDULED),
                                   assigned = POD_EVENTS(ASSIGNED), target = POD_EVENTS(TARGET);

    return facts->assigned ? &assigned : facts->target ? &target : &unscheduled;
}

size_t
schedq_classify_pod_update(const schedq_pod_facts_t *old_facts,
                           const schedq_quantity_t *old_requests, size_t old_count,
                           const schedq_pod_facts_t *new_facts,
                           const schedq_quantity_t *new_requests, size_t new_count,
                           schedq_event_t events[6])
{
    const struct pod_events *known = events_of(new_facts);
    const struct {
        bool changed;
        schedq_event_t event;
    } kinds[] = {
        {old_facts->labels != new_facts->labels, known->label},
        {shrank(old_requests, old_count, new_requests, new_count), known->scale_down},
        {new_facts->scale_up && shrank(new_requests, new_count, old_requests, old_count),
         known->scale_up},
        {old_facts->gates > 0 && new_facts->gates == 0, known->gates_eliminated},
        {old_facts->tolerations != new_facts->tolerations, known->toleration},
        {old_facts->claims != new_facts->claims, known->claim},
    };
    size_t count = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].changed) {
            events[count++] = kinds[i].event;
        }
    }
    if (count == 0) {
        events[count++] = known->update;
    }
    return count;
}

size_t
schedq_classify_node_update(const schedq_node_facts_t *old_facts,
                            const schedq_node_facts_t *new_facts, schedq_event_t events[7])
{
    bool opened = old_facts->unschedulable != 0 && new_facts->unschedulable == 0;
    bool tainted = old_facts->taints != new_facts->taints;
    size_t count = 0;

    if (opened) {
        events[count++] = SCHEDQ_EVENT_NODE_UPDATE_TAINT;
    }
    if (old_facts->allocatable != new_facts->allocatable) {
        events[count++] = SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE;
    }
    if (old_facts->labels != new_facts->labels) {
        events[count++] = SCHEDQ_EVENT_NODE_UPDATE_LABEL;
    }
    if (tainted && !opened) {
        events[count++] = SCHEDQ_EVENT_NODE_UPDATE_TAINT;
    }
    if (old_facts->conditions != new_facts->conditions) {
        events[count++] = SCHEDQ_EVENT_NODE_UPDATE_CONDITION;
    }
    if (old_facts->annotations != new_facts->annotations) {
        events[count++] = SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION;
    }
    if (old_facts->preemption_policy != new_facts->preemption_policy) {
        events[count++] = SCHEDQ_EVENT_NODE_UPDATE_PREEMPTION_POLICY;
    }
    if (old_facts->declared_features != new_facts->declared_features) {
        events[count++] = SCHEDQ_EVENT_NODE_UPDATE_DECLARED_FEATURE;
    }
    return count;
}
