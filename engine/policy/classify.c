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

static bool
scaled_down(const schedq_quantity_t *old_requests, size_t old_count,
            const schedq_quantity_t *new_requests, size_t new_count)
{
    for (size_t i = 0; i < old_count; i++) {
        int64_t now = quantity_of(new_requests, new_count, old_requests[i].resource);

        if (now == INT64_MIN || now < old_requests[i].milli) {
            return true;
        }
    }
    return false;
}

size_t
schedq_classify_pod_update(const schedq_pod_facts_t *old_facts,
                           const schedq_quantity_t *old_requests, size_t old_count,
                           const schedq_pod_facts_t *new_facts,
                           const schedq_quantity_t *new_requests, size_t new_count,
                           schedq_event_t events[5])
{
    /*
     * The two resources list their kinds in the same order, so an assigned pod's events are the
     * others plus an offset.
     */
    const schedq_event_t offset =
        new_facts->assigned ? SCHEDQ_EVENT_ASSIGNED_POD_ADD - SCHEDQ_EVENT_UNSCHEDULED_POD_ADD : 0;
    const struct {
        bool changed;
        schedq_event_t event;
    } kinds[] = {
        {old_facts->labels != new_facts->labels, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL},
        {scaled_down(old_requests, old_count, new_requests, new_count),
         SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN},
        {old_facts->gates > 0 && new_facts->gates == 0,
         SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED},
        {old_facts->tolerations != new_facts->tolerations,
         SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION},
        {old_facts->claims != new_facts->claims,
         SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM},
    };
    size_t count = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].changed) {
            events[count++] = (schedq_event_t)(kinds[i].event + offset);
        }
    }
    if (count == 0) {
        events[count++] = (schedq_event_t)(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE + offset);
    }
    return count;
}

size_t
schedq_classify_node_update(const schedq_node_facts_t *old_facts,
                            const schedq_node_facts_t *new_facts, schedq_event_t events[5])
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
    return count;
}
